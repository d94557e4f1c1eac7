import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { LivenessInput } from "../../../core/argocd/liveness/types.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { isRecord } from "../../../core/base/is-record.ts";

/** The story every liveness test varies: merged at 10:00:00, synced at once, Healthy at 10:00:20, read at 10:01:00. */
export const REPO = "https://github.com/acme/config.git";
export const COMMIT = "c".repeat(40);
export const OLDER = "a".repeat(40);
export const LATER = "d".repeat(40);
export const MERGED = "2026-11-21T10:00:00Z";
export const NOW = Date.parse("2026-11-21T10:01:00Z");

export function at(clock: string): string {
  return `2026-11-21T${clock}Z`;
}

type Raw = Record<string, unknown>;

/** Lays `over` on `base`, object by object; undefined removes a field. */
export function merged(base: Raw, over: Raw): Raw {
  const out: Raw = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const was = out[key];
    if (value === undefined) delete out[key];
    else out[key] = isRecord(value) && isRecord(was) ? merged(was, value) : value;
  }
  return out;
}

const SOURCE = { repoURL: REPO, path: "apps/payments", targetRevision: "main" };
const DESTINATION = { server: "https://eu-1.example.com", namespace: "payments" };

/** An Application in which commit C is live and healthy, as the API server would give it. */
export function rawApplication(over: Raw = {}): Raw {
  const base: Raw = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name: "payments-eu-1", namespace: "argocd", uid: "uid-1", resourceVersion: "200" },
    spec: { project: "default", source: SOURCE, destination: DESTINATION, syncPolicy: { automated: {} } },
    status: {
      sync: { status: "Synced", revision: COMMIT, comparedTo: { source: SOURCE, destination: DESTINATION } },
      health: { status: "Healthy", lastTransitionTime: at("10:00:20") },
      operationState: {
        phase: "Succeeded",
        startedAt: at("10:00:05"),
        finishedAt: at("10:00:08"),
        operation: { sync: { revision: COMMIT } },
        syncResult: { revision: COMMIT, source: SOURCE },
      },
      reconciledAt: at("10:00:10"),
    },
  };
  return merged(base, over);
}

export function application(over: Raw = {}, readAt = NOW): ApplicationView {
  const view = decodeApplication(rawApplication(over), readAt);
  if (view === undefined) throw new Error("the fixture has no name");
  return view;
}

export function input(over: Partial<LivenessInput> = {}): LivenessInput {
  return {
    application: application(),
    change: { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED },
    now: NOW,
    settleMs: 10_000,
    graceMs: 60_000,
    ...over,
  };
}

/** The same Application following a targetRevision instead of a branch. */
export function pinned(revision: string, over: Raw = {}): ApplicationView {
  const source = { ...SOURCE, targetRevision: revision };
  return application(
    merged({ spec: { source }, status: { sync: { comparedTo: { source } }, operationState: { syncResult: { source } } } }, over),
  );
}
