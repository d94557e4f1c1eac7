import { type GoValue, TemplateError, typeName } from "./value.ts";

/**
 * Types of parameters, as Go's reflection checks them before a call: `any` takes all (a missing key becomes nil), `raw`
 * keeps a missing key apart from nil, the others refuse anything else.
 */
export type ParamType = "any" | "raw" | "string" | "int" | "float" | "bool" | "map";

export interface GoFunction {
  params: readonly ParamType[];
  /** Type of any further arguments. */
  rest?: ParamType;
  call(args: GoValue[]): GoValue;
}

export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** Declares a function: `fn("string int", "any", …)` takes a string, an int, and any number of further values. */
export function fn(params: string, call: (args: GoValue[]) => GoValue, rest?: ParamType): GoFunction {
  const types = params === "" ? [] : (params.split(" ") as ParamType[]);
  return rest === undefined ? { params: types, call } : { params: types, rest, call };
}

/** Reads an argument whose type the call has already checked. */
export function text(args: readonly GoValue[], index: number): string {
  const value = args[index];
  if (typeof value !== "string") throw new TemplateError(`wrong type for value; expected string; got ${typeName(value)}`);
  return value;
}

export function list(value: GoValue, name: string): GoValue[] {
  if (!Array.isArray(value)) throw new TemplateError(`error calling ${name}: wants a list, got ${typeName(value)}`);
  return value;
}
