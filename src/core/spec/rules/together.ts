import { nearest } from "../../base/nearest.ts";
import { type Problem, type ProblemReason, problemIn } from "../../reasons/problems/problem.ts";
import type { Rollout, SourceRef } from "../rollout.ts";

/** A rule that two rollouts of one repo break together. `problem` stands at the later one and names the other. */
interface Clash {
  rollouts: [Rollout, Rollout];
  problem: Problem;
}

/**
 * What holds between the rollouts of a repo: each has a name of its own, and an ApplicationSet, or the Applications of a selector, belong to one of them only,
 * else they would undo each other's batches; and none waits for itself, over however many others. Lines are found by the problem's path (`locateInRollout`).
 */
export function clashes(rollouts: readonly Rollout[], unread: readonly Unread[] = []): Clash[] {
  return [...sharedNames(rollouts), ...sharedSources(rollouts), ...dependencies(rollouts, unread)];
}

/** A rollout whose file has errors, as far as it can be read: it is there all the same, and may close a circle. */
export interface Unread {
  name: string;
  file: string;
  dependsOn: { rollout: string }[];
}

function sharedNames(rollouts: readonly Rollout[]): Clash[] {
  return [...Map.groupBy(rollouts, ({ name }) => name).values()].flatMap(([before, ...later]) =>
    later.map((rollout): Clash => {
      const reason = { code: "DUPLICATE_ROLLOUT", name: rollout.name, also: (before ?? rollout).file } as const;
      return { rollouts: [before ?? rollout, rollout], problem: problemIn(rollout.file, reason, ["metadata", "name"]) };
    }),
  );
}

function sharedSources(rollouts: readonly Rollout[]): Clash[] {
  const first = new Map<string, Rollout>();
  const found: Clash[] = [];
  for (const rollout of rollouts) {
    const { controlPlanes, names = [] } = rollout.source;
    const planes = controlPlanes.length === 0 ? [""] : controlPlanes;
    const parts = names.length === 0 ? [rollout.source] : names.map((name) => ({ ...rollout.source, name, names: undefined }));
    const keys = parts.map((part) => planes.map((plane) => `${plane}/${sourceIdentity(part)}`));
    const at = keys.findIndex((own) => own.some((key) => first.has(key)));
    const [part, before] = [parts[at], keys[at]?.map((key) => first.get(key)).find((one) => one !== undefined)];
    if (part !== undefined && before !== undefined) found.push(sharedSource(before, rollout, part));
    for (const key of keys.flat()) if (!first.has(key)) first.set(key, rollout);
  }
  return found;
}

/** `source`: the set of several that another rollout has, or all of it. */
function sharedSource(before: Rollout, rollout: Rollout, source: SourceRef): Clash {
  const reason = { code: "SOURCE_SHARED", kind: "Source", source, owner: before.name, ownerFile: before.file } as const;
  const at = rollout.source.names?.indexOf(source.name) ?? -1;
  const field = at >= 0 ? ["names", at] : [source.name === "" && source.selector !== undefined ? "selector" : "name"];
  return { rollouts: [before, rollout], problem: problemIn(rollout.file, reason, ["spec", "sourceRef", ...field]) };
}

/** The same text for two sources that mean the same, in whatever order their selectors are written. */
function sourceIdentity({ kind, namespace, name, selector }: Rollout["source"]): string {
  if (name !== "" || selector === undefined) return JSON.stringify([kind, namespace, name]);
  const labels = Object.entries(selector.matchLabels).map(([key, value]) => JSON.stringify([key, "In", [value]]));
  const expressions = selector.matchExpressions.map(({ key, operator, values }) =>
    JSON.stringify([key, operator, [...new Set(values)].toSorted()]),
  );
  return JSON.stringify([kind, namespace, name, [...new Set([...labels, ...expressions])].toSorted()]);
}

