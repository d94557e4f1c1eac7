/** What batches say of themselves: how they are made, proposed, merged and closed. */
import type { BatchesReasons } from "../../reasons/batches.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { obstaclePhrase } from "./obstacles.ts";
import { batchPhrase, pullPhrase } from "./phrases.ts";

export const BATCHES: Entries<BatchesReasons> = entriesOf<BatchesReasons>()({
  BATCH_BUILT_OFTEN: { says: "{batch} was built {times} times: {because}", subject: "batch", actions: ["resume", "abort"] },
  BATCH_MADE: {
    says: ({ batch, clusters, ahead }, names) =>
      `Stagecoach prepares ${batchPhrase(batch)}${ahead === true ? " ahead of its turn" : ""}: ${names.clusters(clusters)}`,
    subject: "batch",
  },
  BATCH_ATTEMPT: { says: "Stagecoach begins attempt {attempt} of {batch}", subject: "batch" },
  BATCH_OPENING: {
    says: ({ branches, again, clusters }, names) => {
      const of = names.clusters(clusters);
      if (clusters.length === 0)
        return `Stagecoach is ${branches ? "looking at its branches" : "opening its pull request"}${again ? " again" : ""}`;
      return branches ? `Stagecoach is looking at the branches of ${of}` : `Stagecoach is opening the pull request for ${of}`;
    },
    subject: "batch",
  },
  BATCH_NEEDS_NO_PULL: { says: "{batch} needs no pull request: the release is already on {clusters}", subject: "batch" },
  BATCH_PROPOSED: { says: "Stagecoach opened {pull} for {batch}", subject: "batch" },
  BATCH_MERGED: { says: "[{by}|Stagecoach] merged {pull} of {batch} as {commit}", subject: "batch" },
  BUILT_AGAIN: { says: "Stagecoach rebuilds it", subject: "batch" },
  ALL_LEFT_OUT: { says: "every <cluster> of it was left out", subject: "batch" },
  LIMITS_ALLOW_FEWER: { says: "the limits of the repo allow fewer at once", subject: "repository" },
  EARLIER_STAGE_FIRST: { says: "an earlier stage has <clusters> to catch up on", subject: "stage" },
  OPENING_REFUSED: {
    says: "GitHub refuses the batch's pull request, and Stagecoach keeps trying for a while: {because}",
    subject: "batch",
  },
  NOT_OPENED: {
    says: "Stagecoach cannot open the pull request of {batch}: {because}",
    subject: "batch",
    means: "GitHub refused the batch's branch or pull request again and again, by a rule of the repository or for want of a permission",
    todo: "change the rule or give the permission that is named, then `/resume`; or `/abort` ends the run",
  },
  PUT_OFF_SINCE: { says: "{clusters} were put off after the pull request was opened ahead of its turn", subject: "cluster" },
  NOT_OPENED_YET: { says: "the batch is not proposed yet: {because}", subject: "batch" },
  MUST_NOT_PROPOSE: { says: "Stagecoach does not propose {batch}: {because}", subject: "batch", actions: ["resume", "skip", "abort"] },
  PINS_UNREAD: { says: "waiting to read the pins of {clusters}", subject: "file" },
  PINNED_BY_HAND: {
    says: ({ value }) =>
      value === undefined
        ? "somebody removed its pin by hand, so Stagecoach leaves it as it is"
        : `somebody pinned it by hand to ${value}, so Stagecoach leaves it as it is`,
    subject: "cluster",
  },
  PINNED_WITH: {
    says: "it shares its pin with {cluster}, which somebody pinned by hand, so Stagecoach leaves it as it is",
    subject: "cluster",
  },
  CLUSTER_EVENT: { says: "{cluster}: {because}", subject: "cluster" },
  CLUSTER_GONE: { says: "the <cluster> and its pin are gone", subject: "cluster" },
  CLUSTER_LEFT: { says: "{cluster} left the rollout: the <cluster> and its pin are gone", subject: "cluster" },
  PIN_GONE_UNSEEN: {
    says: "the pin of {cluster} is gone, and Stagecoach cannot read the clusters yet to see whether {cluster} left",
    subject: "cluster",
  },
  PIN_GONE: {
    says: ({ cluster, file, path }, names) =>
      `the pin of ${names.cluster(cluster)} is gone from ${file === undefined ? `branch ${path ?? ""}` : `${file} (${path ?? ""})`} though the <cluster> is still registered`,
    subject: "cluster",
    actions: ["resume", "skip", "abort"],
  },
  PULL_UNKNOWN: { says: "waiting for GitHub to show what there is of the batch", subject: "pull" },
  PULL_CLOSING: { says: "Stagecoach closes {pull}: {because}", subject: "pull" },
  PULL_CLOSED: { says: "[{by}|Stagecoach] closed {pull}", subject: "pull" },
  CLOSED_UNMERGED: { says: "{by} closed {pull} ({batch}) without merging it", subject: "pull", actions: ["resume", "skip", "abort"] },
  CHANGED_NOT_MERGED: { says: "{because}, so it is not merged", subject: "pull", actions: ["resume", "abort"] },
  BRANCH_TAKEN: {
    says: "somebody else made the branch {branch} (at {head}), so Stagecoach opens no pull request on it",
    subject: "repository",
    actions: ["resume", "abort"],
  },
  GITHUB_REFUSES: {
    says: ({ pull, obstacles, message }) => `GitHub refuses to merge ${pullPhrase(pull)}${obstaclePhrase({ obstacles, message })}`,
    subject: "pull",
    actions: ["resume", "abort"],
  },
  GITHUB_WAITS: { says: "GitHub does not merge {pull} yet", subject: "pull" },
  INTENTION_LAPSED: { says: "GitHub has not merged {pull} in time; Stagecoach tries again", subject: "pull" },
  QUEUE_ENTERED: { says: "{pull} is in GitHub's merge queue", subject: "pull" },
  QUEUE_LEFT: { says: "{pull} left the merge queue", subject: "pull" },
  QUEUE_REFUSED: {
    says: ({ pull, ...why }) => `GitHub took ${pullPhrase(pull)} out of its merge queue without merging it${whyOut(why)}`,
    subject: "pull",
    actions: ["resume", "abort"],
  },
  MERGE_UNEXPECTED: {
    says: "the merge commit {commit} of {pull} is not exactly the change of its batch",
    subject: "pull",
    actions: ["resume", "abort"],
  },
  MERGED_EARLY: { says: "{by} merged {pull} before its gates allowed it: {because}", subject: "pull", actions: ["resume", "abort"] },
  MERGED_BEFORE_CLOSED: {
    says: "GitHub merged it before Stagecoach could close it, so the <clusters> that were to be left out have the release",
    subject: "batch",
  },
  TARGET_IN_PULL: { says: "waiting for {pull} to merge", subject: "pull" },
  TARGET_PULL_CLOSED: { says: "its pull request was closed without a merge", subject: "pull" },
  TARGET_MERGED: { says: "merged; Argo CD has not shown the change yet", subject: "application" },
  TARGET_PUT_BACK: { says: "it was put off and merged all the same, so Stagecoach puts back what it had", subject: "cluster" },
  WENT_ON_TO_WEIGHT: { says: "it went on to weight {weight}", subject: "cluster" },
  STAYS_AT_WEIGHT: { says: "it stays at weight {weight}, and the steps that follow leave it out", subject: "cluster" },
  NEXT_OPEN: {
    by: "itself",
    says: ({ branches }) => (branches ? "Stagecoach may move the branches" : "Stagecoach opens the pull request"),
  },
  ASK_TRY_AGAIN: { says: "`/resume` tries again, `/abort` ends the run", actions: ["resume", "abort"] },
  ASK_LET_OPEN: { says: "do what GitHub asks for, then `/resume`; or `/abort` ends the run", actions: ["resume", "abort"] },
  ASK_DELETE_BRANCH: { says: "delete that branch, then `/resume`; or `/abort` ends the run", actions: ["resume", "abort"] },
  ASK_BUILD_AGAIN: { says: "`/resume` closes and rebuilds it, `/abort` ends the run", actions: ["resume", "abort"] },
  ASK_QUEUE: { says: "look at its checks in the queue, then `/resume` puts it in again; or `/abort`", actions: ["resume", "abort"] },
  ASK_CLOSED: {
    says: "`/resume` opens it again as a new pull request, `/skip CLUSTER` leaves <clusters> out, `/abort` ends the run",
    actions: ["resume", "skip", "abort"],
  },
  ASK_UNEXPECTED: { says: "look at the commit; `/resume` accepts it, `/abort` ends the run", actions: ["resume", "abort"] },
  ASK_MERGED_EARLY: { says: "`/resume` continues once its <clusters> are healthy, `/abort` ends the run", actions: ["resume", "abort"] },
  ASK_CHANGE_NAMED: {
    says: "correct what is named here, then `/resume`; or `/skip CLUSTER`; or `/abort`",
    actions: ["resume", "skip", "abort"],
  },
  ASK_PIN_BACK: { says: "put the pin back, then `/resume`; or `/skip {cluster}`; or `/abort`", actions: ["resume", "skip", "abort"] },
});

/** Why GitHub's merge queue did not merge it, in our words, with GitHub's own behind them. */
function whyOut({ message, obstacles = [], failed = [], head }: Omit<BatchesReasons["QUEUE_REFUSED"], "pull">): string {
  if (message !== undefined) return obstaclePhrase({ obstacles, message });
  if (failed.length === 0) return ", and does not say why";
  return `: ${failed.join(", ")} failed on its merge group${head === undefined ? "" : ` ${head.slice(0, 10)}`}`;
}
