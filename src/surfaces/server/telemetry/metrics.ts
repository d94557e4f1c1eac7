/**
 * Numbers for Prometheus. What happens is counted as it happens; what is so now is read at each scrape, for all gauges at once. The number of
 * series is bounded, whatever names people give: see `names.ts`.
 */
import type { ServerResponse } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { QueueDepth, SharingState } from "../../../adapters/queue/port.ts";
import { epoch } from "../../../core/base/time.ts";
import { figuresOf } from "../../../core/report/figures/releases.ts";
import { waitOf } from "../../../core/report/figures/waits.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Standing } from "../../web/source.ts";
import type { RateSeen } from "../tenancy/octokits.ts";
import { CATALOG, type CatalogEntry, type MetricName } from "./catalog.ts";
import { type Labels, Names, OTHER, openLabels, type RolloutLabels, type ShownNames, Sums } from "./names.ts";

/** What is read when somebody asks, not kept up to date in between. */
export interface MetricsSource {
  /** Epoch milliseconds. */
  now(): number;
  runs(): readonly { repository: string; run: Run }[];
  /** Repositories that are not well. */
  standing(): readonly Standing[];
  /** Repositories served, and of them those whose installation is suspended. */
  repositories(): { served: number; suspended: number };
  queue(): QueueDepth;
  /** Absent, or undefined: the process has all repositories to itself. */
  sharing?(): SharingState | undefined;
  planes: readonly Pick<ControlPlane, "name" | "state" | "isWatched">[];
}

/** Numbers for Prometheus. Labels are bounded: a webhook's event is one of those asked for, or `other`. */
export interface Metrics {
  delivery(event: string, outcome: "taken" | "again" | "refused"): void;
  round(outcome: "done" | "failed" | "given-up", seconds: number): void;
  /** Failed deliveries that GitHub was asked to send again. */
  resent(count: number): void;
  rate(seen: RateSeen): void;
  /** A run was recorded: see `RepoContext.onRecorded`. */
  recorded(repository: string, before: Run | undefined, run: Run): void;
  watch(source: MetricsSource): void;
  /** Answers a scrape. */
  answer(response: ServerResponse): Promise<void>;
}

interface MetricsOptions {
  version: string;
  /** Whose names stand in labels. */
  names: ShownNames;
  /** How many rollouts, and repositories, and installations, have series of their own. */
  most: number;
  /** Milliseconds that only go on. */
  now?: () => number;
}

const EVENTS = new Set([
  "check_run",
  "check_suite",
  "deployment_status",
  "installation",
  "installation_repositories",
  "issue_comment",
  "merge_group",
  "pull_request",
  "pull_request_review",
  "push",
  "repository",
  "status",
]);

/** Of the time, which working the numbers out may take; and how much of it at once. */
const SHARE = 0.2;
const BURST_MS = 2_000;

type Made = ReturnType<typeof makeAll>;

export function createMetrics({ version, names, most, now = () => performance.now() }: MetricsOptions): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const made = makeAll(register);
  const labels = openLabels(names, most);
  const installations = new Names<true>(most);
  made.gauge("stagecoach_build_info").set({ version, node: process.versions.node }, 1);
  for (const outcome of ["done", "failed", "given-up"]) made.counter("stagecoach_rounds_total").inc({ outcome }, 0);
  let source: MetricsSource | undefined;
  let last: Promise<string> | undefined;
  let budget = BURST_MS;
  let seen = now();

  /** Whoever asks without end gets a fifth of the time: past that the last text answers. */
  async function textNow(): Promise<string> {
    const began = now();
    [budget, seen] = [Math.min(BURST_MS, budget + (began - seen) * SHARE), began];
    if (last !== undefined && budget <= 0) return await last;
    if (source !== undefined) readGauges(made, labels, source);
    last = register.metrics();
    return await last.finally(() => (budget -= now() - began));
  }

  return {
    delivery: (event, outcome) => made.counter("stagecoach_deliveries_total").inc({ event: EVENTS.has(event) ? event : OTHER, outcome }),
    round(outcome, seconds) {
      made.counter("stagecoach_rounds_total").inc({ outcome });
      if (outcome === "done") made.histogram("stagecoach_round_duration_seconds").observe(seconds);
    },
    resent: (count) => made.counter("stagecoach_deliveries_resent_total").inc(count),
    rate({ installation: id = "app", resource, left }) {
      if (installations.of(String(id), () => true) === undefined) return;
      made
        .gauge("stagecoach_github_calls_left")
        .set({ installation: String(id), resource: RESOURCES.has(resource) ? resource : OTHER }, left);
    },
    recorded: (repository, before, run) => tellRecorded(made, labels, repository, { before, run }),
    watch(given) {
      source = given;
    },
    async answer(response) {
      const text = await textNow();
      response.writeHead(200, { "Content-Type": register.contentType, "Cache-Control": "no-store" }).end(text);
    },
  };
}

