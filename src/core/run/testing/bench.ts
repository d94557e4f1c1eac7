import { CALM, type ModelStage, PLAIN, type Scenario } from "../../../simulate/generate/scenario.ts";
import { fleetOf, NEW, OLD } from "../../../simulate/world/fleet.ts";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import type { Command } from "../../spec/commands.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { advance } from "../advance.ts";
import { promotableWaits } from "../commands/promotable.ts";
import { startRun } from "../start.ts";
import { checkInvariants } from "../state/invariants.ts";
import type { Run, Verdict } from "../state/run.ts";
import type { Advanced, Guard, ObservedHealth, ObservedPull, ObservedTarget, World } from "../state/world.ts";

export const AT = Date.UTC(2026, 0, 5, 9, 0, 0);
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const BASE = "b".repeat(40);
export const MERGE = "c".repeat(40);

/** A run in a world that a test sets by hand. Every round checks the invariants. */
export interface Bench {
  run: Run;
  now: number;
  world: World;
  last: Advanced<Run>;
  /** By target: what a read by name shows, `Healthy` where it is not said; `failed` where it cannot be read. */
  health: Map<string, string>;
  /** The run's page is not edited; else it shows each round what the run waits for. */
  isPageDown?: boolean;
}

export const STAGE: ModelStage = { region: null, maxUnavailable: 1, batching: "Fixed", bakeMs: 0, requeue: null };

/** Clusters c1, c2, …; nothing is observed yet but the clusters and that every pin has its old value. */
export function bench(clusters: number, stages: Partial<ModelStage>[] = [{}], change: (rollout: Rollout) => void = () => undefined): Bench {
  const scenario: Scenario = {
    seed: 0,
    clusters: Array.from({ length: clusters }, (_, index) => ({
      name: `c${index + 1}`,
      region: index % 2 === 0 ? "eu" : "us",
      drained: false,
    })),
    rollouts: [{ ...PLAIN, stages: stages.map((stage) => ({ ...STAGE, ...stage })) }],
    behaviours: {},
    happenings: [],
    chaos: CALM,
  };
  const fleet = fleetOf(scenario);
  change(fleet.rollout);
  const trigger = { commit: BASE, pull: 1, author: "alice", at: iso(AT) };
  const run = startRun({ rollout: fleet.rollout, number: 42, release: fleet.release, trigger, plan: fleet.plan, now: AT });
  const world: World = {
    base: { commit: BASE },
    pulls: new Map(),
    guards: new Map(),
    targets: new Map(fleet.targets.map((target) => [target.key, { pins: [OLD] }])),
    clusters: new Map(fleet.clusters.map((cluster) => [cluster.key, cluster])),
    revisions: [],
    clustersKnown: true,
    others: [],
    commands: [],
  };
  return { run, now: AT, world, last: { run, effects: [], change: "none", events: [] }, health: new Map() };
}

/** One round, `ms` after the last. What it says must stand up to the invariants. */
export function round(self: Bench, ms = SECOND): Advanced<Run> {
  self.now += ms;
  const first = advance(self.run, self.world, self.now);
  if (first.wantsHealth !== undefined) self.world = { ...self.world, health: readHealth(self, first.wantsHealth) };
  const advanced = first.wantsHealth === undefined ? first : advance(self.run, self.world, self.now);
  const violations = checkInvariants(self.run, advanced.run, advanced.effects, self.world, self.now);
  if (violations.length > 0)
    throw new Error(violations.map(({ invariant, breach }) => `invariant ${invariant}: ${sentenceOf(breach)}`).join("; "));
  self.run = advanced.run;
  self.last = advanced;
  if (self.isPageDown !== true) self.world = { ...self.world, shown: { waits: promotableWaits(advanced.run), at: iso(self.now) } };
  return advanced;
}

/** Reads by name, as the shell does where the core asks for it. */
function readHealth(self: Bench, keys: readonly string[]): Map<string, ObservedHealth> {
  const health = new Map(self.world.health);
  for (const key of keys) {
    const status = self.health.get(key) ?? "Healthy";
    health.set(key, { ...(status === "failed" ? { failed: said("timeout") } : { status }), readAt: iso(self.now) });
  }
  return health;
}

export function targetKey(cluster: string): string {
  return `hub/argocd/app-${cluster}`;
}

export function see(self: Bench, cluster: string, seen: Partial<ObservedTarget>): void {
  const key = targetKey(cluster);
  const targets = new Map(self.world.targets);
  self.world = { ...self.world, targets: targets.set(key, { ...targets.get(key), ...seen }) };
}

