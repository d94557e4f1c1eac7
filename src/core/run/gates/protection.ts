/**
 * The rules of GitHub's that keep everybody else from the branches which only Stagecoach writes: the journal's, and those of batches.
 * Without them whoever has write can stop a run or take its pull requests over, so with `mode: Run` nothing is opened and nothing merges.
 * What puts clusters back goes on: nobody is kept from the way back by a setting. Called by `gates.ts` and `batches/propose.ts`.
 */
import { type BareBranch, type BranchRule, WRITE_RULES } from "../../reasons/gates.ts";
import { runReason } from "../../reasons/run.ts";
import { putsBack } from "../state/batch.ts";
import { type Decision, type Scene, wait } from "../state/decision.ts";
import type { Batch } from "../state/run.ts";

/** Nobody tells of an answer that GitHub owes. */
const READ_AGAIN_MS = 30_000;

/** Says which rules are missing among those that are active on a branch; undefined: none is. */
export function bareBranch(branch: string, active: Iterable<string>): BareBranch | undefined {
  const there = new Set(active);
  const lacks: BranchRule[] = WRITE_RULES.filter((rule) => !there.has(rule));
  return lacks.length === 0 ? undefined : { branch, lacks };
}

/** Holds a run that merges by itself until nobody else can write to the bot's branches. */
export function protectionGate({ run, now, world: { unprotected } }: Scene, batch: Batch): Decision | undefined {
  if (unprotected === undefined || run.spec.mode !== "Run" || run.kind === "Rollback" || putsBack(batch)) return undefined;
  if (unprotected === "unread") {
    // What cannot wait does not wait for an answer of GitHub's: for rules that are known to be missing it does.
    if (batch.kind === "Hotfix") return undefined;
    return wait(runReason("PROTECTION_UNREAD"), { what: runReason("NEXT_READ") }, now + READ_AGAIN_MS);
  }
  return wait(runReason("UNPROTECTED", { bare: unprotected }), { what: runReason("NEXT_PROTECTED") });
}
