import { z } from "zod";
import { key, text } from "./schema-common.ts";
import { releaseSchema } from "./schema-release.ts";
import { deliverySchema, MODE, modeSchema, pinsSchema, specSchema } from "./schema-spec.ts";

export const ROLLOUT_API_VERSION = "stagecoach.dev/v1alpha1";
export const KIND = "ProgressiveRollout";
/** Groups of the ancestor, whose resources are read unchanged. */
export const ANCESTOR_API_VERSIONS: readonly string[] = ["deployment.skyscanner.net/v1alpha1", "argoproj.skyscanner.net/v1alpha1"];
export const ANCESTOR_KINDS: readonly string[] = ["ProgressiveRollout", "ProgressiveSync"];

/** The resource of `rollouts/NAME.yaml`: the type, the validation, the JSON Schema and the reference page come from here. */
export const resourceSchema = z.strictObject({
  apiVersion: key(z.literal(ROLLOUT_API_VERSION), `\`${ROLLOUT_API_VERSION}\`.`),
  kind: key(z.literal(KIND), `\`${KIND}\`.`),
  metadata: key(
    z.strictObject({
      name: key(text.min(1).max(63), "Name of the rollout, unique in the repo; part of branch names."),
      namespace: key(text.optional(), "Not used; for kubectl."),
      labels: key(z.record(z.string(), text).optional(), "Not used; for kubectl."),
      annotations: key(
        z.record(z.string(), text).optional(),
        "Only `stagecoach.dev/…` ones are read, and only on resources of the ancestor.",
      ),
    }),
    "Name and the like, as on any Kubernetes object.",
  ),
  spec: key(specSchema, "What the rollout does."),
});

export type Resource = z.output<typeof resourceSchema>;

/** What a repo's own settings may say of a rollout whose resource cannot say it itself. */
export const overrideSchema = z.strictObject({
  release: key(releaseSchema.optional(), "As `spec.release`."),
  pins: key(pinsSchema.optional(), "As `spec.pins`."),
  mode: key(modeSchema.optional(), MODE),
  delivery: key(deliverySchema.optional(), "As `spec.delivery`."),
});
