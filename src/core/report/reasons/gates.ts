/** What the gates say: why a batch is not merged now, and what is waited for. What GitHub's rules want is in github.ts. */
import { count } from "../../base/count.ts";
import { formatDuration } from "../../base/time.ts";
import type { GatesReasons, OverLimit } from "../../reasons/gates.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import type { Entries } from "./entry.ts";
import { type FromGitHub, GITHUB } from "./github.ts";
import { analysisPhrase, batchPhrase, hookPhrase, people, pullPhrase, whatIsOver } from "./phrases.ts";

const STANDING: Entries<Pick<GatesReasons, Standing>> = {
  PULL_WAITS: { says: ({ pull, because }, names) => `${pullPhrase(pull)} is open; ${names.because(because)}`, subject: "pull" },
  NOT_MERGED_YET: {
    says: ({ pull, because }, names) => `${pullPhrase(pull)} is not merged yet: ${names.because(because)}`,
    subject: "pull",
  },
  ROUND_HELD: { says: ({ because }, names) => `not merged yet: ${names.because(because)}`, subject: "batch" },
  RUN_PAUSED: { says: () => "the run is paused", subject: "run", actions: ["resume"] },
  BATCH_BEFORE: { says: ({ batch }) => `waiting for ${batchPhrase(batch)} to settle`, subject: "batch" },
  WINDOW_FULL: {
    says: ({ clusters, most }, names) =>
      `waiting for the window: ${names.clusters(clusters)} would be ${clusters.length} in flight of at most ${most}`,
    subject: "stage",
    help: {
      means: "the stage's `maxUnavailable` lets no more of its clusters be in flight at once",
      todo: "nothing: it goes on once one of them is confirmed; or `/skip` one of them",
    },
  },
  PULL_UNSEEN: { says: () => "waiting for GitHub: its PR could not be seen", subject: "pull" },
  PULL_DRAFT: { says: ({ pull }) => `${pullPhrase(pull)} is a draft`, subject: "pull" },
  PULL_CHANGED: {
    says: ({ pull, head, retargeted }) =>
      retargeted === undefined
        ? `${pullPhrase(pull)} was changed: its head ${head.slice(0, 10)} is not a commit of this run`
        : `${pullPhrase(pull)} was changed: somebody pointed it at another base branch, ${retargeted.slice(0, 100)}`,
    subject: "pull",
    actions: ["resume", "abort"],
  },
  PULL_BUILT_AGAIN: {
    says: ({ pull, because }, names) => `${pullPhrase(pull)} is built again: ${names.because(because)}`,
    subject: "pull",
  },
  PULL_CLOSED_NEEDLESS: { says: ({ pull, because }, names) => `${pullPhrase(pull)} is closed: ${names.because(because)}`, subject: "pull" },
  WEIGHT_MISSED: { says: ({ clusters }, names) => `${names.clusters(clusters)} did not get through the weight before`, subject: "cluster" },
  BASE_AT_RELEASE: { says: () => "the base is at the release already", subject: "repository" },
  BASE_CONFLICTS: { says: () => "it conflicts with the base", subject: "repository" },
  BASE_MOVED: { says: () => "the base has moved and the repository wants it up to date", subject: "repository" },
  GUARD_PENDING: { says: ({ pull }) => `${pullPhrase(pull)} waits for the render guard on the present base`, subject: "pull" },
  GUARD_REFUSES: {
    says: ({ pull, because }, names) => `${pullPhrase(pull)} must not be merged: ${names.because(because)}`,
    subject: "pull",
    actions: ["resume", "skip", "abort"],
  },
  CONFIRMED_ILL: {
    says: ({ application, status }) => `${application}, confirmed before, is ${status} now`,
    subject: "application",
    help: {
      means: "right before the merge an Application of an earlier batch turned out not to be well any more",
      todo: "look at it in Argo CD; the batch merges once it is well, or pauses once it counts as failed",
    },
  },
  CONFIRMED_UNREADABLE: {
    says: ({ application, message }) => `${application}, confirmed before, cannot be read: ${message}`,
    subject: "application",
  },
  CONFIRMED_READ_AGAIN: {
    says: ({ pull }) => `${pullPhrase(pull)} is not merged yet: what came before is read once more`,
    subject: "pull",
  },
  SETTINGS_BROKEN: {
    says: ({ because }, names) =>
      `the repo's settings cannot be read, so nobody can tell what they freeze or limit: ${names.because(because)}`,
    subject: "file",
    help: { means: `${SETTINGS_FILE} is not valid at the base branch`, todo: "correct it there; `stagecoach lint` names the line" },
  },
  OTHERS_UNREAD: {
    says: () => "the other runs of the repo could not be read, and one may have halted these clusters",
    subject: "repository",
  },
  PLANE_UNSEEN: {
    says: ({ clusters, because }, names) => `${names.clusters(clusters)} could not be watched: ${names.because(because)}`,
    subject: "controlPlane",
    actions: ["requeue", "skip"],
  },
  CLUSTERS_HALTED: {
    says: ({ by, clusters, text }, names) =>
      `@${by} halted ${clusters.length === 0 ? "every cluster" : names.clusters(clusters)}${text === "" ? "" : `: ${text}`}`,
    subject: "person",
    actions: ["halt"],
  },
  HALTED_MERGING: {
    says: ({ pull, because }, names) =>
      `${pullPhrase(pull)} is not merged any more, unless its merge is under way already; ${names.because(because)}`,
    subject: "pull",
  },
  HALTED_IN_QUEUE: { says: ({ pull }) => `${pullPhrase(pull)} is taken out of the merge queue: it is halted`, subject: "pull" },
  JITTER: { says: ({ pull }) => `${pullPhrase(pull)} waits out its jitter`, subject: "pull" },
  WINDOW_SHUT: {
    says: ({ window, where }) => {
      if (window === undefined) return `closed by the windows of ${where}`;
      const { schedule, durationMs, timeZone, kind } = window;
      const when = `(${schedule} for ${formatDuration(durationMs)}, ${timeZone})`;
      return `${kind === "deny" ? "frozen by" : "waiting for"} the window ${when} of ${where}`;
    },
    subject: "window",
    help: {
      means: "merges wait for the next opening; what has merged already goes on",
      todo: "nothing; or `/hotfix`, which skips windows",
    },
  },
  WINDOWS_NEVER_OPEN: {
    says: ({ where }) => `the windows of ${where.join(" and of ")} do not open within a year`,
    subject: "window",
    help: { means: "nothing would ever merge", todo: "change the windows named" },
  },
  WINDOWS_NEVER_TOGETHER: {
    says: ({ where }) => `the windows of ${where.join(" and of ")} are never open together within a year`,
    subject: "window",
    help: { means: "each opens, and never at the same time: nothing would ever merge", todo: "change one of them" },
  },
};

