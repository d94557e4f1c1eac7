import { canonicalJson, sha256, sha256OfParts } from "../base/hash.ts";
import type { Stage } from "../spec/rollout.ts";
import type { PlannedStage, PlannedTarget } from "./plan-types.ts";

/**
 * Hash of what a person approves: which clusters in which order and batches, what is written where, and the gates. What
 * the pins hold now is left out, so that the hash stays the same while the run moves through them.
 */
export function hashStage(planned: Omit<PlannedStage, "hash">, stage: Stage): string {
  const gates: Partial<Stage> = { ...stage };
  // What they decide stands in the batches.
  for (const decided of ["name", "selector", "maxClusters", "maxUnavailable"] as const) delete gates[decided];
  const { name, maxUnavailable, requeued } = planned;
  function* parts(): Generator<string> {
    yield `[${JSON.stringify(name)},${maxUnavailable},[`;
    for (const [i, { clusters, targets }] of planned.batches.entries()) {
      yield `${i === 0 ? "" : ","}[${JSON.stringify(clusters)},`;
      yield* textsOf(targets);
      yield "]";
    }
    yield `],${JSON.stringify(requeued)},`;
    yield* textsOf(planned.requeuedTargets);
    yield `,${JSON.stringify(canonicalJson(gates))}]`;
  }
  return sha256OfParts(parts());
}

/** Lists only, so their JSON is canonical as it is; a text for each target, since that of thousands would be a large one. */
function* textsOf(targets: readonly PlannedTarget[]): Generator<string> {
  yield "[";
  for (const [i, target] of targets.entries()) yield `${i === 0 ? "" : ","}${JSON.stringify(written(target))}`;
  yield "]";
}

function written({ key, edits }: PlannedTarget): unknown {
  const rows = edits.map(({ kind, file, path, part, entry = "", create = false, to, steps = [] }) => [
    ...[kind, file, path, part ?? "", entry, create, to],
    ...steps,
  ]);
  return [key, rows];
}

export function hashPlan(stages: readonly PlannedStage[]): string {
  return sha256(stages.map((stage) => stage.hash).join("\n"));
}
