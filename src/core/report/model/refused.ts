/** A release that was merged and started no run, as every surface tells it. No Markdown. */
import type { AnyReason } from "../../base/reason.ts";
import type { Problem } from "../../reasons/problem.ts";
import { sayProblem } from "../reasons/problems/problems.ts";
import { sentenceOf, withoutMarks } from "../reasons/say.ts";

/** One of the reasons why nothing began. */
export interface RefusedProblem {
  code: string;
  /** `rollouts/payments.yaml:12:9` */
  where: string;
  says: string;
  todo: string;
}

/** What a journal holds may be of another version: what is not known is said as any reason is. */
export function refusedProblems(problems: readonly (Problem | AnyReason)[]): RefusedProblem[] {
  return problems.map((one) => {
    const { file, line, column } = one as Partial<Problem>;
    const { message, hint } = saidOf(one);
    const where = [file, line, column].filter((part) => part !== undefined).join(":");
    return { code: one.code, where, says: withoutMarks(message), todo: withoutMarks(hint) };
  });
}

function saidOf(one: Problem | AnyReason): { message: string; hint: string } {
  try {
    return sayProblem(one as Problem);
  } catch {
    return { message: sentenceOf(one as AnyReason), hint: "" };
  }
}
