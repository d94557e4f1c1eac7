import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { epoch, type Time } from "../../base/time.ts";
import type { GateState } from "../../run/gates/gate-state.ts";
import type { Batch, Next, Run } from "../../run/state/run.ts";
import { cell, prose } from "../escape.ts";
import { present } from "../markdown.ts";
import { placeOf } from "../model/batch-plan.ts";
import { awaitedOf, type Context, contextOf, type GivenToDraw } from "../model/context.ts";
import { modelOf } from "../model/run-model.ts";
import type { ModelNode } from "../model/types.ts";
import { nextLine } from "../reasons/next-line.ts";
import { plainSentence, sentenceOf, wholeSentence, withoutMarks } from "../reasons/say.ts";
import { causeLine } from "../run/run-comment.ts";
import { batchPlace } from "./batch-intro.ts";
import { evidenceBefore } from "./batch-pull.ts";

/** Name of the check run on batch PRs; green on every other PR, so that it can be a required one. */
export const GATE = "stagecoach/gate";

/** What a check run shows; GitHub refuses a summary over 65,535 characters. */
export interface GateWords {
  status: "queued" | "in_progress" | "completed";
  conclusion?: "success" | "failure";
  title: string;
  summary: string;
  /** Where the page shows its batch. */
  detailsUrl?: string | undefined;
  /** What of it may change while the title stays: see `isStale()`. Absent: nothing. */
  told?: { says: string; times: readonly Time[] } | undefined;
}

const SUMMARY_LIMIT = 60_000;
const MOST_TITLE = 200;
/** What of it is not in the sign that GitHub draws: a check that is under way waits. */
const TITLES: Record<"passed" | "fenced", string> = {
  passed: "may be merged",
  fenced: "must not be merged now",
};

/**
 * Why the batch waits (the title), what comes next, and the evidence of the batch before. It says no time that passes by itself: how long all of
 * it will take is the run's page to say.
 */
export function gateWords(run: Run, batch: Batch, state: GateState, now: number, given: GivenToDraw = {}): GateWords {
  const title = titleOf(run, state);
  const awaits = state.kind === "merged" ? undefined : awaiting(contextOf(run, now, given), state.next);
  const next = awaits === undefined ? "" : nextLine({ model: awaits, now, sentence: (reason) => sentenceOf(reason, run) });
  const says = present(
    // A title that had to be cut is told to its end.
    title.length > MOST_TITLE && prose(wholeSentence(state.why, run, 1000)),
    state.kind === "fenced" && causeLine(modelOf(run, now, given)),
  );
  const parts = present(batchPlace(placeOf(run, batch)), ...says, next);
  const summary = present(...parts, evidenceBefore(run, batch, now, 100)).join("\n\n");
  const words = { title: cut(title), summary: summary.length <= SUMMARY_LIMIT ? summary : parts.join("\n\n") };
  const times = [awaits?.waitsFor?.at, awaits?.deadline].filter((time) => time !== undefined);
  const told = { says: [...says, state.next === null ? "" : sentenceOf(state.next.what, run)].join("\n"), times };
  const more = defined({ detailsUrl: given.page?.(run, batch.number), told });
  if (state.kind === "waiting") return { status: "in_progress", ...words, ...more };
  return { status: "completed", conclusion: state.kind === "fenced" ? "failure" : "success", ...words, ...more };
}

/** Least and share of the time that was left then, by which a time has to move before the check is written again. */
const MOVED_MS = 60_000;
const MOVED_SHARE = 0.1;

/** Whether a check that said `before`, at `at`, would mislead now. A time that moves a little is not worth a call of GitHub's. */
export function isStale(
  before: Pick<GateWords, "title" | "told"> & { at: number },
  { title, told }: Pick<GateWords, "title" | "told">,
): boolean {
  if (before.title !== title || before.told?.says !== told?.says) return true;
  const [then = [], now = []] = [before.told?.times, told?.times];
  return then.length !== now.length || now.some((time, index) => hasMoved(epoch(then[index] ?? time), epoch(time), before.at));
}

function hasMoved(then: number, now: number, at: number): boolean {
  return Math.abs(now - then) > Math.max(MOVED_MS, MOVED_SHARE * Math.abs(then - at));
}

/** Of one that was merged what it waited for is over, and the check is not edited any more. */
function titleOf(run: Run, { kind, why }: GateState): string {
  if (kind === "merged") return "was merged";
  const says = plain(withoutMarks(wholeSentence(why, run))).replace(/\.$/, "");
  return kind === "waiting" ? says : `${TITLES[kind]}: ${plain(plainSentence(why, run))}`;
}

/** What the gate waits for, which may be other than what its batch does. A time that is over is none that is expected. */
function awaiting(context: Context, next: Next | null): Pick<ModelNode, "waitsFor" | "deadline"> {
  const waitsFor = awaitedOf(context, next);
  const isOver = waitsFor?.at !== undefined && epoch(waitsFor.at) <= context.now;
  return { waitsFor: isOver ? { ...waitsFor, at: undefined } : waitsFor, deadline: next?.deadline };
}

/** A PR that Stagecoach has nothing to do with. */
export function notOurs(): GateWords {
  return {
    status: "completed",
    conclusion: "success",
    title: "no batch of a run",
    summary: "Stagecoach did not open this pull request: it holds nothing against merging it.",
  };
}

/** A PR of an attempt that is over, opened again by somebody. */
export function overWords(over: AnyReason): GateWords {
  const why = sentenceOf(over);
  return { status: "completed", conclusion: "failure", title: cut(`must not be merged: ${plain(why)}`), summary: cell(why, 1000) };
}

/** Titles are shown as plain text. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function cut(text: string): string {
  return text.length > MOST_TITLE ? `${text.slice(0, MOST_TITLE - 1)}…` : text;
}
