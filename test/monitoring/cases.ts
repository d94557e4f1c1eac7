/** For each alert what makes it fire, with the labels it then has, and the same in a healthy server, as promtool writes series. */
export interface AlertCase {
  fires: readonly string[];
  /** When it is looked at; `before`: when it must not fire yet. */
  at: string;
  before?: string;
  labels: Record<string, string>;
  healthy: readonly string[];
}

const ROLLOUT = { repository: "acme/fleet", rollout: "payments" };
const of = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(",");

/** A run that waits: its wait grows by a minute each minute. */
function waits(gate: string, values: string): string {
  return `stagecoach_run_wait_seconds{${of({ ...ROLLOUT, gate })}} ${values}`;
}

export const ALERT_CASES: Record<string, AlertCase> = {
  StagecoachChangeFailed: {
    fires: [`stagecoach_change_failures_total{${of(ROLLOUT)},instance="a"} 0x5 1x20`],
    at: "8m",
    before: "5m",
    labels: { ...ROLLOUT, severity: "critical" },
    // Failures of last week, and a process that was started again: its counter begins at nothing.
    healthy: [`stagecoach_change_failures_total{${of(ROLLOUT)},instance="a"} 3x5 0x20`],
  },
  StagecoachWaitsForPerson: {
    fires: [waits("approval", "0+60x400")],
    at: "4h10m",
    before: "4h",
    labels: { ...ROLLOUT, gate: "approval", severity: "warning" },
    healthy: [waits("approval", "0+60x200"), waits("window", "0+60x400")],
  },
  StagecoachRunStuck: {
    fires: [waits("health", "0+60x400")],
    at: "3h10m",
    before: "3h",
    labels: { ...ROLLOUT, gate: "health", severity: "warning" },
    // A bake of a day and a window are meant.
    healthy: [waits("bake", "0+60x400"), waits("window", "0+60x400"), waits("health", "0+60x100")],
  },
  StagecoachReleaseRefused: {
    fires: [
      'stagecoach_releases_refused{repository="acme/fleet",instance="a"} 1x30',
      'stagecoach_releases_refused{repository="acme/fleet",instance="b"} 1x30',
    ],
    at: "12m",
    before: "9m",
    labels: { repository: "acme/fleet", severity: "warning" },
    healthy: ['stagecoach_releases_refused{repository="acme/fleet",instance="a"} 1x5 0x30'],
  },
  StagecoachDown: {
    fires: ['stagecoach_build_info{version="0.1.0",instance="a"} 1x5 _x30'],
    at: "18m",
    before: "8m",
    labels: { severity: "critical" },
    healthy: ['stagecoach_build_info{version="0.1.0",instance="a"} 1x5 _x30', 'stagecoach_build_info{version="0.1.0",instance="b"} 1x40'],
  },
  StagecoachNeedsAttention: {
    fires: ['stagecoach_attention{repository="acme/fleet"} 1x30'],
    at: "12m",
    before: "9m",
    labels: { repository: "acme/fleet", severity: "critical" },
    healthy: ['stagecoach_attention{repository="acme/fleet"} 1x5 0x30'],
  },
  StagecoachArgoCDUnseen: {
    fires: ['stagecoach_control_plane_unseen_seconds{control_plane="hub",instance="a"} 0+60x30'],
    at: "7m",
    before: "5m",
    labels: { control_plane: "hub", severity: "critical" },
    // One replica sees it.
    healthy: [
      'stagecoach_control_plane_unseen_seconds{control_plane="hub",instance="a"} 0+60x30',
      'stagecoach_control_plane_unseen_seconds{control_plane="hub",instance="b"} 0x30',
    ],
  },
  StagecoachRoundsFail: {
    fires: ['stagecoach_rounds_total{outcome="failed"} 0+3x60', 'stagecoach_rounds_total{outcome="done"} 0+1x60'],
    at: "20m",
    before: "10m",
    labels: { severity: "critical" },
    healthy: ['stagecoach_rounds_total{outcome="failed"} 0+1x60', 'stagecoach_rounds_total{outcome="done"} 0+3x60'],
  },
  StagecoachQueueBehind: {
    fires: ["stagecoach_queue_wait_seconds 400x30"],
    at: "12m",
    before: "9m",
    labels: { severity: "warning" },
    healthy: ["stagecoach_queue_wait_seconds 400x5 0x30"],
  },
  StagecoachDeliveriesRefused: {
    fires: ['stagecoach_deliveries_total{event="push",outcome="refused"} 0+1x30'],
    at: "20m",
    before: "5m",
    labels: { severity: "warning" },
    healthy: [
      'stagecoach_deliveries_total{event="push",outcome="refused"} 0 1x30',
      'stagecoach_deliveries_total{event="push",outcome="taken"} 0+9x30',
    ],
  },
  StagecoachGitHubCallsLow: {
    fires: ['stagecoach_github_calls_left{installation="7",resource="core"} 100x30'],
    at: "12m",
    before: "9m",
    labels: { installation: "7", severity: "warning" },
    healthy: [
      'stagecoach_github_calls_left{installation="7",resource="core"} 4000x30',
      'stagecoach_github_calls_left{installation="7",resource="search"} 10x30',
    ],
  },
  StagecoachMetricsLeftOut: {
    fires: ['stagecoach_metrics_left_out{of="rollouts"} 20x90'],
    at: "62m",
    before: "50m",
    labels: { of: "rollouts", severity: "info" },
    healthy: ['stagecoach_metrics_left_out{of="rollouts"} 0x90'],
  },
  StagecoachReplicaWithoutDatabase: {
    fires: ['stagecoach_lease_held{instance="a"} 1x5 0x30', 'stagecoach_lease_held{instance="b"} 1x40'],
    at: "9m",
    before: "7m",
    labels: { instance: "a", severity: "critical" },
    // A restart of PostgreSQL.
    healthy: ['stagecoach_lease_held{instance="a"} 1x5 0 1x30', 'stagecoach_lease_held{instance="b"} 1x5 0 1x30'],
  },
  StagecoachRepositoriesUnserved: {
    fires: [
      'stagecoach_shared_repositories{state="free",instance="a"} 7x30',
      'stagecoach_shared_repositories{state="free",instance="b"} 7x30',
      'stagecoach_shared_repositories{state="owned",instance="a"} 40x30',
    ],
    at: "6m",
    before: "4m",
    labels: { severity: "critical" },
    // What one saw before the other had taken them, and a takeover.
    healthy: [
      'stagecoach_shared_repositories{state="free",instance="a"} 7x3 0x30',
      'stagecoach_shared_repositories{state="free",instance="b"} 0x30',
      'stagecoach_shared_repositories{state="owned",instance="b"} 40x30',
    ],
  },
  StagecoachRepositoriesSlowed: {
    fires: ['stagecoach_shared_repositories{state="slowed",instance="a"} 0x4 1 0x30'],
    at: "8m",
    before: "3m",
    labels: { severity: "warning" },
    healthy: [
      'stagecoach_shared_repositories{state="slowed",instance="a"} 0x30',
      'stagecoach_shared_repositories{state="owned",instance="a"} 9x30',
    ],
  },
  StagecoachReplicaTakenForDead: {
    fires: ['stagecoach_lease_losses_total{instance="a"} 0+1x30', 'stagecoach_lease_losses_total{instance="b"} 0x30'],
    at: "6m",
    before: "2m",
    labels: { instance: "a", severity: "warning" },
    // Once, as after a minute of standing still.
    healthy: ['stagecoach_lease_losses_total{instance="a"} 0x3 1x30'],
  },
  StagecoachDeliveriesSetAside: {
    fires: [
      'stagecoach_deliveries_kept{state="set-aside",instance="a"} 2x30',
      'stagecoach_deliveries_kept{state="set-aside",instance="b"} 0x30',
    ],
    at: "12m",
    before: "9m",
    labels: { severity: "warning" },
    healthy: [
      'stagecoach_deliveries_kept{state="set-aside",instance="a"} 0x30',
      'stagecoach_deliveries_kept{state="waiting",instance="a"} 9x30',
    ],
  },
};
