import type { Cluster } from "../../rollout/plan-types.ts";
import type { Batch, BatchTarget, Run } from "../../rollout/run.ts";
import { iso } from "../../rollout/time.ts";
import type { Window } from "../../rollout/windows.ts";
import type { Approver, Command, Guard, Limits, LostPlane, ObservedPull, ObservedTarget, World } from "../../rollout/world.ts";
import { ailmentsAt, assess, type ModelTarget, modelTarget, segmentsOf } from "./argocd.ts";
import { type ModelForge, modelForge, observePull } from "./forge.ts";
import { headOf, lastChange, type ModelGit, modelGit, pinOf, pinValue, releaseEdit } from "./git.ts";
import type { Lane } from "./lanes.ts";
import { type Random, random } from "./random.ts";
import { type Behaviour, type Chaos, MEMBERS, type ModelWindow } from "./scenario.ts";

/** What a world is made of. */
export interface Setup {
  seed: number;
  chaos: Chaos;
  queue: boolean;
  lanes: Lane[];
  clusters: readonly Cluster[];
  behaviourOf: (target: Lane["targets"][number]) => Behaviour;
  freezes: readonly Freeze[];
  limits: Limits | undefined;
}

/** `model`: what it is by the time of the day. */
export type Freeze = Window & { model?: ModelWindow };

/** A command as it stands on a PR. */
export interface Said {
  command: Command;
  pull: number;
  answered: boolean;
}

/** The outside world as it truly is: what runs are judged against, and never shown as such. */
export interface Truth {
  chaos: Chaos;
  queue: boolean;
  lanes: Lane[];
  git: ModelGit;
  forge: ModelForge;
  targets: Map<string, ModelTarget>;
  /** As they are registered now. */
  clusters: Map<string, Cluster>;
  commands: Said[];
  /** The repo's settings, as they are on the base. */
  freezes: (Freeze & { where: string; until: number })[];
  limits: Limits | undefined;
  /** Epoch milliseconds until which a part cannot be seen. */
  settingsBrokenUntil: number;
  argoDownUntil: number;
  forgeDownUntil: number;
  guard: { until: number; retry: boolean };
  dice: Random;
}

/** What a pin is taken to hold where nobody can tell. */
export const UNKNOWN = "(unknown)";

export function truthOf(setup: Setup, start: number): Truth {
  const { lanes, clusters, chaos, queue, limits } = setup;
  const pins = new Map<string, string | null>();
  const targets = new Map<string, ModelTarget>();
  for (const lane of lanes) {
    for (const target of lane.targets) {
      for (const edit of target.edits) pins.set(pinOf(edit), edit.from ?? (edit.create === true ? null : UNKNOWN));
      targets.set(target.key, modelTarget(target.key, target.cluster, target.edits, setup.behaviourOf(target)));
    }
    pins.set(pinOf(releaseEdit(lane.name)), "v1");
  }
  return {
    chaos,
    queue,
    lanes,
    git: modelGit(start - 3_600_000, pins),
    forge: modelForge(),
    targets,
    clusters: new Map(clusters.map((cluster) => [cluster.key, cluster])),
    commands: [],
    freezes: setup.freezes.map((window) => ({ ...window, where: "the repo", until: Number.POSITIVE_INFINITY })),
    limits,
    settingsBrokenUntil: 0,
    argoDownUntil: 0,
    forgeDownUntil: 0,
    guard: { until: 0, retry: true },
    dice: random(setup.seed ^ 0x5eed),
  };
}

