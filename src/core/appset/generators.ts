import { isRecord } from "../base/is-record.ts";
import { nearest } from "../base/nearest.ts";
import { clusterParams } from "./cluster-generator.ts";
import { matrixParams, mergeGeneratorParams } from "./combine.ts";
import type { Environment, Generate, GeneratorKind } from "./environment.ts";
import { gitParams } from "./git-generator.ts";
import { listParams } from "./list-generator.ts";
import { flatten } from "./params.ts";
import { failure } from "./problem.ts";
import { compileSelector } from "./selector.ts";
import type { ParamSet } from "./types.ts";

/** In the order in which Argo CD goes through an entry that holds several. */
const ORDER = ["list", "clusters", "git", "scmProvider", "clusterDecisionResource", "pullRequest", "matrix", "merge", "plugin"] as const;

const OFFLINE: Record<GeneratorKind, Generate> = {
  list: listParams,
  clusters: clusterParams,
  git: gitParams,
  matrix: (raw, environment, where) => matrixParams(raw, environment, where, evaluateChild),
  merge: (raw, environment, where) => mergeGeneratorParams(raw, environment, where, evaluateChild),
};

const ONLINE: Record<string, string> = {
  scmProvider: "it lists repositories at an SCM provider",
  pullRequest: "it lists pull requests at an SCM provider",
  clusterDecisionResource: "it reads a placement object in the cluster",
  plugin: "it asks a plugin's server",
};

/** Seconds after which Argo CD evaluates a generator again, where the spec does not say. */
const REQUEUE: Record<string, number> = { git: 180, pullRequest: 1800, scmProvider: 1800, plugin: 1800, clusterDecisionResource: 180 };

/** The generators an entry of `generators` holds. @throws RenderFailure where it holds none */
export function kindsOf(entry: unknown, where: string): string[] {
  if (!isRecord(entry)) throw failure("INVALID", where, "the generator is no map", `write one of ${ORDER.join(", ")}`);
  const kinds = ORDER.filter((kind) => entry[kind] !== undefined && entry[kind] !== null);
  if (kinds.length > 0) return kinds;
  const unknown = Object.keys(entry).find((key) => key !== "selector");
  if (unknown === undefined) throw failure("INVALID", where, "the entry holds no generator", `write one of ${ORDER.join(", ")}`);
  const near = nearest(unknown, ORDER);
  const meant = near === undefined ? "" : `did you mean ${near}? `;
  throw failure("INVALID", where, `${JSON.stringify(unknown)} is no generator`, `${meant}one of ${ORDER.join(", ")}`);
}

/** One generator's sets, filtered by the entry's post-`selector`. @throws RenderFailure */
export function evaluateKind(entry: Record<string, unknown>, kind: string, environment: Environment, where: string): ParamSet[] {
  const selector = compileSelector(entry["selector"], { where: `${where}.selector`, anyValue: true });
  const online = ONLINE[kind];
  if (online !== undefined)
    throw failure(
      "UNSUPPORTED_GENERATOR",
      `${where}.${kind}`,
      `${kind} cannot be evaluated offline: ${online}`,
      "let Argo CD render this set (argocd appset generate)",
    );
  const raw = entry[kind];
  if (!isRecord(raw)) throw failure("INVALID", `${where}.${kind}`, "the generator is no map", "write its fields below it, or {}");
  const sets = OFFLINE[kind as GeneratorKind](raw, environment, `${where}.${kind}`);
  return selector === undefined ? sets : sets.filter((params) => selector(flatten(params)));
}

/** A generator inside a matrix or merge: exactly one kind, and selectors below the first level only where the set asks for them. */
export function evaluateChild(raw: unknown, environment: Environment, where: string): ParamSet[] {
  const kinds = kindsOf(raw, where);
  const [kind, second] = kinds;
  if (kind === undefined || !isRecord(raw)) return [];
  if (second !== undefined)
    throw failure("INVALID", where, `the entry holds ${kinds.join(" and ")}: only one generator may stand here`, "make an entry of each");
  if (kind !== "matrix" && kind !== "merge") return evaluateKind(raw, kind, environment, where);
  return evaluateKind({ ...raw, [kind]: nested(raw[kind], environment, `${where}.${kind}`) }, kind, environment, where);
}

function nested(raw: unknown, environment: Environment, where: string): unknown {
  if (!isRecord(raw) || !Array.isArray(raw["generators"])) return raw;
  const generators = raw["generators"].map((child, index) => {
    if (isRecord(child) && (child["matrix"] !== undefined || child["merge"] !== undefined)) {
      throw failure(
        "INVALID",
        `${where}.generators[${index}]`,
        "matrix and merge nest one level deep only",
        "take this one out, or write its result as a list",
      );
    }
    if (environment.nestedSelectors || !isRecord(child)) return child;
    const { selector: _, ...rest } = child;
    return rest;
  });
  return { ...raw, generators };
}

/** undefined: Argo CD does not look again by itself. */
export function requeueSeconds(entry: unknown): number | undefined {
  if (!isRecord(entry)) return undefined;
  let least: number | undefined;
  const consider = (seconds: number | undefined) => {
    if (seconds !== undefined && seconds > 0 && (least === undefined || seconds < least)) least = seconds;
  };
  for (const kind of ORDER) {
    const raw = entry[kind];
    if (!isRecord(raw)) continue;
    if (kind === "matrix" || kind === "merge")
      for (const child of Array.isArray(raw["generators"]) ? raw["generators"] : []) consider(requeueSeconds(child));
    else consider(typeof raw["requeueAfterSeconds"] === "number" ? raw["requeueAfterSeconds"] : REQUEUE[kind]);
  }
  return least;
}
