import type { Cluster } from "../../rollout/plan-types.ts";
import type { Batch, Run } from "../../rollout/run.ts";
import { iso } from "../../rollout/time.ts";
import type { Command, Guard, ObservedPull, ObservedTarget, World } from "../../rollout/world.ts";
import { assess, type ModelTarget } from "./argocd.ts";
import { type Fleet, fleetOf, NEW, OLD } from "./fleet.ts";
import { type ModelForge, modelForge, observePull } from "./forge.ts";
import { headOf, lastChange, type ModelGit, modelGit, pinOf, pinValue } from "./git.ts";
import { type Random, random } from "./random.ts";
import { FOREVER, type Scenario } from "./scenario.ts";

/** The outside world as it truly is: what the run is judged against, and never shown as such. */
export interface Truth {
  scenario: Scenario;
  fleet: Fleet;
  git: ModelGit;
  forge: ModelForge;
  targets: Map<string, ModelTarget>;
  clusters: Map<string, Cluster>;
  commands: Command[];
  /** Epoch milliseconds until which a part cannot be seen. */
  argoDownUntil: number;
  forgeDownUntil: number;
  guard: { until: number; retry: boolean };
  dice: Random;
}

export function truthOf(scenario: Scenario, start: number): Truth {
  const fleet = fleetOf(scenario);
  const git = modelGit(
    start - 3_600_000,
    fleet.targets.flatMap((target) => target.edits.map((edit): [string, string] => [pinOf(edit), OLD])),
  );
  const targets = new Map<string, ModelTarget>();
  for (const { key, cluster, edits, application } of fleet.targets) {
    const behaviour = scenario.behaviours[application.slice("app-".length)] ?? { lagMs: 1000, script: [] };
    targets.set(key, { key, cluster, edits, behaviour, mendedAt: FOREVER, goneAt: FOREVER });
  }
  return {
    scenario,
    fleet,
    git,
    forge: modelForge(),
    targets,
    clusters: new Map(fleet.clusters.map((cluster) => [cluster.key, cluster])),
    commands: [],
    argoDownUntil: 0,
    forgeDownUntil: 0,
    guard: { until: 0, retry: true },
    dice: random(scenario.seed ^ 0x5eed),
  };
}

/** What a look at the world shows of it: lazily computed, late, stale or not at all. */
export function observe(truth: Truth, run: Run, now: number): World {
  const { missing } = truth.scenario.chaos;
  const clustersKnown = now >= truth.argoDownUntil && !truth.dice.chance(missing);
  return {
    base: { commit: headOf(truth.git).id },
    pulls: observePulls(truth, run, now),
    guards: observeGuards(truth, run, now),
    targets: observeTargets(truth, run, now),
    clusters: clustersKnown ? truth.clusters : new Map(),
    clustersKnown,
    commands: truth.commands,
  };
}

function observePulls(truth: Truth, run: Run, now: number): Map<number, ObservedPull | null> {
  const pulls = new Map<number, ObservedPull | null>();
  for (const batch of run.batches) {
    if (batch.phase !== "Proposing" && batch.phase !== "Open" && batch.phase !== "Merging") continue;
    if (now < truth.forgeDownUntil || truth.dice.chance(truth.scenario.chaos.missing)) continue;
    pulls.set(batch.number, observePull(truth.forge, truth.git, batch.branch, now));
  }
  return pulls;
}

function observeGuards(truth: Truth, run: Run, now: number): Map<number, Guard> {
  const guards = new Map<number, Guard>();
  const base = headOf(truth.git).id;
  for (const batch of run.batches) {
    if (batch.phase !== "Open" && batch.phase !== "Merging") continue;
    if (truth.dice.chance(truth.scenario.chaos.missing)) continue;
    const bad = now < truth.guard.until;
    const guard: Guard = bad
      ? { ok: false, base, at: iso(now), why: "An Application would be removed.", retry: truth.guard.retry }
      : { ok: true, base, at: iso(now) };
    guards.set(batch.number, guard);
  }
  return guards;
}

function observeTargets(truth: Truth, run: Run, now: number): Map<string, ObservedTarget> {
  const seen = new Map<string, ObservedTarget>();
  for (const batch of run.batches) {
    if (batch.phase === "Closed") continue;
    for (const { key } of batch.targets) {
      const target = truth.targets.get(key);
      if (target !== undefined) seen.set(key, observeTarget(truth, batch, target, now));
    }
  }
  return seen;
}

function observeTarget(truth: Truth, batch: Batch, target: ModelTarget, now: number): ObservedTarget {
  const { chaos } = truth.scenario;
  const pins = target.edits.map((edit) => pinValue(truth.git, pinOf(edit)));
  if (batch.merged === undefined) return truth.dice.chance(chaos.missing) ? {} : { pins };
  const down = now < truth.argoDownUntil || truth.dice.chance(chaos.missing);
  const readAt = truth.dice.chance(chaos.stale) ? now - truth.dice.int(1, 90) * 1000 : now;
  const last = target.edits.map((edit) => lastChange(truth.git, pinOf(edit))).find((one) => one !== undefined);
  const drifted = pins.some((pin) => pin !== NEW);
  return {
    pins,
    inHistory: !truth.git.forgotten.has(batch.merged.commit),
    ...(drifted && last !== undefined ? { drift: { commit: last.id, author: last.by, subject: "a change by hand" } } : {}),
    ...(down ? {} : { assessment: assess(truth.git, target, batch.merged.commit, readAt) }),
  };
}
