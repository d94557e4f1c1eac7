import { nearest } from "../../base/nearest.ts";
import type { Problem } from "../../base/problem.ts";
import type { Rollout } from "../rollout.ts";
import { sourceText } from "../rollout.ts";

/** A rule that two rollouts of one repo break together. `problem` stands at the later one and names the other. */
export interface Clash {
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

function problemOf(rollout: Rollout, code: string, message: string, hint: string, path: (string | number)[]): Problem {
  return { code, severity: "error", message, hint, file: rollout.file, line: 1, column: 1, path };
}

function sharedNames(rollouts: readonly Rollout[]): Clash[] {
  const first = new Map<string, Rollout>();
  const found: Clash[] = [];
  for (const rollout of rollouts) {
    const before = first.get(rollout.name);
    if (before === undefined) {
      first.set(rollout.name, rollout);
      continue;
    }
    const message = `rollout "${rollout.name}" is also in ${before.file}`;
    const problem = problemOf(rollout, "DUPLICATE_ROLLOUT", message, "give each rollout a name of its own", ["metadata", "name"]);
    found.push({ rollouts: [before, rollout], problem });
  }
  return found;
}

function sharedSources(rollouts: readonly Rollout[]): Clash[] {
  const first = new Map<string, Rollout>();
  const found: Clash[] = [];
  for (const rollout of rollouts) {
    const { controlPlanes } = rollout.source;
    const identity = sourceIdentity(rollout.source);
    for (const plane of controlPlanes.length === 0 ? [""] : controlPlanes) {
      const key = `${plane}/${identity}`;
      const before = first.get(key);
      if (before === undefined) {
        first.set(key, rollout);
        continue;
      }
      found.push(sharedSource(before, rollout));
      break;
    }
  }
  return found;
}

function sharedSource(before: Rollout, rollout: Rollout): Clash {
  const { kind, name, selector } = rollout.source;
  const message = `${sourceText(rollout.source)} ${kind === "Application" && name === "" ? "belong" : "belongs"} to rollout "${before.name}" (${before.file}) already`;
  const hint = `one ${kind} may belong to one rollout only; remove one of the two`;
  const field = name === "" && selector !== undefined ? "selector" : "name";
  return { rollouts: [before, rollout], problem: problemOf(rollout, "SOURCE_SHARED", message, hint, ["spec", "sourceRef", field]) };
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
    for (const [i, { rollout: name }] of (rollout.dependsOn ?? []).entries()) {
      const path = ["spec", "dependsOn", i, "rollout"];
      if (byName.has(name)) continue;
      const known = broken.get(name);
      if (known !== undefined) {
        const message = `rollout "${name}" has errors of its own, so nothing can wait for it`;
        const problem = problemOf(rollout, "UNKNOWN_DEPENDENCY", message, `correct ${known.file} first`, path);
        found.push({ rollouts: [rollout, rollout], problem });
        continue;
      }
      const near = nearest(name, [...all.keys()]);
      const hint = near === undefined ? "name a rollout of this repo" : `did you mean ${near}?`;
      const problem = problemOf(rollout, "UNKNOWN_DEPENDENCY", `there is no rollout "${name}" in this repo`, hint, path);
      found.push({ rollouts: [rollout, rollout], problem });
    }
    const circle = circleOf(rollout.name, all);
    if (circle === undefined) continue;
    const message = `dependsOn goes round in a circle: ${circle.join(" → ")}`;
    const problem = problemOf(rollout, "DEPENDENCY_CYCLE", message, "take one of them out", ["spec", "dependsOn"]);
    found.push({ rollouts: [byName.get(circle[1] ?? "") ?? rollout, rollout], problem });
  }
  return found;
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
