import { iso } from "../core/base/time.ts";
import { gatesOf } from "../core/run/gates/gate-state.ts";
import type { Run } from "../core/run/state/run.ts";
import type { Effect } from "../core/run/state/world.ts";
import type { Decision, Driver } from "./driver.ts";
import { judgeMerge } from "./truth/judge.ts";
import { judgeSync } from "./truth/syncs.ts";
import { takeSync } from "./world/changes.ts";
import { type MergeAnswer, mergeCall, openPull } from "./world/forge.ts";
import { headOf } from "./world/git.ts";
import { ask, startMeasuring, stopMeasuring } from "./world/outside.ts";
import type { Truth } from "./world/world.ts";

/** How often Argo CD never hears of a sync. */
const LOST = 0.1;

/** What is fenced leaves the queue and has its gate fail, as far as GitHub can be reached. False: something may still be merged. */
export function fence({ truth, now, options }: Driver, { advanced, world }: Decision): boolean {
  if (now < truth.forgeDownUntil) return false;
  for (const gate of (options.gates ?? gatesOf)(advanced.run, world, advanced)) {
    const pull = truth.forge.pulls[gate.pull - 100];
    if (pull === undefined) continue;
    pull.fenced = gate.state.kind === "fenced";
    if (pull.fenced) pull.queue = undefined;
  }
  return true;
}

export function act(driver: Driver, decision: Decision, effect: Effect, at: { journal: number; fenced: boolean }): void {
  const { truth, now } = driver;
  if (effect.kind === "Sync") sync(driver, decision, effect);
  if (actOutside(driver, decision, effect) || now < truth.forgeDownUntil) return;
  switch (effect.kind) {
    case "Propose":
      openPull(truth.forge, truth.git, decision.advanced.run, effect.batch, now);
      driver.busy = true;
      return;
    case "Close": {
      const pull = truth.forge.pulls[effect.pull - 100];
      if (pull?.state !== "open") return;
      pull.state = "closed";
      pull.queue = undefined;
      driver.busy = true;
      return;
    }
    case "Merge":
      // Of a refusal the core says itself when it tries again.
      if (merge(driver, decision, effect, at.journal) !== "refused") driver.busy = true;
      return;
    case "Answer": {
      const said = truth.commands.find((one) => one.command.id === effect.command);
      if (said === undefined || said.answered || (!at.fenced && effect.outcome === "done")) return;
      said.answered = true;
      driver.judge.answered(said, effect.outcome, decision.advanced.run, now);
      return;
    }
    default:
      return;
  }
}

/** Now and then the request is lost on its way: it is wished again at the next look. */
function sync({ truth, judge, now }: Driver, { advanced }: Decision, effect: Extract<Effect, { kind: "Sync" }>): void {
  judgeSync(judge, advanced.run, effect, now);
  const target = truth.targets.get(effect.target);
  if (target === undefined || now < truth.argoDownUntil || truth.dice.chance(LOST)) return;
  takeSync(truth.git, target, effect.commit, now);
}

/** What needs no GitHub. True: it was one of these. */
function actOutside({ truth, now }: Driver, { advanced }: Decision, effect: Effect): boolean {
  if (effect.kind === "CallHook") ask(truth.outside, effect.hook, effect.request, now);
  else if (effect.kind === "StopAnalysis") stopMeasuring(truth.outside, effect.analysis, now);
  else if (effect.kind === "StartAnalysis")
    startMeasuring(truth.outside, effect.analysis, mayBeEndless(advanced.run, effect.analysis), now);
  else return false;
  return true;
}

/** What nothing would stop must end by itself. */
function mayBeEndless({ spec }: Run, id: string): boolean {
  const [, , stage, , when] = id.split("/");
  if (when === "Background") return true;
  return when === "AfterBatch" && (spec.stages[Number(stage) - 1]?.bakeMs ?? 0) > 0;
}

/** The journal and the base are read again right before the call (docs/spec.md §9.4, §9.13). */
function merge(
  driver: Driver,
  { world, advanced }: Decision,
  effect: Extract<Effect, { kind: "Merge" }>,
  journal: number,
): MergeAnswer | undefined {
  const { truth, now } = driver;
  if (driver.version !== journal || headOf(truth.git).id !== world.base.commit) return undefined;
  const to = advanced.run.batches[effect.batch - 1]?.intention?.at ?? iso(now);
  const queue = place(truth, now);
  const answer = mergeCall(truth.forge, truth.git, { pull: effect.pull, head: effect.head, to, queue }, now);
  const pull = truth.forge.pulls[effect.pull - 100];
  if (answer === "merged" && pull !== undefined) judgeMerge(driver.judge, driver.entries, pull, now);
  return answer;
}

/** Where the base merges through a queue: a few minutes in it, and now and then out of it again. */
function place({ queue, dice }: Truth, now: number): { until: number; fate: "merge" | "drop" } | undefined {
  if (!queue) return undefined;
  return { until: now + dice.int(1, 20) * 60_000, fate: dice.chance(0.1) ? "drop" : "merge" };
}

/** PRs of attempts that are over are closed: a replica that was late may have opened one. */
export function sweep({ truth, now, entries }: Driver): void {
  if (now < truth.forgeDownUntil) return;
  for (const pull of truth.forge.pulls) {
    if (pull.state !== "open") continue;
    const run = entries.find((entry) => entry.run?.rollout === pull.rollout)?.run;
    if (run?.number !== pull.run || run.batches[pull.batch - 1]?.branch === pull.branch) continue;
    pull.state = "closed";
    pull.queue = undefined;
  }
}
