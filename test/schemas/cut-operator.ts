/**
 * Cuts the specs of the Prometheus operator's resources that deploy/monitoring/ uses out of their published CRDs. By hand:
 * `node test/schemas/cut-operator.ts FOLDER`, where the folder holds `monitoring.coreos.com_*.yaml` (of v0.93 as committed).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isObject } from "./plain-schema.ts";

/** What says nothing about what is valid. */
const IDLE = new Set(["description", "default"]);

/** An object holds what is named and nothing else: the API server would drop it in silence. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isObject(schema)) return schema;
  if (schema["x-kubernetes-int-or-string"] === true) return { type: ["integer", "string"] };
  // Flags inside of a pattern are Go's.
  const isOurs = ([key, value]: [string, unknown]) => !IDLE.has(key) && !key.startsWith("x-") && !String(value).includes("(?");
  const kept = Object.entries(schema).filter(isOurs);
  const plain = Object.fromEntries(kept.map(([key, value]) => [key, key === "properties" ? named(value) : strict(value)]));
  return plain["properties"] === undefined ? plain : { ...plain, additionalProperties: false };
}

function named(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, strict(schema)]));
}

interface Crd {
  spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: { properties: { spec: unknown } } } }[] };
}

const [folder = "."] = process.argv.slice(2);
const specs = ["prometheusrules", "servicemonitors"].map((name) => {
  const { spec } = parse(readFileSync(join(folder, `monitoring.coreos.com_${name}.yaml`), "utf8")) as Crd;
  return [spec.names.kind, strict(spec.versions.find((one) => one.name === "v1")?.schema.openAPIV3Schema.properties.spec)];
});
writeFileSync(new URL("prometheus-operator.generated.json", import.meta.url), `${JSON.stringify(Object.fromEntries(specs), null, 1)}\n`);
