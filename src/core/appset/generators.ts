/** Generators of an ApplicationSet: which an entry holds, and the parameter sets each yields. Those that ask the outside are refused. */
import { errorText } from "../base/error-text.ts";
import { isRecord } from "../base/is-record.ts";
import { nearest } from "../base/nearest.ts";
import { isLabelKey, isLabelValue, labelMatcher, OPERATORS, type Selector } from "../base/selector.ts";
import { parseYaml } from "../base/yaml-read.ts";
import { normaliseName } from "../gotemplate/sprig-names.ts";
import { stringMap } from "../gotemplate/value.ts";
import { matrixParams, mergeGeneratorParams } from "./combine.ts";
import { gitParams } from "./git-generator.ts";
import { addValues, flatten } from "./params.ts";
import { failure, setKey } from "./problem.ts";
import type { Environment } from "./templating.ts";
import type { AppSetCluster, ParamSet } from "./types.ts";

type Generate = (raw: Record<string, unknown>, environment: Environment, where: string) => ParamSet[];

/** In the order in which Argo CD goes through an entry that holds several. */
const ORDER = ["list", "clusters", "git", "scmProvider", "clusterDecisionResource", "pullRequest", "matrix", "merge", "plugin"] as const;

type Kind = (typeof ORDER)[number];

/** `undefined`: it asks the outside, and cannot be evaluated offline. */
const GENERATE: Partial<Record<Kind, Generate>> = {
  list: listParams,
  clusters: clusterParams,
  git: gitParams,
  matrix: (raw, environment, where) => matrixParams(raw, environment, where, evaluateChild),
  merge: (raw, environment, where) => mergeGeneratorParams(raw, environment, where, evaluateChild),
};

/** Seconds after which Argo CD evaluates a generator again, where the spec does not say. */
const REQUEUE: Partial<Record<Kind, number>> = {
  git: 180,
  pullRequest: 1800,
  scmProvider: 1800,
  plugin: 1800,
  clusterDecisionResource: 180,
};

/** The generators an entry of `generators` holds. @throws RenderFailure where it holds none */
export function kindsOf(entry: unknown, where: string): Kind[] {
  if (!isRecord(entry)) throw failure("INVALID", where, { kind: "GeneratorNoMap", known: ORDER });
  const kinds = ORDER.filter((kind) => entry[kind] !== undefined && entry[kind] !== null);
  if (kinds.length > 0) return kinds;
  const given = Object.keys(entry).find((key) => key !== "selector");
  if (given === undefined) throw failure("INVALID", where, { kind: "NoGenerator", known: ORDER });
  throw failure("INVALID", where, { kind: "UnknownGenerator", given, near: nearest(given, ORDER), known: ORDER });
}

/** One generator's sets, filtered by the entry's post-`selector`. @throws RenderFailure */
export function evaluateKind(entry: Record<string, unknown>, kind: Kind, environment: Environment, where: string): ParamSet[] {
  const selector = compileSelector(entry["selector"], { where: `${where}.selector`, anyValue: true });
  const place = `${where}.${kind}`;
  const generate = GENERATE[kind];
  if (generate === undefined) throw failure("UNSUPPORTED_GENERATOR", place, { generator: kind as "plugin" });
  const raw = entry[kind];
  if (!isRecord(raw)) throw failure("INVALID", place, { kind: "FieldsNoMap" });
  const sets = generate(raw, environment, place);
  return selector === undefined ? sets : sets.filter((params) => selector(flatten(params)));
}

/** A generator inside a matrix or merge: exactly one kind, and selectors below the first level only where the set asks for them. */
function evaluateChild(raw: unknown, environment: Environment, where: string): ParamSet[] {
  const generators = kindsOf(raw, where);
  const [kind, second] = generators;
  if (kind === undefined || !isRecord(raw)) return [];
  if (second !== undefined) throw failure("INVALID", where, { kind: "SeveralGenerators", generators });
  if (kind !== "matrix" && kind !== "merge") return evaluateKind(raw, kind, environment, where);
  return evaluateKind({ ...raw, [kind]: nested(raw[kind], environment, `${where}.${kind}`) }, kind, environment, where);
}

