/** How a run goes on from batch to batch and stage to stage, and to its end. */
import { count } from "../../base/count.ts";
import { formatDuration } from "../../base/time.ts";
import type { StageReasons } from "../../reasons/stages.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { batchPhrase, clock } from "./phrases.ts";

export const STAGES: Entries<StageReasons> = entriesOf<StageReasons>()({
  RUN_BEGINS: { says: "the release is merged, and Stagecoach starts the run", subject: "run" },
  RUN_STARTED: { says: "the run has started", subject: "run" },
  PAUSED: { says: ({ because }, names) => (because.code === "PAUSED_BY" ? "" : "paused: ") + names.because(because), subject: "run" },
  STAGE_DONE: { says: 'stage "{stage}" is done', subject: "stage" },
  BATCH_BAKING: { says: "every <cluster> of {batch} is healthy; the bake of {forMs} begins", subject: "batch" },
  BATCH_BAKES: {
    says: ({ clusters, since }, names) =>
      `${names.clusters(clusters)} ${clusters.length === 1 ? "has" : "have"} been healthy since ${clock(since)}; the bake goes on`,
    subject: "batch",
  },
  BATCH_READ_AGAIN: {
    says: "[the pause at weight {weight}|the bake] is over; Stagecoach checks {clusters} in Argo CD once more before the next batch",
    subject: "batch",
  },
  BATCH_UNCONFIRMED: { says: "the bake is over, but Stagecoach cannot check {clusters} just now: {because}", subject: "batch" },
  BATCH_AWAITS_HEALTH: { says: "waiting for {clusters} to become healthy ({confirmed} of {of} are): {because}", subject: "batch" },
  BATCH_UNDECIDED: {
    says: "some of its <clusters> failed, and a person has to decide",
    subject: "batch",
    actions: ["retry", "resume", "abort"],
  },
  BATCH_SETTLED: { says: "{batch} is done", subject: "batch" },
  BATCH_CONFIRMED: { says: "every <cluster> is healthy", subject: "batch" },
  BATCH_SETTLED_WITH: {
    says: ({ failed, excused }, names) => {
      const parts: string[] = [];
      if (failed.length > 0) parts.push(`${names.clusters(failed)} failed, which the stage allows`);
      if (excused.length > 0) parts.push(`${names.clusters(excused)} failed, as before the batch`);
      return `done; ${parts.join("; ")}`;
    },
    subject: "batch",
  },
  TARGET_BAKED: { says: "healthy at the release", subject: "application" },
  TARGET_HAS_OLD: { says: "healthy at its former version", subject: "application" },

  WAIT_BEGINS: { says: { again: { true: "{batch} begins its {wait} again", false: "{batch} begins its {wait}" } }, subject: "batch" },
  WAIT_OVER: { says: "{batch} has ended its {wait}", subject: "batch" },
  STEP_AWAITS_PERSON: {
    says: "paused at weight {weight} until somebody comments `/promote`; {clusters} healthy",
    subject: "batch",
    actions: ["promote"],
  },
  STEP_PAUSED: {
    says: ({ weight, forMs, clusters, since }, names) =>
      `paused at weight ${weight} for ${formatDuration(forMs)}, ${names.clusters(clusters)} healthy since ${clock(since)}`,
    subject: "batch",
  },
  STEP_UNCONFIRMED: {
    says: "the pause at weight {weight} is over, but Stagecoach cannot check {clusters} just now: {because}",
    subject: "batch",
  },
  LEFT_AT_WEIGHT: { says: "stays at weight {weight}: it shares its pin with {clusters}, which did not get through", subject: "cluster" },

  CLUSTERS_UNREAD: {
    says: {
      about: {
        apart: "Stagecoach has yet to read the <clusters>' labels, which say what is kept apart",
        putOff: "Stagecoach has yet to read the <clusters>' labels, which say what is put off",
        requeued: "Stagecoach has yet to read the <clusters>' labels, which say whether requeued ones may be tried",
      },
    },
    subject: "controlPlane",
  },
  REFILL_WAITS: { says: "the stage's next pull request waits: Stagecoach opens one every 2 minutes at most", subject: "stage" },
  CANNOT_TRAVEL: {
    says: "{clusters} have to wait: more than {most} of them change at once, or the stage keeps them apart from <clusters> that are being updated",
    subject: "stage",
  },
  CLUSTERS_PUT_OFF: {
    says: ({ clusters, because }, names) =>
      clusters.length === 1
        ? `${names.clusters(clusters)} is put off: ${names.because(because)}`
        : `${count(clusters.length, "cluster")} are put off (${names.clusters(clusters)}); the first: ${names.because(because)}`,
    subject: "stage",
  },
  PUT_TO_END: {
    says: ({ clusters, because }, names) =>
      `the stage updates ${names.clusters(clusters, clusters.length)} last: ${names.because(because)}`,
    subject: "cluster",
  },
  REQUEUE_MATCHED: { says: "it matches the stage's requeue selector, so the stage takes it last", subject: "cluster" },
  REQUEUE_STILL_MATCHES: { says: "it still matches the requeue selector (check {attempt} of {of})", subject: "cluster" },
  REQUEUED_TOO_OFTEN: { says: ({ attempts }) => `it is still put off after ${count(attempts, "check")}`, subject: "cluster" },
  JOINED_LATE: { says: "it joined during the run, and gets the release after the last stage", subject: "cluster" },
  REVERT_OF_MADE_PIN: {
    says: ({ cluster, file }, names) => {
      const name = names.cluster(cluster);
      const made = `since this run made its pin in ${file} and nothing stood there before`;
      return `Stagecoach cannot put ${name} back, ${made}; \`/skip ${name}\` goes on without it`;
    },
    subject: "cluster",
    actions: ["skip"],
  },

  QUARANTINE_UNREACHABLE: { says: "Argo CD cannot reach it: {because}", subject: "cluster" },
  QUARANTINE_MATCHED: { says: "it matches the quarantine selector", subject: "cluster" },
  QUARANTINED_WITH: { says: "it shares its pin with {cluster}, which is in quarantine: {because}", subject: "cluster" },
  QUARANTINED: { says: "the run leaves {clusters} out, in quarantine: {because}", subject: "cluster" },
  QUARANTINE_FULL: {
    says: ({ clusters, most, because }, names) =>
      `${count(clusters.length, "cluster")} ${clusters.length === 1 ? "is" : "are"} in quarantine (${names.clusters(clusters)}), and the rollout allows ${most}: ${names.because(because)}`,
    subject: "cluster",
    actions: ["resume", "skip", "abort"],
  },
  QUARANTINED_IN_BATCH: { says: "a cluster of it cannot be reached, or is stopped", subject: "cluster" },
  QUARANTINE_OVER: { says: "the run takes {clusters} back from quarantine", subject: "cluster" },
  BACK_FROM_QUARANTINE: { says: "it is back from quarantine, and gets the release after the last stage", subject: "cluster" },

  RUN_SUPERSEDED: {
    says: ({ values, commit }) => `a newer release took over: ${values.join(", ")} (${commit.slice(0, 10)})`,
    subject: "run",
  },
  END_AWAITS_PULLS: {
    says: ({ because, open }, names) => {
      const what = open.map((one) => (typeof one === "number" ? `#${one}` : batchPhrase(one))).join(", ");
      return `${names.because(because)}: waiting until GitHub shows ${what} closed or merged`;
    },
    subject: "run",
  },
  END_AWAITS_CLUSTERS: { says: "{because}: waiting for {clusters} to become healthy or to fail", subject: "run" },
  END_AWAITS_CHECKS: { says: "{because}: waiting for its hooks and analyses to end", subject: "run" },
  ABORT_DONE: { says: "the run is aborted, and none of its pull requests is open", subject: "run" },

  NEXT_FIRST_BATCH: { by: "itself", says: "Stagecoach opens the first batch" },
  NEXT_BAKE_ENDS: { by: "itself", says: "the bake ends" },
  NEXT_PAUSE_ENDS: { by: "itself", says: "the pause ends" },
  NEXT_PROMOTED: { by: "person", says: "`/promote` goes on to {after}", actions: ["promote"] },
  NEXT_HEALTHY_AGAIN: { by: "itself", says: "Argo CD shows it healthy again" },
  NEXT_CONFIRMED: { by: "itself", says: "Argo CD shows it healthy" },
  NEXT_CONFIRMED_OR_FAILED: { by: "itself", says: "Argo CD shows it healthy, or it counts as failed" },
  NEXT_CONFIRMED_OR_ASKED: { by: "itself", says: "Argo CD shows it healthy, or the run pauses and asks a person" },
  NEXT_WINDOW_FILLED: { by: "itself", says: "Stagecoach opens the next pull request of the stage" },
  NEXT_PHASE: { by: "itself", says: "the run ends as {phase}" },
  NEXT_NEWER_RUN: { by: "itself", says: "the newer run starts" },
  NEXT_PULLS_CLOSED: { by: "itself", says: "Stagecoach closes its open pull requests" },

  ASK_QUARANTINE: {
    says: "`/resume` continues without them, `/skip CLUSTER…` leaves some out for good, `/abort` ends the run",
    actions: ["resume", "skip", "abort"],
  },
  ASK_NOTHING: { says: "nothing: it ends by itself" },
});
