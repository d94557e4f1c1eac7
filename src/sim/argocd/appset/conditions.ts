import type { KubeObject } from "../../kubernetes/types.ts";
import type { Lag } from "../application/lag.ts";

/** A generator of an ApplicationSet, as far as it tells when to look again. */
export interface GeneratorEntry {
  git?: { repoURL?: string; revision?: string; requeueAfterSeconds?: number };
  clusters?: unknown;
  matrix?: { generators?: GeneratorEntry[] };
  merge?: { generators?: GeneratorEntry[] };
}

function* generatorsOf(list: readonly GeneratorEntry[] | undefined): Iterable<GeneratorEntry> {
  for (const generator of list ?? []) {
    yield generator;
    yield* generatorsOf(generator.matrix?.generators);
    yield* generatorsOf(generator.merge?.generators);
  }
}

export const generatorsIn = (set: KubeObject) => [
  ...generatorsOf((set["spec"] as { generators?: GeneratorEntry[] } | undefined)?.generators),
];

/** How often a set with git generators looks by itself; undefined: it does not. */
export function requeueOf(set: KubeObject, lag: Lag): number | undefined {
  const times = generatorsIn(set).flatMap(({ git }) => (git === undefined ? [] : [(git.requeueAfterSeconds ?? 0) * 1000 || lag.requeue]));
  return times.length === 0 ? undefined : Math.min(...times);
}

export interface SetCondition {
  type: string;
  status: "True" | "False";
  reason: string;
  message: string;
  lastTransitionTime?: string;
}

export function outcomeConditions(error: string | undefined, name: string): SetCondition[] {
  if (error === undefined) {
    const message = "Successfully generated parameters for all Applications";
    return [
      { type: "ErrorOccurred", status: "False", reason: "ApplicationSetUpToDate", message },
      { type: "ParametersGenerated", status: "True", reason: "ParametersGenerated", message },
      { type: "ResourcesUpToDate", status: "True", reason: "ApplicationSetUpToDate", message: `ApplicationSet "${name}" is up to date` },
    ];
  }
  return [
    { type: "ErrorOccurred", status: "True", reason: "ApplicationParamsGenerationError", message: error },
    { type: "ParametersGenerated", status: "False", reason: "ErrorOccurred", message: error },
    { type: "ResourcesUpToDate", status: "False", reason: "ApplicationParamsGenerationError", message: error },
  ];
}
