import semver from "semver";
import type { AnyReason } from "../../base/reason.ts";
import type { Edit } from "../../plan/plan-types.ts";
import { valuesOfEdits } from "../../plan/values.ts";
import { runReason } from "../../reasons/run.ts";
import type { Dependency } from "../../spec/rollout.ts";
import { putsBack } from "../state/batch.ts";
import { type Scene, type Wait, wait } from "../state/decision.ts";
import { clusterKeys, clustersOf, hostOf, isOut, keysOf, liveTargets, stageOf, targetsOf } from "../state/names.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";
import { hasGoneOn, isMidStep, isMidway } from "../state/steps.ts";

/** `dependsOn`: per cluster, the rollouts that must be there first. A cluster that such a rollout does not go to does not wait for it. */
export function dependsGate({ run, world }: Scene, batch: Batch): Wait | undefined {
  const { dependsOn } = run.spec;
  if (dependsOn === undefined || dependsOn.length === 0) return undefined;
  const { others } = world;
  if (others === undefined) return wait(runReason("DEPENDENCIES_UNREAD"), { what: runReason("NEXT_READ") });
  for (const dependency of dependsOn) {
    const { rollout } = dependency;
    const other = others.find((one) => one.rollout === rollout);
    // It has never run: what is there now was adopted, and no version of it is known to us.
    if (other === undefined) continue;
    for (const cluster of clustersOf(liveTargets(batch))) {
      const because = missingAt(other, dependency, run, cluster);
      if (because !== undefined)
        return wait(runReason("DEPENDENCY_MISSING", { cluster, rollout, because }), { what: runReason("NEXT_DEPENDENCY", { rollout }) });
    }
  }
  return undefined;
}

/** Says what is missing of a dependency at one cluster; undefined: nothing. */
export function missingAt(other: Run, { atLeast }: Dependency, run: Run, cluster: string): AnyReason | undefined {
  const places = placesAt(other, run, cluster);
  if (places.length === 0) return undefined;
  const compared = comparedValues(run, other, atLeast);
  if (compared.length === 0) return runReason("VERSION_INCOMPARABLE", { there: allOf(other), wanted: allOf(run, atLeast) });
  for (const place of places)
    for (const { name, wanted } of compared) {
      const missing = missingIn(other, { atLeast, wanted, name }, place);
      if (missing !== undefined) return missing;
    }
  return undefined;
}

/** Values of the other release, and what each is to be: the only one of each, or those that both have by name. Lint refuses what has none. */
function comparedValues({ release }: Run, other: Run, atLeast: string): { name: string; wanted: string }[] {
  const [first = "version", ...more] = Object.keys(other.release.values);
  const own = Object.entries(release.values);
  if (atLeast !== "SameVersion") {
    const name = more.length === 0 ? first : "version";
    return name === first || more.includes(name) ? [{ name, wanted: atLeast }] : [];
  }
  if (more.length === 0 && own.length === 1) return [{ name: first, wanted: own[0]?.[1] ?? "" }];
  return own.filter(([name]) => name === first || more.includes(name)).map(([name, wanted]) => ({ name, wanted }));
}

function allOf({ release }: Run, atLeast = "SameVersion"): string {
  return atLeast === "SameVersion" ? Object.values(release.values).join(", ") : atLeast;
}

/**
 * What the other rollout counts there: the same thing, or what is on the same cluster. Environments that share a cluster are told apart by
 * their stages: of an Application or a namespace it is what the stage of the same name has there; where it has nothing there, all.
 */
function placesAt(other: Run, run: Run, cluster: string): string[] {
  const { targetBy } = run.plan;
  // Applications of two rollouts are never the same.
  if (targetBy === other.plan.targetBy && targetBy !== "application")
    return keysOf(cluster).filter((one) => stageOf(other, one) !== undefined || other.stays?.includes(one) === true);
  const hosts = keysOf(hostOf(run, cluster));
  const there = [...clusterKeys(other), ...(other.stays ?? [])].filter((one) => hosts.includes(hostOf(other, one)));
  if (targetBy === undefined) return there;
  const own = stageNameOf(run, cluster);
  const alike = there.filter((one) => own !== undefined && stageNameOf(other, one) === own);
  return alike.length > 0 ? alike : there;
}

