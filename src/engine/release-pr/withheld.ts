/**
 * Which pull requests are not judged: those of a fork for whose head nobody with write has asked, and those that passed the cell's limits
 * twice. Both are noted beside the mirror by their head, so that a restart neither asks anew nor tries a third time.
 */
import type { AnyReason } from "../../core/base/reason.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { notARollout, planCheck } from "../../core/report/plan/plan-check.ts";
import { unplannedOf } from "../../core/report/plan/plan-model.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { type Command, hasPermission } from "../../core/spec/commands.ts";
import type { RepoContext } from "../round/context.ts";
import { JudgementKilled } from "./judge-in-cell.ts";
import type { JudgePull } from "./judge-pull.ts";
import { noReads } from "./judge-pull-reads.ts";
import type { Head, JudgedPull, PlanBase, Verdict } from "./types.ts";

/** Judges a pull request where that is not withheld; `commands`: those that ask for it now. */
type JudgeAsked = (base: PlanBase, pull: JudgedPull, commands: readonly Command[]) => Promise<Verdict>;

export function openWithheld({ mirror, log }: Pick<RepoContext, "mirror" | "log">, judgePull: JudgePull): JudgeAsked {
  const killedBy = (pull: Head, time: "first" | "second") => `killed-${time}-${pull.number}`;
  const askedFor = (pull: Head) => `plan-asked-${pull.number}`;

  async function isAsked(pull: Head, commands: readonly Command[]): Promise<boolean> {
    if (commands.some(({ permission }) => hasPermission(permission, "write"))) await mirror.note(askedFor(pull), pull.head);
    return (await mirror.noted(askedFor(pull))) === pull.head;
  }

  /** It is tried once more, or left alone. */
  async function onKilled(pull: Head, { by }: JudgementKilled): Promise<Verdict> {
    const final = (await mirror.noted(killedBy(pull, "first"))) === pull.head;
    await mirror.note(killedBy(pull, final ? "second" : "first"), pull.head);
    return refused(engineReason("PLAN_KILLED", { by, final }), !final);
  }

  return async (base, pull, commands) => {
    if ((await mirror.noted(killedBy(pull, "second"))) === pull.head) return refused(engineReason("PLAN_KILLED", { final: true }), false);
    // Of one that could not be had nothing is read: that is said.
    if (pull.isFork && pull.unread === undefined && !base.plansForks && !(await isAsked(pull, commands))) return awaitsAsking();
    try {
      return await judgePull(base, pull);
    } catch (error) {
      if (!(error instanceof JudgementKilled)) throw error;
      log.warn({ pull: pull.number, head: pull.head, by: error.by }, "judging a pull request passed a limit, and was ended");
      return await onKilled(pull, error);
    }
  };
}

/** Not green, so that a required check holds the pull request back. */
function refused(reason: AnyReason, retry: boolean): Verdict {
  const check = planCheck({ plans: [], problems: [], against: [sentenceOf(reason)], fails: true, notes: [] });
  const planned = [unplannedOf("NotPlanned", reason)];
  return { ...NOTHING_KNOWN, check, planned, comments: new Map(), reads: noReads(), retry, withheld: reason };
}

function awaitsAsking(): Verdict {
  const waiting = engineReason("PLAN_OF_FORK");
  const check = planCheck({ plans: [], problems: [], against: [], fails: false, notes: [], waiting });
  const planned = [unplannedOf("NotPlanned", waiting)];
  return { ...NOTHING_KNOWN, check, planned, comments: new Map(), reads: noReads(), retry: false, withheld: waiting };
}

const NOTHING_KNOWN = { concerns: true, readable: false, settled: false } as const;

/** By the names of its files it concerns no rollout. */
export function concernsNothing(): Verdict {
  const reads = noReads();
  return { check: notARollout(), comments: new Map(), planned: [], concerns: false, retry: false, reads, readable: true, settled: true };
}
