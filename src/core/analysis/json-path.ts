/**
 * Finds values by kubectl-style JSONPath, as Argo Rollouts' web provider takes them. One budget holds for a whole path: each `..` may find the
 * values of another one again.
 */
import { reasonsOf } from "../base/reason.ts";
import type { PathReasons } from "../reasons/analysis.ts";
import { type Budget, ExpressionError, type Value } from "./expr/values.ts";

const pathReason = reasonsOf<PathReasons>();

type Step =
  | { kind: "key"; name: string }
  | { kind: "index"; index: number }
  | { kind: "every" }
  | { kind: "filter"; path: Step[]; op: string; value: Value }
  | { kind: "deep"; name: string };

const LONGEST = 1000;
/** Values looked at for one path. */
const MOST = 200_000;

/**
 * The first value that a path finds: `{$.data.ok}`, `{.items[0].x}`, `{$.a[?(@.name=="b")].v}`, `{..x}`. Empty: the whole document. Throws
 * ExpressionError.
 */
export function firstAt(path = "{$}", document: Value): Value {
  const steps = parsePath(path);
  const budget = { left: MOST };
  let here: Value[] = [document];
  for (const step of steps) here = here.flatMap((value) => follow(step, value, budget));
  const [first] = here;
  if (first === undefined) throw new ExpressionError(pathReason("PATH_EMPTY", { path }));
  return first;
}

/** Reads a path. Throws ExpressionError. */
export function parsePath(path = "{$}"): Step[] {
  if (path.length > LONGEST) throw new ExpressionError(pathReason("PATH_LONG", { most: LONGEST }));
  let text = path.trim();
  const braced = /^\{([\s\S]*)\}$/.exec(text);
  if (braced !== null) text = (braced[1] ?? "").trim();
  if (text.includes("{") || /^range\b/.test(text)) throw new ExpressionError(pathReason("PATH_SEVERAL", { path }));
  if (text.startsWith("$") || text.startsWith("@")) text = text.slice(1);
  else if (text !== "" && !text.startsWith(".") && !text.startsWith("[")) text = `.${text}`;
  const steps: Step[] = [];
  while (text !== "") {
    const { step, length } = nextStep(text, path);
    steps.push(step);
    text = text.slice(length);
  }
  return steps;
}

/** How each step is written, and what its groups are. */
const STEPS: readonly [written: RegExp, step: (...groups: string[]) => Step][] = [
  [/^\.\.([\w$-]+)/, (name = "") => ({ kind: "deep", name })],
  [/^\.((?:[\w$/-]|\\\.)+)/, (name = "") => ({ kind: "key", name: name.replaceAll("\\.", ".") })],
  [/^(?:\.\*|\[\*\])/, () => ({ kind: "every" })],
  [/^\[(-?\d+)\]/, (index) => ({ kind: "index", index: Number(index) })],
  [/^\[(?:'([^']*)'|"([^"]*)")\]/, (single, double = "") => ({ kind: "key", name: single ?? double })],
  [
    /^\[\?\(\s*@((?:\.[\w-]+)+)\s*(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false)\s*\)\]/,
    (path = "", op = "", value = "") => {
      const literal = /^["']/.test(value) ? value.slice(1, -1) : (JSON.parse(value) as Value);
      return { kind: "filter", path: parsePath(path), op, value: literal };
    },
  ],
];

function nextStep(text: string, path: string): { step: Step; length: number } {
  for (const [written, step] of STEPS) {
    const [whole, ...groups] = written.exec(text) ?? [];
    if (whole !== undefined) return { step: step(...groups), length: whole.length };
  }
  throw new ExpressionError(pathReason("PATH_UNREADABLE", { path, rest: text.slice(0, 40) }));
}

function look(budget: Budget, values: number): void {
  budget.left -= values;
  if (budget.left < 0) throw new ExpressionError(pathReason("PATH_COSTLY", { most: MOST }));
}

function follow(step: Step, value: Value, budget: Budget): Value[] {
  look(budget, 1);
  switch (step.kind) {
    case "key":
      return field(value, step.name);
    case "index": {
      const found = Array.isArray(value) ? value.at(step.index) : undefined;
      return found === undefined ? [] : [found];
    }
    case "every":
      return items(value, budget);
    case "filter":
      return items(value, budget).filter((item) => matches(step, item, budget));
    case "deep":
      return deep(step.name, value, budget);
  }
}

function field(value: Value, name: string): Value[] {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return [];
  return [value[name] ?? null];
}

function items(value: Value, budget: Budget): Value[] {
  if (typeof value !== "object" || value === null) return [];
  const found = Array.isArray(value) ? value : Object.values(value);
  look(budget, found.length);
  return found;
}

function matches(step: Extract<Step, { kind: "filter" }>, item: Value, budget: Budget): boolean {
  const [found] = step.path.reduce<Value[]>((here, inner) => here.flatMap((value) => follow(inner, value, budget)), [item]);
  if (found === undefined) return false;
  if (step.op === "==") return found === step.value;
  if (step.op === "!=") return found !== step.value;
  if (typeof found !== typeof step.value || found === null || step.value === null) return false;
  if (step.op === "<") return found < step.value;
  if (step.op === "<=") return found <= step.value;
  return step.op === ">" ? found > step.value : found >= step.value;
}

function deep(name: string, value: Value, budget: Budget): Value[] {
  return [...field(value, name), ...items(value, budget).flatMap((item) => deep(name, item, budget))];
}
