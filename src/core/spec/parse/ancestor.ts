import { z } from "zod";
import { isRecord, listAt, recordOf } from "../../base/is-record.ts";
import type { Finding } from "../../reasons/problems/problem.ts";
import { KIND, ROLLOUT_API_VERSION } from "../schema.ts";
import { key, quantity, selector, text } from "../schema-common.ts";
import { stageSchema } from "../schema-stage.ts";

/**
 * The resource of the Skyscanner controllers, in the shapes it had: `maxClusters`/`maxUnavailable`/`clusters`, and later
 * `maxTargets`/`maxParallel`/`targets.clusters` and `appSetRef`. Counts were of Applications there and are of clusters here.
 */
const { name, clusters, maxClusters, maxUnavailable, topologyKey, requeue } = stageSchema.shape;

const stage = z.strictObject({
  name,
  clusters: clusters.optional(),
  targets: key(
    z.strictObject({ clusters: key(z.strictObject({ selector: key(selector, "Which clusters.") }), "Clusters.") }).optional(),
    "As `clusters`.",
  ),
  maxClusters,
  maxTargets: key(quantity.optional(), "As `maxClusters`."),
  maxUnavailable,
  maxParallel: key(quantity.optional(), "As `maxUnavailable`."),
  topologyKey,
  requeue,
});

const reference = z.strictObject({ apiGroup: text.optional(), apiVersion: text.optional(), kind: text.optional(), name: text.min(1) });

export const ancestorSchema = z.strictObject({
  apiVersion: text,
  kind: text,
  metadata: z.strictObject({
    name: text.min(1).max(63),
    namespace: text.optional(),
    labels: z.record(z.string(), text).optional(),
    annotations: z.record(z.string(), text).optional(),
  }),
  spec: z.strictObject({ sourceRef: reference.optional(), appSetRef: reference.optional(), stages: z.array(stage).min(1) }),
});

const SAME: readonly [string, string][] = [
  ["maxClusters", "maxTargets"],
  ["maxUnavailable", "maxParallel"],
  ["clusters", "targets"],
];

/** Keys that mean the same thing, given both; and what must be there under one of its names. */
export function checkAncestor(data: unknown): Finding[] {
  const findings: Finding[] = [];
  const spec = recordOf(recordOf(data)["spec"]);
  if (spec["sourceRef"] === undefined && spec["appSetRef"] === undefined) {
    findings.push({ code: "MISSING_KEY", kind: "SourceRef", path: ["spec"] });
  }
  for (const [i, raw] of listAt(spec, "stages").entries()) {
    if (!isRecord(raw)) continue;
    for (const [ours, theirs] of SAME) {
      if (raw[ours] !== undefined && raw[theirs] !== undefined) {
        findings.push({ code: "SAME_KEY_TWICE", ours, theirs, path: ["spec", "stages", i, theirs], atKey: true });
      }
    }
    if (raw["clusters"] === undefined && raw["targets"] === undefined) {
      findings.push({ code: "MISSING_KEY", kind: "Clusters", stage: i, path: ["spec", "stages", i] });
    }
  }
  return findings;
}

/** The same thing in our own resource's words. Takes data that may be wrong and leaves the wrong parts as they are. */
export function modernise(data: Record<string, unknown>): Record<string, unknown> {
  const spec = recordOf(data["spec"]);
  const { name } = recordOf(isRecord(spec["sourceRef"]) ? spec["sourceRef"] : spec["appSetRef"]);
  const metadata = recordOf(data["metadata"]);
  const { namespace } = metadata;
  return {
    apiVersion: ROLLOUT_API_VERSION,
    kind: KIND,
    metadata,
    spec: {
      // The old controller took ApplicationSets of its own resource's namespace.
      sourceRef: { kind: "ApplicationSet", name, namespace: typeof namespace === "string" ? namespace : undefined },
      stages: listAt(spec, "stages").map((raw) => (isRecord(raw) ? moderniseStage(raw) : raw)),
    },
  };
}

function moderniseStage({ maxTargets, maxParallel, targets, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const { maxClusters = maxTargets, maxUnavailable = maxParallel, clusters = recordOf(targets)["clusters"] } = rest;
  return { ...rest, maxClusters, maxUnavailable, clusters };
}