const RULES: Entries<Pick<GatesReasons, Rules>> = {
  LIMITS_OTHERS_UNREAD: {
    says: () => "the other runs of the repo could not be read, and limits hold over all",
    subject: "repository",
  },
  LIMITS_LABELS_UNREAD: { says: () => "the clusters could not be read, and a limit is by their labels", subject: "controlPlane" },
  LIMITS_FULL: {
    says: ({ over, now }) => {
      if (over.label !== undefined)
        return `${whatIsOver(over)} would be in flight, and the limits allow ${over.most} (${over.label.percent}%)`;
      return `${whatIsOver(over)} of the repo would be in flight, and its limits allow ${over.most}${now.length === 0 ? "" : ` (now: ${now.join(", ")})`}`;
    },
    subject: "repository",
    help: { means: `\`limits\` of ${SETTINGS_FILE} hold over all runs of the repo`, todo: "nothing: it goes on once others are confirmed" },
  },
  BATCH_TOO_LARGE: { says: ({ over }) => tooLarge(over), subject: "batch" },
  BATCH_MERGES_ALONE: {
    says: ({ over, now }) => `${tooLarge(over)}, so it merges once nothing else is in flight (now: ${now.join(", ")})`,
    subject: "batch",
  },
  BATCH_NEVER_FITS: {
    says: ({ batch, over, clusters }, names) => {
      const together = clusters.length > 1 ? "share a pin and travel together" : "cannot travel in parts";
      return `${batchPhrase(batch)} can never merge: ${tooLarge(over)} (${names.clusters(clusters)}), which ${together}`;
    },
    subject: "batch",
    actions: ["resume", "skip", "abort"],
  },
  LIMIT_ALLOWS: {
    says: ({ over: { setting, most } }) =>
      `${count(most, setting === "limits.targets" ? "target" : "cluster")} at once (${setting} of ${SETTINGS_FILE})`,
    subject: "repository",
  },
  DEPENDENCIES_UNREAD: { says: () => "the rollouts it depends on could not be read", subject: "repository" },
  DEPENDENCY_MISSING: {
    says: ({ cluster, rollout, because }, names) => `${names.cluster(cluster)} waits for ${rollout}: ${names.because(because)}`,
    subject: "cluster",
    help: { means: "`dependsOn` wants another rollout to be there first", todo: "nothing: it goes on once that rollout has confirmed it" },
  },
  VERSION_UNKNOWN: {
    says: ({ run, phase }) => `what it has brought there is not known (run #${run} is ${phase})`,
    subject: "run",
  },
  VERSION_OTHER: { says: ({ there, wanted }) => `it is at ${there}, and ${wanted} is wanted`, subject: "run" },
  VERSION_OLDER: { says: ({ there, wanted }) => `it is at ${there}, and at least ${wanted} is wanted`, subject: "run" },
  VERSION_INCOMPARABLE: { says: ({ there, wanted }) => `it is at ${there}, which cannot be compared with ${wanted}`, subject: "run" },
  APPROVAL_WANTED: {
    says: ({ stage, teams, want, have, lapsed, outdated, unread }, names) => {
      const so = have.length === 0 ? "" : `, approved so far by ${people(have)}`;
      const members = `of ${people(teams, " or ")}`;
      const of = want === 1 ? `a member ${members}` : `${want} members ${members} (${have.length} of ${want}${so})`;
      const parts = [
        `stage "${stage}" wants the approval of ${of}`,
        ...lapsed.map(({ by, because }) => `@${by} approved it, and ${names.because(because)}`),
        ...outdated.map((by) => `@${by} approved it before what the stage holds changed`),
        ...(unread ? ["reviews could not be read just now"] : []),
      ];
      return parts.join("; ");
    },
    subject: "stage",
    actions: ["promote"],
    help: { means: "the stage's `approval` is not there yet", todo: "a member approves the PR, or comments `/promote` on it" },
  },
  APPROVER_RELEASED: { says: ({ by }) => `@${by} released it, and somebody else has to approve`, subject: "person" },
  APPROVER_TEAMS_UNSEEN: {
    says: ({ by, teams }) => `whether @${by} is in ${people(teams, " or ")} cannot be seen: the App needs \`members: read\``,
    subject: "person",
  },
  APPROVER_IN_NO_TEAM: { says: ({ by, teams }) => `@${by} is not in ${people(teams, " or ")}, who approve this stage`, subject: "person" },
  ANALYSIS_UNREAD: { says: () => "waiting for the clusters to be read: what to measure is not known", subject: "analysis" },
  ANALYSIS_BAD: {
    says: ({ analysis, because }, names) => `${analysisPhrase(analysis, names)}: ${names.because(because)}`,
    subject: "analysis",
    actions: ["retry", "resume", "abort"],
  },
  ANALYSIS_RUNNING: {
    says: ({ analysis, because, more }, names) =>
      `waiting for the ${analysisPhrase(analysis, names)}: ${names.because(because)}${more === 0 ? "" : `, and ${more} more`}`,
    subject: "analysis",
  },
  ANALYSIS_BEGUN: { says: () => "it is begun", subject: "analysis" },
  ANALYSIS_BEGINS: {
    says: ({ analysis, attempt }, names) => `${analysisPhrase(analysis, names)} begins${attempt === 1 ? "" : `, attempt ${attempt}`}`,
    subject: "analysis",
  },
  ANALYSIS_ARGUMENT: { says: ({ name, because }, names) => `the argument ${name}: ${names.because(because)}`, subject: "analysis" },
  ANALYSIS_ARGUMENT_MISSING: {
    says: ({ name, variable, cluster }, names) =>
      `the argument ${name} wants {{ ${variable} }}, which there is not${cluster === undefined ? "" : ` of ${names.cluster(cluster)}`}`,
    subject: "analysis",
  },
  WAITS_ENDED: { says: ({ by }) => `@${by} ended all waits`, subject: "person" },
  BAKE_IS_OVER: { says: () => "the bake is over", subject: "batch" },
  STAGE_IS_DONE: { says: () => "the stage is done", subject: "stage" },
  HOOK_BAD: {
    says: ({ hook, because }, names) => `${hookPhrase(hook)}: ${names.because(because)}`,
    subject: "hook",
    actions: ["retry", "resume", "abort"],
  },
  HOOK_HOLDS_STAGE: { says: ({ hook, because }, names) => `${hookPhrase(hook)} holds: ${names.because(because)}`, subject: "hook" },
  HOOK_UNCLEAR: {
    says: ({ hook, because }, names) => `${hookPhrase(hook)} gave no answer to go by: ${names.because(because)}`,
    subject: "hook",
  },
  HOOK_AWAITED: { says: ({ hook }) => `waiting for the answer of ${hookPhrase(hook)}`, subject: "hook" },
  PR_GATE_RUN_ENDED: { says: ({ phase, because }, names) => `the run has ended: ${phase}. ${names.because(because)}`, subject: "run" },
  PR_GATE_CLOSING: {
    says: ({ pull, because }, names) => `${pullPhrase(pull)} is being closed: ${names.because(because)}`,
    subject: "pull",
  },
};

