import { at, COMMIT, OLDER } from "../../src/adapters/argocd/testing/application.ts";
import { read, type Trap } from "./trace.ts";

/** Automated sync is off; Argo CD has seen the change, and what `sync` asked for has ended as such a thing ends. */
function byHand(clock: string, sync: Record<string, unknown>, result: Record<string, unknown>, over: Record<string, unknown> = {}) {
  const state = { startedAt: at("10:00:20"), finishedAt: at("10:00:24"), operation: { sync }, syncResult: result };
  const seen = { sync: { status: "OutOfSync", revision: COMMIT }, reconciledAt: at("10:00:26"), operationState: state };
  return read(clock, { spec: { syncPolicy: undefined } }, { status: seen }, over);
}

/** Somebody has to sync, or the bot asks for it: what is no sync of the change, though Argo CD says that one has succeeded. */
export const SYNC_TRAPS: Trap[] = [
  {
    issues: [],
    name: "a dry run of the very commit has succeeded, and nothing is applied",
    stops: "synced/inSync",
    ends: "waiting",
    reads: ["10:00:30", "10:01:00", "10:05:00"].map((clock) =>
      byHand(
        clock,
        { revision: COMMIT, dryRun: true },
        { revision: COMMIT },
        { status: { operationState: { message: "successfully synced (dry run)" } } },
      ),
    ),
  },
  {
    issues: [],
    name: "one object of several was synced to the commit",
    stops: "synced/inSync",
    ends: "waiting",
    reads: ["10:00:30", "10:01:00", "10:05:00"].map((clock) =>
      byHand(clock, { revision: COMMIT, resources: [{ kind: "ConfigMap", name: "web" }] }, { revision: COMMIT }),
    ),
  },
  {
    issues: [],
    name: "after the merge somebody has synced what was there before it",
    stops: "synced/inSync",
    ends: "waiting",
    reads: ["10:00:30", "10:01:00", "10:05:00"].map((clock) => byHand(clock, { revision: OLDER }, { revision: OLDER })),
  },
  {
    issues: [],
    name: "the sync succeeded without pruning, and what is to go still runs",
    stops: "synced/inSync",
    ends: "waiting",
    reads: ["10:00:30", "10:01:00", "10:05:00"].map((clock) => byHand(clock, { revision: COMMIT, prune: false }, { revision: COMMIT })),
  },
  {
    issues: [],
    name: "the sync that was asked for is taken away before it begins",
    stops: "synced/inSync",
    ends: "waiting",
    reads: [
      byHand("10:00:30", { revision: OLDER }, { revision: OLDER }, { operation: { sync: { revision: COMMIT } } }),
      ...["10:00:40", "10:01:00", "10:05:00"].map((clock) => byHand(clock, { revision: OLDER }, { revision: OLDER })),
    ],
  },
  {
    issues: [],
    name: "the sync has succeeded, and Synced is what the comparison before it says, in which somebody's own change undid the difference",
    stops: "reconciled/operation",
    ends: "live",
    reads: [
      byHand(
        "10:00:30",
        { revision: COMMIT },
        { revision: COMMIT },
        { status: { sync: { status: "Synced" }, reconciledAt: at("10:00:18") } },
      ),
      byHand(
        "10:00:45",
        { revision: COMMIT },
        { revision: COMMIT },
        { status: { sync: { status: "Synced" }, reconciledAt: at("10:00:18") } },
      ),
      byHand(
        "10:01:10",
        { revision: COMMIT },
        { revision: COMMIT },
        { status: { sync: { status: "Synced" }, reconciledAt: at("10:01:05") } },
      ),
    ],
  },
];
