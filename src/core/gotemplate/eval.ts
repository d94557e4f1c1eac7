/**
 * Evaluates pipelines: operands, fields, variables and calls of functions, with the checks that Go's reflection makes. `index.ts` calls it for
 * each action.
 */
import { type Budget, checkLength, spend, spendOn } from "./budget.ts";
import type { FunctionTable, GoFunction, ParamType } from "./functions.ts";
import type { Constant, Expr, Node, Pipe } from "./parser.ts";
import { UNSUPPORTED } from "./unsupported.ts";
import { entry, fails, GoInt, type GoValue, GoVersion, isMap, isStringMap, truth, typeName } from "./value.ts";

/** `missingkey=error` fails on a key that is not there; `zero` gives the zero value. */
export type MissingKey = "default" | "zero" | "error";

/** One execution: what is in scope, and what was printed so far. */
export interface State extends Budget {
  functions: FunctionTable;
  missingKey: MissingKey;
  named: ReadonlyMap<string, Node[]>;
  variables: { name: string; value: GoValue }[];
  output: string;
  depth: number;
}

/** So many variables are passed over in the time of one node. */
const VARIABLES = 64;

function variableOf(state: State, name: string): { value: GoValue } {
  const index = state.variables.findLastIndex((candidate) => candidate.name === name);
  const variable = state.variables[index];
  spend(state, (state.variables.length - index) / VARIABLES);
  if (variable === undefined) throw fails("GO_UNSET_VARIABLE", { name });
  return variable;
}

/** Gives a value to a variable that the pipeline declares, or assigns to. */
export function bind(state: State, pipe: Pipe, name: string, value: GoValue): void {
  if (pipe.assigns) variableOf(state, name).value = value;
  else state.variables.push({ name, value });
}

/** A pipeline's value; `binds` gives it to the variables it declares. */
export function evalPipe(state: State, pipe: Pipe, dot: GoValue, binds = true): GoValue {
  let value: GoValue;
  pipe.commands.forEach((command, index) => {
    // Go looks inside the interface here: what a pipeline yields is never a nil interface.
    value = evalCommand(state, command, dot, index === 0 ? [] : [value]) ?? undefined;
  });
  if (binds) for (const name of pipe.variables) bind(state, pipe, name, value);
  return value;
}

/** `piped`: the value of the command before, if there is one. */
function evalCommand(state: State, [first, ...args]: Pipe["commands"][number], dot: GoValue, piped: readonly GoValue[]): GoValue {
  if (first.type === "function") return call(state, first.name, args, dot, piped);
  if (args.length + piped.length > 0) throw fails("GO_NOT_CALLABLE", { operand: sourceOf(first) });
  if (first.type === "nil") throw fails("GO_NIL_COMMAND");
  return evalExpr(state, first, dot);
}

function evalExpr(state: State, expr: Expr, dot: GoValue): GoValue {
  switch (expr.type) {
    case "dot":
      return dot;
    case "field":
      return fields(state, dot, expr.path, expr);
    case "variable":
      return fields(state, variableOf(state, expr.name).value, expr.path, expr);
    case "pipe":
      return evalPipe(state, expr.pipe, dot);
    case "chain":
      return fields(state, evalExpr(state, expr.on, dot), expr.path, expr);
    case "function":
      return call(state, expr.name, [], dot, []);
    default:
      return constant(expr, "any");
  }
}

function fields(state: State, start: GoValue, path: readonly string[], expr: Expr): GoValue {
  return path.reduce((value, name) => field(state, value, name, expr), start);
}

function field(state: State, value: GoValue, name: string, expr: Expr): GoValue {
  if (value === undefined) {
    if (state.missingKey === "error") throw fails("GO_NO_KEY", { of: "nil data", key: name, operand: sourceOf(expr) });
    return undefined;
  }
  if (value === null) throw fails("GO_NIL_POINTER", { field: name, operand: sourceOf(expr) });
  if (value instanceof GoVersion && Object.hasOwn(value.fields, name)) return entry(value.fields, name);
  if (!isMap(value)) throw fails("GO_NO_FIELD", { field: name, type: typeName(value), operand: sourceOf(expr) });
  if (Object.hasOwn(value, name)) return value[name] ?? null;
  if (state.missingKey === "error") throw fails("GO_NO_KEY", { of: "map", key: name, operand: sourceOf(expr) });
  if (state.missingKey !== "zero") return undefined;
  return isStringMap(value) ? "" : null;
}

/** Functions whose cost is not that of what they are given. */
const PICKS: ReadonlySet<string> = new Set([
  "index",
  "get",
  "hasKey",
  "first",
  "last",
  "dig",
  "len",
  "not",
  "default",
  "empty",
  "ternary",
  "coalesce",
]);