export function judge(self: Bench, cluster: string, verdict: Verdict, clause = "health", says = `${cluster} is ${verdict}.`): void {
  const sentence = said(says);
  const at = iso(self.now + SECOND);
  const evidence = { verdict, clause, sentence, readAt: at, fields: {} };
  const firstSeenAt = clause === "compared" || clause === "exists" ? {} : { firstSeenAt: iso(self.now) };
  see(self, cluster, {
    pins: [NEW],
    inHistory: true,
    assessment: { verdict, clause, sentence, wantsRefresh: false, ...firstSeenAt, evidence },
  });
}

export function pull(self: Bench, batch: number, change: Partial<ObservedPull> = {}): void {
  const before = self.world.pulls.get(batch);
  const fresh: ObservedPull = {
    number: 100 + batch,
    url: `https://forge.invalid/pull/${100 + batch}`,
    state: "open",
    draft: false,
    head: `head${batch}`,
    headIsOurs: true,
    mergeable: "yes",
    openedAt: iso(self.now),
  };
  self.world = { ...self.world, pulls: new Map(self.world.pulls).set(batch, { ...(before ?? fresh), ...change }) };
}

export function noPull(self: Bench, batch: number): void {
  self.world = { ...self.world, pulls: new Map(self.world.pulls).set(batch, null) };
}

export function guard(self: Bench, batch: number, change: Partial<Guard> = {}): void {
  const answer = { ok: true, base: self.world.base.commit, at: iso(self.now), ...change } as Guard;
  self.world = { ...self.world, guards: new Map(self.world.guards).set(batch, answer) };
}

export function merged(self: Bench, batch: number, change: Partial<NonNullable<ObservedPull["merged"]>> = {}): void {
  pull(self, batch, {
    state: "merged",
    merged: { commit: MERGE, at: iso(self.now), by: "stagecoach[bot]", byUs: true, exact: true, ...change },
  });
}

export function say(self: Bench, text: string, change: Partial<Command> = {}): void {
  const [name = "", ...args] = text.slice(1).split(" ");
  const id = `${self.world.commands.length + 1}#0`;
  const command = { id, name, args, flags: {}, text, actor: "alice", permission: "write", createdAt: iso(self.now), ...change } as Command;
  self.world = { ...self.world, commands: [...self.world.commands, command] };
}

/** Rounds up to the given state of a batch: open with a good guard, merged, or every cluster of it confirmed. */
export function bring(self: Bench, batch: number, to: "open" | "merging" | "merged" | "confirmed"): void {
  if (self.run.batches.length < batch) round(self);
  pull(self, batch);
  if (to === "open") {
    round(self);
    return;
  }
  guard(self, batch);
  round(self);
  if (to === "merging") return;
  merged(self, batch);
  for (const { cluster } of self.run.batches[batch - 1]?.targets ?? []) judge(self, cluster.slice(4), "pending", "health");
  round(self);
  if (to === "merged") return;
  for (const { cluster } of self.run.batches[batch - 1]?.targets ?? []) judge(self, cluster.slice(4), "live", "all");
  round(self);
}

/** `Merge 1`, `Answer done`, …: what a round wants done, in short. */
export function wants(advanced: Advanced<Run>): string[] {
  return advanced.effects.map((effect) => {
    if (effect.kind === "Answer") return `Answer ${effect.outcome}`;
    if (effect.kind === "StartAnalysis" || effect.kind === "StopAnalysis") return `${effect.kind} ${effect.analysis}`;
    if (effect.kind === "CallHook") return `${effect.kind} ${effect.hook}#${effect.request}`;
    if (effect.kind === "Sync") return `Sync ${effect.target}`;
    return effect.kind === "Refresh" || effect.kind === "RolloutActions" ? effect.kind : `${effect.kind} ${effect.batch}`;
  });
}

export function phases(run: Run, batch: number): string[] {
  return run.batches[batch - 1]?.targets.map((target) => target.phase) ?? [];
}

export function batch(run: Run, number: number) {
  const one = run.batches[number - 1];
  if (one === undefined) throw new Error(`there is no batch ${number}`);
  return one;
}

/** Of a rollout that a test changes. */
function firstStage(rollout: Rollout) {
  const [stage] = rollout.stages;
  if (stage === undefined) throw new Error("no stage");
  return stage;
}

export function approving(count = 1) {
  return (rollout: Rollout) => {
    firstStage(rollout).approval = { teams: ["sre"], count };
  };
}
