import { hasCode } from "../../core/base/reason.ts";
import { type Batch, isEnded, type Run } from "../../core/run/state/run.ts";
import type { Driver, Operator } from "../driver.ts";
import { MEMBERS } from "../generate/scenario.ts";
import { type ModelPull, mergeNow } from "./forge.ts";
import { BOT, commit, pinOf, pinValue } from "./git.ts";
import { say } from "./people.ts";
import { bindingOn, firstOpening } from "./windows.ts";
import type { Truth } from "./world.ts";

const EVERY_MS = 20 * 60_000;
/** After so many times they give up and abort. */
const PATIENCE = 8;
/** A run that waits for what will not come is given up after so long. */
const LONG_MS = 26 * 3_600_000;

export function operator(): Operator {
  return { lastAt: 0, acted: new Map(), visits: new Map() };
}

export function operate(driver: Driver, note: (text: string) => void): void {
  const { truth, now, operator: self } = driver;
  if (now - self.lastAt < EVERY_MS) return;
  self.lastAt = now;
  truth.argoDownUntil = Math.min(truth.argoDownUntil, now);
  truth.forgeDownUntil = Math.min(truth.forgeDownUntil, now);
  truth.forge.refusing.until = 0;
  truth.guard.until = 0;
  truth.settingsBrokenUntil = Math.min(truth.settingsBrokenUntil, now);
  truth.unprotectedUntil = Math.min(truth.unprotectedUntil, now);
  for (const pull of truth.forge.pulls) pull.draft = false;
  for (const { run } of driver.entries) if (run !== undefined) look(driver, run, note);
}

function look(driver: Driver, run: Run, note: (text: string) => void): void {
  const { truth, now } = driver;
  const tell = (name: Parameters<typeof say>[3]["name"], more: Parameters<Tell>[1] = {}) => {
    const { actor = "operator", args = [], flags = {}, on = run.trigger.pull } = more;
    note(`/${name} on ${run.rollout} #${run.number}`);
    if (on !== undefined) say(truth, now, on, { name, args, flags, actor, permission: "admin" });
  };
  if ((run.halts ?? []).some((halt) => halt.until === undefined)) tell("halt", { flags: { off: true } });
  if (isEnded(run) || run.ending !== undefined) return;
  if (run.paused !== undefined) {
    answer(driver, run, tell);
    return;
  }
  for (const batch of run.batches) {
    if (batch.phase === "Open") attend(driver, run, batch, tell, note);
    // A pause between weights that nothing ends but a person.
    const wait = batch.phase === "Baking" ? batch.step?.wait : undefined;
    if (wait?.from !== undefined && wait.until === undefined) tell("promote", batch.pull === undefined ? {} : { on: batch.pull.number });
  }
}

/** A PR that waits for people: one in its turn, or beside it what was put before it. */
function attend(driver: Driver, run: Run, open: Batch, tell: Tell, note: (text: string) => void): void {
  const { truth, now } = driver;
  const pull = truth.forge.byBranch.get(open.branch);
  if (pull?.state !== "open" || !pull.ours) return;
  if (run.spec.stages[open.stage]?.approval !== undefined) approve(driver, run, open, pull, tell);
  if (run.spec.mode === "Propose") {
    note(`merges #${pull.number}`);
    mergeNow(truth.git, pull, "operator", false, now);
    return;
  }
  if (run.spec.delivery.merge === "Manual" && open.promoted === undefined) tell("promote", { on: pull.number });
  if (now - Date.parse(open.since) > LONG_MS) giveUp(driver, run, tell);
}

type Tell = (
  name: Parameters<typeof say>[3]["name"],
  more?: { actor?: string; args?: string[]; flags?: Record<string, true>; on?: number },
) => void;

/**
 * First those who may not: the author, and somebody of no team. Then one of the team by command; then somebody leaves a cluster
 * out, which makes the stage another; then the other one; and at last all, by review or by command as it comes.
 */
