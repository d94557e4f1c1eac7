import { unknownFunction } from "./check-names.ts";
import { functions } from "./functions.ts";
import { type Node, PREDICATES } from "./nodes.ts";
import { parseExpression } from "./parse.ts";
import { ExpressionError } from "./tokens.ts";
import { compare, equal, isList, isMap, nameOf, type Value, wantNumber } from "./values.ts";

/** Steps one evaluation may take: a hostile answer with a huge list ends in an error, not in a busy process. */
const MOST_STEPS = 200_000;
/** Longest list or text an operator may make. */
const LONGEST = 100_000;

interface Scope {
  env: Readonly<Record<string, Value>>;
  item: { value: Value } | undefined;
  budget: { left: number };
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
  if (--scope.budget.left < 0) throw new ExpressionError("the expression takes too many steps on this value");
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
      return Object.fromEntries(node.pairs.map(([key, value]) => [String(run(key, scope)), run(value, scope)]));
    case "member":
      return member(node, scope);
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

function member(node: Extract<Node, { kind: "member" }>, scope: Scope): Value {
  const of = run(node.of, scope);
  const key = run(node.key, scope);
  if (of === null) {
    if (node.optional) return null;
    throw new ExpressionError(`${String(key)} of nil: there is no such value`, node.at);
  }
  if (isList(of) || typeof of === "string") {
    const index = wantNumber(key, "an index", node.at);
    const place = index < 0 ? of.length + index : index;
    const found = of[place];
    if (!Number.isInteger(index) || found === undefined)
      throw new ExpressionError(`index ${index} is out of range: there are ${of.length}`, node.at);
    return found;
  }
  if (!isMap(of)) throw new ExpressionError(`${nameOf(of)} has no ${String(key)}`, node.at);
  return Object.hasOwn(of, String(key)) ? (of[String(key)] ?? null) : null;
}

function slice(node: Extract<Node, { kind: "slice" }>, scope: Scope): Value {
  const of = run(node.of, scope);
  if (!isList(of) && typeof of !== "string") throw new ExpressionError(`${nameOf(of)} cannot be sliced`, node.at);
  const bound = (of: Node | undefined) => (of === undefined ? undefined : wantNumber(run(of, scope), "a bound", node.at));
  return of.slice(bound(node.from) ?? 0, bound(node.to));
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
  const right = run(node.right, scope);
  switch (op) {
    case "==":
      return equal(left, right);
    case "!=":
      return !equal(left, right);
    case "<":
      return compare(left, right, op, at) < 0;
    case "<=":
      return compare(left, right, op, at) <= 0;
    case ">":
      return compare(left, right, op, at) > 0;
    case ">=":
      return compare(left, right, op, at) >= 0;
    case "in":
      return within(left, right, at);
    case "contains":
    case "startsWith":
    case "endsWith":
      return texts(left, right, op, at);
    case "..":
      return range(wantNumber(left, "a range", at), wantNumber(right, "a range", at), at);
    case "matches":
      throw new ExpressionError("`matches` is not available in the builtin engine; the argo-rollouts engine has it", at);
    default:
      return arithmetic(left, right, op, at);
  }
}

function truth(value: Value, op: string, at: number): boolean {
  if (typeof value !== "boolean") throw new ExpressionError(`${op} wants true or false, not ${nameOf(value)}`, at);
  return value;
}

function within(left: Value, right: Value, at: number): boolean {
  if (right === null) return false;
  if (isList(right)) return right.some((item) => equal(left, item));
  if (isMap(right)) return typeof left === "string" && Object.hasOwn(right, left);
  throw new ExpressionError(`in wants a list or a map, not ${nameOf(right)}`, at);
}

function texts(left: Value, right: Value, op: "contains" | "startsWith" | "endsWith", at: number): boolean {
  if (typeof left !== "string" || typeof right !== "string")
    throw new ExpressionError(`${op} wants two texts, not ${nameOf(left)} and ${nameOf(right)}`, at);
  if (op === "contains") return left.includes(right);
  return op === "startsWith" ? left.startsWith(right) : left.endsWith(right);
}

function range(from: number, to: number, at: number): Value {
  if (!Number.isInteger(from) || !Number.isInteger(to)) throw new ExpressionError("a range wants whole numbers", at);
  if (to - from >= LONGEST) throw new ExpressionError("the range is too long", at);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

function arithmetic(left: Value, right: Value, op: string, at: number): Value {
  if (op === "+" && typeof left === "string" && typeof right === "string") {
    if (left.length + right.length > LONGEST) throw new ExpressionError("the text is too long", at);
    return left + right;
  }
  const a = wantNumber(left, `what stands before ${op}`, at);
  const b = wantNumber(right, `what stands after ${op}`, at);
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      if (!Number.isInteger(a) || !Number.isInteger(b)) throw new ExpressionError("% wants whole numbers", at);
      if (b === 0) throw new ExpressionError("division by zero", at);
      return a % b;
    default:
      return a ** b;
  }
}

function call(node: Extract<Node, { kind: "call" }>, scope: Scope): Value {
  const { name, at } = node;
  if (PREDICATES.has(name) && !(name === "sum" && node.args.length === 1)) return predicate(node, scope);
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (known === undefined) throw unknownFunction(name, at);
  const args = node.args.map((arg) => run(arg, scope));
  return known(args, at);
}

function predicate(node: Extract<Node, { kind: "call" }>, scope: Scope): Value {
  const { name, at } = node;
  const [of, asked] = node.args;
  const items = of === undefined ? null : run(of, scope);
  if (!isList(items)) throw new ExpressionError(`${name}() wants a list, not ${nameOf(items)}`, at);
  const ask = (value: Value): Value => (asked === undefined ? value : run(asked, { ...scope, item: { value } }));
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
