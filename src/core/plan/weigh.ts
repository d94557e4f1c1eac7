import { type Problem, problemIn } from "../reasons/problems/problem.ts";
import type { Rollout, Step } from "../spec/rollout.ts";
import {
  type Edit,
  editKey,
  type PlannedBatch,
  type PlannedStage,
  type PlannedTarget,
  targetsOfStage,
  type WeightPart,
} from "./plan-types.ts";
import { weightsOf } from "./steps.ts";

/**
 * Writes into the weight pins of a batch what each step of its stage gives them; of a stage without steps, which brings the
 * whole weight at once, that. Replicas are split over the clusters of the batch as planned here, in order: the split is frozen
 * with the plan, whoever is left out of the batch later.
 */
export function weighBatch(batch: PlannedBatch, steps: readonly Step[] | undefined): PlannedBatch {
  if (!batch.targets.some(({ edits }) => edits.some((edit) => edit.weigh !== undefined))) return batch;
  const weights = weightsOf(steps);
  const places = new Map(batch.clusters.map((cluster, place) => [cluster, place]));
  const targets = batch.targets.map((target): PlannedTarget => {
    const place = places.get(target.cluster) ?? 0;
    return { ...target, edits: target.edits.map((edit) => weighEdit(edit, weights, place, batch.clusters.length)) };
  });
  return { ...batch, targets };
}

/** As `weighBatch`, of clusters that travel in no batch yet: cut as their catch-up batches would be. */
export function weighLate(late: PlannedBatch, size: number, steps: readonly Step[] | undefined): PlannedTarget[] {
  const targets: PlannedTarget[] = [];
  for (let from = 0; from < late.clusters.length; from += size) {
    const clusters = late.clusters.slice(from, from + size);
    const own = late.targets.filter((target) => clusters.includes(target.cluster));
    targets.push(...weighBatch({ clusters, targets: own }, steps).targets);
  }
  return targets;
}

function weighEdit({ weigh, ...edit }: Edit, weights: readonly number[], place: number, clusters: number): Edit {
  if (weigh === undefined) return edit;
  const values = weights.map((weight) => {
    const share = weigh.replicas === undefined ? 0 : (splitReplicas(replicasAt(weigh.replicas, weight), clusters)[place] ?? 0);
    return weightValue(weigh.value, weight, share);
  });
  return { ...edit, to: values.at(-1) ?? edit.to, steps: values };
}

export function weightValue(value: readonly WeightPart[], weight: number, replicas: number): string {
  return value.map((part) => (typeof part === "string" ? part : String(part.step === "weight" ? weight : replicas))).join("");
}

/** Clusters that share the place of a weight must be given the same one: of shares of replicas that need not be so. */
export function sharedWeights(rollout: Rollout, stage: number, planned: Pick<PlannedStage, "batches" | "requeuedTargets">): Problem[] {
  const first = new Map<string, { cluster: string; values: string }>();
  for (const target of targetsOfStage(planned)) {
    for (const edit of target.edits) {
      if (edit.steps === undefined) continue;
      const values = edit.steps.join(" ");
      const known = first.get(editKey(edit));
      if (known === undefined) first.set(editKey(edit), { cluster: target.cluster, values });
      else if (known.values !== values) return [differs(rollout, stage, edit, [known, { cluster: target.cluster, values }])];
    }
  }
  return [];
}

function differs(rollout: Rollout, stage: number, edit: Edit, two: { cluster: string; values: string }[]): Problem {
  const clusters = two.map(({ cluster }) => cluster.slice(cluster.indexOf("/") + 1));
  const values = two.map((one) => one.values);
  const reason = { code: "WEIGHT_PIN_SHARED", clusters, pinPath: edit.path, pinFile: edit.file, values } as const;
  return problemIn(rollout.file, reason, ["spec", "stages", stage, "steps"]);
}

/**
 * So many replicas over so many clusters, as evenly as whole ones can be: what is left over goes to the first, one each. The
 * same numbers give the same split, and more replicas never give a cluster fewer. `clusters` at least 1.
 */
export function splitReplicas(replicas: number, clusters: number): number[] {
  const each = Math.floor(replicas / clusters);
  const over = replicas - each * clusters;
  return Array.from({ length: clusters }, (_, place) => (place < over ? each + 1 : each));
}

/** Returns how many replicas a weight in percent means: rounded up, so that a weight above 0 is at least one. */
export function replicasAt(replicas: number, weight: number): number {
  return Math.ceil((replicas * weight) / 100);
}
