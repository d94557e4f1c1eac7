import { z } from "zod";
import { duration, key, text } from "./schema-common.ts";

/** One entry of `steps`: exactly one of its keys; see step-rules.ts. `analysis` as a step has it, without `when`. */
export function stepSchema<T extends z.ZodType>(analysis: T) {
  return z.strictObject({
    setWeight: key(
      z.int().min(0).max(100).optional(),
      "Weight of the new version, in percent: what the batch's next pull request writes. Each is more than the one before; 100 comes last by itself.",
    ),
    pause: key(
      z.strictObject({ duration: key(duration.optional(), "How long. Default: until somebody comments `/promote`.") }).optional(),
      "Waits, from the moment what stands before it is done. A moment in which a cluster is not healthy begins it anew.",
    ),
    analysis: key(analysis.optional(), "Measurements that must pass before the next weight."),
  });
}

/** Where the weight of a step is written. */
export const weightPinSchema = z.strictObject({
  file: key(text.min(1), "File in the config repo; a template."),
  path: key(text.min(1), "Pin path in it; a template."),
  value: key(
    text.min(1).default("{{ step.weight }}"),
    "What is written; a template that also knows `{{ step.weight }}` and, with `replicas`, `{{ step.replicas }}`.",
  ),
  replicas: key(
    z.int().min(1).max(1_000_000).optional(),
    "How many replicas the clusters of one batch have together. `{{ step.replicas }}` is the share of each cluster in as many of them as the weight says, rounded up: 10 on 2 clusters are 1 and 1 at 20%.",
  ),
});
