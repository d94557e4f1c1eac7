import type { AnyReason } from "../../base/reason.ts";
import type { GateState } from "../../run/state/gate-state.ts";
import type { Batch, Next, Run } from "../../run/state/run.ts";
import { cell, prose } from "../escape.ts";
import { present } from "../markdown.ts";
import { awaited, type Context, contextOf, type GivenToDraw } from "../model/context.ts";
import { modelOf } from "../model/run-model.ts";
import { batchNode } from "../model/stage-nodes.ts";
import type { ModelNode } from "../model/types.ts";
import { nextLine } from "../reasons/next-line.ts";
import { sentenceOf, wholeSentence } from "../reasons/say.ts";
import { causeLine, doneLine } from "../run/run-comment.ts";
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
}

const SUMMARY_LIMIT = 60_000;
/** What of it is not in the sign that GitHub draws: a check that is under way waits. */
const TITLES: Record<"passed" | "fenced", string> = {
  passed: "may be merged",
  fenced: "must not be merged now",
};

/** Why the batch waits and what comes next, when it is expected to be done, and the evidence of the batch before. */
export function gateWords(run: Run, batch: Batch, state: GateState, now: number, given: GivenToDraw = {}): GateWords {
  const parts = present(batchPlace(run, batch), ...(state.kind === "merged" ? [] : standing(run, batch, state, now, given)));
  const title = titleOf(run, state);
  const rest = evidenceBefore(run, batch, now, 100);
  const summary = present(...parts, rest).join("\n\n");
  const shown = summary.length <= SUMMARY_LIMIT ? summary : parts.join("\n\n");
  if (state.kind === "waiting") return { status: "in_progress", title: cut(title), summary: shown };
  return { status: "completed", conclusion: state.kind === "fenced" ? "failure" : "success", title: cut(title), summary: shown };
}

/** Of one that was merged what it waited for is over, and the check is not edited any more. */
function titleOf(run: Run, { kind, why }: GateState): string {
  if (kind === "merged") return "was merged";
  return kind === "waiting" ? plain(wholeSentence(why, run)).replace(/\.$/, "") : `${TITLES[kind]}: ${plain(sentenceOf(why, run))}`;
}

/** Why it stands as it does, what that comes from and what comes next. */
function standing(run: Run, batch: Batch, { kind, why, next }: GateState, now: number, given: GivenToDraw): string[] {
  const context = contextOf(run, now, given);
  return present(
    prose(wholeSentence(why, run, 1000)),
    kind === "fenced" && causeLine(modelOf(run, now, given)),
    nextLine(awaiting(context, next), run, now),
    doneLine(batchNode(context, batch).eta, now),
  );
}

/** What the gate waits for, which may be other than what its batch does. */
function awaiting(context: Context, next: Next | null): Pick<ModelNode, "waitsFor" | "deadline"> {
  return { waitsFor: awaited(context, next), deadline: next?.deadline };
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
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
