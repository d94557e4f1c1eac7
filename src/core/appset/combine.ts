import { isRecord } from "../base/is-record.ts";
import type { Environment, EvaluateChild } from "./environment.ts";
import { asTexts, mergeParams } from "./params.ts";
import { failure, RenderFailure } from "./problem.ts";
import { renderTree } from "./templating.ts";
import type { ParamSet, RenderProblem } from "./types.ts";

function children(raw: Record<string, unknown>, where: string): unknown[] {
  const generators = raw["generators"];
  return Array.isArray(generators) ? generators : fail(where);
}

function fail(where: string): never {
  throw failure("INVALID", `${where}.generators`, "generators is missing or no list", "list the generators to combine");
}

/**
 * `matrix`: every set of the first generator with every set the second yields for it, the second's own texts being
 * rendered with the first's parameters.
 */
export function matrixParams(
  raw: Record<string, unknown>,
  environment: Environment,
  where: string,
  evaluateChild: EvaluateChild,
): ParamSet[] {
  const generators = children(raw, where);
  if (generators.length !== 2)
    throw failure(
      "INVALID",
      `${where}.generators`,
      `a matrix combines exactly two generators, not ${generators.length}`,
      "nest a matrix in a matrix (one level) to combine three",
    );
  const first = evaluateChild(generators[0], environment, `${where}.generators[0]`);
  const sets: ParamSet[] = [];
  const problems: RenderProblem[] = [];
  for (const outer of first) {
    try {
      for (const inner of evaluateChild(interpolated(generators[1], outer, environment, where), environment, `${where}.generators[1]`))
        sets.push(combined(outer, inner, environment, where));
    } catch (error) {
      // Goes on, so that every file the other sets want is asked for in this round.
      if (!(error instanceof RenderFailure)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new RenderFailure(problems);
  return sets;
}

/** The post-`selector` is compiled before, so it is not rendered; nothing is where the first yields no parameters. */
function interpolated(generator: unknown, params: ParamSet, environment: Environment, where: string): unknown {
  if (!isRecord(generator) || Object.keys(params).length === 0) return generator;
  const { selector, ...rest } = generator;
  const rendered = renderTree(environment.templating, rest, params, `${where}.generators[1]`) as Record<string, unknown>;
  return selector === undefined ? rendered : { ...rendered, selector };
}

function combined(outer: ParamSet, inner: ParamSet, environment: Environment, where: string): ParamSet {
  if (environment.templating.go) return mergeParams(inner, outer, where);
  const result = asTexts(outer);
  for (const [key, value] of Object.entries(asTexts(inner))) {
    const mine = Object.hasOwn(result, key) ? result[key] : undefined;
    if (mine !== undefined && mine !== value) {
      throw failure(
        "PARAM_ERROR",
        where,
        `both generators give ${JSON.stringify(key)}, with different values (${JSON.stringify(mine)}, ${JSON.stringify(value)})`,
        "rename one (pathParamPrefix does it for git generators), or set goTemplate: true",
      );
    }
    result[key] = value;
  }
  return result;
}

/** `merge`: the first generator's sets, with what later ones say for the same merge keys. */
export function mergeGeneratorParams(
  raw: Record<string, unknown>,
  environment: Environment,
  where: string,
  evaluateChild: EvaluateChild,
): ParamSet[] {
  const generators = children(raw, where);
  if (generators.length < 2)
    throw failure("INVALID", `${where}.generators`, "a merge combines two generators or more", "add one, or use the generator by itself");
  const keys = raw["mergeKeys"];
  if (!Array.isArray(keys) || keys.length === 0)
    throw failure("INVALID", `${where}.mergeKeys`, "mergeKeys is missing or empty", "name the parameters that tell sets apart");
  const names = [...new Set(keys.map(String))].sort();
  const lists = generators.map((generator, index) => evaluateChild(generator, environment, `${where}.generators[${index}]`));
  const tables = lists.map((list, index) => byKey(list, names, environment, `${where}.generators[${index}]`));
  const [base, ...overrides] = tables;
  return [...(base ?? new Map<string, ParamSet>())].map(([key, params]) => {
    let result = params;
    for (const table of overrides) {
      const over = table.get(key);
      if (over !== undefined)
        result = environment.templating.go ? mergeParams(result, over, where) : { ...asTexts(result), ...asTexts(over) };
    }
    return result;
  });
}

function byKey(list: readonly ParamSet[], names: readonly string[], environment: Environment, where: string): Map<string, ParamSet> {
  const table = new Map<string, ParamSet>();
  for (const params of list) {
    const key = JSON.stringify(names.map((name) => [name, Object.hasOwn(params, name) ? params[name] : null]));
    if (table.has(key)) {
      const missing = names.every((name) => !Object.hasOwn(params, name));
      const dotted = environment.templating.go && names.some((name) => name.includes("."));
      throw failure(
        "PARAM_ERROR",
        where,
        missing ? `no set has the merge keys ${names.join(", ")}` : `two sets have the same merge keys: ${key}`,
        dotted
          ? "with goTemplate: true nested keys cannot be merge keys: use top-level ones"
          : "merge keys must tell the sets of a generator apart",
      );
    }
    table.set(key, params);
  }
  return table;
}