/** What a look at the world shows of it for one run: late, stale or not at all. `others`: the last runs of the other rollouts. */
export function observe(truth: Truth, run: Run, others: readonly Run[], now: number): World {
  const { missing } = truth.chaos;
  const clustersKnown = now >= truth.argoDownUntil && !truth.dice.chance(missing);
  const freezes = truth.freezes.filter((one) => now < one.until);
  const approvals = observeApprovals(truth, run, now);
  return {
    base: { commit: headOf(truth.git).id },
    pulls: observePulls(truth, run, now),
    guards: observeGuards(truth, run, now),
    targets: observeTargets(truth, run, now),
    clusters: clustersKnown ? truth.clusters : NO_CLUSTERS,
    clustersKnown,
    commands: commandsOf(truth, run),
    ...(freezes.length === 0 ? {} : { freezes }),
    ...(truth.limits === undefined ? {} : { limits: truth.limits }),
    ...(now < truth.settingsBrokenUntil ? { settingsBroken: "limits is no mapping" } : {}),
    ...(truth.dice.chance(missing) ? {} : { others }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(now < truth.argoDownUntil ? { lostPlanes: lost(truth.argoDownUntil) } : {}),
  };
}

const NO_CLUSTERS: ReadonlyMap<string, Cluster> = new Map();

function lost(until: number): ReadonlyMap<string, LostPlane> {
  return new Map([["hub", { since: iso(until - 3_600_000), why: "connection refused" }]]);
}

/** Those on the release PR and on the PRs of batches, not answered yet. */
function commandsOf(truth: Truth, run: Run): Command[] {
  const found: Command[] = [];
  for (const { command, pull, answered } of truth.commands) {
    if (answered) continue;
    if (pull === run.trigger.pull) found.push(command);
    const batch = run.batches.find((one) => one.pull?.number === pull && one.phase !== "Closed");
    if (batch !== undefined) found.push({ ...command, batch: batch.number });
  }
  return found;
}

function observeApprovals(truth: Truth, run: Run, now: number): Map<number, Approver[]> | undefined {
  if (!run.spec.stages.some((stage) => stage.approval !== undefined)) return undefined;
  if (now < truth.forgeDownUntil || truth.dice.chance(truth.chaos.missing)) return undefined;
  const approvals = new Map<number, Approver[]>();
  for (const batch of run.batches) {
    const pull = batch.phase === "Open" || batch.phase === "Merging" ? truth.forge.byBranch.get(batch.branch) : undefined;
    if (pull === undefined) continue;
    const good = [...pull.reviews].filter(([by, review]) => review.head === pull.head && MEMBERS.includes(by));
    approvals.set(
      batch.number,
      good.map(([by, { at }]) => ({ by, at: iso(at) })),
    );
  }
  return approvals;
}

function observePulls(truth: Truth, run: Run, now: number): Map<number, ObservedPull | null> {
  const pulls = new Map<number, ObservedPull | null>();
  if (now < truth.forgeDownUntil) return pulls;
  for (const batch of run.batches) {
    if (batch.phase !== "Proposing" && batch.phase !== "Open" && batch.phase !== "Merging") continue;
    if (truth.dice.chance(truth.chaos.missing)) continue;
    pulls.set(batch.number, observePull(truth.forge, truth.git, batch.branch, now));
  }
  return pulls;
}

function observeGuards(truth: Truth, run: Run, now: number): Map<number, Guard> {
  const guards = new Map<number, Guard>();
  const base = headOf(truth.git).id;
  for (const batch of run.batches) {
    if (batch.phase !== "Open" && batch.phase !== "Merging") continue;
    if (truth.dice.chance(truth.chaos.missing)) continue;
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
    for (const planned of batch.targets) {
      const target = truth.targets.get(planned.key);
      if (target !== undefined) seen.set(planned.key, observeTarget(truth, run, batch, planned, target, now));
    }
  }
  return seen;
}

/** What has settled and changes no more looks the same at every look: of a large fleet most does. */
function observeTarget(truth: Truth, run: Run, batch: Batch, planned: BatchTarget, target: ModelTarget, now: number): ObservedTarget {
  const { chaos, git } = truth;
  const calm = batch.phase === "Settled" && chaos.missing === 0 && chaos.stale === 0 && now >= truth.argoDownUntil;
  if (!calm || git.forgotten.size > 0) return lookAt(truth, run, batch, planned, target, now);
  const segments = segmentsOf(git, target);
  const { still } = target;
  if (still !== undefined && still.segments === segments && still.commit === batch.merged?.commit && now < target.goneAt) return still.seen;
  const seen = lookAt(truth, run, batch, planned, target, now);
  const ended = (segments.at(-1)?.from ?? 0) <= now;
  if (ended && seen.assessment?.verdict === "live") target.still = { segments, commit: batch.merged?.commit, seen };
  return seen;
}

function lookAt(truth: Truth, run: Run, batch: Batch, planned: BatchTarget, target: ModelTarget, now: number): ObservedTarget {
  const { chaos, git, dice } = truth;
  const pins = target.pins.map((pin) => pinValue(git, pin));
  const down = now < truth.argoDownUntil || dice.chance(chaos.missing);
  const ailing = run.spec.baseline === "Tolerate" && !down ? { ailments: ailmentsAt(git, target, now) } : {};
  if (batch.merged === undefined) return dice.chance(chaos.missing) ? {} : { pins, ...ailing };
  const readAt = dice.chance(chaos.stale) ? now - dice.int(1, 90) * 1000 : now;
  const values = planned.edits.map((edit) => edit.to);
  const wrong = pins.findIndex((pin, place) => pin !== values[place]);
  const last = wrong < 0 ? undefined : lastChange(git, target.pins[wrong] ?? "");
  const observed: ObservedTarget = { pins, inHistory: !git.forgotten.has(batch.merged.commit), ...ailing };
  if (last !== undefined) observed.drift = { commit: last.id, author: last.by, subject: "a change by hand" };
  if (!down) observed.assessment = assess(git, target, batch.merged.commit, values, readAt);
  return observed;
}
