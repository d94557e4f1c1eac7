import type { Value } from "./expr/values.ts";

/** A JSONPath that cannot be read or finds nothing. */
export class JsonPathError extends Error {
  override name = "JsonPathError";
}

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
 * The first value a kubectl-style JSONPath finds (`{$.data.ok}`, `{.items[0].x}`, `{$.a[?(@.name=="b")].v}`, `{..x}`): what Argo
 * Rollouts' web provider takes. Empty: the whole document. Throws JsonPathError.
 */
export function firstAt(path: string | undefined, document: Value): Value {
  const steps = parsePath(path ?? "{$}");
  // One budget for the whole path: each `..` may find the values of another one again.
  const budget = { left: MOST };
  let here: Value[] = [document];
  for (const step of steps) here = here.flatMap((value) => follow(step, value, budget));
  const [first] = here;
  if (first === undefined) throw new JsonPathError(`nothing is found at ${path ?? "{$}"}`);
  return first;
}

/** Reads a path. Throws JsonPathError that says what cannot be read. */
export function parsePath(path: string): Step[] {
  if (path.length > LONGEST) throw new JsonPathError(`a path has at most ${LONGEST} characters`);
  let text = path.trim();
  const braced = /^\{([\s\S]*)\}$/.exec(text);
  if (braced !== null) text = (braced[1] ?? "").trim();
  if (text.includes("{") || /^range\b/.test(text)) throw new JsonPathError(`${path} is more than one path; write one, such as {$.data.ok}`);
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

const FILTER = /^\[\?\(\s*@((?:\.[\w-]+)+)\s*(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false)\s*\)\]/;

function nextStep(text: string, whole: string): { step: Step; length: number } {
  const deep = /^\.\.([\w$-]+)/.exec(text);
  if (deep !== null) return { step: { kind: "deep", name: deep[1] ?? "" }, length: deep[0].length };
  const key = /^\.((?:[\w$/-]|\\\.)+)/.exec(text);
  if (key !== null) return { step: { kind: "key", name: (key[1] ?? "").replaceAll("\\.", ".") }, length: key[0].length };
  const every = /^(?:\.\*|\[\*\])/.exec(text);
  if (every !== null) return { step: { kind: "every" }, length: every[0].length };
  const index = /^\[(-?\d+)\]/.exec(text);
  if (index !== null) return { step: { kind: "index", index: Number(index[1]) }, length: index[0].length };
  const quoted = /^\[(?:'([^']*)'|"([^"]*)")\]/.exec(text);
  if (quoted !== null) return { step: { kind: "key", name: quoted[1] ?? quoted[2] ?? "" }, length: quoted[0].length };
  const filter = FILTER.exec(text);
  if (filter !== null) {
    const value = filter[3] ?? "";
    const literal: Value = /^["']/.test(value) ? value.slice(1, -1) : (JSON.parse(value) as Value);
    return { step: { kind: "filter", path: parsePath(filter[1] ?? ""), op: filter[2] ?? "", value: literal }, length: filter[0].length };
  }
  throw new JsonPathError(`${whole}: ${text.slice(0, 40)} cannot be read; .key, ['key'], [0], [*], ..key and [?(@.key=="value")] can`);
}

function look(budget: { left: number }, values: number): void {
  budget.left -= values;
  if (budget.left < 0) throw new JsonPathError(`the answer is too large for this path: more than ${MOST} values would be looked at`);
}

function follow(step: Step, value: Value, budget: { left: number }): Value[] {
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

function items(value: Value, budget: { left: number }): Value[] {
  if (typeof value !== "object" || value === null) return [];
  const found = Array.isArray(value) ? value : Object.values(value);
  look(budget, found.length);
  return found;
}

function matches(step: Extract<Step, { kind: "filter" }>, item: Value, budget: { left: number }): boolean {
  const [found] = step.path.reduce<Value[]>((here, inner) => here.flatMap((value) => follow(inner, value, budget)), [item]);
  if (found === undefined) return false;
  if (step.op === "==") return found === step.value;
  if (step.op === "!=") return found !== step.value;
  if (typeof found !== typeof step.value || found === null || step.value === null) return false;
  if (step.op === "<") return found < step.value;
  if (step.op === "<=") return found <= step.value;
  return step.op === ">" ? found > step.value : found >= step.value;
}

function deep(name: string, value: Value, budget: { left: number }): Value[] {
  return [...field(value, name), ...items(value, budget).flatMap((item) => deep(name, item, budget))];
}
