/**
 * Evaluates conditions of AnalysisTemplates as Argo Rollouts does with expr-lang, and says beforehand whether they can be: the builtin engine
 * judges by them what it measured.
 */
import type { ExpressionReason, PathReason } from "../../reasons/analysis.ts";
import type { AnalysisPhase } from "../metric.ts";
import { functions } from "./functions.ts";
import { operate, truth } from "./operators.ts";
import { parseExpression } from "./parse.ts";
import { type Node, PREDICATES } from "./syntax.ts";
import {
  type Budget,
  ExpressionError,
  fails,
  failureOf,
  isList,
  isMap,
  MOST_STEPS,
  outline,
  spend,
  type Value,
  wantNumber,
} from "./values.ts";

interface Scope {
  env: Readonly<Record<string, Value>>;
  item: { value: Value } | undefined;
  budget: Budget;
}

/**
 * What a measured value means, as Argo Rollouts judges it: no condition, a success; one condition, its opposite is the
 * other outcome; both, failure first, and neither is inconclusive. A condition that cannot be evaluated is an Error.
 */
export function judgeValue(
  value: Value,
  conditions: { successCondition?: string | undefined; failureCondition?: string | undefined },
): { phase: AnalysisPhase; because?: ExpressionReason | PathReason } {
  const { successCondition = "", failureCondition = "" } = conditions;
  try {
    const success = successCondition === "" ? undefined : holds(successCondition, value);
    const failure = failureCondition === "" ? undefined : holds(failureCondition, value);
    if (success === undefined && failure === undefined) return { phase: "Successful" };
    if (failure ?? !success) return { phase: "Failed" };
    return { phase: (success ?? !failure) ? "Successful" : "Inconclusive" };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { phase: "Error", because: error.reason };
  }
}

/** Evaluates a condition: `result` is what was measured. Throws ExpressionError, as where the outcome is not true or false. */
export function holds(condition: string, result: Value): boolean {
  const value = evaluate(parseExpression(condition), { result });
  if (typeof value !== "boolean") throw fails("EXPR_NO_VERDICT", { is: outline(value) });
  return value;
}

export function evaluate(node: Node, env: Readonly<Record<string, Value>>): Value {
  return run(node, { env, item: undefined, budget: { left: MOST_STEPS } });
}

function run(node: Node, scope: Scope): Value {
  spend(scope.budget, 1);
  switch (node.kind) {
    case "literal":
      return node.value;
    case "name": {
      // As for a struct in Go: in a predicate a bare name is a field of the item where the item has it.
      const fields = [scope.env, scope.item?.value ?? null].find((of) => isMap(of) && Object.hasOwn(of, node.name)) as
        | Scope["env"]
        | undefined;
      if (fields === undefined) throw fails("EXPR_UNKNOWN_NAME", { name: node.name, at: node.at });
      return fields[node.name] ?? null;
    }
    case "item":
      if (scope.item === undefined) throw fails("EXPR_ITEM", { at: node.at });
      return scope.item.value;
    case "list":
      return node.items.map((item) => run(item, scope));
    case "map":
      return Object.fromEntries(node.pairs.map(([key, value]) => [keyText(run(key, scope), key.at), run(value, scope)]));
    case "member":
    case "chain":
      return link(node.kind === "chain" ? node.of : node, scope) ?? null;
    case "slice":
      return slice(node, scope);
    case "unary":
      return unary(node, scope);
    case "binary":
      return binary(node, scope);
    case "choice":
      return run(truth(run(node.test, scope), "?", node.at) ? node.yes : node.no, scope);
    case "call":
      return call(node, scope);
  }
}

function keyText(key: Value, at: number): string {
  if (typeof key === "object") throw fails("EXPR_KEY", { is: outline(key), at });
  return String(key);
}

/**
 * A link of `a?.b.c`; undefined: a `?.` before it met nil, so that the rest of its chain is left out, and nothing of it is evaluated.
 * Outside a chain nothing is optional, and there is always a value.
 */
function link(node: Node, scope: Scope): Value | undefined {
  if (node.kind !== "member") return run(node, scope);
  spend(scope.budget, 1);
  const of = link(node.of, scope);
  if (of === undefined || (of === null && node.optional)) return undefined;
  return member(of, run(node.key, scope), node.at);
}

function member(of: Value, key: Value, at: number): Value {
  if (of === null) throw fails("EXPR_OF_NIL", { key: outline(key), at });
  if (isList(of) || typeof of === "string") {
    const index = wantNumber(key, "index", at);
    const found = of[index < 0 ? of.length + index : index];
    if (!Number.isInteger(index) || found === undefined) throw fails("EXPR_OUT_OF_RANGE", { index, length: of.length, at });
    return found;
  }
  if (!isMap(of)) throw fails("EXPR_NO_MEMBER", { of: outline(of), key: outline(key), at });
  if (typeof key !== "string") throw fails("EXPR_OF_MAP", { key: outline(key), at });
  return Object.hasOwn(of, key) ? (of[key] ?? null) : null;
}

