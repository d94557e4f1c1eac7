/** Numbers for Prometheus, with bounded labels. */
import type { ServerResponse } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Standing } from "../web/source.ts";
import type { RateSeen } from "./tenancy/octokits.ts";

/** What is read when somebody asks, not kept up to date in between. */
interface MetricsSource {
  runs(): readonly { repository: string; run: Run }[];
  /** Repositories that are not well. */
  standing(): readonly Standing[];
  /** Repositories served, and of them those whose installation is suspended. */
  repositories(): { served: number; suspended: number };
  planes: readonly ControlPlane[];
}

/** Numbers for Prometheus. Labels are bounded: a webhook's event is one of those asked for, or `other`. */
export interface Metrics {
  delivery(event: string, outcome: "taken" | "again" | "refused"): void;
  round(outcome: "done" | "failed" | "given-up", seconds: number): void;
  /** Failed deliveries that GitHub was asked to send again. */
  resent(count: number): void;
  rate(seen: RateSeen): void;
  watch(source: MetricsSource): void;
  /** Answers a scrape. */
  answer(response: ServerResponse): Promise<void>;
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

export function createMetrics(): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const deliveries = new Counter({
    name: "stagecoach_deliveries_total",
    help: "Webhook deliveries; again: a GUID that was taken before",
    labelNames: ["event", "outcome"],
    registers,
  });
  const resent = new Counter({ name: "stagecoach_deliveries_resent_total", help: "Failed deliveries asked for again", registers });
  const rounds = new Counter({ name: "stagecoach_rounds_total", help: "Looks at a repository", labelNames: ["outcome"], registers });
  const duration = new Histogram({
    name: "stagecoach_round_duration_seconds",
    help: "How long a look at a repository takes",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers,
  });
  const left = new Gauge({
    name: "stagecoach_github_calls_left",
    help: "Calls of the GitHub API left in this hour, as GitHub's last answer says",
    labelNames: ["installation", "resource"],
    registers,
  });
  return {
    delivery: (event, outcome) => deliveries.inc({ event: EVENTS.has(event) ? event : "other", outcome }),
    round(outcome, seconds) {
      rounds.inc({ outcome });
      duration.observe(seconds);
    },
    resent: (count) => resent.inc(count),
    rate: (seen) => left.set({ installation: String(seen.installation ?? "app"), resource: seen.resource }, seen.left),
    watch: (source) => gauges(source, registers),
    async answer(response) {
      const text = await register.metrics();
      response.writeHead(200, { "Content-Type": register.contentType, "Cache-Control": "no-store" }).end(text);
    },
  };
}

function gauges(source: MetricsSource, registers: Registry[]): void {
  const runs: Gauge = new Gauge({
    name: "stagecoach_runs",
    help: "The last run of each rollout, by phase",
    labelNames: ["repository", "phase"],
    registers,
    collect() {
      runs.reset();
      for (const { repository, run } of source.runs()) runs.inc({ repository, phase: run.phase });
    },
  });
  const refused: Gauge = new Gauge({
    name: "stagecoach_releases_refused",
    help: "Releases that were merged and started no run",
    labelNames: ["repository"],
    registers,
    collect() {
      refused.reset();
      for (const one of source.standing()) refused.set({ repository: one.repository }, one.refused.length);
    },
  });
  const attention: Gauge = new Gauge({
    name: "stagecoach_attention",
    help: "What stops a repository or a part of it, as its issue says",
    labelNames: ["repository"],
    registers,
    collect() {
      attention.reset();
      for (const one of source.standing()) attention.set({ repository: one.repository }, one.attention.length);
    },
  });
  const repositories: Gauge = new Gauge({
    name: "stagecoach_repositories",
    help: "Repositories the App is installed on; suspended: those that wait for their installation",
    labelNames: ["state"],
    registers,
    collect() {
      const { served, suspended } = source.repositories();
      repositories.set({ state: "served" }, served);
      repositories.set({ state: "suspended" }, suspended);
    },
  });
  const planes: Gauge = new Gauge({
    name: "stagecoach_control_plane_fresh",
    help: "1: what is known of this Argo CD is up to date; 0: it cannot be seen now",
    labelNames: ["control_plane"],
    registers,
    collect() {
      for (const plane of source.planes) planes.set({ control_plane: plane.name }, plane.state().fresh ? 1 : 0);
    },
  });
}
