/** What the gates say: why a batch is not merged now, and what is waited for. The rest is beside it. */
import { count } from "../../base/count.ts";
import { formatDuration } from "../../base/time.ts";
import { isOwnLimit } from "../../plan/limits.ts";
import type { GatesReasons } from "../../reasons/gates.ts";
import type { PullRef } from "../../reasons/refs.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { GITHUB } from "./gates-github.ts";
import { RULES } from "./gates-rules.ts";
import { bareBranches, inZone, ownerPhrase, people, pullPhrase } from "./phrases.ts";

const STANDING = entriesOf<GatesReasons>()({
  PULL_WAITS: { says: ({ pull, because }, names) => ofPull("is open; ", pull, names.because(because)), subject: "pull" },
  NOT_MERGED_YET: { says: ({ pull, because }, names) => ofPull("is not merged yet: ", pull, names.because(because)), subject: "pull" },
  ROUND_HELD: { says: "nothing merges now: {because}", subject: "batch" },
  RUN_PAUSED: { says: "the run is paused", subject: "run", actions: ["resume"] },
  BATCH_BEFORE: { says: "waiting until {batch} is done", subject: "batch" },
  STAGE_BEFORE: { says: 'opened ahead: stage "{stage}" is not done yet', subject: "stage" },
  WINDOW_FULL: {
    says: ({ clusters, most }, names) =>
      `the stage updates at most ${count(most, "cluster")} at once, and this would make it ${clusters.length} (${names.clusters(clusters)})`,
    subject: "stage",
    means: "the stage's `maxUnavailable` lets no more of its clusters be updated at once",
    todo: "nothing: it goes on once one of them is healthy; or `/skip` one of them",
  },
  PULL_UNSEEN: { says: "waiting for GitHub to show the batch's pull request", subject: "pull" },
  PULL_DRAFT: { says: "{pull} is a draft", subject: "pull" },
  PULL_CHANGED: {
    says: ({ pull, head, retargeted }) =>
      retargeted === undefined
        ? `somebody pushed to ${pullPhrase(pull)}: its head ${head.slice(0, 10)} is not Stagecoach's commit`
        : `somebody changed the base branch of ${pullPhrase(pull)} to ${retargeted.slice(0, 100)}`,
    subject: "pull",
    actions: ["resume", "abort"],
  },
  PULL_BUILT_AGAIN: { says: "Stagecoach rebuilds {pull}: {because}", subject: "pull" },
  PULL_CLOSED_NEEDLESS: { says: "Stagecoach closes {pull}: {because}", subject: "pull" },
  WEIGHT_MISSED: { says: "{clusters} did not get through the step before", subject: "cluster" },
  BASE_AT_RELEASE: { says: "the base branch has the release already", subject: "repository" },
  BASE_CONFLICTS: { says: "it conflicts with the base branch", subject: "repository" },
  BASE_MOVED: { says: "the base branch has moved, and the repository wants pull requests up to date with it", subject: "repository" },
  GUARD_PENDING: { says: "Stagecoach renders {pull} on the current base branch to see what it would change", subject: "pull" },
  GUARD_REFUSES: { says: "{pull} must not be merged: {because}", subject: "pull", actions: ["resume", "skip", "abort"] },
  CONFIRMED_ILL: {
    says: "{application} was healthy and is {status} now",
    subject: "application",
    means: "right before the merge, an Application of an earlier batch turned out to be unhealthy again",
    todo: "look at it in Argo CD; the batch merges once it is healthy, and the run pauses once it counts as failed",
  },
  CONFIRMED_UNREADABLE: { says: "{application} was healthy, and Stagecoach cannot read it now: {because}", subject: "application" },
  CONFIRMED_READ_AGAIN: {
    says: "{pull} is not merged yet: Stagecoach first checks the clusters of earlier batches in Argo CD once more",
    subject: "pull",
  },
  SETTINGS_BROKEN: {
    says: "Stagecoach cannot read the repo's settings, so it does not know what they freeze or limit: {because}",
    subject: "file",
    means: `${SETTINGS_FILE} is not valid at the base branch`,
    todo: "correct it there; `stagecoach lint` names the line",
  },
  UNPROTECTED: {
    says: ({ bare }) => `with \`mode: Run\` nothing merges while others than the App may write to ${bareBranches(bare)}`,
    subject: "repository",
    means:
      "with `mode: Run` nothing is opened and nothing merges before rulesets keep others from the journal's branch and from those of batches",
    todo: "an owner sets the ruleset that `stagecoach lint --online` prints, and the issue *Stagecoach needs attention* has; or the operator allows it (`allowUnprotected`). It goes on by itself",
  },
  PROTECTION_UNREAD: { says: "Stagecoach could not read from GitHub which rules protect its branches", subject: "repository" },
  CLOCKS_DIFFER: {
    says: ({ seconds, ahead }) =>
      `Stagecoach's clock is ${formatDuration(seconds * 1000)} ${ahead ? "ahead of" : "behind"} GitHub's, so it is not known which waits are over`,
    means: "what Stagecoach takes for the time and the `Date` of GitHub's answers are more than ten seconds apart",
    todo: "have the server's clock set (NTP), and GitHub Enterprise Server's; it goes on by itself once they agree",
  },
  OTHERS_UNREAD: {
    says: "Stagecoach could not read the repo's other runs, and one of them may have halted these clusters",
    subject: "repository",
  },
  PLANE_UNSEEN: { says: "Stagecoach could not watch {clusters}: {because}", subject: "controlPlane", actions: ["requeue", "skip"] },
  CLUSTERS_HALTED: {
    says: ({ by, clusters, text }, names) =>
      `@${by} halted ${clusters.length === 0 ? "every cluster" : names.clusters(clusters)}${text === "" ? "" : `: ${text}`}`,
    subject: "person",
    actions: ["halt"],
  },
  MERGE_NOT_TRIED: { says: "Stagecoach does not merge {pull} any more, unless its merge is under way already; {because}", subject: "pull" },
  HALTED_IN_QUEUE: { says: "Stagecoach takes {pull} out of the merge queue: a cluster of it is halted", subject: "pull" },
  JITTER: { says: "{pull} waits for the random delay of its stage (`jitter`)", subject: "pull" },
  WINDOW_SHUT: {
    says: ({ window, where }) => {
      const owner = ownerPhrase(where);
      if (window === undefined) return `merges wait for the windows of ${owner}`;
      const { schedule, durationMs, timeZone, kind, at } = window;
      const place = at === undefined ? "" : `; ${at.path}${at.file === undefined ? "" : ` of ${at.file}`}`;
      const when = `(${schedule} for ${formatDuration(durationMs)}, ${timeZone}${place})`;
      return kind === "deny" ? `a freeze of ${owner} is on ${when}` : `merges wait for the window of ${owner} ${when}`;
    },
    subject: "window",
    means: "merges wait for the next opening; what has merged already goes on",
    todo: "nothing; or `/hotfix`, which skips windows",
  },
  WINDOW_LABELS_UNREAD: { says: "Stagecoach could not read the clusters, and a freeze goes by their labels", subject: "controlPlane" },
  WINDOWS_NEVER_OPEN: {
    says: ({ where }) => `the windows of ${where.map(ownerPhrase).join(" and of ")} do not open within a year`,
    subject: "window",
    means: "nothing would ever merge",
    todo: "change the windows named",
  },
  WINDOWS_NEVER_TOGETHER: {
    says: ({ where }) => `the windows of ${where.map(ownerPhrase).join(" and of ")} are never open together within a year`,
    subject: "window",
    means: "each opens, and never at the same time: nothing would ever merge",
    todo: "change one of them",
  },
});

