/**
 * A release that was merged and started no run, as every surface tells it: the comment and the check on its pull request, the terminal, the
 * page and the API. How it is drawn: `../refused.ts`, and `page.ts`. All texts are plain: no Markdown.
 */
import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Problem } from "../../reasons/problems/problem.ts";
import { sayProblem } from "../reasons/problems/problems.ts";
import { sentenceOf, withoutMarks } from "../reasons/say.ts";
import { releaseName } from "../words.ts";
import type { RunDocument } from "./schema/run.ts";

export type RefusedModel = NonNullable<RunDocument["refused"]>;
/** One of the reasons why nothing began. */
export type RefusedProblem = RefusedModel["problems"][number];

/** What is known of it: the journal has all of it, a round what it has just found out. */
export interface Refused<One extends Problem | AnyReason = Problem | AnyReason> {
  rollout?: string | undefined;
  values?: Readonly<Record<string, string>> | undefined;
  commit?: string | undefined;
  pull?: number | undefined;
  at?: Time | undefined;
  problems: readonly One[];
}

/** What starts a run after all. */
const STARTS_LATER = "A run starts by itself once this is put right.";

export function refusedModel({ rollout, values, commit, pull, at, problems }: Refused): RefusedModel {
  const release = values === undefined ? undefined : releaseName(values);
  const brought = pull === undefined ? (commit === undefined ? undefined : `commit ${commit.slice(0, 7)}`) : `#${pull}`;
  const named = release === undefined ? brought : brought === undefined ? release : `${release} (${brought})`;
  const what = named ?? (rollout === undefined ? "A release" : `A release of ${rollout}`);
  return {
    ...{ state: "Refused", rollout, release, pull, since: at },
    // A commit alone may be one that was there at the first look.
    says: `${what}${what === brought && pull === undefined ? "" : " was merged and"} started no run`,
    waitsFor: STARTS_LATER,
    problems: refusedProblems(problems),
  };
}

/** What a journal holds may be of another version: what is not known is said as any reason is. */
export function refusedProblems(problems: Refused["problems"]): RefusedProblem[] {
  return problems.map((one) => {
    const { file, line, column, severity = "error" } = one as Partial<Problem>;
    const { message, hint } = saidOf(one);
    const where = [file, line, column].filter((part) => part !== undefined).join(":");
    return { code: one.code, severity, where, ...defined({ file, line, column }), says: withoutMarks(message), todo: withoutMarks(hint) };
  });
}

function saidOf(one: Problem | AnyReason): { message: string; hint: string } {
  try {
    return sayProblem(one as Problem);
  } catch {
    return { message: sentenceOf(one as AnyReason), hint: "" };
  }
}
