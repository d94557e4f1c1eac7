import type { Counter, Gauge } from "prom-client";
import type { SharingState } from "../../../adapters/queue/port.ts";
import type { MetricName } from "./catalog.ts";

/** How repositories are shared, where they are. */
export function readSharing(
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
