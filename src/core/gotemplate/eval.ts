import { checkType, constant } from "./arguments.ts";
import type { Expr, Node, Pipe } from "./ast.ts";
import type { FunctionTable, GoFunction, ParamType } from "./functions.ts";
import { UNSUPPORTED } from "./unsupported.ts";
import { entry, type GoValue, GoVersion, isMap, isStringMap, TemplateError, truth, typeName, UnsupportedError } from "./value.ts";

/** `missingkey=error` fails on a key that is not there; `zero` gives the zero value. */
export type MissingKey = "default" | "zero" | "error";

/** One execution: what is in scope, and what was printed so far. */
export interface State {
  functions: FunctionTable;
  missingKey: MissingKey;
  named: ReadonlyMap<string, Node[]>;
  variables: { name: string; value: GoValue }[];
  output: string;
  depth: number;
  steps: number;
}

export function assign(state: State, name: string, value: GoValue): void {
  const variable = state.variables.findLast((candidate) => candidate.name === name);
  if (variable === undefined) throw new TemplateError(`undefined variable: ${name}`);
  variable.value = value;
}

/** A pipeline's value; `binds` gives it to the variables it declares. */
export function evalPipe(state: State, pipe: Pipe, dot: GoValue, binds = true): GoValue {
  let value: GoValue;
  pipe.commands.forEach((command, index) => {
    // Go looks inside the interface here: what a pipeline yields is never a nil interface.
    value = evalCommand(state, command, dot, index > 0, value) ?? undefined;
  });
  if (!binds) return value;
  for (const name of pipe.variables) {
    if (pipe.assigns) assign(state, name, value);
    else state.variables.push({ name, value });
  }
  return value;
}

function evalCommand(state: State, command: readonly Expr[], dot: GoValue, piped: boolean, final: GoValue): GoValue {
  const [first, ...args] = command;
  if (first === undefined) throw new TemplateError("empty command");
  if (first.type === "function") return call(state, first.name, args, dot, piped, final);
  if (args.length > 0 || piped) throw new TemplateError(`can't give argument to non-function ${source(first)}`);
  if (first.type === "nil") throw new TemplateError("nil is not a command");
  return evalExpr(state, first, dot);
}

function evalExpr(state: State, expr: Expr, dot: GoValue): GoValue {
  switch (expr.type) {
    case "dot":
      return dot;
    case "field":
      return fields(state, dot, expr.path, expr);
    case "variable": {
      const variable = state.variables.findLast((candidate) => candidate.name === expr.name);
      if (variable === undefined) throw new TemplateError(`undefined variable: ${expr.name}`);
      return fields(state, variable.value, expr.path, expr);
    }
    case "pipe":
      return evalPipe(state, expr.pipe, dot);
    case "chain":
      return fields(state, evalExpr(state, expr.on, dot), expr.path, expr);
    case "function":
      return call(state, expr.name, [], dot, false, undefined);
    default:
      return constant(expr);
  }
}

function fields(state: State, start: GoValue, path: readonly string[], expr: Expr): GoValue {
  let value = start;
  for (const name of path) value = field(state, value, name, expr);
  return value;
}

function field(state: State, value: GoValue, name: string, expr: Expr): GoValue {
  if (value === undefined) {
    if (state.missingKey === "error") throw new TemplateError(`nil data; no entry for key ${JSON.stringify(name)}, at <${source(expr)}>`);
    return undefined;
  }
  if (value === null) throw new TemplateError(`nil pointer evaluating interface {}.${name}, at <${source(expr)}>`);
  if (value instanceof GoVersion && Object.hasOwn(value.fields, name)) return entry(value.fields, name);
  if (!isMap(value)) throw new TemplateError(`can't evaluate field ${name} in type ${typeName(value)}, at <${source(expr)}>`);
  const found = entry(value, name);
  if (found !== undefined || Object.hasOwn(value, name)) return found ?? null;
  if (state.missingKey === "error") throw new TemplateError(`map has no entry for key ${JSON.stringify(name)}, at <${source(expr)}>`);
  if (state.missingKey !== "zero") return undefined;
  return isStringMap(value) ? "" : null;
}

function call(state: State, name: string, args: readonly Expr[], dot: GoValue, piped: boolean, final: GoValue): GoValue {
  if (name === "and" || name === "or") return logic(state, name, args, dot, piped, final);
  if (UNSUPPORTED.has(name)) throw new UnsupportedError(name, `the template function ${name} is not supported`);
  const target = Object.hasOwn(state.functions, name) ? state.functions[name] : undefined;
  if (target === undefined) throw new TemplateError(`function ${JSON.stringify(name)} not defined`);
  const count = args.length + (piped ? 1 : 0);
  checkCount(name, target, count);
  const values: GoValue[] = args.map((arg, index) => argument(state, arg, typeAt(target, index), dot));
  if (piped) values.push(checkType(final, typeAt(target, args.length)));
  return target.call(values);
}

function checkCount(name: string, target: GoFunction, count: number): void {
  const least = target.params.length;
  if (target.rest === undefined ? count === least : count >= least) return;
  throw new TemplateError(`wrong number of args for ${name}: want ${target.rest === undefined ? "" : "at least "}${least} got ${count}`);
}

function typeAt(target: GoFunction, index: number): ParamType {
  return target.params[index] ?? target.rest ?? "any";
}

function argument(state: State, expr: Expr, type: ParamType, dot: GoValue): GoValue {
  if (expr.type === "bool" || expr.type === "string" || expr.type === "number" || expr.type === "nil") return constant(expr, type);
  return checkType(evalExpr(state, expr, dot), type);
}

/** `and` and `or` stop at the argument that decides, and give it back. */
function logic(state: State, name: "and" | "or", args: readonly Expr[], dot: GoValue, piped: boolean, final: GoValue): GoValue {
  if (args.length === 0 && !piped) throw new TemplateError(`wrong number of args for ${name}: want at least 1 got 0`);
  let value: GoValue;
  for (const arg of args) {
    value = argument(state, arg, "raw", dot);
    if (truth(value) === (name === "or")) return value;
  }
  return piped ? final : value;
}

/** An operand as it was written, for messages. */
function source(expr: Expr): string {
  switch (expr.type) {
    case "field":
      return `.${expr.path.join(".")}`;
    case "variable":
      return [expr.name, ...expr.path].join(".");
    case "chain":
      return `(…).${expr.path.join(".")}`;
    case "function":
      return expr.name;
    case "string":
    case "number":
      return expr.source;
    case "bool":
      return String(expr.value);
    default:
      return expr.type === "dot" ? "." : "(…)";
  }
}