function slice(node: Extract<Node, { kind: "slice" }>, scope: Scope): Value {
  const of = run(node.of, scope);
  if (!isList(of) && typeof of !== "string") throw fails("EXPR_NO_SLICE", { of: outline(of), at: node.at });
  const [from, to] = [node.from, node.to].map((bound) => bound && wantNumber(run(bound, scope), "bound", node.at));
  spend(scope.budget, of.length / 8);
  return of.slice(from, to);
}

function unary({ op, of, at }: Extract<Node, { kind: "unary" }>, scope: Scope): Value {
  const value = run(of, scope);
  if (op === "not") return !truth(value, op, at);
  const number = wantNumber(value, { after: op }, at);
  return op === "-" ? -number : number;
}

function binary(node: Extract<Node, { kind: "binary" }>, scope: Scope): Value {
  const { op, at } = node;
  const left = run(node.left, scope);
  if (op === "??") return left === null ? run(node.right, scope) : left;
  if (op === "&&" || op === "and" || op === "||" || op === "or") {
    const stops = op === "||" || op === "or";
    if (truth(left, op, at) === stops) return stops;
    return truth(run(node.right, scope), op, at);
  }
  return operate(op, left, run(node.right, scope), at, scope.budget);
}

function call(node: Extract<Node, { kind: "call" }>, scope: Scope): Value {
  const { name: fn, at } = node;
  if (PREDICATES.has(fn) && !(fn === "sum" && node.args.length === 1)) return predicate(node, scope);
  checkFunction(fn, at);
  const args = node.args.map((arg) => run(arg, scope));
  return functions[fn]?.({ fn, args, at, budget: scope.budget, result: scope.env["result"] ?? null }) ?? null;
}

function checkFunction(fn: string, at: number): void {
  if (PREDICATES.has(fn) || Object.hasOwn(functions, fn)) return;
  throw fails("EXPR_UNKNOWN_FUNCTION", { fn, known: [...new Set([...Object.keys(functions), ...PREDICATES])].sort(), at });
}

function predicate({ name: fn, args, at }: Extract<Node, { kind: "call" }>, scope: Scope): Value {
  const [of, asked] = args;
  const items = of === undefined ? null : run(of, scope);
  if (!isList(items)) throw fails("EXPR_TYPE", { fn, wanted: "list", is: outline(items), at });
  const ask = (value: Value): Value => {
    spend(scope.budget, 1);
    return asked === undefined ? value : run(asked, { ...scope, item: { value } });
  };
  const yes = (value: Value): boolean => truth(ask(value), `${fn}()`, at);
  if (fn === "sum") return items.reduce((sum: number, item) => sum + wantNumber(ask(item), { item: fn }, at), 0);
  return PREDICATE[fn]?.(items, yes, ask) ?? null;
}

type Predicate = (items: Value[], yes: (value: Value) => boolean, ask: (value: Value) => Value) => Value;

const PREDICATE: Readonly<Record<string, Predicate>> = {
  all: (items, yes) => items.every(yes),
  any: (items, yes) => items.some(yes),
  none: (items, yes) => !items.some(yes),
  one: (items, yes) => items.filter(yes).length === 1,
  filter: (items, yes) => items.filter(yes),
  map: (items, _, ask) => items.map(ask),
  count: (items, yes) => items.filter(yes).length,
  find: (items, yes) => items.find(yes) ?? null,
  findIndex: (items, yes) => items.findIndex(yes),
  findLast: (items, yes) => items.findLast(yes) ?? null,
  findLastIndex: (items, yes) => items.findLastIndex(yes),
};

/** Why a condition cannot be used, whatever is measured; undefined: it can be read and knows every name. */
export function badCondition(condition: string): ExpressionReason | PathReason | undefined {
  return failureOf(() => checkNames(parseExpression(condition), false));
}

/** Walks every branch, also those that no value has reached yet. */
function checkNames(node: Node, inPredicate: boolean): void {
  const { kind, at } = node;
  if (kind === "name" && node.name !== "result" && !inPredicate) throw fails("EXPR_UNKNOWN_NAME", { name: node.name, at });
  if (kind === "item" && !inPredicate) throw fails("EXPR_ITEM", { at });
  if (kind === "binary" && node.op === "matches") throw fails("EXPR_MATCHES", { at });
  if (kind === "call") checkFunction(node.name, at);
  const asked = kind === "call" && PREDICATES.has(node.name) ? node.args.slice(1) : [];
  for (const child of childrenOf(node)) checkNames(child, inPredicate || asked.includes(child));
}

/** All that is an object in a node is a node, or a list of them. */
function childrenOf(node: Node): Node[] {
  const parts: unknown[] = Object.values(node);
  return parts.flat(2).filter((part): part is Node => typeof part === "object" && part !== null);
}
