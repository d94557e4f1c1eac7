import { isRecord } from "../base/is-record.ts";
import { asTexts, mergeParams } from "./params.ts";
import { failure, setKey, tryEach } from "./problem.ts";
import { type Environment, renderTree } from "./templating.ts";
import type { ParamSet } from "./types.ts";

type Fields = Record<string, unknown>;

/** Evaluates a generator inside a matrix or merge, which is given it: any kind may stand there. @throws RenderFailure */
type EvaluateChild = (raw: unknown, environment: Environment, where: string) => ParamSet[];

function children(raw: Record<string, unknown>, where: string): unknown[] {
  const generators = raw["generators"];
  if (!Array.isArray(generators)) throw failure("INVALID", `${where}.generators`, { kind: "NothingToCombine" });
  return generators;
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
  if (generators.length !== 2) throw failure("INVALID", `${where}.generators`, { kind: "MatrixOf", generators: generators.length });
  const first = evaluateChild(generators[0], environment, `${where}.generators[0]`);
  const sets: ParamSet[] = [];
  tryEach(first, (outer) => {
    const second = interpolated(generators[1], outer, environment, where);
    for (const inner of evaluateChild(second, environment, `${where}.generators[1]`)) sets.push(combined(outer, inner, environment, where));
  });
  return sets;
}

/** The post-`selector` is compiled before, so it is not rendered; nothing is where the first yields no parameters. */
function interpolated(generator: unknown, params: ParamSet, environment: Environment, where: string): unknown {
  if (!isRecord(generator) || Object.keys(params).length === 0) return generator;
  const { selector, ...rest } = generator;
  const rendered = renderGenerator(rest, params, environment, `${where}.generators[1]`);
  return selector === undefined ? rendered : { ...rendered, selector };
}

/** Kinds whose `values` Argo CD renders by themselves, on every level below a matrix. */
const WITH_VALUES = new Set(["clusters", "git", "scmProvider", "clusterDecisionResource", "pullRequest", "plugin"]);

function renderGenerator(generator: Fields, params: ParamSet, environment: Environment, where: string): Fields {
  const result: Fields = {};
  for (const [kind, raw] of Object.entries(generator)) {
    const place = `${where}.${kind}`;
    if (!isRecord(raw)) {
      if (raw !== null && raw !== undefined) result[kind] = renderTree(environment.templating, raw, params, place);
    } else if (WITH_VALUES.has(kind)) {
      const { values, ...rest } = raw;
      result[kind] = renderTree(environment.templating, rest, params, place);
      if (values !== undefined) result[kind] = { ...(result[kind] as Fields), values: renderValues(values, params, environment, place) };
    } else if ((kind === "matrix" || kind === "merge") && Array.isArray(raw["generators"])) {
      const { generators, ...rest } = raw;
      const inner = (generators as unknown[]).map((one, index) =>
        isRecord(one) ? renderGenerator(one, params, environment, `${place}.generators[${index}]`) : one,
      );
      result[kind] = { ...(renderTree(environment.templating, rest, params, place) as Fields), generators: inner };
    } else result[kind] = renderTree(environment.templating, raw, params, place);
  }
  return result;
}

/** A value that names what the first generator does not give is left as it is written, for the second one's own parameters. */
function renderValues(values: unknown, params: ParamSet, { templating }: Environment, where: string): unknown {
  if (!isRecord(values)) return values;
  const result: Fields = {};
  for (const [key, value] of Object.entries(values))
    setKey(result, key, typeof value === "string" ? templating.known(value, params, () => `${where}.values.${key}`) : value);
  return result;
}

function combined(outer: ParamSet, inner: ParamSet, environment: Environment, where: string): ParamSet {
  if (environment.templating.go) return mergeParams(inner, outer, where);
  const result = asTexts(outer);
  for (const [key, theirs] of Object.entries(asTexts(inner))) {
    const mine = Object.hasOwn(result, key) ? result[key] : undefined;
    if (mine !== undefined && mine !== theirs) throw failure("PARAM_ERROR", where, { kind: "BothGive", key, mine, theirs });
    result[key] = theirs;
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
  if (generators.length < 2) throw failure("INVALID", `${where}.generators`, { kind: "MergeOfOne" });
  const keys = raw["mergeKeys"];
  if (!Array.isArray(keys) || keys.length === 0) throw failure("INVALID", `${where}.mergeKeys`, { kind: "NoMergeKeys" });
  const names = [...new Set(keys.map(String))].sort();
  const lists = generators.map((generator, index) => evaluateChild(generator, environment, `${where}.generators[${index}]`));
  const [base, ...overrides] = lists.map((list, index) => byKey(list, names, environment, `${where}.generators[${index}]`));
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
      const dotted = environment.templating.go && names.some((name) => name.includes("."));
      const missing = names.every((name) => !Object.hasOwn(params, name));
      throw failure("PARAM_ERROR", where, missing ? { kind: "KeysMissing", keys: names, dotted } : { kind: "KeysTwice", key, dotted });
    }
    table.set(key, params);
  }
  return table;
}
