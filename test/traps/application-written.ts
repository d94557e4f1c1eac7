import { COMMIT, MERGED, REPO } from "../../src/adapters/argocd/testing/application.ts";
import type { Change } from "../../src/core/argocd/liveness/types.ts";
import { defined } from "../../src/core/base/defined.ts";
import type { Health, History, Manifests, Plan, Raw } from "./history-plan.ts";
import { type HydratorState, holdsChange, hydratorSpec, hydratorStatus, isHydrated, SYNCED } from "./hydrator-model.ts";

const T = Date.parse(MERGED);
const DESTINATION = { server: "https://eu-1.example.com", namespace: "payments" };

/** Where the controllers of one Application and its workload stand. */
export interface State {
  now: number;
  spec: Manifests;
  /** What truly runs, and since when. */
  runs: Manifests;
  since: number;
  status: { sync: string; revision: string; comparedTo: Manifests; health: Health; healthSince: number; reconciledAt: number };
  operation: { phase: string; startedAt: number; finishedAt?: number; retries: number; revision: string; spec: Manifests } | undefined;
  hydrator: HydratorState;
  /** The hydrator has not looked since the last comparison began. */
  looks: boolean;
  requested: boolean;
  refresh: { began: number; ends: number; revision: string; spec: Manifests } | undefined;
  refreshDue: number;
  startDue: number;
  applyDue: number;
  endDue: number;
  healthDue: number;
  attempted: string;
  applied: boolean;
  dirty: boolean;
}

export function changeOf({ kind }: Plan): Change {
  if (kind === "commit" || kind === "hydrated") return { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
  return kind === "revision" ? { kind, revision: "v2", repoURL: REPO, mergedAt: MERGED } : { kind: "generator", mergedAt: MERGED };
}

export function knowledge(plan: Plan): Pick<History, "intended" | "ancestry" | "connection"> {
  return {
    intended: defined({
      sources: [sourceOf(plan, plan.kind === "commit" ? "old" : "new")],
      destination: DESTINATION,
      sourceHydrator: isHydrated(plan) ? hydratorSpec(plan, "new") : undefined,
    }),
    ancestry: (revision) => (holdsChange(revision) ? "contains" : "missing"),
    connection: (second) => (second >= plan.noticed ? "Failed" : "Successful"),
  };
}

function sourceOf(plan: Plan, spec: Manifests): { repoURL: string; path: string; targetRevision: string; rest?: Raw } {
  const { kind } = plan;
  if (isHydrated(plan)) return SYNCED;
  const source = { repoURL: REPO, path: "apps/payments", targetRevision: kind === "revision" ? (spec === "new" ? "v2" : "v1") : "main" };
  return kind === "generator" ? { ...source, rest: { helm: { parameters: [{ name: "tag", value: spec }] } } } : source;
}

export function rawOf(self: State, plan: Plan, version: number): Raw {
  const { status, operation } = self;
  const stamp = (second: number) => `${new Date(T + (second + plan.skew) * 1000).toISOString().slice(0, 19)}Z`;
  const written = (spec: Manifests) => {
    const { rest, ...source } = sourceOf(plan, spec);
    return { ...source, ...rest };
  };
  const deleted = self.now >= plan.deletedAt ? { deletionTimestamp: stamp(plan.deletedAt) } : {};
  const { health, healthSince, reconciledAt, revision } = status;
  return defined({
    metadata: { name: "payments-eu-1", namespace: "argocd", uid: "uid-1", resourceVersion: String(1000 + version), ...deleted },
    spec: {
      project: "default",
      ...(isHydrated(plan) ? { sourceHydrator: hydratorSpec(plan, self.spec) } : { source: written(self.spec) }),
      destination: DESTINATION,
      syncPolicy: { automated: {} },
    },
    operation: self.requested ? { sync: {} } : undefined,
    status: defined({
      sync: { status: status.sync, revision, comparedTo: { source: written(status.comparedTo), destination: DESTINATION } },
      health: { status: health, lastTransitionTime: stamp(healthSince) },
      reconciledAt: stamp(reconciledAt),
      sourceHydrator: isHydrated(plan) ? hydratorStatus(self.hydrator, plan, stamp) : undefined,
      operationState:
        operation === undefined
          ? undefined
          : defined({
              phase: operation.phase,
              startedAt: stamp(operation.startedAt),
              finishedAt: operation.finishedAt === undefined ? undefined : stamp(operation.finishedAt),
              retryCount: operation.retries,
              operation: { sync: {} },
              syncResult: { revision: operation.revision, source: written(operation.spec) },
            }),
    }),
  });
}
