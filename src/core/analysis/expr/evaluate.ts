import { type Budget, MOST_STEPS, spend } from "./budget.ts";
import { unknownFunction } from "./check-names.ts";
import { functions } from "./functions.ts";
import { type Node, PREDICATES } from "./nodes.ts";
import { operate, truth } from "./operators.ts";
import { parseExpression } from "./parse.ts";
import { ExpressionError } from "./tokens.ts";
import { isList, isMap, nameOf, type Value, wantNumber } from "./values.ts";

interface Scope {
  env: Readonly<Record<string, Value>>;
  item: { value: Value } | undefined;
  budget: Budget;
}

/**
 * Evaluates a condition of an AnalysisTemplate as Argo Rollouts does with expr-lang: `result` is what was measured. Throws
 * ExpressionError where it cannot be read, an operator does not fit its values, or the outcome is not true or false.
 */
export function holds(condition: string, result: Value): boolean {
  const value = evaluate(parseExpression(condition), { result });
  if (typeof value !== "boolean") throw new ExpressionError(`a condition must be true or false, and this is ${nameOf(value)}`);
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
      if (Object.hasOwn(scope.env, node.name)) return scope.env[node.name] ?? null;
      const item = scope.item?.value;
      if (item !== undefined && isMap(item) && Object.hasOwn(item, node.name)) return item[node.name] ?? null;
      throw new ExpressionError(`${node.name} is unknown; what was measured is called result`, node.at);
    }
    case "item":
      if (scope.item === undefined) throw new ExpressionError("# is only known in a predicate", node.at);
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
    case "choice": {
      const test = run(node.test, scope);
      if (typeof test !== "boolean") throw new ExpressionError(`? wants true or false, not ${nameOf(test)}`, node.at);
      return run(test ? node.yes : node.no, scope);
    }
    case "call":
      return call(node, scope);
  }
}

function keyText(key: Value, at: number): string {
  if (typeof key === "object") throw new ExpressionError(`a key must be a text, not ${nameOf(key)}`, at);
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
  return fetch(of, run(node.key, scope), node.at);
}

function fetch(of: Value, key: Value, at: number): Value {
  const named = typeof key === "string" && key.length <= 100 ? key : nameOf(key);
  if (of === null) throw new ExpressionError(`${named} of nil: there is no such value`, at);
  if (isList(of) || typeof of === "string") {
    const index = wantNumber(key, "an index", at);
    const place = index < 0 ? of.length + index : index;
    const found = of[place];
    if (!Number.isInteger(index) || found === undefined)
      throw new ExpressionError(`index ${index} is out of range: there are ${of.length}`, at);
    return found;
  }
  if (!isMap(of)) throw new ExpressionError(`${nameOf(of)} has no ${named}`, at);
  if (typeof key !== "string") throw new ExpressionError(`a map is asked by a text, not by ${named}`, at);
  return Object.hasOwn(of, key) ? (of[key] ?? null) : null;
}

function slice(node: Extract<Node, { kind: "slice" }>, scope: Scope): Value {
  const of = run(node.of, scope);
  if (!isList(of) && typeof of !== "string") throw new ExpressionError(`${nameOf(of)} cannot be sliced`, node.at);
  const bound = (of: Node | undefined) => (of === undefined ? undefined : wantNumber(run(of, scope), "a bound", node.at));
  const [from, to] = [bound(node.from) ?? 0, bound(node.to)];
  spend(scope.budget, of.length / 8);
  return of.slice(from, to);
}

function unary(node: Extract<Node, { kind: "unary" }>, scope: Scope): Value {
  const of = run(node.of, scope);
  if (node.op === "not") {
    if (typeof of !== "boolean") throw new ExpressionError(`not wants true or false, and this is ${nameOf(of)}`, node.at);
    return !of;
  }
  const number = wantNumber(of, `what stands after ${node.op}`, node.at);
  return node.op === "-" ? -number : number;
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
  const { name, at } = node;
  if (PREDICATES.has(name) && !(name === "sum" && node.args.length === 1)) return predicate(node, scope);
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (known === undefined) throw unknownFunction(name, at);
  const args = node.args.map((arg) => run(arg, scope));
  return known(args, at, { budget: scope.budget, result: scope.env["result"] ?? null });
}

function predicate(node: Extract<Node, { kind: "call" }>, scope: Scope): Value {
  const { name, at } = node;
  const [of, asked] = node.args;
  const items = of === undefined ? null : run(of, scope);
  if (!isList(items)) throw new ExpressionError(`${name}() wants a list, not ${nameOf(items)}`, at);
  const ask = (value: Value): Value => {
    spend(scope.budget, 1);
    return asked === undefined ? value : run(asked, { ...scope, item: { value } });
  };
  const yes = (value: Value): boolean => truth(ask(value), `${name}()`, at);
  switch (name) {
    case "all":
      return items.every(yes);
    case "any":
      return items.some(yes);
    case "none":
      return !items.some(yes);
    case "one":
      return items.filter(yes).length === 1;
    case "filter":
      return items.filter(yes);
    case "map":
      return items.map(ask);
    case "count":
      return items.filter(yes).length;
    case "find":
      return items.find(yes) ?? null;
    case "findIndex":
      return items.findIndex(yes);
    case "findLast":
      return items.findLast(yes) ?? null;
    case "findLastIndex":
      return items.findLastIndex(yes);
    default:
      return items.reduce((sum: number, item) => sum + wantNumber(ask(item), "an item of sum()", at), 0);
  }
}
