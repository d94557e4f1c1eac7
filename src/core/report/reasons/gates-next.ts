/** What is waited for at the gates, and what people are asked there. What is waited for of GitHub is in github.ts. */
import type { GatesReasons } from "../../reasons/gates.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import { entriesOf } from "./entry.ts";
import { people, pullPhrase } from "./phrases.ts";

export const GATES_NEXT = entriesOf<GatesReasons>()({
  NEXT_JUDGED_AGAIN: { says: "judged again" },
  NEXT_LOOKED_AGAIN: { says: "looked at again" },
  NEXT_READ: { says: "they are read" },
  NEXT_COMMAND: { says: "a command" },
  NEXT_MERGES: { says: "it may merge" },
  NEXT_MERGED: { says: "it is merged" },
  NEXT_MERGE_ENDS: { says: "its merge, if one is under way, is seen or lapses" },
  NEXT_PULL_READY: { says: "a person marks {pull} as ready", subject: "pull" },
  NEXT_PULL_CLOSED: { says: "it is closed" },
  NEXT_BUILT_SMALLER: { says: "it is built again, smaller" },
  NEXT_GUARD: { says: "the render guard answers" },
  NEXT_WELL: { says: "it gets well, or counts as failed" },
  NEXT_SETTINGS: { says: "they are corrected on the base branch" },
  NEXT_PLANE: {
    says: "it can be seen again; or `/requeue` or `/skip` for {clusters}, so that the others go on",
    actions: ["requeue", "skip"],
  },
  NEXT_HALT_LIFTED: { says: "the halt is lifted (`/halt --off`)", actions: ["halt"] },
  NEXT_HALT_ENDS: { says: "the halt ends" },
  NEXT_OTHERS_CONFIRMED: { says: "others are confirmed" },
  NEXT_LIMIT_RAISED: { says: "somebody raises {setting}" },
  NEXT_DEPENDENCY: { says: "{rollout} is there" },
  NEXT_APPROVED: {
    says: ({ pull, released, author }) => {
      const but =
        released.length > 0
          ? `not ${people(released, " or ")}, who released it`
          : `GitHub knows no account that released it (its commit says ${author}), so nobody is excluded`;
      return `one of them approves ${pullPhrase(pull)} or comments \`/promote\` on it; ${but}`;
    },
    actions: ["promote"],
  },
  NEXT_WINDOW: { says: "the window opens" },
  NEXT_WINDOWS_CHANGED: { says: ({ where, all }) => `somebody changes the windows of ${where.join(all ? " and of " : " or of ")}` },
  NEXT_PERSON_MERGES: {
    says: ({ pull, promote }) => {
      if (pull === null && promote) return "a person moves its branches";
      return `a person merges ${pullPhrase(pull)}${promote ? ", or comments `/promote` on it" : ""}`;
    },
    actions: ["promote"],
  },
  NEXT_ANALYSIS_ENDS: { says: "it passes, or fails" },
  NEXT_HOOK_ASKED: { says: "it is asked again" },
  NEXT_HOOK_ANSWERS: { says: "it answers" },
  ASK_GUARD: {
    says: "change what it names, then `/resume` builds it again; or `/skip CLUSTER`; or `/abort`",
    actions: ["resume", "skip", "abort"],
  },
  ASK_RAISE_LIMIT: {
    says: ({ setting }) => `raise ${setting} in ${SETTINGS_FILE}, then \`/resume\`; or \`/skip CLUSTER\`; or \`/abort\``,
    actions: ["resume", "skip", "abort"],
  },
});
