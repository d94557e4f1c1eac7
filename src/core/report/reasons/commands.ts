import { count } from "../../base/count.ts";
import type { Words } from "../../base/reason.ts";
import type { CommandReasons } from "../../reasons/commands.ts";
import type { CheckRef } from "../../reasons/refs.ts";
import type { Entries, Names } from "./entry.ts";
import { batchPhrase, checkPhrase, pullPhrase } from "./phrases.ts";

const MOST_NAMED = 20;

/** The clusters and checks that a command is about, in one list. */
function both(clusters: readonly string[], checks: readonly CheckRef[], names: Names): string {
  return [...(clusters.length > 0 ? [names.clusters(clusters)] : []), ...checks.slice(0, 5).map((check) => checkPhrase(check, names))].join(
    "; ",
  );
}

/** Names as people wrote them; none: all. */
function written(clusters: readonly string[]): string {
  return clusters.length === 0 ? "every cluster" : clusters.join(", ");
}

function listed(reasons: readonly Words[], more: number, names: Names): string {
  const some = reasons.map((reason) => names.because(reason)).join("; ");
  return more > 0 ? `${some}; and ${more} more` : some;
}

const ROLLOUTS_DONE_WORDS: Record<string, string> = {
  resume: "resumed",
  "promote-full": "promoted to the end",
  abort: "aborted",
  retry: "tried again",
};

