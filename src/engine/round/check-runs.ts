import type { CheckReport } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { GATE } from "../../core/report/batch/gate-check.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import type { RepoContext } from "./context.ts";
import { lacksPermission, type Permissions } from "./permissions.ts";

const OURS = [PLAN_CHECK, GATE];
const MOST_KEPT = 1000;

/** The check runs of ours, which somebody may ask for again. */
export interface CheckRuns {
  /**
   * Somebody pressed "Re-run" for a check of ours at a commit; no name: for all of them. GitHub sets the suite back to queued and
   * changes nothing of the check: a new one of that name has to be made.
   */
  ask(head: string, name?: string): void;
  /** False where none may be written: it is asked for still when one may be. */
  isAsked(head: string, name: string): boolean;
  /** When one of ours was last sent green at this commit, in epoch milliseconds. */
  greenAt(head: string): number | undefined;
  /**
   * Sends a check, as a new one where it was asked for again. What is asked while it is on its way counts anew; what could not be
   * sent is asked for still. False: the App may not write checks.
   */
  send(head: string, name: string, words: Omit<CheckReport, "name" | "head" | "afresh">): Promise<boolean>;
}

export function openCheckRuns({ forge, clock }: Pick<RepoContext, "forge" | "clock">, permissions: Permissions): CheckRuns {
  const asked = new BoundedMap<string, Set<string>>(MOST_KEPT);
  const green = new BoundedMap<string, number>(MOST_KEPT);

  function ask(head: string, name?: string): void {
    const names = OURS.filter((one) => name === undefined || one === name);
    if (names.length > 0) asked.set(head, new Set([...(asked.get(head) ?? []), ...names]));
  }

  function take(head: string, name: string): boolean {
    const names = asked.get(head);
    if (names?.delete(name) !== true) return false;
    if (names.size === 0) asked.delete(head);
    return true;
  }

  return {
    ask,
    greenAt: (head) => green.get(head),
    isAsked: (head, name) => !permissions.isForbidden("checks") && asked.get(head)?.has(name) === true,
    async send(head, name, words) {
      if (permissions.isForbidden("checks")) return false;
      const afresh = take(head, name);
      try {
        await forge.putCheck({ name, head, ...words, afresh });
        if (words.conclusion === "success") green.set(head, clock.now());
        return true;
      } catch (error) {
        if (afresh) ask(head, name);
        if (!lacksPermission(error)) throw error;
        permissions.forbid("checks", error);
        return false;
      }
    },
  };
}
