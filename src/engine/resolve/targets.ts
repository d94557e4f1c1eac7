import type { ApplicationView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import { nearest } from "../../core/base/nearest.ts";
import { readOrNull } from "../../core/base/repo-files.ts";
import type { Cluster, Edit, Release, Target } from "../../core/plan/plan-types.ts";
import type { Problem } from "../../core/reasons/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { BranchPlaces } from "./branch-release.ts";
import type { Draft } from "./draft.ts";
import { applicationsOf, type SeenApplication } from "./draft.ts";
import { indexClusters } from "./targets-join.ts";
import { resolvePins } from "./targets-pins.ts";
import { collectProblems, type TargetProblem } from "./targets-problems.ts";
import { resolveWeights } from "./targets-weights.ts";

export interface ResolveInput {
  rollout: Rollout;
  release: Release;
  /** Of every control plane; those that are not the rollout's are left out. */
  applications: readonly SeenApplication[];
  clusters: readonly Cluster[];
  /** For branch pins: undefined where only a checkout is at hand, and heads are not known. */
  branches?: BranchPlaces | undefined;
  /** Text of a file of the repo; null: not there. It may throw where a file must not be read (a symlink); that is a problem. */
  readFile(path: string): string | null;
}

export interface Resolved {
  /** With every pin resolved; without edits where the rollout has no pins. Targets with an error are left out. */
  targets: Target[];
  /** Those given, and those that only an Application's destination tells of. */
  clusters: Cluster[];
  problems: Problem[];
}

/**
 * docs/spec.md §2.1: the Applications of a rollout's source, joined with their clusters, each with its pins filled in and read.
 * Never throws for what is in the repo or the fleet: what cannot be resolved is a problem with its place.
 */
export function resolveTargets({ rollout, release, applications, clusters, branches, readFile }: ResolveInput): Resolved {
  const problems = collectProblems(rollout, (file) => readOrNull({ read: readFile }, file));
  const index = indexClusters(clusters);
  const drafts: Draft[] = [];
  for (const seen of applicationsOf(rollout, applications)) {
    const cluster = index.find(seen.controlPlane, seen.view);
    if ("missing" in cluster) {
      problems.add(unknownCluster(rollout, cluster.missing, clusters), seen.view.name);
      continue;
    }
    drafts.push({ seen, cluster, edits: [] });
  }
  resolvePins(rollout, release, drafts, readFile, problems, branches);
  resolveWeights(rollout, release, drafts, readFile, problems);
  const count = rollout.pins.length + (rollout.weightPins ?? []).length;
  const targets = drafts.flatMap((draft) => toTarget(draft, count));
  return { targets, clusters: [...clusters, ...index.made()], problems: problems.all() };
}

function unknownCluster({ inventory }: Rollout, missing: string, clusters: readonly Cluster[]): TargetProblem {
  const code = "UNKNOWN_CLUSTER";
  if (inventory === undefined) return { code, kind: "Destination", destination: missing, path: ["spec", "sourceRef"] };
  const near = nearest(
    missing,
    clusters.flatMap(({ name, server }) => [name, server]),
  );
  const data = { kind: "Undeclared", destination: missing, inventory: inventory.file, near } as const;
  return { code, ...data, path: ["spec", "inventory", "file"] };
}

function toTarget({ seen, cluster, edits }: Draft, pins: number): Target[] {
  const whole = edits.filter((edit): edit is Edit => edit !== undefined);
  if (whole.length < pins) return [];
  const { view, controlPlane } = seen;
  const status = statusOf(view);
  return [
    {
      key: `${controlPlane}/${view.namespace}/${view.name}`,
      application: view.name,
      namespace: view.namespace,
      controlPlane,
      cluster: cluster.key,
      edits: whole,
      ...defined({ status }),
    },
  ];
}

/** undefined: it says nothing of itself. A status that was computed for another spec is not synced, whatever it says. */
function statusOf({ spec, status }: ApplicationView): Target["status"] {
  if (status.sync.status === undefined && status.health.status === undefined) return undefined;
  const { comparedTo } = status.sync;
  const other = comparedTo?.sources.some((source, i) => source.targetRevision !== spec.sources[i]?.targetRevision) === true;
  const stale = other || status.hydrator?.current?.ofSpec === false;
  return { healthy: status.health.status === "Healthy", synced: status.sync.status === "Synced" && !stale };
}