const GATES_NEXT = entriesOf<GatesReasons>()({
  NEXT_JUDGED_AGAIN: { by: "itself", says: "Stagecoach looks again" },
  NEXT_LOOKED_AGAIN: { by: "itself", says: "Stagecoach looks again" },
  NEXT_READ: { by: "itself", says: "Stagecoach can read what is missing" },
  NEXT_COMMAND: { by: "person", says: "a person comments a command" },
  NEXT_MERGES: { by: "itself", says: "Stagecoach merges it" },
  NEXT_MERGED: { by: "itself", says: "GitHub merges it" },
  NEXT_MERGE_ENDS: { by: "itself", says: "GitHub shows the merge, or that it did not happen" },
  NEXT_PULL_READY: { by: "person", says: "a person marks {pull} as ready", subject: "pull" },
  NEXT_PULL_CLOSED: { by: "itself", says: "the pull request is closed" },
  NEXT_BUILT_SMALLER: { by: "itself", says: "Stagecoach rebuilds the batch, smaller" },
  NEXT_GUARD: { by: "itself", says: "the rendering ends" },
  NEXT_WELL: { by: "itself", says: "the Application becomes healthy, or counts as failed" },
  NEXT_CLOCKS_AGREE: { by: "itself", says: "the two clocks agree again" },
  NEXT_PROTECTED: { by: "person", says: "an owner of the repository sets that ruleset" },
  NEXT_SETTINGS: { by: "person", says: "somebody corrects the settings on the base branch" },
  NEXT_PLANE: {
    by: "itself",
    says: "Stagecoach can read that Argo CD again; or `/requeue` or `/skip` for {clusters}, so that the others go on",
    actions: ["requeue", "skip"],
  },
  NEXT_HALT_LIFTED: { by: "person", says: "somebody lifts the halt (`/halt --off`)", actions: ["halt"] },
  NEXT_HALT_ENDS: { by: "itself", says: "the halt ends" },
  NEXT_OTHERS_CONFIRMED: { by: "itself", says: "other clusters become healthy" },
  NEXT_LIMIT_RAISED: {
    by: "person",
    says: ({ setting }) => (isOwnLimit(setting) ? "somebody leaves a cluster out, or ends the run" : `somebody raises ${setting}`),
  },
  NEXT_DEPENDENCY: { by: "itself", says: "{rollout} becomes healthy there" },
  NEXT_APPROVED: {
    by: "person",
    says: ({ pull, teams = [], left = 1, released, author, merger }) => {
      const but =
        released.length > 0
          ? `not ${people(released, " or ")}, who released it`
          : `GitHub knows no account that released it (its commit says ${author}), so nobody is excluded`;
      const who = teams.length === 0 ? "of its approvers" : `of ${people(teams, " or ")}`;
      const does = left > 1 ? `${left} members ${who} approve` : `${teams.length === 0 ? "one" : "a member"} ${who} approves`;
      return `${does} ${pullPhrase(pull)} or ${left > 1 ? "comment" : "comments"} \`/promote\` on it; ${but}${merger === undefined ? "" : `, nor @${merger}, who merged it`}`;
    },
    actions: ["promote"],
  },
  NEXT_WINDOW: {
    by: "itself",
    says: ({ opens }) => (opens === undefined ? "the window opens" : `the window opens, ${inZone(opens.at, opens.timeZone)}`),
  },
  NEXT_WINDOWS_CHANGED: {
    by: "person",
    says: ({ where, all }) => `somebody changes the windows of ${where.map(ownerPhrase).join(all ? " and of " : " or of ")}`,
  },
  NEXT_PERSON_MERGES: {
    by: "person",
    says: ({ pull, promote }) => {
      if (pull === null && promote) return "a person moves its branches";
      return `a person merges ${pullPhrase(pull)}${promote ? ", or comments `/promote` on it" : ""}`;
    },
    actions: ["promote"],
  },
  NEXT_ANALYSIS_ENDS: { by: "itself", says: "the analysis passes, or fails" },
  NEXT_HOOK_ASKED: { by: "itself", says: "Stagecoach asks the hook again" },
  NEXT_HOOK_ANSWERS: { by: "itself", says: "the hook answers" },
  ASK_GUARD: {
    says: "correct what is named here, then `/resume` rebuilds the batch; or `/skip CLUSTER`; or `/abort`",
    actions: ["resume", "skip", "abort"],
  },
  ASK_RAISE_LIMIT: {
    says: ({ setting }) =>
      isOwnLimit(setting)
        ? `\`/skip CLUSTER\`; or \`/abort\`, raise ${setting} of the rollout, and release anew`
        : `raise ${setting} in ${SETTINGS_FILE}, then \`/resume\`; or \`/skip CLUSTER\`; or \`/abort\``,
    actions: ["resume", "skip", "abort"],
  },
});

/** What is said of a pull request, whose name is said once. */
function ofPull(state: string, pull: PullRef, why: string): string {
  const name = pullPhrase(pull);
  return why.startsWith(`${name} `) ? why : `${name} ${state}${why}`;
}

export const GATES: Entries<GatesReasons> = { ...STANDING, ...RULES, ...GATES_NEXT, ...GITHUB };
