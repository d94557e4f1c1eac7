import { isRecord } from "../base/is-record.ts";
import { isLabelKey, isLabelValue, labelMatcher, OPERATORS, type Selector } from "../base/selector.ts";
import { failure } from "./problem.ts";

/** Whether labels (or flattened parameters) are selected. */
type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

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
  if (!isRecord(raw)) throw failure("INVALID", options.where, { kind: "SelectorNoMap" });
  const labels = raw["matchLabels"] ?? {};
  if (!isRecord(labels)) throw failure("INVALID", `${options.where}.matchLabels`, { kind: "LabelsNoMap" });
  const matchLabels: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    const where = `${options.where}.matchLabels.${key}`;
    const wanted = requireText(value, where, options);
    checkKey(key, where);
    matchLabels[key] = wanted;
  }
  const expressions = raw["matchExpressions"] ?? [];
  if (!Array.isArray(expressions)) throw failure("INVALID", `${options.where}.matchExpressions`, { kind: "ExpressionsNoList" });
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
  if (!Array.isArray(given)) throw failure("INVALID", `${options.where}.values`, { kind: "ValuesNoList" });
  const values = given.map((value, index) => requireText(value, `${options.where}.values[${index}]`, options));
  const operator = OPERATORS.find((one) => one === expression["operator"]);
  if (operator === undefined)
    throw failure("INVALID", `${options.where}.operator`, { kind: "UnknownOperator", given: expression["operator"] ?? null });
  const wantsValues = operator === "In" || operator === "NotIn";
  if (wantsValues !== values.length > 0)
    throw failure("INVALID", `${options.where}.values`, { kind: wantsValues ? "ValuesMissing" : "ValuesNeedless", operator });
  return { key, operator, values };
}

function requireText(given: unknown, where: string, options: Options): string {
  if (typeof given !== "string") throw failure("INVALID", where, { kind: "NoText", given: given ?? null });
  if (!options.anyValue && !isLabelValue(given)) throw failure("INVALID", where, { kind: "LabelValue", given });
  return given;
}

function checkKey(key: string, where: string): void {
  if (!isLabelKey(key)) throw failure("INVALID", where, { kind: "LabelKey", given: key });
}
