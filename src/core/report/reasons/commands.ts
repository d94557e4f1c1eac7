import type { AnyReason } from "../../base/reason.ts";
import type { CommandReasons } from "../../reasons/commands.ts";
import type { CheckRef } from "../../reasons/refs.ts";
import { CLUSTER_COMMANDS } from "./commands-clusters.ts";
import { ROLLOUT_COMMANDS } from "./commands-rollouts.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { addStop, batchPhrase, checkPhrase, endPhrase, type Names, promotedPhrase, pullPhrase } from "./phrases.ts";

const MOST_NAMED = 20;

/** The clusters and checks that a command is about, in one list. */
function both(clusters: readonly string[], checks: readonly CheckRef[], names: Names): string {
  return [...(clusters.length > 0 ? [names.clusters(clusters)] : []), ...checks.slice(0, 5).map((check) => checkPhrase(check, names))].join(
    "; ",
  );
}

/** Why a run is paused: by whom, or what of. */
function pausedPhrase(because: AnyReason, names: Names): string {
  const why = names.because(because);
  return because.code === "PAUSED_BY" ? why : `the run is paused: ${why}`;
}

/** What came of commands. */
const GENERAL = entriesOf<CommandReasons>()({
  COMMAND_GIVEN: { subject: "person", says: "@{by} wrote `{text}`" },
  COMMAND_ENDED: { subject: "person", says: "@{by} wrote `{text}`: {outcome}" },
  RUN_STATUS: { subject: "run", says: "{phase}: {because}" },
  PERMISSION_MISSING: {
    subject: "person",
    says: "`/{command}` needs {needs} permission on this repository; @{by} has {has}",
    means: "somebody commented a command that needs more rights than they have",
    todo: "somebody with that permission gives it",
  },
  COMMAND_OF_FORMER_RUN: {
    subject: "run",
    says: ({ rollout, former, last, pull }) => {
      const where = pull === undefined ? "" : `, on its release's pull request #${pull} or on one of its batches`;
      return `this pull request is of ${rollout} #${former}, which is over: the last run is #${last}. Comment there instead${where}`;
    },
  },
  COMMAND_TOO_EARLY: {
    subject: "run",
    says: ({ before }) =>
      ({
        run: "the comment was written before this run started",
        failure: "the comment was written before the failure that it would answer",
        halt: "the comment was written before the halt that it would lift",
      })[before],
  },
  COMMAND_TOO_LATE: {
    subject: "run",
    says: "Stagecoach could not act on the comment within 15 minutes, so it does nothing: comment again if you still want this",
  },
  COMMAND_OVERTAKEN: {
    subject: "person",
    says: "@{by} wrote `{text}` later, and Stagecoach did that first: comment again if you still want this",
  },
  COMMAND_BEFORE_PULL: { subject: "pull", says: "the comment was written before {pull} was merged" },
  COMMAND_BEFORE_PAUSE: { subject: "run", says: "the comment was written before the pause that it would end: {because}" },
  RUN_HAS_ENDED: { subject: "run", says: "the run has ended: {phase}" },
  RUN_IS_ENDING: { subject: "run", says: "the run is ending: {because}" },
  RUN_IS_PAUSED: {
    subject: "run",
    actions: ["resume"],
    says: ({ because, ask }, names) => `${addStop(pausedPhrase(because, names))} Next: ${names.because(ask)}`,
  },
  HOTFIX_WHILE_PAUSED: {
    subject: "run",
    actions: ["resume"],
    says: ({ because, ask }, names) => `nothing merges, since ${addStop(pausedPhrase(because, names))} Next: ${names.because(ask)}`,
  },
  COMMAND_WAITS_FOR_MERGE: { subject: "pull", says: "`/{command}` of @{by} waits until GitHub has merged {pull}, or refused to" },

  ASK_RESUME: { subject: "run", actions: ["resume"], says: "`/resume` continues the run" },
  ASK_BESIDES: { subject: "run", actions: ["resume"], says: "{ask}. @{by} has paused the run as well: nothing merges until `/resume`" },
  ALREADY_PAUSED: { subject: "run", says: "the run is paused already: {because}" },
  PAUSED_BY: { subject: "person", actions: ["resume"], says: "@{by} paused the run[: {text}]" },
  PAUSED_BESIDES: { subject: "run", actions: ["resume"], says: "{because}; {held}" },
  PAUSE_DONE: { subject: "run", actions: ["resume"], says: "the run is paused: nothing merges until `/resume`" },
  NOT_PAUSED: { subject: "run", says: "the run is not paused" },
  RESUME_ACCEPTS_FAILURES: {
    subject: "run",
    actions: ["retry"],
    says: ({ clusters, checks }, names) =>
      `\`/resume\` would accept ${both(clusters, checks, names)} as failed, which needs maintain permission; \`/retry\` looks again`,
  },
  FAILED_SINCE: { subject: "cluster", says: "{clusters} failed after the comment was written: look at what failed, then comment again" },
  RESUMED_BY: { subject: "person", says: "@{by} resumed the run[: {text}]" },
  RESUME_DONE: {
    subject: "run",
    says: ({ accepted, clusters, checks }, names) => {
      if (accepted) return `the run goes on; accepted as failed: ${both(clusters, checks, names)}`;
      return checks.length > 0 ? `the run goes on past ${both([], checks, names)}` : "the run goes on";
    },
  },
  RESUMED_WITH_ROLLOUTS: { subject: "run", says: "{resumed}; Argo Rollouts: {rollouts}" },
  HEAD_CHANGED: { subject: "pull", says: "somebody pushed to it, so Stagecoach rebuilds it" },
  ABORTED_BY: { subject: "person", says: "@{by} aborted the run[: {text}]" },

  NOTHING_TO_PROMOTE: { subject: "run", says: "`/promote` has no wait to end: {because}" },
  PROMOTE_CAME_LATE: {
    subject: "run",
    says: ({ was, current, because }, names) => {
      const why =
        was === undefined
          ? "the run's page did not show this wait yet when the comment was written"
          : `the comment was for ${promotedPhrase(was)}, which is over`;
      const next = current === undefined ? names.because(because) : `to ${endPhrase(current)}, comment \`/promote\` again`;
      return `${why}, so nothing was done: ${next}`;
    },
  },
  PROMOTE_ON_FORMER_PULL: {
    subject: "pull",
    says: ({ batch, pull, current }) => {
      const what = current === undefined ? "nothing of it waits for `/promote`" : `to ${endPhrase(current)}, comment \`/promote\` there`;
      return `this is a former pull request of ${batchPhrase(batch)}, which has ${pullPhrase(pull)} now: ${what}`;
    },
  },
  PROMOTE_OF_OTHER_BATCH: {
    subject: "batch",
    says: ({ batch, current, because }, names) => {
      const where = current.pull === null || current.pull === 0 ? "on the release's pull request" : `on ${pullPhrase(current.pull)}`;
      return `${batchPhrase(batch)} has no wait to end (${names.because(because)}); to ${endPhrase(current)}, comment \`/promote\` ${where}`;
    },
  },
  BAKE_OVER: { subject: "batch", says: "its bake is over; {because}. `/promote --full` (needs maintain) ends analyses, too" },
  BAKE_ENDED: { subject: "batch", says: "the bake of {batch} ends now, if its <clusters> are healthy" },
  ANALYSIS_NOT_PROMOTED: {
    subject: "analysis",
    says: "`/promote` does not end an analysis: {because}. `/promote --full` (needs maintain) does",
  },
  STEP_PAUSE_ENDED: { subject: "batch", says: "the pause of {batch} ends now, if its <clusters> are healthy: on to {after}" },
  STAGE_APPROVED: { subject: "stage", says: '@{by} approved stage "{stage}"' },
  FULL_NEEDS_MAINTAIN: {
    subject: "person",
    says: ({ rollouts }) => `\`/promote ${rollouts ? "--rollouts " : ""}--full\` needs maintain permission`,
  },
  FULL_GIVEN_ALREADY: { subject: "run", says: "@{by} ended all waits already" },
  WAITS_ENDED_BY: { subject: "person", says: "@{by} ended all later waits" },
  FULL_DONE: {
    subject: "run",
    says: "the run waits for no bake, step pause or analysis any more; health, approvals, windows and halts still hold",
  },
  MODE_NEVER_MERGES: { subject: "pull", says: "the rollout's mode is {mode}, so Stagecoach never merges: merge {pull} yourself" },
  MERGES_BY_ITSELF: { subject: "pull", says: "Stagecoach merges {pull} by itself once its gates pass: {because}" },
  PROMOTED_ALREADY: { subject: "pull", says: "@{by} promoted {pull} already: {because}" },
  PROMOTE_DONE: { subject: "pull", says: "Stagecoach merges {pull} once GitHub allows it" },

  RETRY_OF_GOING_RUN: { subject: "run", says: "`/retry` is for a run that stopped on failures, and this one did not" },
  RETRIED_BY: { subject: "person", says: "@{by} retried it[: {text}]" },
  RETRY_DONE: {
    subject: "run",
    says: ({ clusters, checks, pausedBy }, names) => {
      const held = pausedBy === undefined ? "" : `; the run stays paused by @${pausedBy} until \`/resume\``;
      const again = both(clusters, checks, names);
      return `${again === "" ? "there is nothing to look at again" : `Stagecoach looks again at ${again}`}${held}`;
    },
  },
  TARGET_LOOKED_AT_ANEW: { subject: "application", says: "Stagecoach looks at it again" },
  NEXT_CLUSTERS_LOOKED_AT: { by: "itself", subject: "run", says: "Stagecoach looks at its <clusters> again" },

  ROLLBACK_OF_ROLLBACK: {
    subject: "run",
    actions: ["abort"],
    says: "this run is a rollback itself; `/abort` ends it, and a new release goes forward to the version you want",
  },
  ROLLBACK_OF_ENDED_ROLLBACK: {
    subject: "run",
    says: "this run is a rollback itself, and it has ended: a new release goes forward to the version you want",
  },
  ROLLING_BACK_ALREADY: { subject: "run", says: "it is being rolled back already, as {by} asked" },
  ROLLBACK_WANTS_VERSION: { subject: "run", says: "`--to` needs a version: `/rollback --to v1.4.1`" },
  ROLLBACK_WANTS_TO: {
    subject: "run",
    actions: ["rollback"],
    says: "to go back to {given}, comment `/rollback --to {given}`; to what each <cluster> had, `/rollback` alone",
  },
  COMMAND_FOR_WHOLE_RUN: {
    subject: "run",
    says: ({ command, names: given }) =>
      `\`/${command}\` is for the whole run, and ${given.slice(0, 5).join(", ")} looks like ${given.length === 1 ? "<a cluster>" : "<clusters>"}: comment \`/requeue CLUSTER\` or \`/skip CLUSTER\` for some of them, \`/${command}\` alone or with a reason in words for all`,
  },
  ROLLED_BACK_BY: { subject: "person", says: "@{by} rolled the run back[ to {to}][: {text}]" },
  ROLLBACK_DONE: {
    subject: "run",
    says: ({ clusters, left, because }, names) => {
      const why = because === undefined ? "" : ` (${names.because(because)})`;
      const rest = left.length === 0 ? "" : `; left as they are: ${names.clusters(left)}${why}`;
      return `a rollback run puts back ${names.clusters(clusters, MOST_NAMED)}, in reverse order${rest}`;
    },
  },
});

export const COMMANDS: Entries<CommandReasons> = { ...GENERAL, ...CLUSTER_COMMANDS, ...ROLLOUT_COMMANDS };
