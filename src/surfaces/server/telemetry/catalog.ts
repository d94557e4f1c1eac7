/** Every metric of Stagecoach's own: `metrics.ts` makes them from this table, and `npm run generate` their page. */

interface Entry {
  type: "counter" | "gauge" | "histogram";
  help: string;
  labels?: readonly string[];
  buckets?: readonly number[];
}

const ROLLOUT = ["repository", "rollout"] as const;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From minutes to weeks: a release may wait for windows. */
const LONG = [5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];

export const CATALOG = {
  stagecoach_build_info: { type: "gauge", help: "1, with the version of Stagecoach and of Node", labels: ["version", "node"] },
  stagecoach_runs: {
    type: "gauge",
    help: "Rollouts, by the phase of their last run: 1 for each that has labels of its own",
    labels: [...ROLLOUT, "phase"],
  },
  stagecoach_run_phase_seconds: {
    type: "gauge",
    help: "How long a run that has not ended is in its phase; of several the longest",
    labels: [...ROLLOUT, "phase"],
  },
  stagecoach_run_wait_seconds: {
    type: "gauge",
    help: "How long a run waits for this gate: since its batch came to where it stands. Of several the longest",
    labels: [...ROLLOUT, "gate"],
  },
  stagecoach_runs_ended_total: {
    type: "counter",
    help: "Runs that ended, by outcome (`Succeeded`, `RolledBack`, `Failed`, `Aborted`, `Superseded`); kind: `release` or `rollback`",
    labels: [...ROLLOUT, "kind", "outcome"],
  },
  stagecoach_run_duration_seconds: {
    type: "histogram",
    help: "From the start of a run to its end",
    labels: ["kind", "outcome"],
    buckets: LONG,
  },
  stagecoach_changes_total: { type: "counter", help: "Releases that came to their first cluster", labels: ROLLOUT },
  stagecoach_change_failures_total: { type: "counter", help: "Those of them that failed, each once", labels: ROLLOUT },
  stagecoach_lead_time_seconds: {
    type: "histogram",
    help: "To the end of a run that succeeded: from when the release's pull request was `opened`, or `merged`",
    labels: [...ROLLOUT, "from"],
    buckets: LONG,
  },
  stagecoach_restore_time_seconds: {
    type: "histogram",
    help: "From a rollout's first failure to the end of the run by which it was healthy again",
    labels: ROLLOUT,
    buckets: [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 7 * DAY],
  },
  stagecoach_merge_duration_seconds: {
    type: "histogram",
    help: "Of a batch, from when the bot meant to merge its pull request until GitHub had, its merge queue counted in",
    buckets: [1, 2, 5, 10, 30, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR],
  },
  stagecoach_releases_refused: { type: "gauge", help: "Releases that were merged and started no run", labels: ["repository"] },
  stagecoach_attention: {
    type: "gauge",
    help: "What stands in the issue *Stagecoach needs attention* of a repository",
    labels: ["repository"],
  },
  stagecoach_repositories: {
    type: "gauge",
    help: "Repositories of the App: `served`, or `suspended` with their installation",
    labels: ["state"],
  },
  stagecoach_queue_repositories: {
    type: "gauge",
    help: "Repositories that are `due` a look and have no place yet, or are looked at now (`running`)",
    labels: ["state"],
  },
  stagecoach_queue_wait_seconds: { type: "gauge", help: "How long the repository that is due the longest waits for its look" },
  stagecoach_rounds_total: {
    type: "counter",
    help: "Looks at a repository: `done`, `failed`, `given-up` (it did not end)",
    labels: ["outcome"],
  },
  stagecoach_round_duration_seconds: {
    type: "histogram",
    help: "How long a look at a repository takes",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600],
  },
  stagecoach_control_plane_fresh: {
    type: "gauge",
    help: "1: what is known of this Argo CD is up to date; 0: it cannot be seen now. Absent while nothing here needs it",
    labels: ["control_plane"],
  },
  stagecoach_control_plane_unseen_seconds: {
    type: "gauge",
    help: "The age of what is known of this Argo CD: since when its watch brings nothing. 0 while it is fresh",
    labels: ["control_plane"],
  },
  stagecoach_deliveries_total: {
    type: "counter",
    help: "Webhook deliveries: `taken`, `again` (a GUID that was taken before), `refused`",
    labels: ["event", "outcome"],
  },
  stagecoach_deliveries_resent_total: { type: "counter", help: "Failed deliveries that GitHub was asked to send again" },
  stagecoach_lease_held: {
    type: "gauge",
    help: "With `queue.kind: postgres`. 1: this replica may act; 0: it has not reached PostgreSQL for some seconds, begins nothing and turns deliveries away",
  },
  stagecoach_replicas: { type: "gauge", help: "With `queue.kind: postgres`: replicas that this one sees alive, itself among them" },
  stagecoach_shared_repositories: {
    type: "gauge",
    help: "With `queue.kind: postgres`: repositories that this replica looks after (`owned`), those that nobody does (`free`), and of all, those whose next look waits since one replica after the other ended in them (`slowed`)",
    labels: ["state"],
  },
  stagecoach_deliveries_kept: {
    type: "gauge",
    help: "With `queue.kind: postgres`: deliveries that no look has followed yet (`waiting`, of this replica), or that none could again and again (`set-aside`, of all, told by one)",
    labels: ["state"],
  },
  stagecoach_lease_losses_total: { type: "counter", help: "How often this replica found that it had been taken for dead" },
  stagecoach_takeovers_total: { type: "counter", help: "Repositories that this replica set free because another was gone" },
  stagecoach_github_calls_left: {
    type: "gauge",
    help: "Calls of the GitHub API left in this hour, as GitHub's last answer says",
    labels: ["installation", "resource"],
  },
  stagecoach_metrics_left_out: {
    type: "gauge",
    help: "Rollouts and repositories that have no series of their own, being more than `metrics.most`: they are counted as `other`",
    labels: ["of"],
  },
} as const satisfies Record<string, Entry>;

export type MetricName = keyof typeof CATALOG;
export type { Entry as CatalogEntry };