/** What came of commands. */
export const COMMANDS: Entries<CommandReasons> = {
  COMMAND_GIVEN: { subject: "person", says: ({ by, text }) => `${by}: ${text}` },
  COMMAND_ENDED: { subject: "person", says: ({ by, text, outcome }) => `${by}: ${text}: ${outcome}` },
  RUN_STATUS: { subject: "run", says: ({ phase, because }, names) => `${phase}: ${names.because(because)}` },
  PERMISSION_MISSING: {
    subject: "person",
    says: ({ command, needs, by, has }) => `/${command} needs ${needs} permission on this repository; @${by} has ${has}`,
    help: { means: "Somebody commented a command that needs more rights than they have.", todo: "Somebody with that permission gives it." },
  },
  COMMAND_NOT_BUILT: { subject: "run", says: ({ command }) => `/${command} is not available yet in this version` },
  COMMAND_OF_FORMER_RUN: {
    subject: "run",
    says: ({ rollout, former, last, pull }) => {
      const where = pull === undefined ? "" : `, on its release's page #${pull} or on a pull request of its batches`;
      return `this pull request is of ${rollout} #${former}, which is over: the last run is #${last}; say it there${where}`;
    },
  },
  COMMAND_TOO_EARLY: {
    subject: "run",
    says: ({ before }) =>
      ({
        run: "it was written before this run started",
        bake: "it was written before this bake began",
        wait: "it was written before this wait began",
        failure: "it was written before the failure it would answer",
      })[before],
  },
  COMMAND_BEFORE_PULL: { subject: "pull", says: ({ pull, event }) => `it was written before ${pullPhrase(pull)} was ${event}` },
  COMMAND_BEFORE_PAUSE: {
    subject: "run",
    says: ({ because }, names) => `it was written before the pause it would end: ${names.because(because)}`,
  },
  RUN_HAS_ENDED: { subject: "run", says: ({ phase }) => `the run has ended: ${phase}` },
  RUN_IS_ENDING: { subject: "run", says: ({ because }, names) => `the run is ending: ${names.because(because)}` },
  RUN_IS_PAUSED: {
    subject: "run",
    actions: ["resume"],
    says: ({ because, ask }, names) => `the run is paused: ${names.because(because)}. Next: ${names.because(ask)}`,
  },
  HOTFIX_WHILE_PAUSED: {
    subject: "run",
    actions: ["resume"],
    says: ({ because, ask }, names) => `the run is paused, and nothing merges: ${names.because(because)}. Next: ${names.because(ask)}`,
  },
  COMMAND_WAITS_FOR_MERGE: {
    subject: "pull",
    says: ({ command, by, pull }) => `/${command} of @${by} waits for the outcome of merging ${pullPhrase(pull)}`,
  },

  ASK_RESUME: { subject: "run", actions: ["resume"], says: () => "`/resume` goes on" },
  ASK_BESIDES: {
    subject: "run",
    actions: ["resume"],
    says: ({ ask, by }, names) =>
      `${names.because(ask)}. Whatever is done about it, nothing merges until \`/resume\`, since @${by} paused the run`,
  },
  ALREADY_PAUSED: { subject: "run", says: ({ because }, names) => `the run is paused already: ${names.because(because)}` },
  PAUSED_BY: { subject: "person", actions: ["resume"], says: ({ by, text }) => `@${by} paused the run${text === "" ? "" : `: ${text}`}` },
  PAUSED_BESIDES: {
    subject: "run",
    actions: ["resume"],
    says: ({ because, held }, names) => `${names.because(because)}; ${names.because(held)}`,
  },
  PAUSE_DONE: { subject: "run", actions: ["resume"], says: () => "paused: nothing merges until `/resume`" },
  NOT_PAUSED: { subject: "run", says: () => "the run is not paused" },
  RESUME_ACCEPTS_FAILURES: {
    subject: "run",
    actions: ["retry"],
    says: ({ clusters, checks }, names) =>
      `/resume would accept ${both(clusters, checks, names)} as failed, which needs maintain permission; \`/retry\` looks again`,
  },
  FAILED_SINCE: {
    subject: "cluster",
    says: ({ clusters }, names) => `${names.clusters(clusters)} failed after it was written: look again, and say it again`,
  },
  RESUMED_BY: { subject: "person", says: ({ by }) => `resumed by ${by}` },
  RESUME_DONE: {
    subject: "run",
    says: ({ accepted, clusters, checks }, names) => {
      if (accepted) return `resumed; accepted as failed: ${both(clusters, checks, names)}`;
      return checks.length > 0 ? `resumed; gone on past: ${both([], checks, names)}` : "resumed";
    },
  },
  RESUMED_WITH_ROLLOUTS: {
    subject: "run",
    says: ({ resumed, rollouts }, names) => `${names.because(resumed)}; Argo Rollouts: ${names.because(rollouts)}`,
  },
  HEAD_CHANGED: { subject: "pull", says: () => "its head was changed: it is built again" },
  ABORTED_BY: { subject: "person", says: ({ by, text }) => `@${by} aborted the run${text === "" ? "" : `: ${text}`}` },

  NOTHING_TO_PROMOTE: { subject: "run", says: ({ because }, names) => `there is no wait that /promote ends: ${names.because(because)}` },
  BAKE_OVER: {
    subject: "batch",
    says: ({ because }, names) => `its bake is over; ${names.because(because)}. \`/promote --full\` (maintain) ends analyses, too`,
  },
  BAKE_ENDED: { subject: "batch", says: ({ batch }) => `the bake of ${batchPhrase(batch)} ends now, if its clusters are healthy` },
  ANALYSIS_NOT_PROMOTED: {
    subject: "analysis",
    says: ({ because }, names) =>
      `an analysis is not ended by /promote: ${names.because(because)}. \`/promote --full\` (maintain) ends analyses, too`,
  },
  STEP_PAUSE_ENDED: {
    subject: "batch",
    says: ({ batch, next }, names) =>
      `the pause of ${batchPhrase(batch)} is over, if its clusters are healthy: on to ${names.because(next)}`,
  },
  STAGE_APPROVED: { subject: "stage", says: ({ stage, by }) => `stage "${stage}" is approved by @${by}` },
  FULL_NEEDS_MAINTAIN: {
    subject: "person",
    says: ({ rollouts }) => `/promote ${rollouts ? "--rollouts " : ""}--full needs maintain permission`,
  },
  FULL_GIVEN_ALREADY: { subject: "run", says: ({ by }) => `@${by} ended all waits already` },
  WAITS_ENDED_BY: { subject: "person", says: ({ by }) => `all later waits ended by ${by}` },
  FULL_DONE: {
    subject: "run",
    says: () => "no bake, step pause or analysis of this run is waited for any more; health, approvals, windows and halts are",
  },
  MODE_NEVER_MERGES: {
    subject: "pull",
    says: ({ mode, pull }) => `the rollout's mode is ${mode}: Stagecoach never merges; merge ${pullPhrase(pull)} yourself`,
  },
  MERGES_BY_ITSELF: {
    subject: "pull",
    says: ({ pull, because }, names) => `${pullPhrase(pull)} is merged by itself once its gates pass: ${names.because(because)}`,
  },
  PROMOTED_ALREADY: {
    subject: "pull",
    says: ({ by, pull, because }, names) => `@${by} promoted ${pullPhrase(pull)} already: ${names.because(because)}`,
  },
  PROMOTE_DONE: { subject: "pull", says: ({ pull }) => `${pullPhrase(pull)} is merged once GitHub allows it` },

  CLUSTER_UNKNOWN: { subject: "cluster", says: ({ name }) => `no cluster "${name}" in this run` },
  CLUSTER_AMBIGUOUS: { subject: "cluster", says: ({ name, keys }) => `"${name}" is ambiguous: ${keys.join(", ")}` },
  CLUSTER_SHARES_PIN: {
    subject: "cluster",
    says: ({ cluster, others }, names) => `${names.cluster(cluster)} shares its pin with ${names.clusters(others)}: name them all`,
  },
  CLUSTERS_NOT_NAMED: {
    subject: "cluster",
    says: ({ command }) =>
      ({
        skip: "name the clusters: /skip CLUSTER…",
        requeue: "name the clusters: /requeue CLUSTER… or /requeue failed",
        hotfix: "name the clusters: `/hotfix eu-1 customer down`",
      })[command],
  },
  LEFT_OUT_BY: { subject: "person", says: ({ by }) => `left out by @${by}` },
  CLUSTER_LEFT_OUT: { subject: "cluster", says: ({ cluster, because }, names) => `${names.cluster(cluster)} ${names.because(because)}` },
  BATCH_LOSES_CLUSTER: {
    subject: "batch",
    says: ({ by }) =>
      ({
        skip: "a cluster of it is left out",
        requeue: "a cluster of it is put off",
        retry: "a cluster of it is tried again",
      })[by],
  },
  SKIP_DONE: { subject: "cluster", says: ({ clusters }, names) => `left out of this run: ${names.clusters(clusters, MOST_NAMED)}` },
  LEFT_OUT_ALREADY: { subject: "cluster", says: ({ cluster }, names) => `${names.cluster(cluster)} is left out of this run already` },
  CONFIRMED_ALREADY: { subject: "cluster", says: ({ cluster }, names) => `${names.cluster(cluster)} is confirmed already` },
  DURATION_INVALID: { subject: "run", says: ({ text }) => `--for wants a duration such as 30m or 2h, not "${text}"` },
  PUT_OFF_BY: { subject: "person", says: ({ by }) => `put off by @${by}` },
  REQUEUE_DONE: {
    subject: "cluster",
    says: ({ clusters, back }, names) => {
      const first = back.length === 0 ? "" : `; first a batch puts back what ${names.clusters(back, MOST_NAMED)} had before`;
      return `put to the stage's end: ${names.clusters(clusters, MOST_NAMED)}${first}`;
    },
  },
  NOTHING_FAILED: { subject: "run", says: () => "no cluster has failed" },
  BEING_PUT_BACK: {
    subject: "cluster",
    says: ({ cluster, because }, names) => `${names.cluster(cluster)} is being put back already: ${names.because(because)}`,
  },
  PUT_OFF_ALREADY: {
    subject: "cluster",
    says: ({ cluster, because }, names) => `${names.cluster(cluster)} is put off already: ${names.because(because)}`,
  },
  GOES_ON_AFTER: { subject: "run", says: ({ command, by }) => `goes on after /${command} of ${by}` },

  HALT_TOO_MANY: { subject: "cluster", says: ({ most }) => `at most ${most} clusters in one halt; without cluster= it is for all` },
  HALT_NAMES_NONE: { subject: "cluster", says: () => "cluster= names no cluster: `/halt cluster=eu-1,eu-2 reason`" },
  HALT_WANTS_REASON: { subject: "run", says: () => "say why: `/halt cluster=eu-1 --for 2h network maintenance`" },
  HALTED_BY: { subject: "cluster", actions: ["halt"], says: ({ clusters, by }) => `${written(clusters)} halted by ${by}` },
  HALT_DONE: {
    subject: "cluster",
    actions: ["halt"],
    says: ({ clusters, until }) =>
      `no run of this repo merges a change for ${written(clusters)} ${until === undefined ? "until `/halt --off`" : `until ${until}`}`,
  },
  HALT_NOT_FOUND: {
    subject: "cluster",
    says: ({ clusters, rollout, elsewhere }) => {
      const also = elsewhere ? "; one of another rollout is lifted on that rollout's pull request" : "";
      return `no halt${clusters.length === 0 ? "" : ` of ${written(clusters)}`} was made on a pull request of ${rollout}${also}`;
    },
  },
  HALT_LIFTED_BY: { subject: "cluster", says: ({ clusters, by }) => `halt of ${written(clusters)} lifted by ${by}` },
  HALT_LIFTED: { subject: "cluster", says: ({ clusters }) => `the halt of ${written(clusters)} is lifted` },

  HOTFIX_OF_ROLLBACK: { subject: "run", says: () => "this run is a rollback: its clusters go back in order" },
  HOTFIX_WANTS_REASON: { subject: "run", says: ({ names }) => `say why: \`/hotfix ${names.join(" ")} customer down\`` },
  HOTFIX_STAGES_DIFFER: { subject: "stage", says: () => "these clusters are of different stages: one command for each stage" },
  HOTFIX_TOO_LARGE: { subject: "stage", says: ({ most }) => `at most ${most} of this stage may be in flight at once` },
  HOTFIX_OVER_LIMITS: { subject: "repository", says: ({ allowed }, names) => `the repo's limits allow ${names.because(allowed)}` },
  CLUSTERS_KEPT_APART: {
    subject: "cluster",
    says: ({ clusters }, names) => `${names.clusters(clusters)} are kept apart in this stage: one command for each`,
  },
  HOTFIX_DONE: {
    subject: "cluster",
    says: ({ clusters, text }, names) =>
      `${names.clusters(clusters, MOST_NAMED)} next, out of turn: ${text}. Health, approvals, halts and limits hold as ever`,
  },
  IN_BATCH_ALREADY: {
    subject: "cluster",
    says: ({ cluster, because }, names) => `${names.cluster(cluster)} is in a batch already: ${names.because(because)}`,
  },
  MOVED_ALREADY: {
    subject: "cluster",
    says: ({ cluster, because }, names) => `${names.cluster(cluster)} has moved already: ${names.because(because)}`,
  },

  RETRY_OF_GOING_RUN: { subject: "run", says: ({ phase }) => `/retry is for a run that stopped on failures; this one is ${phase}` },
  RETRIED_BY: { subject: "person", says: ({ by }) => `retried by @${by}` },
  RETRY_DONE: {
    subject: "run",
    says: ({ clusters, checks, pausedBy }, names) => {
      const again = clusters.length > 0 || checks.length === 0 ? [names.clusters(clusters)] : [];
      const held = pausedBy === undefined ? "" : `; the run stays paused by @${pausedBy} until \`/resume\``;
      return `looked at anew: ${[...again, ...checks.slice(0, 5).map((check) => checkPhrase(check, names))].join("; ")}${held}`;
    },
  },
  TARGET_LOOKED_AT_ANEW: { subject: "application", says: () => "looked at anew" },
  NEXT_CLUSTERS_LOOKED_AT: { subject: "run", says: () => "its clusters are looked at again" },

  ROLLBACK_OF_ROLLBACK: {
    subject: "run",
    actions: ["abort"],
    says: () => "this run is a rollback itself; `/abort` ends it, and a release of the version you want goes forward again",
  },
  ROLLING_BACK_ALREADY: { subject: "run", says: ({ by }) => `it is being rolled back already, as asked by ${by}` },
  ROLLBACK_WANTS_VERSION: { subject: "run", says: () => "--to wants a version: `/rollback --to v1.4.1`" },
  ROLLED_BACK_BY: { subject: "person", says: ({ by, to }) => `@${by} rolled it back${to === undefined ? "" : ` to ${to}`}` },
  ROLLBACK_DONE: {
    subject: "run",
    says: ({ clusters, left, because }, names) => {
      const rest = left.length === 0 ? "" : `; left as they are: ${names.clusters(left)} (${names.because(because ?? "")})`;
      return `${names.clusters(clusters, MOST_NAMED)} go back, in reverse order, as a run of its own${rest}`;
    },
  },

  NOT_OF_ROLLOUTS: { subject: "application", says: ({ command }) => `/${command} has nothing to do with Argo Rollouts` },
  ROLLOUTS_NOT_MERGED: {
    subject: "application",
    says: () => "nothing of it is merged yet, so its Argo Rollouts are those of the release before",
  },
  ROLLOUTS_TOO_MANY: {
    subject: "application",
    says: ({ count: many }) => `${many} Rollouts are more than one command acts on: give it on a batch's PR`,
  },
  ROLLOUTS_ORDERED: {
    subject: "application",
    says: ({ by, action, clusters }, names) => `${by}: ${action} the Rollouts of ${names.clusters(clusters)}`,
  },
  ROLLOUTS_UNSEEN: {
    subject: "application",
    says: ({ cluster, because }, names) =>
      `nothing was done, since the clusters of a batch move together, and of ${cluster}: ${names.because(because)}`,
  },
  ROLLOUTS_ALL_UNSEEN: { subject: "application", says: ({ left }, names) => listed(left, 0, names) },
  ROLLOUT_UNSEEN: { subject: "application", says: ({ cluster, because }, names) => `${cluster}: ${names.because(because)}` },
  ROLLOUT_STATE: {
    subject: "application",
    says: ({ cluster, name, ...state }) => `${cluster} ${name} (${rolloutPhrase(state)})`,
  },
  ROLLOUT_NOT_TRIED: { subject: "application", says: () => "it could not be tried in time" },
  ROLLOUTS_BROKEN: {
    subject: "application",
    actions: ["retry"],
    says: ({ rollouts, more }, names) =>
      `${listed(rollouts, more, names)}: a Rollout that is aborted or degraded is not promoted; \`/retry --rollouts\` first`,
  },
  ROLLOUTS_BEHIND: {
    subject: "application",
    says: ({ rollouts, more }, names) =>
      `not all of the batch are at one step yet. Behind: ${listed(rollouts, more, names)}. Once they are paused there, say it again`,
  },
  ROLLOUTS_NONE: { subject: "application", says: () => "the batch has no Argo Rollouts" },
  ROLLOUTS_NONE_SUCH: {
    subject: "application",
    says: ({ wanted, rollouts, more }, names) => `no Argo Rollout of the batch is ${wanted}: ${listed(rollouts, more, names)}`,
  },
  ROLLOUTS_DONE: {
    subject: "application",
    says: ({ action, also, done, clusters, failed, left }, names) => {
      const word = ROLLOUTS_DONE_WORDS[action] ?? action;
      const parts = also === undefined ? [] : [names.because(also)];
      if (done > 0) parts.push(`${word}: ${count(done, "Argo Rollout")} on ${names.clusters(clusters)}`);
      for (const { cluster, name, because } of failed) parts.push(`not ${word}: ${cluster} ${name}: ${names.because(because)}`);
      if (left.length > 0) parts.push(`left as they are: ${listed(left, 0, names)}`);
      return parts.join("; ").slice(0, 2000);
    },
  },
};

/** How an Argo Rollout stands: `Paused at step 1/4`. */
export function rolloutPhrase({ phase, paused, step, steps }: { phase: string; paused: boolean; step?: number; steps?: number }): string {
  const word = paused && phase !== "Degraded" ? "Paused" : phase;
  return step === undefined || steps === undefined ? word : `${word} at step ${Math.min(step, steps)}/${steps}`;
}