function nested(raw: unknown, environment: Environment, where: string): unknown {
  if (!isRecord(raw) || !Array.isArray(raw["generators"])) return raw;
  const generators = raw["generators"].map((child, index) => {
    if (isRecord(child) && (child["matrix"] !== undefined || child["merge"] !== undefined))
      throw failure("INVALID", `${where}.generators[${index}]`, { kind: "NestedTwice" });
    if (environment.nestedSelectors || !isRecord(child)) return child;
    const { selector: _, ...rest } = child;
    return rest;
  });
  return { ...raw, generators };
}

/** undefined: Argo CD does not look again by itself. */
export function requeueSeconds(entry: unknown): number | undefined {
  if (!isRecord(entry)) return undefined;
  const seconds = ORDER.flatMap((kind) => {
    const raw = entry[kind];
    if (!isRecord(raw)) return [];
    if (kind === "matrix" || kind === "merge") return Array.isArray(raw["generators"]) ? raw["generators"].map(requeueSeconds) : [];
    return [typeof raw["requeueAfterSeconds"] === "number" ? raw["requeueAfterSeconds"] : REQUEUE[kind]];
  }).filter((one) => one !== undefined && one > 0) as number[];
  return seconds.length === 0 ? undefined : Math.min(...seconds);
}

const IN_CLUSTER = { name: "in-cluster", server: "https://kubernetes.default.svc", labels: {}, annotations: {} };

/**
 * `clusters`: one set for each cluster the selector takes, in the order given. Argo CD's own cluster has no labels unless
 * it has a Secret, so it is there only where nothing is selected, behind all others.
 */
function clusterParams(raw: Record<string, unknown>, environment: Environment, where: string): ParamSet[] {
  const selector = compileSelector(raw["selector"] ?? {}, { where: `${where}.selector`, anyValue: false });
  if (
    environment.context.clusters.some(({ derived }) => derived !== undefined) &&
    (environment.readsMetadata() || !isEmptySelector(raw["selector"]))
  )
    throw failure("CLUSTERS_UNSEEN", where, { selects: !isEmptySelector(raw["selector"]) });
  const clusters = environment.context.clusters.filter((cluster) => selector?.(cluster.labels) !== false);
  const hasOwnSecret = environment.context.clusters.some((cluster) => cluster.server.replace(/(?<!\/)\/+$/, "") === IN_CLUSTER.server);
  const sets = clusters.map((cluster) => paramsOfCluster(cluster, raw, environment, where, true));
  if (isEmptySelector(raw["selector"]) && !hasOwnSecret) sets.push(paramsOfCluster(IN_CLUSTER, raw, environment, where, false));
  return raw["flatList"] === true ? [{ clusters: sets }] : sets;
}

/** Empty maps of labels and annotations are left out. */
function paramsOfCluster(
  { name, server, project = "", annotations, labels }: AppSetCluster,
  raw: Record<string, unknown>,
  { templating }: Environment,
  where: string,
  hasSecret: boolean,
): ParamSet {
  const params: ParamSet = { name, nameNormalized: normaliseName(name), server, project };
  const maps = Object.entries({ annotations, labels }).filter(([, map]) => Object.keys(map).length > 0);
  if (!templating.go)
    for (const [field, map] of maps) for (const [key, value] of Object.entries(map)) params[`metadata.${field}.${key}`] = value;
  else if (hasSecret) params["metadata"] = Object.fromEntries(maps.map(([field, map]) => [field, stringMap(map)]));
  addValues(params, raw["values"], templating, where);
  return params;
}

/** `list`: its elements as they are, and those of `elementsYaml` behind them. */
function listParams(raw: Record<string, unknown>, environment: Environment, where: string): ParamSet[] {
  const elements = raw["elements"] ?? [];
  if (!Array.isArray(elements)) throw failure("INVALID", `${where}.elements`, { kind: "ElementsNoList" });
  const params = elements.map((element, index) => elementParams(element, environment.templating.go, `${where}.elements[${index}]`));
  return [...params, ...yamlParams(raw["elementsYaml"], `${where}.elementsYaml`)];
}

function elementParams(element: unknown, go: boolean, where: string): ParamSet {
  if (!isRecord(element)) throw failure("INVALID", where, { kind: "ElementNoMap" });
  if (go) return element;
  const params: ParamSet = {};
  for (const [key, value] of Object.entries(element)) {
    if (key !== "values") setKey(params, key, requireText(value, `${where}.${key}`));
    else if (!isRecord(value)) throw failure("PARAM_ERROR", `${where}.values`, { kind: "ValuesNoMap" });
    else for (const [name, text] of Object.entries(value)) params[`values.${name}`] = requireText(text, `${where}.values.${name}`);
  }
  return params;
}