/** Of GitHub's API, those that answers are counted by. */
const RESOURCES = new Set(["core", "search", "graphql", "integration_manifest", "code_search"]);

function makeAll(register: Registry) {
  const all = new Map<string, Counter | Gauge | Histogram>();
  for (const [name, { type, help, labels = [], buckets }] of Object.entries(CATALOG) as [string, CatalogEntry][]) {
    const options = { name, help: help.replaceAll(/[`*]/g, ""), labelNames: [...labels], registers: [register] };
    if (type === "counter") all.set(name, new Counter(options));
    else if (type === "gauge") all.set(name, new Gauge(options));
    else all.set(name, new Histogram({ ...options, buckets: [...(buckets ?? [])] }));
  }
  return {
    counter: (name: MetricName) => all.get(name) as Counter,
    gauge: (name: MetricName) => all.get(name) as Gauge,
    histogram: (name: MetricName) => all.get(name) as Histogram,
  };
}

function tellRecorded(made: Made, all: Labels, repository: string, { before, run }: { before: Run | undefined; run: Run }): void {
  const labels: Record<string, string> = { ...all.of(repository, run.rollout) };
  const { ended, isChange, isFailedChange, merges, leadFromMerged, leadFromOpened, restoredAfter } = figuresOf(before, run);
  if (isChange) made.counter("stagecoach_changes_total").inc(labels);
  if (isFailedChange) made.counter("stagecoach_change_failures_total").inc(labels);
  for (const seconds of merges) made.histogram("stagecoach_merge_duration_seconds").observe(seconds);
  const lead = made.histogram("stagecoach_lead_time_seconds");
  if (leadFromMerged !== undefined) lead.observe({ ...labels, from: "merged" }, leadFromMerged);
  if (leadFromOpened !== undefined) lead.observe({ ...labels, from: "opened" }, leadFromOpened);
  if (restoredAfter !== undefined) made.histogram("stagecoach_restore_time_seconds").observe(labels, restoredAfter);
  if (ended === undefined) return;
  const { kind, phase: outcome, took } = ended;
  made.counter("stagecoach_runs_ended_total").inc({ ...labels, kind, outcome });
  made.histogram("stagecoach_run_duration_seconds").observe({ kind, outcome }, took);
}

const OF_ROLLOUTS = ["stagecoach_changes_total", "stagecoach_change_failures_total"] as const;

function readGauges(made: Made, labels: Labels, source: MetricsSource): void {
  readRuns(made, labels, source);
  for (const name of ["stagecoach_releases_refused", "stagecoach_attention"] as const) made.gauge(name).reset();
  for (const { repository, refused, attention } of source.standing()) {
    made.gauge("stagecoach_releases_refused").inc(labels.ofRepository(repository), refused.length);
    made.gauge("stagecoach_attention").inc(labels.ofRepository(repository), attention.length);
  }
  for (const [state, count] of Object.entries(source.repositories())) made.gauge("stagecoach_repositories").set({ state }, count);
  const { due, running, longestMs } = source.queue();
  made.gauge("stagecoach_queue_repositories").set({ state: "due" }, due);
  made.gauge("stagecoach_queue_repositories").set({ state: "running" }, running);
  made.gauge("stagecoach_queue_wait_seconds").set(longestMs / 1000);
  readSharing(made, source.sharing?.());
  for (const name of ["stagecoach_control_plane_fresh", "stagecoach_control_plane_unseen_seconds"] as const) made.gauge(name).reset();
  for (const plane of source.planes) {
    // Nobody needs it, and nobody does because of this.
    if (plane.isWatched?.() === false) continue;
    const { fresh, since } = plane.state();
    const of = { control_plane: plane.name };
    made.gauge("stagecoach_control_plane_fresh").set(of, fresh ? 1 : 0);
    made.gauge("stagecoach_control_plane_unseen_seconds").set(of, fresh ? 0 : secondsSince(source.now(), since));
  }
  for (const [of, count] of Object.entries(labels.leftOut())) made.gauge("stagecoach_metrics_left_out").set({ of }, count);
}

function readRuns(made: Made, labels: Labels, { runs, now }: MetricsSource): void {
  const all = runs();
  for (const gone of labels.keepOnly(all.map(({ repository, run }) => ({ repository, rollout: run.rollout })))) forget(made, gone);
  const [phases, inPhase, waits] = [new Sums("phase"), new Sums("phase"), new Sums("gate")];
  for (const { repository, run } of all) {
    const of = labels.of(repository, run.rollout);
    phases.add(of, run.phase, 1);
    if (isEnded(run)) continue;
    inPhase.atLeast(of, run.phase, secondsSince(now(), run.since));
    const wait = waitOf(run);
    if (wait !== undefined) waits.atLeast(of, wait.gate, secondsSince(now(), wait.since));
  }
  phases.into(made.gauge("stagecoach_runs"));
  inPhase.into(made.gauge("stagecoach_run_phase_seconds"));
  waits.into(made.gauge("stagecoach_run_wait_seconds"));
  // What a rate is taken of has to be there before it grows.
  for (const of of phases.labels()) for (const name of OF_ROLLOUTS) made.counter(name).inc({ ...of }, 0);
}

const KINDS = ["release", "rollback"];
const OUTCOMES: Run["phase"][] = ["Succeeded", "RolledBack", "Failed", "Aborted", "Superseded"];

/** Takes the series of a rollout away that is gone. */
function forget(made: Made, labels: RolloutLabels): void {
  const of: Record<string, string> = { ...labels };
  for (const name of OF_ROLLOUTS) made.counter(name).remove(of);
  for (const kind of KINDS) for (const outcome of OUTCOMES) made.counter("stagecoach_runs_ended_total").remove({ ...of, kind, outcome });
  for (const from of ["opened", "merged"]) made.histogram("stagecoach_lead_time_seconds").remove({ ...of, from });
  made.histogram("stagecoach_restore_time_seconds").remove(of);
}

function secondsSince(now: number, since: string): number {
  const ms = now - epoch(since);
  return Number.isFinite(ms) ? Math.max(0, ms / 1000) : 0;
}

/** How repositories are shared, where they are. */
function readSharing(
  made: { gauge(name: MetricName): Gauge; counter(name: MetricName): Counter },
  sharing: SharingState | undefined,
): void {
  if (sharing === undefined) return;
  made.gauge("stagecoach_lease_held").set(sharing.holds ? 1 : 0);
  made.gauge("stagecoach_replicas").set(sharing.replicas);
  const repositories = { owned: sharing.owned, free: sharing.free, slowed: sharing.slow };
  for (const [state, count] of Object.entries(repositories)) made.gauge("stagecoach_shared_repositories").set({ state }, count);
  made.gauge("stagecoach_deliveries_kept").set({ state: "waiting" }, sharing.waiting);
  made.gauge("stagecoach_deliveries_kept").set({ state: "set-aside" }, sharing.setAside);
  for (const [name, total] of [
    ["stagecoach_lease_losses_total", sharing.lost],
    ["stagecoach_takeovers_total", sharing.takeovers],
  ] as const) {
    made.counter(name).reset();
    made.counter(name).inc(total);
  }
}
