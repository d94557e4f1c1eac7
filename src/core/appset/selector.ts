import { isRecord } from "../base/is-record.ts";
import { failure } from "./problem.ts";

/** Whether labels (or flattened parameters) are selected. */
export type Selector = (labels: Readonly<Record<string, string>>) => boolean;

const KEY =
  /^(?:([a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)\/)?([A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

interface Options {
  where: string;
  /** Labels' values are short and plain; a generator's post-selector compares with any text. */
  anyValue: boolean;
}

/**
 * A Kubernetes label selector; undefined: none is given. An empty one selects everything.
 * @throws RenderFailure where Kubernetes would refuse it
 */
export function compileSelector(raw: unknown, options: Options): Selector | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isRecord(raw)) throw failure("INVALID", options.where, "the selector is no map", "give it matchLabels or matchExpressions");
  const tests: Selector[] = [];
  const labels = raw["matchLabels"] ?? {};
  if (!isRecord(labels))
    throw failure("INVALID", `${options.where}.matchLabels`, "matchLabels is no map of texts", "write key: value lines");
  for (const [key, value] of Object.entries(labels)) {
    const where = `${options.where}.matchLabels.${key}`;
    const wanted = requireText(value, where, options);
    checkKey(key, where);
    tests.push((given) => read(given, key) === wanted);
  }
  const expressions = raw["matchExpressions"] ?? [];
  if (!Array.isArray(expressions))
    throw failure("INVALID", `${options.where}.matchExpressions`, "matchExpressions is no list", "write a list of key, operator, values");
  expressions.forEach((expression, index) => {
    tests.push(compileExpression(expression, { ...options, where: `${options.where}.matchExpressions[${index}]` }));
  });
  return (given) => tests.every((test) => test(given));
}

/** Whether a selector asks for anything. */
export function isEmptySelector(raw: unknown): boolean {
  if (!isRecord(raw)) return true;
  const labels = raw["matchLabels"];
  const expressions = raw["matchExpressions"];
  return !(isRecord(labels) && Object.keys(labels).length > 0) && !(Array.isArray(expressions) && expressions.length > 0);
}

function compileExpression(raw: unknown, options: Options): Selector {
  const expression = isRecord(raw) ? raw : {};
  const key = requireText(expression["key"], `${options.where}.key`, { ...options, anyValue: true });
  checkKey(key, `${options.where}.key`);
  const values = expression["values"] ?? [];
  if (!Array.isArray(values)) throw failure("INVALID", `${options.where}.values`, "values is no list", "write a list of texts");
  const wanted = new Set(values.map((value, index) => requireText(value, `${options.where}.values[${index}]`, options)));
  const operator = expression["operator"];
  if ((operator === "In" || operator === "NotIn") && wanted.size === 0) {
    throw failure("INVALID", `${options.where}.values`, `operator ${operator} wants at least one value`, "list the values");
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && wanted.size > 0) {
    throw failure("INVALID", `${options.where}.values`, `operator ${operator} takes no values`, "remove the values, or use In or NotIn");
  }
  switch (operator) {
    case "In":
      return (given) => has(wanted, read(given, key));
    case "NotIn":
      return (given) => !has(wanted, read(given, key));
    case "Exists":
      return (given) => read(given, key) !== undefined;
    case "DoesNotExist":
      return (given) => read(given, key) === undefined;
    default:
      throw failure(
        "INVALID",
        `${options.where}.operator`,
        `${JSON.stringify(operator ?? null)} is no operator of a label selector`,
        "use In, NotIn, Exists or DoesNotExist",
      );
  }
}

function has(wanted: ReadonlySet<string>, value: string | undefined): boolean {
  return value !== undefined && wanted.has(value);
}

function read(given: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(given, key) ? given[key] : undefined;
}

function requireText(value: unknown, where: string, options: Options): string {
  if (typeof value !== "string") throw failure("INVALID", where, `${JSON.stringify(value ?? null)} is not text`, "put it in quotes");
  if (!options.anyValue && !VALUE.test(value))
    throw failure("INVALID", where, `${JSON.stringify(value)} cannot be the value of a label`, "at most 63 letters, digits, -, _ and .");
  return value;
}

function checkKey(key: string, where: string): void {
  if (!KEY.test(key))
    throw failure(
      "INVALID",
      where,
      `${JSON.stringify(key)} is no valid label key`,
      "letters, digits, -, _ and ., after an optional DNS prefix and /; with goTemplate no leading dot",
    );
}
