import { isRecord } from "../base/is-record.ts";
import { isLabelKey, isLabelValue, labelMatcher, OPERATORS, type Selector } from "../base/selector.ts";
import { failure } from "./problem.ts";

/** Whether labels (or flattened parameters) are selected. */
export type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

interface Options {
  where: string;
  /** Labels' values are short and plain; a generator's post-selector compares with any text. */
  anyValue: boolean;
}

/**
 * A Kubernetes label selector; undefined: none is given. An empty one selects everything.
 * @throws RenderFailure where Kubernetes would refuse it
 */
export function compileSelector(raw: unknown, options: Options): LabelTest | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isRecord(raw)) throw failure("INVALID", options.where, "the selector is no map", "give it matchLabels or matchExpressions");
  const labels = raw["matchLabels"] ?? {};
  if (!isRecord(labels))
    throw failure("INVALID", `${options.where}.matchLabels`, "matchLabels is no map of texts", "write key: value lines");
  const matchLabels: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    const where = `${options.where}.matchLabels.${key}`;
    const wanted = requireText(value, where, options);
    checkKey(key, where);
    matchLabels[key] = wanted;
  }
  const expressions = raw["matchExpressions"] ?? [];
  if (!Array.isArray(expressions))
    throw failure("INVALID", `${options.where}.matchExpressions`, "matchExpressions is no list", "write a list of key, operator, values");
  const matchExpressions = expressions.map((expression, index) =>
    readExpression(expression, { ...options, where: `${options.where}.matchExpressions[${index}]` }),
  );
  return labelMatcher({ matchLabels, matchExpressions });
}

/** Whether a selector asks for anything. */
export function isEmptySelector(raw: unknown): boolean {
  if (!isRecord(raw)) return true;
  const labels = raw["matchLabels"];
  const expressions = raw["matchExpressions"];
  return !(isRecord(labels) && Object.keys(labels).length > 0) && !(Array.isArray(expressions) && expressions.length > 0);
}

function readExpression(raw: unknown, options: Options): Selector["matchExpressions"][number] {
  const expression = isRecord(raw) ? raw : {};
  const key = requireText(expression["key"], `${options.where}.key`, { ...options, anyValue: true });
  checkKey(key, `${options.where}.key`);
  const given = expression["values"] ?? [];
  if (!Array.isArray(given)) throw failure("INVALID", `${options.where}.values`, "values is no list", "write a list of texts");
  const values = given.map((value, index) => requireText(value, `${options.where}.values[${index}]`, options));
  const operator = OPERATORS.find((one) => one === expression["operator"]);
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    throw failure("INVALID", `${options.where}.values`, `operator ${operator} wants at least one value`, "list the values");
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    throw failure("INVALID", `${options.where}.values`, `operator ${operator} takes no values`, "remove the values, or use In or NotIn");
  }
  if (operator !== undefined) return { key, operator, values };
  throw failure(
    "INVALID",
    `${options.where}.operator`,
    `${JSON.stringify(expression["operator"] ?? null)} is no operator of a label selector`,
    "use In, NotIn, Exists or DoesNotExist",
  );
}

function requireText(value: unknown, where: string, options: Options): string {
  if (typeof value !== "string") throw failure("INVALID", where, `${JSON.stringify(value ?? null)} is not text`, "put it in quotes");
  if (!options.anyValue && !isLabelValue(value))
    throw failure("INVALID", where, `${JSON.stringify(value)} cannot be the value of a label`, "at most 63 letters, digits, -, _ and .");
  return value;
}

function checkKey(key: string, where: string): void {
  if (!isLabelKey(key))
    throw failure(
      "INVALID",
      where,
      `${JSON.stringify(key)} is no valid label key`,
      "letters, digits, -, _ and ., after an optional DNS prefix and /; with goTemplate no leading dot",
    );
}
