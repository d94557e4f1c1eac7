import { iso } from "../../core/base/time.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import { said } from "../../core/reasons/run.ts";
import type { Batch, BatchTarget, Run } from "../../core/run/state/run.ts";
import { hasGoneOn } from "../../core/run/state/steps.ts";
import type { Approver, Guard, LostPlane, ObservedPull, ObservedTarget, World } from "../../core/run/state/world.ts";
import type { Command } from "../../core/spec/commands.ts";
import { MEMBERS } from "../generate/scenario.ts";
import { assess, healthIssuesAt, type ModelTarget, segmentsOf } from "./argocd.ts";
import { hostsOf } from "./fleet.ts";
import { observePull } from "./forge.ts";
import { headOf, lastChange, pinValue } from "./git.ts";
import { observeBeside } from "./observe-beside.ts";
import { observeHealth } from "./observe-health.ts";
import { pageKey } from "./page.ts";
import { type Truth, targetsOf } from "./world.ts";

/** What a look at the world shows of it for one run: late, stale or not at all. `others`: the last runs of the other rollouts. */
export function observe(truth: Truth, run: Run, others: readonly Run[], now: number): World {
  const { missing } = truth.chaos;
  const clustersKnown = now >= truth.argoDownUntil && !truth.dice.chance(missing);
  const hosts = hostsOf(truth.clusters);
  const fleet = hosts && new Map(hosts.map((host) => [host.key, host]));
  const freezes = truth.freezes.filter((one) => now < one.until);
  const approvals = observeApprovals(truth, run, now);
  const world: World = {
    base: { commit: headOf(truth.git).id },
    pulls: observePulls(truth, run, now),
    guards: observeGuards(truth, run, now),
    targets: observeTargets(truth, run, now),
    health: observeHealth(truth, run, now),
    revisions: observeRevisions(truth, run, now),
    clusters: clustersKnown ? truth.clusters : NO_CLUSTERS,
    fleet: clustersKnown ? fleet : undefined,
    clustersKnown,
    commands: commandsOf(truth, run),
    freezes: freezes.length === 0 ? undefined : freezes,
    limits: truth.limits,
    settingsBroken: now < truth.settingsBrokenUntil ? said("limits is no mapping") : undefined,
    unprotected: now < truth.unprotectedUntil && run.spec.mode === "Run" ? BARE : undefined,
    others: truth.dice.chance(missing) ? undefined : others,
    approvals,
    lostPlanes: now < truth.argoDownUntil ? lost(truth.argoDownUntil) : undefined,
    shown: truth.pages.known.get(pageKey(run)),
  };
  // Spread into a literal of so many keys, these few would cost more than all of it.
  return Object.assign(world, observeBeside(truth, run, now));
}

const BARE: World["unprotected"] = [{ branch: "stagecoach/journal", lacks: ["update"] }];

const NO_CLUSTERS: ReadonlyMap<string, Cluster> = new Map();

function lost(until: number): ReadonlyMap<string, LostPlane> {
  return new Map([["hub", { since: iso(until - 3_600_000), why: said("connection refused") }]]);
}

/** The tag that each release of the model is. Whether it was moved is each run's own: nothing starts from a moved one. */
function observeRevisions(truth: Truth, run: Run, now: number): World["revisions"] {
  if (truth.rollouts.find(({ name }) => name === run.rollout)?.model === undefined) return [];
  if (now < truth.forgeDownUntil) return undefined;
  const revision = run.release.values["version"] ?? "";
  const isMoved = truth.movedTags.has(`${run.rollout} #${run.number}`);
  return [{ repoURL: "git.invalid/app", revision, commit: (isMoved ? "2" : "1").repeat(40) }];
}

/** Those on the release PR and on the PRs of batches, not answered yet. */
function commandsOf(truth: Truth, run: Run): Command[] {
  const found: Command[] = [];
  for (const { command, pull, answered } of truth.commands) {
    if (answered) continue;
    if (pull === run.trigger.pull) found.push(command);
    const batch = run.batches.find((one) => one.pull?.number === pull && one.phase !== "Closed");
    if (batch !== undefined) found.push({ ...command, batch: batch.number, pull });
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
    // Before its turn a batch is proposed only where the guard has judged it.
    const isAhead = batch.phase === "Proposing" && batch.ahead === true;
    if (batch.phase !== "Open" && batch.phase !== "Merging" && !isAhead) continue;
    if (truth.dice.chance(truth.chaos.missing)) continue;
    const bad = now < truth.guard.until;
    const guard: Guard = bad
      ? { ok: false, base, at: iso(now), why: said("An Application would be removed."), retry: truth.guard.retry }
      : { ok: true, base, at: iso(now) };
    guards.set(batch.number, guard);
  }
  return guards;
}

function observeTargets(truth: Truth, run: Run, now: number): Map<string, ObservedTarget> {
  const seen = new Map<string, ObservedTarget>();
  for (const batch of run.batches) {
    if (batch.phase === "Closed") continue;
    const targets = targetsOf(truth, batch);
    for (const [place, planned] of batch.targets.entries()) {
      // At its next weight: what it is watched for stands there.
      if (batch.step !== undefined && hasGoneOn(batch, planned)) continue;
      const target = targets[place];
      if (target === undefined) continue;
      const observed = observeTarget(truth, run, batch, planned, target, now);
      // Until this batch has merged, what is seen is of the weight before it.
      if (batch.merged === undefined) seen.set(planned.key, { ...seen.get(planned.key), ...observed });
      else seen.set(planned.key, observed);
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
  // A batch that needed no PR may have the very commit of an earlier one.
  const same = still?.segments === segments && still.commit === batch.merged?.commit && still.seen.batch === batch.number;
  if (same && now < target.goneAt) return still.seen;
  const seen = lookAt(truth, run, batch, planned, target, now);
  const ended = (segments.at(-1)?.from ?? 0) <= now;
  if (ended && seen.assessment?.verdict === "live") target.still = { segments, commit: batch.merged?.commit, seen };
  return seen;
}

function lookAt(truth: Truth, run: Run, batch: Batch, planned: BatchTarget, target: ModelTarget, now: number): ObservedTarget {
  const { chaos, git, dice } = truth;
  const pins = target.pins.map((pin) => pinValue(git, pin));
  const down = now < truth.argoDownUntil || dice.chance(chaos.missing);
  const ailing = run.spec.baseline === "Tolerate" && !down ? { healthIssues: healthIssuesAt(git, target, now) } : {};
  if (batch.merged === undefined) return dice.chance(chaos.missing) ? {} : { pins, ...ailing };
  const readAt = dice.chance(chaos.stale) ? now - dice.int(1, 90) * 1000 : now;
  const values = planned.edits.map((edit) => edit.to);
  const wrong = pins.findIndex((pin, place) => pin !== values[place]);
  const last = wrong < 0 ? undefined : lastChange(git, target.pins[wrong] ?? "");
  const observed: ObservedTarget = { batch: batch.number, pins, inHistory: !git.forgotten.has(batch.merged.commit), ...ailing };
  if (last !== undefined) observed.drift = { commit: last.id, author: last.by, subject: "a change by hand" };
  if (!down) observed.assessment = assess(git, target, batch.merged.commit, values, readAt);
  return observed;
}
