import { isRecord } from "../base/is-record.ts";
import { failure, setKey } from "./problem.ts";

/**
 * A generator's own `template` over the set's: what it leaves empty is filled from the set's, field by field; lists and
 * raw values (`valuesObject`) are taken whole.
 */
export function mergeTemplates(own: unknown, base: Record<string, unknown>): Record<string, unknown> {
  return isRecord(own) ? filled(own, base) : base;
}

function filled(own: Record<string, unknown>, base: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = { ...own };
  for (const [key, theirs] of Object.entries(base)) {
    const mine = Object.hasOwn(result, key) ? result[key] : undefined;
    if (isRecord(mine) && isRecord(theirs) && key !== "valuesObject") setKey(result, key, filled(mine, theirs));
    else if (isEmpty(mine)) setKey(result, key, theirs);
  }
  return result;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

const SOURCE_TEXTS = ["repoURL", "path", "chart", "targetRevision", "ref"];

/** Fields the API server would refuse for their type, so that a set which cannot exist is not rendered. */
export function checkTemplate(template: Record<string, unknown>, where: string): void {
  const metadata = requireMap(template["metadata"] ?? {}, `${where}.metadata`);
  const spec = requireMap(template["spec"] ?? {}, `${where}.spec`);
  requireTexts(metadata, ["name", "namespace"], `${where}.metadata`);
  for (const key of ["labels", "annotations"]) {
    const map = requireMap(metadata[key] ?? {}, `${where}.metadata.${key}`);
    requireTexts(map, Object.keys(map), `${where}.metadata.${key}`);
  }
  requireTexts(spec, ["project"], `${where}.spec`);
  requireTexts(
    requireMap(spec["destination"] ?? {}, `${where}.spec.destination`),
    ["server", "name", "namespace"],
    `${where}.spec.destination`,
  );
  const sources = spec["sources"] ?? [];
  if (!Array.isArray(sources)) throw failure("INVALID", `${where}.spec.sources`, "sources is no list", "write a list of sources");
  sources.forEach((source, index) => {
    requireTexts(requireMap(source, `${where}.spec.sources[${index}]`), SOURCE_TEXTS, `${where}.spec.sources[${index}]`);
  });
  requireTexts(requireMap(spec["source"] ?? {}, `${where}.spec.source`), SOURCE_TEXTS, `${where}.spec.source`);
}

function requireMap(value: unknown, where: string): Record<string, unknown> {
  if (!isRecord(value))
    throw failure("INVALID", where, `${JSON.stringify(value)} is no map`, "in YAML, {{ … }} at the start of a value needs quotes");
  return value;
}

function requireTexts(map: Record<string, unknown>, keys: readonly string[], where: string): void {
  for (const key of keys) {
    const value = Object.hasOwn(map, key) ? map[key] : undefined;
    if (value === undefined || value === null || typeof value === "string") continue;
    throw failure("INVALID", `${where}.${key}`, `${JSON.stringify(value)} is not text`, "put it in quotes");
  }
}