function requireText(value: unknown, where: string): string {
  if (typeof value !== "string") throw failure("PARAM_ERROR", where, { kind: "TextsOnly", given: value });
  return value;
}

function yamlParams(source: unknown, where: string): ParamSet[] {
  if (source === undefined || source === null || source === "") return [];
  if (typeof source !== "string") throw failure("INVALID", where, { kind: "ElementsYamlNoText" });
  let parsed: unknown;
  try {
    parsed = parseYaml(source) ?? [];
  } catch (error) {
    throw failure("PARAM_ERROR", where, { kind: "NotYaml", said: errorText(error) });
  }
  if (!Array.isArray(parsed)) throw failure("PARAM_ERROR", where, { kind: "NoListOfMaps" });
  return parsed.map((item, index) => {
    if (item !== null && !isRecord(item)) throw failure("PARAM_ERROR", where, { kind: "ItemNoMap", index });
    return item ?? {};
  });
}

/** Whether labels (or flattened parameters) are selected. */
type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

interface Options {
  where: string;
  /** Labels' values are short and plain; a generator's post-selector compares with any text. */
  anyValue: boolean;
}

/**
 * A Kubernetes label selector; undefined: none is given. An empty one selects everything.
 * @throws RenderFailure where Kubernetes would refuse it
 */
function compileSelector(raw: unknown, options: Options): LabelTest | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isRecord(raw)) throw failure("INVALID", options.where, { kind: "SelectorNoMap" });
  const labels = raw["matchLabels"] ?? {};
  if (!isRecord(labels)) throw failure("INVALID", `${options.where}.matchLabels`, { kind: "LabelsNoMap" });
  const matchLabels: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    const where = `${options.where}.matchLabels.${key}`;
    const wanted = requireLabelText(value, where, options);
    checkKey(key, where);
    matchLabels[key] = wanted;
  }
  const expressions = raw["matchExpressions"] ?? [];
  if (!Array.isArray(expressions)) throw failure("INVALID", `${options.where}.matchExpressions`, { kind: "ExpressionsNoList" });
  const matchExpressions = expressions.map((expression, index) =>
    readExpression(expression, { ...options, where: `${options.where}.matchExpressions[${index}]` }),
  );
  return labelMatcher({ matchLabels, matchExpressions });
}

/** Whether a selector asks for anything. */
function isEmptySelector(raw: unknown): boolean {
  if (!isRecord(raw)) return true;
  const labels = raw["matchLabels"];
  const expressions = raw["matchExpressions"];
  return !(isRecord(labels) && Object.keys(labels).length > 0) && !(Array.isArray(expressions) && expressions.length > 0);
}

function readExpression(raw: unknown, options: Options): Selector["matchExpressions"][number] {
  const expression = isRecord(raw) ? raw : {};
  const key = requireLabelText(expression["key"], `${options.where}.key`, { ...options, anyValue: true });
  checkKey(key, `${options.where}.key`);
  const given = expression["values"] ?? [];
  if (!Array.isArray(given)) throw failure("INVALID", `${options.where}.values`, { kind: "ValuesNoList" });
  const values = given.map((value, index) => requireLabelText(value, `${options.where}.values[${index}]`, options));
  const operator = OPERATORS.find((one) => one === expression["operator"]);
  if (operator === undefined)
    throw failure("INVALID", `${options.where}.operator`, { kind: "UnknownOperator", given: expression["operator"] ?? null });
  const wantsValues = operator === "In" || operator === "NotIn";
  if (wantsValues !== values.length > 0)
    throw failure("INVALID", `${options.where}.values`, { kind: wantsValues ? "ValuesMissing" : "ValuesNeedless", operator });
  return { key, operator, values };
}

function requireLabelText(given: unknown, where: string, options: Options): string {
  if (typeof given !== "string") throw failure("INVALID", where, { kind: "NoText", given: given ?? null });
  if (!options.anyValue && !isLabelValue(given)) throw failure("INVALID", where, { kind: "LabelValue", given });
  return given;
}

function checkKey(key: string, where: string): void {
  if (!isLabelKey(key)) throw failure("INVALID", where, { kind: "LabelKey", given: key });
}