function approve({ truth, now, operator: self }: Driver, run: Run, batch: Batch, pull: ModelPull, tell: Tell): void {
  const visit = (self.visits.get(pull.branch) ?? 0) + 1;
  self.visits.set(pull.branch, visit);
  const clusters = run.plan.stages[batch.stage]?.clusters ?? [];
  const review = (by: string) => pull.reviews.set(by, { head: pull.head, at: now });
  if (visit === 1) {
    review("alice");
    for (const actor of ["alice", "dave"]) tell("promote", { actor, on: pull.number });
  } else if (visit === 2) tell("promote", { actor: "bob", on: pull.number });
  else if (visit === 3 && clusters.length > 1) tell("skip", { args: [(clusters.at(-1) ?? "").slice("hub/".length)] });
  else if (visit === 4) tell("promote", { actor: "carol", on: pull.number });
  else for (const by of MEMBERS) truth.dice.chance(0.5) ? review(by) : tell("promote", { actor: by, on: pull.number });
}

function answer(driver: Driver, run: Run, tell: Tell): void {
  const { truth, now, operator: self } = driver;
  const name = `${run.rollout} #${run.number}`;
  const acted = (self.acted.get(name) ?? 0) + 1;
  self.acted.set(name, acted);
  const kind = run.paused?.kind;
  if (kind === "Failure") for (const target of truth.targets.values()) target.mendedAt = Math.min(target.mendedAt, now);
  if (kind === "Drift" || kind === "History") restore(truth, run, now);
  if (kind === "Moved") truth.movedTags.delete(name);
  if (kind === "Refused" && ["BATCH_NEVER_FITS", "BATCH_TOO_LARGE"].some((code) => hasCode(run.paused?.reason, code)))
    truth.limits = undefined;
  const again = (kind === "Failure" || kind === "Undecided") && acted % 2 === 1;
  tell(acted > PATIENCE ? "abort" : again ? "retry" : "resume");
}

/** Nobody else will bring what it waits for: a rollout that is not coming, or windows and freezes that leave no moment open between them. */
function giveUp(driver: Driver, run: Run, tell: Tell): void {
  const { truth, now } = driver;
  const model = truth.rollouts.find((rollout) => rollout.name === run.rollout)?.model;
  // Where looks fail now and then, those of a short window may all do so for days.
  const missed = (model?.windows ?? model?.stages.find(({ windows }) => windows !== undefined)) !== undefined && truth.chaos.missing > 0;
  const open = run.batches.filter(({ phase }) => phase === "Open");
  const opens = !missed && open.every((batch) => firstOpening(bindingOn(truth, run, batch, now), now) !== undefined);
  // What waits for anything else is to go on by itself.
  // After a retry of clusters that share a pin two batches midway may each want the places of the other: a person ends that.
  const crowded = run.batches.some(
    (batch) =>
      (batch.step?.index ?? 1) > 1 && batch.phase === "Open" && (hasCode(batch.why, "WINDOW_FULL") || hasCode(batch.why, "LIMITS_FULL")),
  );
  if (model !== undefined && run.spec.dependsOn === undefined && opens && !crowded) return;
  const others = driver.entries.map((entry) => entry.run).filter((other) => other !== undefined && other.rollout !== run.rollout);
  // Half-way at a cluster it holds the room that what it depends on waits for.
  const knotted = others.some((other) => other?.batches.some((batch) => batch.phase === "Open" && hasCode(batch.why, "LIMITS_FULL")));
  if (run.spec.dependsOn === undefined || !opens || crowded || knotted || others.every((other) => other === undefined || isEnded(other)))
    tell("abort");
}

/** What stood there before it went. */
function lastValue({ git }: Truth, pin: string): string {
  return git.log.get(pin)?.findLast((entry) => entry.value !== null)?.value ?? "v1";
}

/** Puts the release back for every target that has moved, as its last batch has it, and for the others a value where theirs is gone. */
function restore(truth: Truth, run: Run, now: number): void {
  truth.git.forgotten.clear();
  const wanted = new Map<string, string>();
  for (const batch of run.batches) {
    for (const target of batch.targets) {
      // Nobody puts back what went with its cluster.
      if (!truth.clusters.has(target.cluster)) continue;
      const moved = batch.merged !== undefined && target.phase !== "Failed" && target.phase !== "Skipped";
      for (const edit of target.edits) {
        const pin = pinOf(edit);
        if (moved) wanted.set(pin, edit.to);
        else if (pinValue(truth.git, pin) === null && !wanted.has(pin)) wanted.set(pin, lastValue(truth, pin));
      }
    }
  }
  const changes = [...wanted].filter(([pin, value]) => pinValue(truth.git, pin) !== value);
  // In the bot's name, so that what is put back is taken for what it was.
  if (changes.length > 0) commit(truth.git, now, BOT, changes);
}
