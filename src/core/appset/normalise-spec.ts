import { isRecord } from "../base/is-record.ts";
import { setKey } from "./problem.ts";

/** What an Application deploys, where, and under which rules of a project. */
export interface NormalSpec {
  project: string;
  /** One item for a single `source`; `sources` wins where both are set. */
  sources: Record<string, unknown>[];
  destination: Record<string, unknown>;
}

/**
 * The part of an Application's spec by which a live one and a rendered one are compared: source(s), destination and
 * project, without what Argo CD leaves out or fills in by itself. `syncPolicy` and the rest do not count.
 */
export function normaliseSpec(spec: unknown): NormalSpec {
  const raw = isRecord(spec) ? spec : {};
  const many = Array.isArray(raw["sources"]) && raw["sources"].length > 0 ? raw["sources"] : [raw["source"]];
  const destination = compact(isRecord(raw["destination"]) ? raw["destination"] : {});
  if (typeof destination["server"] === "string") destination["server"] = destination["server"].replace(/\/+$/, "");
  const project = raw["project"];
  return {
    project: typeof project === "string" && project !== "" ? project : "default",
    sources: many.filter(isRecord).map(compact),
    destination,
  };
}

/** `normaliseSpec` of an Application object, rendered or live. */
export function sourceOf(application: unknown): NormalSpec {
  return normaliseSpec(isRecord(application) ? application["spec"] : undefined);
}

/** Drops what Go's JSON leaves out when empty, at every level but inside raw Helm values; keys in order. */
function compact(map: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(map).sort()) {
    const value = key === "valuesObject" ? map[key] : compacted(map[key]);
    if (value !== undefined) setKey(kept, key, value);
  }
  return kept;
}

function compacted(value: unknown): unknown {
  if (value === null || value === undefined || value === "" || value === false) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => (isRecord(item) ? compact(item) : item));
  if (!isRecord(value)) return value;
  const inner = compact(value);
  return Object.keys(inner).length === 0 ? undefined : inner;
}