const NEXT: Entries<Pick<GatesReasons, Next>> = {
  NEXT_JUDGED_AGAIN: { says: () => "judged again" },
  NEXT_LOOKED_AGAIN: { says: () => "looked at again" },
  NEXT_READ: { says: () => "they are read" },
  NEXT_COMMAND: { says: () => "a command" },
  NEXT_MERGES: { says: () => "it may merge" },
  NEXT_MERGED: { says: () => "it is merged" },
  NEXT_MERGE_ENDS: { says: () => "its merge, if one is under way, is seen or lapses" },
  NEXT_PULL_READY: { says: ({ pull }) => `a person marks ${pullPhrase(pull)} as ready`, subject: "pull" },
  NEXT_PULL_CLOSED: { says: () => "it is closed" },
  NEXT_BUILT_SMALLER: { says: () => "it is built again, smaller" },
  NEXT_GUARD: { says: () => "the render guard answers" },
  NEXT_WELL: { says: () => "it gets well, or counts as failed" },
  NEXT_SETTINGS: { says: () => "they are corrected on the base branch" },
  NEXT_PLANE: {
    says: ({ clusters }, names) =>
      `it can be seen again; or \`/requeue\` or \`/skip\` for ${names.clusters(clusters)}, so that the others go on`,
    actions: ["requeue", "skip"],
  },
  NEXT_HALT_LIFTED: { says: () => "the halt is lifted (`/halt --off`)", actions: ["halt"] },
  NEXT_HALT_ENDS: { says: () => "the halt ends" },
  NEXT_OTHERS_CONFIRMED: { says: () => "others are confirmed" },
  NEXT_LIMIT_RAISED: { says: ({ setting }) => `somebody raises ${setting}` },
  NEXT_DEPENDENCY: { says: ({ rollout }) => `${rollout} is there` },
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
  NEXT_WINDOW: { says: () => "the window opens" },
  NEXT_WINDOWS_CHANGED: { says: ({ where, all }) => `somebody changes the windows of ${where.join(all ? " and of " : " or of ")}` },
  NEXT_PERSON_MERGES: {
    says: ({ pull, promote }) => {
      if (pull === null && promote) return "a person moves its branches";
      return `a person merges ${pullPhrase(pull)}${promote ? ", or comments `/promote` on it" : ""}`;
    },
    actions: ["promote"],
  },
  NEXT_ANALYSIS_ENDS: { says: () => "it passes, or fails" },
  NEXT_HOOK_ASKED: { says: () => "it is asked again" },
  NEXT_HOOK_ANSWERS: { says: () => "it answers" },
  ASK_GUARD: {
    says: () => "change what it names, then `/resume` builds it again; or `/skip CLUSTER`; or `/abort`",
    actions: ["resume", "skip", "abort"],
  },
  ASK_RAISE_LIMIT: {
    says: ({ setting }) => `raise ${setting} in ${SETTINGS_FILE}, then \`/resume\`; or \`/skip CLUSTER\`; or \`/abort\``,
    actions: ["resume", "skip", "abort"],
  },
};

function tooLarge(over: OverLimit): string {
  return `${over.setting} of ${SETTINGS_FILE} allows ${over.most} in flight, and it has ${whatIsOver(over)}`;
}

export const GATES: Entries<GatesReasons> = { ...STANDING, ...RULES, ...NEXT, ...GITHUB };

type Standing = Exclude<keyof GatesReasons, Rules | Next | FromGitHub>;
type Next = Exclude<Extract<keyof GatesReasons, `NEXT_${string}` | `ASK_${string}`>, FromGitHub>;
type Rules = Extract<
  keyof GatesReasons,
  | `LIMIT${string}`
  | `BATCH_${"TOO_LARGE" | "MERGES_ALONE" | "NEVER_FITS"}`
  | `DEPENDENC${string}`
  | `VERSION_${string}`
  | `APPR${string}`
  | `ANALYSIS_${string}`
  | "WAITS_ENDED"
  | "BAKE_IS_OVER"
  | "STAGE_IS_DONE"
  | `HOOK_${string}`
  | `PR_GATE_${string}`
>;
