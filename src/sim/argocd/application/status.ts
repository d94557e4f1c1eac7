import { isDeepStrictEqual } from "node:util";
import { defined } from "../../../core/base/defined.ts";
import { kubeTime } from "../../kubernetes/store.ts";
import {
  type Application,
  type ApplicationSource,
  type ApplicationSpec,
  type ApplicationStatus,
  type ComparedTo,
  type Condition,
  type HealthCode,
  isMultiSource,
  type SyncStatusCode,
  sourcesOf,
} from "../types.ts";
import type { Workload } from "./workload.ts";

/** The conditions that a comparison sets and clears. */
const EVALUATED = new Set(["ComparisonError", "InvalidSpecError", "SyncError", "UnknownError", "DeletionError"]);

/** The part of the spec a comparison was made with: while it differs from the spec, all of the status is old. */
function comparedToOf(spec: ApplicationSpec): ComparedTo {
  return defined({
    ...sourceFields(spec),
    destination: spec.destination,
    ignoreDifferences: spec.ignoreDifferences,
  });
}

export function isComparedTo({ spec, status }: Application): boolean {
  return isDeepStrictEqual(status?.sync?.comparedTo, comparedToOf(spec));
}

/** `revision` for one source, `revisions` for several. */
export function revisionFields(spec: ApplicationSpec, revisions: readonly string[]): { revision?: string; revisions?: string[] } {
  if (isMultiSource(spec)) return { revisions: [...revisions] };
  const [revision] = revisions;
  return revision === undefined ? {} : { revision };
}

export function sourceFields(spec: ApplicationSpec): { source?: ApplicationSource; sources?: ApplicationSource[] } {
  if (isMultiSource(spec)) return { sources: sourcesOf(spec) };
  const [source] = sourcesOf(spec);
  return source === undefined ? {} : { source };
}

/** A condition keeps its time while type and message stay. */
export function withConditions(
  status: ApplicationStatus,
  found: readonly Omit<Condition, "lastTransitionTime">[],
  now: number,
): ApplicationStatus {
  const old = status.conditions ?? [];
  const next: Condition[] = old.filter(({ type }) => !EVALUATED.has(type));
  for (const { type, message } of found) {
    const same = old.find((condition) => condition.type === type && condition.message === message);
    next.push({ type, message, lastTransitionTime: same?.lastTransitionTime ?? kubeTime(now) });
  }
  const { conditions: _, ...rest } = status;
  return next.length === 0 ? rest : { ...rest, conditions: next };
}

/** The time moves only when the value does. */
export function withHealth(status: ApplicationStatus, health: HealthCode, now: number): ApplicationStatus {
  if (status.health?.status === health) return status;
  return { ...status, health: { status: health, lastTransitionTime: kubeTime(now) } };
}

interface Kept {
  rollouts?: readonly { name: string; namespace: string }[] | undefined;
  persistsHealth: boolean;
  /** Argo CD's own objects that it has applied; their health is left out, as Argo CD does. */
  made?: readonly { kind: string; namespace: string; name: string }[];
}

/**
 * The objects of a small service, with its Rollouts if it has any, else a Deployment, whose health stands in it where the controller persists
 * that. By default Argo CD leaves it out of the stored object.
 */
export function resourcesOf(
  app: Application,
  status: SyncStatusCode,
  live: Workload,
  { rollouts = [], persistsHealth, made = [] }: Kept,
): Record<string, unknown>[] {
  const namespace = app.spec.destination.namespace ?? "default";
  const code = live.content === undefined ? "OutOfSync" : status;
  const { name } = app.metadata;
  const service = { version: "v1", kind: "Service", namespace, name, status: code };
  const health = persistsHealth ? { health: defined({ status: live.health, message: live.message || undefined }) } : {};
  const own = made.map((one) => ({ group: "argoproj.io", version: "v1alpha1", ...one, status: code }));
  if (rollouts.length === 0)
    return [service, { group: "apps", version: "v1", kind: "Deployment", namespace, name, status: code, ...health }, ...own];
  return [
    service,
    ...own,
    ...rollouts.map((one) => ({
      group: "argoproj.io",
      version: "v1alpha1",
      kind: "Rollout",
      namespace: one.namespace,
      name: one.name,
      status: code,
    })),
  ];
}

export interface Comparison {
  status: SyncStatusCode;
  revisions: readonly string[];
  health: HealthCode;
  conditions: readonly Omit<Condition, "lastTransitionTime">[];
  resources: Record<string, unknown>[] | undefined;
  /** Start of a full comparison; undefined: only live objects were looked at again. */
  startedAt: number | undefined;
  persistsHealth: boolean;
}

/** The one patch of the refresh loop. `spec` is the one the comparison was made with, which need not be the newest. */
export function compared(old: ApplicationStatus, spec: ApplicationSpec, comparison: Comparison, now: number): ApplicationStatus {
  const { status, revisions, health, conditions, resources, startedAt, persistsHealth } = comparison;
  const several = isMultiSource(spec);
  const next: ApplicationStatus = defined({
    ...old,
    sync: { status, ...revisionFields(spec, revisions), comparedTo: comparedToOf(spec) },
    resources: resources ?? old.resources,
    reconciledAt: startedAt === undefined ? old.reconciledAt : kubeTime(startedAt),
    resourceHealthSource: persistsHealth ? undefined : "appTree",
    controllerNamespace: "argocd",
    summary: old["summary"] ?? {},
    ...(several ? { sourceTypes: sourcesOf(spec).map(sourceType) } : { sourceType: sourceType(sourcesOf(spec)[0]) }),
  });
  return withConditions(withHealth(next, health, now), conditions, now);
}

function sourceType(source: ApplicationSource | undefined): string {
  if (source?.chart !== undefined || source?.["helm"] !== undefined) return "Helm";
  return source?.["kustomize"] === undefined ? "Directory" : "Kustomize";
}
