import { GATE } from "../../core/report/batch/gate-check.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import { keep, type RepoMemory } from "../round/memory.ts";

const OURS = [PLAN_CHECK, GATE];

/**
 * Somebody pressed "Re-run" for a check of ours at a commit; no name: for all of them. GitHub sets the suite back to queued and
 * changes nothing of the check: a new one of that name has to be made.
 */
export function askAgain(memory: RepoMemory, head: string, name?: string): void {
  const asked = OURS.filter((one) => name === undefined || one === name);
  if (asked.length === 0) return;
  keep(memory.again, head, new Set([...(memory.again.get(head) ?? []), ...asked]));
}

/** False where none may be written: it is asked for still when one may be. */
export function isAskedAgain(memory: RepoMemory, head: string, name: string): boolean {
  return !memory.forbidden.has("checks") && memory.again.get(head)?.has(name) === true;
}

/**
 * Sends a check, as a new one where it was asked for again. What is asked while it is on its way counts anew; what could not be
 * sent is asked for still.
 */
export async function sendAsked(memory: RepoMemory, head: string, name: string, send: (afresh: boolean) => Promise<void>): Promise<void> {
  const afresh = take(memory, head, name);
  try {
    await send(afresh);
  } catch (error) {
    if (afresh) askAgain(memory, head, name);
    throw error;
  }
}

function take(memory: RepoMemory, head: string, name: string): boolean {
  const names = memory.again.get(head);
  if (names?.delete(name) !== true) return false;
  if (names.size === 0) memory.again.delete(head);
  return true;
}