function stageNameOf(run: Run, cluster: string): string | undefined {
  return run.plan.stages[stageOf(run, cluster) ?? -1]?.name;
}

function missingIn(
  other: Run,
  { atLeast, wanted, name }: { atLeast: string; wanted: string; name: string },
  cluster: string,
): AnyReason | undefined {
  const there = versionAt(other, cluster, name);
  if (there === undefined) return runReason("VERSION_UNKNOWN", { run: other.number, phase: other.phase });
  if (there === wanted) return undefined;
  if (atLeast === "SameVersion") return runReason("VERSION_OTHER", { there, wanted });
  const [have, least] = [semver.parse(there), semver.parse(wanted)];
  if (have === null || least === null) return runReason("VERSION_INCOMPARABLE", { there, wanted });
  return semver.gte(have, least) ? undefined : runReason("VERSION_OLDER", { there, wanted });
}

/**
 * The version a run has confirmed at a cluster; before it got there, the one that stood there. undefined: under way, or not known.
 * `name`: which of several values.
 */
export function versionAt(run: Run, cluster: string, name = soleName(run)): string | undefined {
  const here = run.batches.flatMap((batch) => {
    const targets = batch.targets.filter((target) => target.cluster === cluster);
    return targets.length === 0 ? [] : [{ ...batch, targets }];
  });
  // On its way back, were its pull request still to come: neither the one nor the other.
  if (here.some((batch) => putsBack(batch) && batch.targets.some((target) => !isOut(target)))) return undefined;
  // What came before it was put back is not there any more.
  const back = here.findLast((batch) => putsBack(batch) && batch.targets.some((target) => target.phase === "RolledBack"));
  const begun = here.filter(
    ({ number, merged, intention }) => number > (back?.number ?? 0) && (merged !== undefined || intention !== undefined),
  );
  if (begun.some((batch) => batch.targets.some((target) => isMidway(batch, target)))) return undefined;
  // Of a canary its last weight tells; what stays at an earlier one is not there.
  const end = begun.at(-1);
  if (end?.targets.some((target) => hasGoneOn(end, target)) === true) return undefined;
  const whole = begun.filter((batch) => batch === end || !isMidStep(batch));
  const states = whole.flatMap((batch) => batch.targets.filter((target) => target.phase !== "Requeued" && target.phase !== "RolledBack"));
  const last = states.filter((target) => target.phase !== "Skipped");
  if (last.length > 0) {
    const confirmed = last.every((target) => target.phase === "Healthy" || target.phase === "Baked");
    return confirmed ? broughtBy(run, name, last) : undefined;
  }
  // A rollback leaves alone what the release that it takes back never came to.
  if (run.stays?.includes(cluster) === true) return versionOf(run, name);
  if (targetsOf(run, cluster).some((target) => run.unproven?.includes(target.key) === true)) return undefined;
  const before = new Set(targetsOf(run, cluster).flatMap((target) => editsOf(run, name, target).map((edit) => edit.from)));
  const [only] = before;
  return before.size === 1 && only !== null ? only : undefined;
}

/** A rollback brings each cluster what was last good there, which need not be what is last good as a whole. */
function broughtBy(run: Run, name: string, targets: readonly BatchTarget[]): string | undefined {
  const version = versionOf(run, name);
  const values = new Set(targets.flatMap((target) => editsOf(run, name, target).map((edit) => edit.to)));
  const [only] = values;
  if (run.kind !== "Rollback" || values.size !== 1 || only === undefined) return version;
  // What the run made is gone: no pin says which version counts there.
  if (only === "") return undefined;
  // A pin may hold more than the version, such as an image with its tag.
  const holds = only.endsWith(version) && !/[\w.-]/.test(only.at(-version.length - 1) ?? "");
  return only === version || holds ? version : only;
}

/** Edits of what is meant: weights are no version, and of several values the others are another matter. */
function editsOf(run: Run, name: string, { edits }: { edits: readonly Edit[] }): Edit[] {
  const names = valuesOfEdits(run.spec, run.release);
  return edits.filter((edit, i) => edit.steps === undefined && (names.length === 0 || names[i] === name));
}

function versionOf({ release }: Pick<Run, "release">, name: string): string {
  return release.values[name] ?? "";
}

function soleName({ release }: Pick<Run, "release">): string {
  return release.values["version"] === undefined ? (Object.keys(release.values)[0] ?? "version") : "version";
}
