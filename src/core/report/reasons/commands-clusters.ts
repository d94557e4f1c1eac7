import { count } from "../../base/count.ts";
import type { CommandReasons } from "../../reasons/commands.ts";
import { entriesOf } from "./entry.ts";

const MOST_NAMED = 20;

/** Names as people wrote them; none: all. */
function written(clusters: readonly string[]): string {
  return clusters.length === 0 ? "all clusters" : clusters.join(", ");
}

/** What came of commands that name clusters: skip, requeue, halt and hotfix. */
export const CLUSTER_COMMANDS = entriesOf<CommandReasons>()({
  CLUSTER_UNKNOWN: { subject: "cluster", says: 'this run has no <cluster> "{name}"' },
  CLUSTER_AMBIGUOUS: { subject: "cluster", says: ({ name, keys }) => `"${name}" is ambiguous: ${keys.join(", ")}` },
  CLUSTER_SHARES_PIN: {
    subject: "cluster",
    says: ({ cluster, others }, names) => `${names.cluster(cluster)} shares its pin with ${names.clusters(others)}: name them all`,
  },
  CLUSTERS_NOT_NAMED: {
    subject: "cluster",
    says: ({ command }) =>
      ({
        skip: "name the <clusters>: `/skip CLUSTER…`",
        requeue: "name the <clusters>: `/requeue CLUSTER…` or `/requeue failed`",
        hotfix: "name the <clusters>: `/hotfix eu-1 customer down`",
      })[command],
  },
  LEFT_OUT_BY: { subject: "person", says: "@{by} left it out[: {text}]" },
  CLUSTER_LEFT_OUT: { subject: "cluster", says: "{cluster}: {because}" },
  BATCH_LOSES_CLUSTER: {
    subject: "batch",
    says: ({ by }) =>
      ({
        skip: "one of its <clusters> is left out",
        requeue: "one of its <clusters> is put off",
        retry: "one of its <clusters> is tried again",
        hotfix: "one of its <clusters> is updated out of turn",
      })[by],
  },
  SKIP_DONE: { subject: "cluster", says: ({ clusters }, names) => `this run leaves out ${names.clusters(clusters, MOST_NAMED)}` },
  LEFT_OUT_ALREADY: { subject: "cluster", says: "this run leaves out {cluster} already" },
  CONFIRMED_ALREADY: { subject: "cluster", says: "{cluster} is healthy at the release already" },
  DURATION_INVALID: { subject: "run", says: '`--for` needs a duration such as 30m or 2h, not "{text}"' },
  PUT_OFF_BY: { subject: "person", says: "@{by} put it off[: {text}]" },
  REQUEUE_DONE: {
    subject: "cluster",
    says: ({ clusters, back }, names) => {
      const first = back.length === 0 ? "" : `; before that, a batch puts back what ${names.clusters(back, MOST_NAMED)} had`;
      return `the stage updates ${names.clusters(clusters, MOST_NAMED)} last${first}`;
    },
  },
  NOTHING_FAILED: { subject: "run", says: "no <cluster> has failed" },
  BEING_PUT_BACK: { subject: "cluster", says: "{cluster} is being put back already: {because}" },
  PUT_OFF_ALREADY: { subject: "cluster", says: "{cluster} is put off already: {because}" },
  GOES_ON_AFTER: { subject: "run", says: "the run goes on after `/{command}` of @{by}" },

  HALT_TOO_MANY: {
    subject: "cluster",
    says: ({ most }) => `one halt names at most ${count(most, "cluster")}; without \`cluster=\` it is for all`,
  },
  HALT_NAMES_NONE: { subject: "cluster", says: "`cluster=` names no cluster: `/halt cluster=eu-1,eu-2 reason`" },
  HALT_WANTS_REASON: { subject: "run", says: "say why: `/halt cluster=eu-1 --for 2h network maintenance`" },
  HALTED_BY: { subject: "cluster", actions: ["halt"], says: ({ clusters, by }) => `@${by} halted ${written(clusters)}` },
  HALT_DONE: {
    subject: "cluster",
    actions: ["halt"],
    says: ({ clusters, until }) =>
      `no run of this repo merges a change for ${clusters.length === 0 ? "any cluster" : written(clusters)} ${until === undefined ? "until `/halt --off`" : `until ${until}`}`,
  },
  HALT_NOT_FOUND: {
    subject: "cluster",
    says: ({ clusters, rollout, elsewhere }) => {
      const also = elsewhere ? "; lift one of another rollout on that rollout's pull request" : "";
      return `no halt${clusters.length === 0 ? "" : ` of ${written(clusters)}`} was made on a pull request of ${rollout}${also}`;
    },
  },
  HALT_LIFTED_BY: { subject: "cluster", says: ({ clusters, by }) => `@${by} lifted the halt of ${written(clusters)}` },
  HALT_LIFTED: { subject: "cluster", says: ({ clusters }) => `the halt of ${written(clusters)} is lifted` },

  HOTFIX_OF_ROLLBACK: { subject: "run", says: "this run is a rollback: its <clusters> go back in order" },
  HOTFIX_WANTS_REASON: { subject: "run", says: ({ names }) => `say why: \`/hotfix ${names.join(" ")} customer down\`` },
  HOTFIX_STAGES_DIFFER: { subject: "stage", says: "these <clusters> are of different stages: write one command for each stage" },
  HOTFIX_TOO_LARGE: { subject: "stage", says: ({ most }) => `this stage updates at most ${count(most, "<cluster>")} at once` },
  HOTFIX_OVER_LIMITS: { subject: "repository", says: "the limits allow {allowed}" },
  CLUSTERS_KEPT_APART: { subject: "cluster", says: "{clusters} are kept apart in this stage: write one command for each" },
  HOTFIX_DONE: {
    subject: "cluster",
    says: ({ clusters, text }, names) =>
      `Stagecoach updates ${names.clusters(clusters, MOST_NAMED)} next, out of turn: ${text}. Health, approvals, halts and limits hold as ever`,
  },
  IN_BATCH_ALREADY: { subject: "cluster", says: "{cluster} is in a batch already: {because}" },
  MOVED_ALREADY: { subject: "cluster", says: "{cluster} has the release already: {because}" },
});