function call(state: State, name: string, args: readonly Expr[], dot: GoValue, piped: readonly GoValue[]): GoValue {
  const given = args.length + piped.length;
  if (name === "and" || name === "or") {
    if (given === 0) throw fails("GO_ARGUMENTS", { fn: name, wanted: 1, orMore: true, given });
    return logic(state, name === "or", args, dot, piped);
  }
  if (UNSUPPORTED.has(name)) throw fails("LACKS_FUNCTION", { name });
  const target = Object.hasOwn(state.functions, name) ? state.functions[name] : undefined;
  if (target === undefined) throw fails("GO_UNKNOWN_FUNCTION", { name });
  const [wanted, orMore] = [target.params.length, target.rest !== undefined];
  if (given < wanted || (given > wanted && !orMore)) throw fails("GO_ARGUMENTS", { fn: name, wanted, orMore, given });
  const typeAt = (index: number) => target.params[index] ?? target.rest ?? "any";
  const values = args.map((arg, index) => argument(state, arg, typeAt(index), dot));
  for (const value of piped) values.push(checkType(value, typeAt(values.length)));
  spend(state, 1);
  // What only picks a part of a map or list does not look through all of it.
  if (!PICKS.has(name)) for (const value of values) spendOn(state, value);
  const result = called(
    state,
    target,
    values.map((value, index) => passed(value, typeAt(index), name)),
  );
  if (!PICKS.has(name)) spendOn(state, result);
  return result;
}

function called(state: State, target: GoFunction, values: readonly unknown[]): GoValue {
  try {
    return target.call(state, values);
  } catch (error) {
    // What no text or list of JavaScript's can hold is far beyond what a template may make.
    if (error instanceof RangeError) checkLength(Number.POSITIVE_INFINITY);
    throw error;
  }
}

function argument(state: State, expr: Expr, type: ParamType, dot: GoValue): GoValue {
  return "source" in expr ? constant(expr, type) : checkType(evalExpr(state, expr, dot), type);
}

/** `and` and `or` stop at the argument that decides, and give it back. */
function logic(state: State, stopsAt: boolean, args: readonly Expr[], dot: GoValue, piped: readonly GoValue[]): GoValue {
  let value: GoValue;
  for (const arg of args) {
    value = argument(state, arg, "raw", dot);
    if (truth(value) === stopsAt) return value;
  }
  return piped.length > 0 ? piped[0] : value;
}

/** Types whose names Go writes otherwise. */
const GO_NAMES: Partial<Record<ParamType, string>> = { float: "float64", map: "map[string]interface {}" };

/** Go refuses a value of another type rather than convert it, between its integer types too. */
function checkType(value: GoValue, type: ParamType): GoValue {
  if (type === "raw") return value;
  if (type === "any" || type === "list") return value ?? null;
  if (value === undefined && type === "map") return null;
  const wanted = GO_NAMES[type] ?? type;
  if (value === null && type === "map") throw fails("GO_ARGUMENT_TYPE", { wanted, given: "interface {}" });
  if (value === undefined || value === null) throw fails("GO_NIL_ARGUMENT", { wanted, constant: false });
  if (typeName(value) !== wanted) throw fails("GO_ARGUMENT_TYPE", { wanted, given: typeName(value) });
  return value;
}

/** A literal takes the type the parameter asks for: `1` is a float where a float is wanted. */
function constant(expr: Constant, type: ParamType): GoValue {
  const takesAll = type === "any" || type === "raw" || type === "list";
  const wanted = GO_NAMES[type] ?? type;
  if (expr.type === "nil") {
    if (takesAll || type === "map") return null;
    throw fails("GO_NIL_ARGUMENT", { wanted, constant: true });
  }
  const isNumber = type === "int" || type === "float";
  if (!takesAll && (isNumber ? "number" : type) !== expr.type) throw fails("GO_CONSTANT_TYPE", { wanted, given: expr.source });
  if (expr.type !== "number") return expr.value;
  if (type === "int" && !Number.isInteger(expr.value)) throw fails("GO_CONSTANT_TYPE", { wanted: "integer", given: expr.source });
  if (type === "float" || (type !== "int" && !expr.isInt)) return expr.value;
  return new GoInt(expr.value, expr.isRune && type !== "int" ? "int32" : "int");
}

/** What a function is given for an argument that fits. */
function passed(value: GoValue, type: ParamType, fn: string): unknown {
  if (type === "list" && !Array.isArray(value)) throw fails("GO_NO_LIST", { fn, given: typeName(value) });
  return type === "int" && value instanceof GoInt ? value.value : value;
}

/** An operand as it was written, for messages. */
function sourceOf(expr: Expr): string {
  switch (expr.type) {
    case "dot":
      return ".";
    case "field":
      return `.${expr.path.join(".")}`;
    case "variable":
      return [expr.name, ...expr.path].join(".");
    case "chain":
      return `(…).${expr.path.join(".")}`;
    case "function":
      return expr.name;
    case "pipe":
      return "(…)";
    default:
      return expr.source;
  }
}
