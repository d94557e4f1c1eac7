import { isEnded, type Run } from "../../rollout/run.ts";
import { NEW } from "./fleet.ts";
import { mergeNow } from "./forge.ts";
import { commit, pinOf, pinValue } from "./git.ts";
import { say } from "./people.ts";
import type { Truth } from "./world.ts";

/** Somebody on duty, once the troubles are over: mends what is broken and gives the commands the run asks for. */
export interface Operator {
  lastAt: number;
  acted: number;
}

const EVERY_MS = 20 * 60_000;
/** After so many times they give up and abort. */
const PATIENCE = 8;

export function operator(): Operator {
  return { lastAt: 0, acted: 0 };
}

export function operate(self: Operator, truth: Truth, run: Run, now: number, note: (text: string) => void): void {
  if (isEnded(run) || now - self.lastAt < EVERY_MS) return;
  self.lastAt = now;
  truth.argoDownUntil = 0;
  truth.forgeDownUntil = 0;
  truth.forge.refusing.until = 0;
  truth.guard.until = 0;
  for (const pull of truth.forge.pulls) pull.draft = false;
  if (run.ending !== undefined) return;
  if (run.paused !== undefined) {
    self.acted += 1;
    answer(self, truth, run, now, note);
  } else if (run.spec.mode === "Propose" || run.spec.delivery.merge === "Manual") {
    mergeByHand(self, truth, run, now, note);
  }
}

function answer(self: Operator, truth: Truth, run: Run, now: number, note: (text: string) => void): void {
  const command = self.acted > PATIENCE ? "abort" : run.paused?.kind === "Failure" && self.acted % 2 === 1 ? "retry" : "resume";
  if (run.paused?.kind === "Failure") for (const target of truth.targets.values()) target.mendedAt = Math.min(target.mendedAt, now);
  if (run.paused?.kind === "Drift" || run.paused?.kind === "History") restore(truth, run, now);
  note(`/${command} (${run.paused?.kind})`);
  say(truth, now, command, [], "admin", "operator");
}

/** Puts the release back for every target that has moved, and for the others a value where theirs is gone. */
function restore(truth: Truth, run: Run, now: number): void {
  truth.git.forgotten.clear();
  const changes: [string, string][] = [];
  for (const batch of run.batches) {
    for (const target of batch.targets) {
      const moved = batch.merged !== undefined && target.phase !== "Failed" && target.phase !== "Skipped";
      for (const edit of target.edits) {
        const value = pinValue(truth.git, pinOf(edit));
        if (moved && value !== NEW) changes.push([pinOf(edit), NEW]);
        else if (value === null) changes.push([pinOf(edit), "v1"]);
      }
    }
  }
  if (changes.length > 0) commit(truth.git, now, "operator", changes);
}

function mergeByHand(self: Operator, truth: Truth, run: Run, now: number, note: (text: string) => void): void {
  const batch = run.batches.find((one) => one.phase === "Open");
  const pull = truth.forge.pulls.find((one) => one.number === batch?.pull?.number && one.state === "open");
  if (pull === undefined || !pull.ours) return;
  self.lastAt = now - EVERY_MS + 60_000;
  note(`merges #${pull.number}`);
  if (run.spec.mode === "Run" && pull.number % 2 === 0) say(truth, now, "promote", [], "write", "operator");
  else mergeNow(truth.git, pull, "operator", false, now);
}
