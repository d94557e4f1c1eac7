import type { Counts, ModelNode, State } from "./types.ts";

/** Of a cluster whose change has not merged. */
const NOT_BEGUN: ReadonlySet<State> = new Set(["ToCome", "Opening", "Open", "Merging", "Joined"]);

/** Counts the clusters below these nodes, each once: one that was put back stands in that batch, and where it is tried again. */
export function countsOf(children: readonly ModelNode[]): Counts {
  const last = new Map<string, ModelNode>();
  for (const child of children) for (const one of clustersBelow(child)) last.set(one.name, one);
  const count = (test: (one: ModelNode) => boolean) => [...last.values()].filter(test).length;
  return {
    clusters: count(({ state }) => state !== "NotInRun"),
    healthy: count(({ state }) => state === "Healthy"),
    failed: count(({ state }) => state === "Failed"),
    requeued: count(({ state }) => state === "Requeued"),
    skipped: count(({ state }) => state === "Skipped"),
    toCome: count(({ state }) => NOT_BEGUN.has(state)),
  };
}

export function clustersBelow(one: ModelNode): ModelNode[] {
  return one.kind === "cluster" ? [one] : one.children.flatMap(clustersBelow);
}