/** `dependsOn` that names nobody, or goes round in a circle: every rollout of the circle would wait for ever. */
function dependencies(rollouts: readonly Rollout[], unread: readonly Unread[]): Clash[] {
  const byName = new Map(rollouts.map((rollout) => [rollout.name, rollout]));
  const broken = new Map(unread.filter(({ name }) => !byName.has(name)).map((one) => [one.name, one]));
  const all = new Map<string, Rollout | Unread>([...broken, ...byName]);
  const found: Clash[] = [];
  for (const rollout of rollouts) {
    for (const [i, { rollout: name, atLeast }] of (rollout.dependsOn ?? []).entries()) {
      const path = ["spec", "dependsOn", i, "rollout"];
      const other = byName.get(name);
      if (other !== undefined) {
        const reason = incomparable(rollout, other, atLeast);
        if (reason !== undefined) found.push({ rollouts: [rollout, rollout], problem: problemIn(rollout.file, reason, path) });
        const apart = unshared(rollout, other);
        if (apart !== undefined)
          found.push({ rollouts: [rollout, rollout], problem: { ...problemIn(rollout.file, apart, path), severity: "warning" } });
        continue;
      }
      const brokenFile = broken.get(name)?.file;
      const reason: ProblemReason =
        brokenFile === undefined
          ? { code: "UNKNOWN_DEPENDENCY", kind: "Unknown", name, near: nearest(name, [...all.keys()]) }
          : { code: "UNKNOWN_DEPENDENCY", kind: "Broken", name, brokenFile };
      found.push({ rollouts: [rollout, rollout], problem: problemIn(rollout.file, reason, path) });
    }
    const circle = circleOf(rollout.name, all);
    if (circle === undefined) continue;
    const problem = problemIn(rollout.file, { code: "DEPENDENCY_CYCLE", circle }, ["spec", "dependsOn"]);
    found.push({ rollouts: [byName.get(circle[1] ?? "") ?? rollout, rollout], problem });
  }
  return found;
}

/** Values are compared by name, but for the only one of each. Where there is none to compare, a batch would wait for ever. */
function incomparable(rollout: Rollout, other: Rollout, atLeast: string): ProblemReason | undefined {
  const [own, known] = [rollout, other].map(valueNames);
  if (own === undefined || known === undefined || known.length === 0 || own.length === 0) return undefined;
  if (atLeast !== "SameVersion")
    return known.length === 1 || known.includes("version")
      ? undefined
      : { code: "DEPENDENCY_VALUE", kind: "AtLeast", name: other.name, own, known };
  const isOne = own.length === 1 && known.length === 1;
  return isOne || own.some((name) => known.includes(name))
    ? undefined
    : { code: "DEPENDENCY_VALUE", kind: "Same", name: other.name, own, known };
}

/** Where environments share clusters, stages of one name belong together. Where there are none, each waits for all on its cluster. */
function unshared(rollout: Rollout, other: Rollout): ProblemReason | undefined {
  const by = [rollout.targetBy, other.targetBy];
  if (by.includes(undefined) || by.every((one) => one === "namespace")) return undefined;
  const [own, known] = [rollout, other].map(({ stages }) => stages.map(({ name }) => name));
  if (own === undefined || known === undefined || own.some((name) => known.includes(name))) return undefined;
  const [name = "", near] = own.flatMap((one) => [one, nearest(one, known)]);
  return { code: "DEPENDENCY_STAGES", rollout: other.name, stage: name, known, near };
}

function valueNames({ release }: Rollout): string[] {
  if (release === undefined) return [];
  return release.kind === "values" ? Object.keys(release.values) : ["version"];
}

/** The way from a rollout back to itself; undefined: there is none. */
function circleOf(start: string, byName: ReadonlyMap<string, Rollout | Unread>): string[] | undefined {
  const seen = new Set<string>();
  const open: string[][] = [[start]];
  for (let way = open.pop(); way !== undefined; way = open.pop()) {
    for (const { rollout: next } of byName.get(way.at(-1) ?? "")?.dependsOn ?? []) {
      if (next === start) return [...way, start];
      if (seen.has(next)) continue;
      seen.add(next);
      open.push([...way, next]);
    }
  }
  return undefined;
}
