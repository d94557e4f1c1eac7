import { z } from "zod";
import { isRecord } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import { show } from "../../base/problem.ts";
import { type Finding, unpackReason } from "../../reasons/problem.ts";
import { marksOf } from "../schema-common.ts";

type Path = (string | number)[];

/** Takes `optional` and `default` off, gathering nothing. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap();
  return inner;
}

/** The schema of what stands at a path; undefined where the schema knows nothing there. */
export function schemaAt(root: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let here: z.core.$ZodType | undefined = unwrap(root);
  for (const step of path) {
    if (here === undefined) return undefined;
    here = stepInto(here, step);
  }
  return here;
}

function stepInto(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) {
      const found = stepInto(unwrap(option), step);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (schema instanceof z.ZodObject) {
    const shape: Record<string, z.core.$ZodType> = schema.shape;
    const found = Object.hasOwn(shape, String(step)) ? shape[String(step)] : undefined;
    return found === undefined ? undefined : unwrap(found);
  }
  if (schema instanceof z.ZodArray) return unwrap(schema.element);
  if (schema instanceof z.ZodRecord) return unwrap(schema.valueType);
  return undefined;
}

/** Uses of keys and values that are in the schema and not built yet. */
export function findNotBuilt(root: z.core.$ZodType, data: unknown): Finding[] {
  const findings: Finding[] = [];
  walk(root, data, [], findings);
  return findings;
}

function walk(schema: z.core.$ZodType, data: unknown, path: Path, findings: Finding[]): void {
  const marks = marksOf(schema);
  if (marks?.planned === true) {
    findings.push(notBuilt(path, dotted(path), true));
    return;
  }
  if (marks?.built !== undefined && typeof data === "string" && !marks.built.includes(data) && unwrapAllows(schema, data)) {
    findings.push(notBuilt(path, `${dotted(path)}: ${data}`, false));
    return;
  }
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isRecord(data)) {
    const shape: Record<string, z.core.$ZodType> = inner.shape;
    for (const [name, value] of Object.entries(data)) {
      const child = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (child !== undefined) walk(child, value, [...path, name], findings);
    }
  }
  if (inner instanceof z.ZodArray && Array.isArray(data)) {
    for (const [i, value] of data.entries()) walk(inner.element, value, [...path, i], findings);
  }
  if (inner instanceof z.ZodRecord && isRecord(data)) {
    for (const [name, value] of Object.entries(data)) walk(inner.valueType, value, [...path, name], findings);
  }
}

function unwrapAllows(schema: z.core.$ZodType, value: string): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodEnum && (inner.options as readonly unknown[]).includes(value);
}

function notBuilt(path: Path, what: string, atKey: boolean): Finding {
  return { code: "NOT_BUILT_YET", kind: "Key", what, path, atKey };
}

/** `spec.stages[0].bake`. */
export function dotted(path: readonly PropertyKey[]): string {
  let text = "";
  for (const step of path) text += typeof step === "number" ? `[${step}]` : text === "" ? String(step) : `.${String(step)}`;
  return text;
}

/** Names people bring from elsewhere. */
const RENAMED: Record<string, string> = {
  maxTargets: "maxClusters",
  maxParallel: "maxUnavailable",
  targets: "clusters",
  matchExpression: "matchExpressions",
  matchLabel: "matchLabels",
  appSetRef: "sourceRef",
  maxUpdate: "maxUnavailable",
  bakeTime: "bake",
};

/** What the schema's validation found. */
export function findingsOf(issues: readonly z.core.$ZodIssue[], root: z.core.$ZodType, data: unknown): Finding[] {
  return issues.flatMap((issue) => findingsOfIssue(issue, root, data, []));
}

function findingsOfIssue(issue: z.core.$ZodIssue, root: z.core.$ZodType, data: unknown, prefix: Path): Finding[] {
  const path = [...prefix, ...issue.path].map((step) => (typeof step === "number" ? step : String(step)));
  const packed = unpackReason(issue.message);
  if (packed !== undefined) return [{ ...packed, path }];
  if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownKey(name, path, root));
  if (issue.code === "invalid_union") {
    const explained = issue.errors.flat().find((inner) => unpackReason(inner.message) !== undefined && inner.path.length === 0);
    if (explained !== undefined) return findingsOfIssue(explained, root, data, path);
    const best = issue.errors.toSorted((a, b) => deepest(b) - deepest(a))[0];
    if (best !== undefined && deepest(best) > 0) return best.flatMap((inner) => findingsOfIssue(inner, root, data, path));
  }
  return [reasonOf(issue, path, at(data, path))];
}

function deepest(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

function unknownKey(name: string, path: Path, root: z.core.$ZodType): Finding {
  const schema = schemaAt(root, path);
  const options = schema instanceof z.ZodUnion ? schema.options.map(unwrap) : [schema];
  const known = options.flatMap((option) => (option instanceof z.ZodObject ? Object.keys(option.shape) : []));
  const renamed = RENAMED[name];
  const near = renamed !== undefined && known.includes(renamed) ? renamed : nearest(name, known);
  return { code: "UNKNOWN_KEY", key: name, where: dotted(path), known, near, path: [...path, name], atKey: true };
}

function reasonOf(issue: z.core.$ZodIssue, path: Path, value: unknown): Finding {
  const key = dotted(path);
  const given = show(value);
  if (value === undefined && issue.code !== "custom") return { code: "MISSING_KEY", kind: "Key", key, path };
  if (issue.code === "invalid_value") {
    const known = issue.values.map(String);
    const data = { key, given, known, near: typeof value === "string" ? nearest(value, known) : undefined };
    return path.at(-1) === "operator" ? { code: "BAD_OPERATOR", ...data, path } : { code: "BAD_VALUE", kind: "Choice", ...data, path };
  }
  if (issue.code === "invalid_type") return { code: "WRONG_TYPE", kind: "Type", key, wanted: issue.expected, given, path };
  if (issue.code === "invalid_union") return { code: "WRONG_TYPE", kind: "Type", key, wanted: undefined, given, path };
  if (issue.code === "too_small" && issue.origin === "array") return { code: "BAD_VALUE", kind: "EmptyList", key, path };
  if (issue.code === "too_small" && issue.origin === "string") return { code: "BAD_VALUE", kind: "EmptyText", key, path };
  if (issue.code === "too_small") return { code: "BAD_VALUE", kind: "Least", key, given, least: String(issue.minimum), path };
  if (issue.code === "too_big") {
    const data = { key, most: String(issue.maximum), characters: issue.origin === "string" };
    return { code: "BAD_VALUE", kind: "Most", ...data, path };
  }
  if (issue.code === "invalid_key") return { code: "BAD_VALUE", kind: "Name", key, path, atKey: true };
  return { code: "BAD_VALUE", kind: "Other", key, said: issue.message.toLowerCase(), path };
}

function at(data: unknown, path: Path): unknown {
  let here = data;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}
