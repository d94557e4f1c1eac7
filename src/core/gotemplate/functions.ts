import type { Budget } from "./budget.ts";
import type { GoMap, GoValue } from "./value.ts";

/**
 * Types of parameters, as Go's reflection checks them before a call, and what a function is given then: `any` takes all (a missing key becomes
 * nil), `raw` keeps a missing key apart from nil, `list` is sprig's own check of anything, the others refuse anything else.
 */
interface ParamTypes {
  any: GoValue;
  raw: GoValue;
  list: GoValue[];
  string: string;
  int: number;
  float: number;
  bool: boolean;
  map: GoMap | null;
}
export type ParamType = keyof ParamTypes;

type Arguments<Params extends string> = Params extends `${infer First extends ParamType} ${infer More}`
  ? [ParamTypes[First], ...Arguments<More>]
  : Params extends `${infer Rest extends ParamType}...`
    ? ParamTypes[Rest][]
    : Params extends ParamType
      ? [ParamTypes[Params]]
      : never;

export interface GoFunction {
  params: readonly ParamType[];
  /** Type of any further arguments. */
  rest: ParamType | undefined;
  /** `budget`: of the execution, for what costs more than what goes in and comes out. */
  call(budget: Budget, args: readonly unknown[]): GoValue;
}

export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** Declares a function: `fn("string int any...", …)` takes a string, an int, and any number of further values. */
export function fn<const Params extends string>(params: Params, call: (...args: Arguments<Params>) => GoValue): GoFunction {
  return fnSpending(params, (_, ...args) => call(...args));
}

/** Declares a function that spends of the budget itself. */
export function fnSpending<const Params extends string>(
  params: Params,
  call: (budget: Budget, ...args: Arguments<Params>) => GoValue,
): GoFunction {
  const types = params.split(" ");
  const rest = types.at(-1)?.endsWith("...") === true ? (types.pop()?.slice(0, -3) as ParamType) : undefined;
  return { params: types as ParamType[], rest, call: (budget, args) => call(budget, ...(args as Arguments<Params>)) };
}

/** Adds Go's `must` twins, which differ in how they report an error: it ends the template either way. */
export function withMust(table: FunctionTable): FunctionTable {
  const twins = Object.entries(table).map(([name, target]) => [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, target]);
  return { ...table, ...Object.fromEntries(twins) };
}
