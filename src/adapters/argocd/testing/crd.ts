import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { parse } from "yaml";

/** The schema of Application as Argo CD ships it, where it lies beside the checkout. */
const CRD = new URL("../../../../../shared/data/argocd/manifests/crds/application-crd.yaml", import.meta.url);

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  format?: string;
}

export function applicationSchema(): Schema | undefined {
  if (!existsSync(CRD)) return undefined;
  const crd = parse(readFileSync(CRD, "utf8")) as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } };
  return crd.spec.versions[0]?.schema.openAPIV3Schema;
}

const HUGE = "x".repeat(20_000);
/** What stands where something else belongs. */
const absurd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1e308,
    Number.NaN,
    "",
    HUGE,
    [],
    {},
    [[]],
    [null],
    { "": null },
    "__proto__",
    "9999-12-31T23:59:59Z",
  ),
  fc.string({ maxLength: 20 }),
  fc.integer(),
);
const word = fc.constantFrom(
  "Synced",
  "OutOfSync",
  "Healthy",
  "Degraded",
  "Running",
  "Succeeded",
  "Failed",
  "main",
  "c".repeat(40),
  "SyncError",
  "v1",
);
const time = fc.constantFrom(
  "2026-11-21T10:00:10Z",
  "2026-11-21T09:00:00Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "2026-13-45T99:99:99Z",
);

/**
 * Objects with the structure that a schema describes, in which any part may be missing or be something else altogether.
 * `wrong`: how many percent of the parts.
 */
export function absurdly(schema: Schema, wrong: number, depth = 0): fc.Arbitrary<unknown> {
  const right = shaped(schema, wrong, depth);
  return fc.oneof({ weight: 100 - wrong, arbitrary: right }, { weight: wrong, arbitrary: absurd });
}

function shaped(schema: Schema, wrong: number, depth: number): fc.Arbitrary<unknown> {
  if (depth > 7) return absurd;
  if (schema.properties !== undefined) {
    const entries = Object.entries(schema.properties).map(([name, inner]) => [name, absurdly(inner, wrong, depth + 1)] as const);
    return fc.record(Object.fromEntries(entries), { requiredKeys: [] });
  }
  if (schema.type === "array") return fc.array(absurdly(schema.items ?? {}, wrong, depth + 1), { maxLength: 2 });
  if (schema.type === "object") return fc.dictionary(fc.string({ maxLength: 5 }), fc.oneof(word, absurd), { maxKeys: 2 });
  if (schema.format === "date-time") return time;
  if (schema.type === "integer" || schema.type === "number") return fc.integer({ min: -2, max: 9 });
  if (schema.type === "boolean") return fc.boolean();
  return word;
}
