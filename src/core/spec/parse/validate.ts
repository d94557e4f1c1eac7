/**
 * Validates data against a schema of zod, and says what is wrong in our codes: each with its path and, for what is misspelt, the nearest
 * name. Called for rollouts, settings and the server's configuration.
 */
import { z } from "zod";
import { defined } from "../../base/defined.ts";
import { isRecord } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import { show } from "../../base/problem.ts";
import { type Finding, type Path, type Problem, unpackReason } from "../../reasons/problems/problem.ts";

/** Plain data with the way back to its place. */
export interface Placed {
  data: Record<string, unknown>;
  place(finding: Finding): Problem;
}

interface Validated<T> {
  /** What could be read, faulty parts left out; undefined where too little is left. Valid as it stands only without findings. */
  value: T | undefined;
  findings: Finding[];
}

/**
 * Validates against a schema and collects every finding. Where some are found, the faulty parts are left out and the rest
 * read again, so that the cross-field rules can speak of the rest in the same pass.
 */
export function validate<S extends z.ZodType>(schema: S, data: unknown): Validated<z.output<S>> {
  const first = schema.safeParse(data);
  if (first.success) return { value: first.data, findings: [] };
  const findings = first.error.issues.flatMap((issue) => findingsOf(issue, schema, data, []));
  const again = schema.safeParse(without(data, findings));
  return { value: again.success ? again.data : undefined, findings };
}

function startsWith(path: readonly unknown[], start: readonly unknown[]): boolean {
  return start.every((step, i) => path[i] === step);
}

/** Findings of rules that speak of a part that was left out say nothing new. */
export function newFindings(rules: readonly Finding[], known: readonly Finding[]): Finding[] {
  return rules.filter(
    (finding) => !known.some(({ path }) => path.length > 0 && (startsWith(finding.path, path) || startsWith(path, finding.path))),
  );
}

function without(data: unknown, findings: readonly Finding[]): unknown {
  const copy: unknown = structuredClone(data);
  // An unknown key is only taken away; a stand-in would be unknown too.
  for (const { path, code } of findings) remove(copy, path, code !== "UNKNOWN_KEY");
  return copy;
}

function remove(root: unknown, path: Path, standIns: boolean): void {
  const last = String(path.at(-1));
  const here = at(root, path.slice(0, -1));
  if (path.length === 0 || !isRecord(here)) return;
  const standIn = standIns && Object.hasOwn(STAND_INS, last) ? STAND_INS[last]?.(path, here) : undefined;
  if (standIn === undefined) delete here[last];
  else here[last] = standIn;
}

/** For required keys that are missing or faulty: something harmless, so that the rest of the resource can still be judged. */
const STAND_INS: Record<string, (path: Path, parent: Readonly<Record<string, unknown>>) => unknown> = {
  name: (path) => `faulty-${path.filter((step) => typeof step === "number").join("-")}`,
  clusters: () => ({ selector: {} }),
  selector: () => ({}),
  sourceRef: () => ({ kind: "ApplicationSet", name: "faulty" }),
  operator: (_path, parent) => (Array.isArray(parent["values"]) && parent["values"].length > 0 ? "NotIn" : "Exists"),
};

/** Takes `optional` and `default` off, gathering nothing. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap();
  return inner;
}

/** The schema of what stands at a path; undefined where the schema knows nothing there. */
function schemaAt(root: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
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
    return Object.hasOwn(shape, String(step)) ? unwrap(shape[String(step)] as z.core.$ZodType) : undefined;
  }
  if (schema instanceof z.ZodArray) return unwrap(schema.element);
  if (schema instanceof z.ZodRecord) return unwrap(schema.valueType);
  return undefined;
}

/** `spec.stages[0].bake`. */
function dotted(path: readonly PropertyKey[]): string {
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
  freezes: "windows",
  freeze: "windows",
  windows: "freezes",
  stateDir: "directory",
  dataDir: "directory",
  cacheDir: "directory",
};

/** What the schema's validation found, issue by issue. */
function findingsOf(issue: z.core.$ZodIssue, root: z.core.$ZodType, data: unknown, prefix: Path): Finding[] {
  const path = [...prefix, ...issue.path].map((step) => (typeof step === "number" ? step : String(step)));
  const packed = unpackReason(issue.message);
  if (packed !== undefined) return [{ ...packed, path }];
  if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownKey(name, path, root));
  if (issue.code === "invalid_union") {
    const explained = issue.errors.flat().find((inner) => unpackReason(inner.message) !== undefined && inner.path.length === 0);
    if (explained !== undefined) return findingsOf(explained, root, data, path);
    const best = issue.errors.toSorted((a, b) => deepest(b) - deepest(a))[0];
    if (best !== undefined && deepest(best) > 0) return best.flatMap((inner) => findingsOf(inner, root, data, path));
  }
  return [reasonOf(issue, path, at(data, path))];
}

function deepest(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

function unknownKey(name: string, path: Path, root: z.core.$ZodType): Finding {
  const known = keysAt(root, path);
  const renamed = RENAMED[name];
  const near = renamed !== undefined && known.includes(renamed) ? renamed : nearest(name, known);
  const home = near === undefined ? homeOf(name, path, root) : undefined;
  return { code: "UNKNOWN_KEY", key: name, where: dotted(path), known, near, ...defined({ home }), path: [...path, name], atKey: true };
}

function keysAt(root: z.core.$ZodType, path: Path): string[] {
  const schema = schemaAt(root, path);
  const options = schema instanceof z.ZodUnion ? schema.options.map(unwrap) : [schema];
  return options.flatMap((option) => (option instanceof z.ZodObject ? Object.keys(option.shape) : []));
}

/** The map that has a key of this name: one around the place where it stands, or a stage. */
function homeOf(name: string, path: Path, root: z.core.$ZodType): string | undefined {
  const around = path.map((_, i) => path.slice(0, i)).findLast((place) => keysAt(root, place).includes(name));
  if (around !== undefined) return dotted(around);
  return path.length === 1 && keysAt(root, [...path, "stages", 0]).includes(name) ? `${dotted(path)}.stages[]` : undefined;
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
