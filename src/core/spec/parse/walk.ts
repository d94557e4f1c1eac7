import { z } from "zod";
import { isRecord } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import { type Finding, show, unsay } from "../../base/problem.ts";
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
  return {
    code: "NOT_BUILT_YET",
    message: `${what} is not available in this version`,
    hint: "remove it, or wait for the version that brings it; it is never ignored",
    path,
    atKey,
  };
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

/** What the schema's validation found, in words. */
export function findingsOf(issues: readonly z.core.$ZodIssue[], root: z.core.$ZodType, data: unknown): Finding[] {
  return issues.flatMap((issue) => findingsOfIssue(issue, root, data, []));
}

function findingsOfIssue(issue: z.core.$ZodIssue, root: z.core.$ZodType, data: unknown, prefix: Path): Finding[] {
  const path = [...prefix, ...issue.path].map((step) => (typeof step === "number" ? step : String(step)));
  const said = unsay(issue.message);
  if (said !== undefined) return [{ ...said, path }];
  if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownKey(name, path, root));
  if (issue.code === "invalid_union") {
    const explained = issue.errors.flat().find((inner) => unsay(inner.message) !== undefined && inner.path.length === 0);
    if (explained !== undefined) return findingsOfIssue(explained, root, data, path);
    const best = issue.errors.toSorted((a, b) => deepest(b) - deepest(a))[0];
    if (best !== undefined && deepest(best) > 0) return best.flatMap((inner) => findingsOfIssue(inner, root, data, path));
  }
  return [inWords(issue, path, at(data, path))];
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
  const where = path.length === 0 ? "at the top" : `in ${dotted(path)}`;
  return {
    code: "UNKNOWN_KEY",
    message: `unknown key "${name}" ${where}`,
    hint: near === undefined ? `known keys here: ${known.join(", ")}` : `did you mean "${near}"?`,
    path: [...path, name],
    atKey: true,
  };
}

function inWords(issue: z.core.$ZodIssue, path: Path, value: unknown): Finding {
  const name = dotted(path) || "the document";
  if (value === undefined && issue.code !== "custom") {
    return { code: "MISSING_KEY", message: `${name} is missing`, hint: "add it; the reference page has an example", path };
  }
  if (issue.code === "invalid_value") {
    const known = issue.values.map(String);
    const near = typeof value === "string" ? nearest(value, known) : undefined;
    const code = path.at(-1) === "operator" ? "BAD_OPERATOR" : "BAD_VALUE";
    return {
      code,
      message: `${name} cannot be ${show(value)}`,
      hint: near === undefined ? `one of ${known.join(", ")}` : `did you mean ${near}? It is one of ${known.join(", ")}`,
      path,
    };
  }
  if (issue.code === "invalid_type" || issue.code === "invalid_union") {
    const wanted = issue.code === "invalid_type" ? (NAMES[issue.expected] ?? issue.expected) : "something else";
    return {
      code: "WRONG_TYPE",
      message: `${name} must be ${wanted}, not ${show(value)}`,
      hint: "write it as the reference page shows",
      path,
    };
  }
  if (issue.code === "too_small" && issue.origin === "array")
    return { code: "BAD_VALUE", message: `${name} is empty`, hint: "it needs at least one item", path };
  if (issue.code === "too_small" && issue.origin === "string")
    return { code: "BAD_VALUE", message: `${name} is empty`, hint: "write a value, or remove the key", path };
  if (issue.code === "too_small")
    return {
      code: "BAD_VALUE",
      message: `${name} is ${show(value)}, less than ${String(issue.minimum)}`,
      hint: `write ${String(issue.minimum)} or more`,
      path,
    };
  if (issue.code === "too_big")
    return {
      code: "BAD_VALUE",
      message: `${name} is more than ${String(issue.maximum)}${issue.origin === "string" ? " characters" : ""}`,
      hint: `write ${String(issue.maximum)} or less`,
      path,
    };
  if (issue.code === "invalid_key")
    return {
      code: "BAD_VALUE",
      message: `${name} is no usable name`,
      hint: "begin with a letter; letters, digits and _ may follow",
      path,
      atKey: true,
    };
  return { code: "BAD_VALUE", message: `${name}: ${issue.message.toLowerCase()}`, hint: "write it as the reference page shows", path };
}

const NAMES: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a map",
  record: "a map",
  array: "a list",
};

function at(data: unknown, path: Path): unknown {
  let here = data;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}
