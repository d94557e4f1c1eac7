/** The ApplicationSets that a rollout is about, as the repo and the inventory declare them. Called by `plan-inputs.ts` and by lint. */
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { compareText } from "../../../core/base/compare-text.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Rollout, SourceRef } from "../../../core/spec/rollout.ts";
import { type SeenApplication, setTaker } from "../../../engine/resolve/draft.ts";
import { atName, setRef } from "../../../engine/resolve/source-sets.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { sourcesThere } from "./near-source.ts";
import { notFound } from "./source-in-repo.ts";

/** The clusters and Applications a rollout is planned over, and where they come from. */
export interface FleetInputs {
  applications: SeenApplication[];
  clusters: Cluster[];
  /** `inventory`: Applications as they are. `rendered`: as the ApplicationSet in the repo yields them, or as they are written there. */
  from: "inventory" | "rendered" | "nothing";
  /** No other clusters can be meant, and all are known by their names. */
  whole: boolean;
  problems: Problem[];
}

interface SetMeant {
  ref: SourceRef;
  labels?: Readonly<Record<string, string>>;
}

/** All that it names, whether or not they are there; of a selector those that are. */
export function setsMeant({ source }: Rollout, checkout: Checkout, inventory: Inventory | undefined): SetMeant[] {
  if (source.kind !== "ApplicationSet") return [];
  if (source.name !== "") return [{ ref: source }];
  if (source.names !== undefined) return source.names.map((name) => ({ ref: setRef(source, name, source.namespace) }));
  const takes = setTaker(source);
  const found = new Map<string, SetMeant>();
  for (const { kind, namespace = source.namespace, name, labels } of sourcesThere(checkout, inventory)) {
    if (kind !== "ApplicationSet" || namespace !== source.namespace || found.has(name) || !takes({ name, labels })) continue;
    found.set(name, { ref: setRef(source, name, namespace), labels });
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, set]) => set);
}

/** Puts together what each of a rollout's sets is planned over. `fleetOf`: the same of one set. */
export function fleetOfSets(
  rollout: Rollout,
  checkout: Checkout,
  inventory: Inventory | undefined,
  fleetOf: (rollout: Rollout) => FleetInputs,
): FleetInputs {
  const meant = setsMeant(rollout, checkout, inventory);
  if (meant.length === 0)
    return { clusters: [], from: "nothing", whole: false, ...notFound(rollout, checkout, inventory), applications: [] };
  const parts = meant.map((set) => ({ set, fleet: fleetOf({ ...rollout, source: set.ref }) }));
  const isElsewhere = (problem: Problem) => problem.code === "SOURCE_NOT_FOUND";
  const isSomeThere = parts.some(({ fleet }) => fleet.applications.length > 0);
  const applications = new Map<string, SeenApplication>();
  const clusters = new Map<string, Cluster>();
  const problems = new Map<string, Problem>();
  for (const { set, fleet } of parts) {
    for (const cluster of fleet.clusters) if (!clusters.has(cluster.key)) clusters.set(cluster.key, cluster);
    for (const seen of fleet.applications) {
      const key = `${seen.controlPlane}/${seen.view.namespace}/${seen.view.name}`;
      // One that two sets make is told by lint.
      if (!applications.has(key)) applications.set(key, { ...seen, ...defined({ setLabels: set.labels }) });
    }
    for (const problem of fleet.problems) {
      // Where the others are, this one is expected, too.
      const isMissed = isElsewhere(problem) && isSomeThere && rollout.source.unverified !== true;
      const isOfSet = problem.path[1] === "sourceRef" && problem.code !== "LABELS_GUESSED";
      const placed: Problem = {
        ...problem,
        ...defined({ severity: isMissed ? ("error" as const) : undefined }),
        ...(problem.path[1] === "sourceRef" ? { path: atName(rollout, isOfSet ? set.ref.name : undefined) } : {}),
      };
      problems.set(JSON.stringify(placed), placed);
    }
  }
  return {
    applications: [...applications.values()],
    clusters: [...clusters.values()],
    from: parts.map(({ fleet }) => fleet.from).find((one) => one !== "nothing") ?? "nothing",
    whole: parts.every(({ fleet }) => fleet.whole),
    problems: [...problems.values()],
  };
}
