import type { AnyReason } from "../../base/reason.ts";
import type { GateState } from "../../run/state/gate-state.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { cell, prose } from "../escape.ts";
import { awaited } from "../model/context.ts";
import { nextLine } from "../reasons/next-line.ts";
import { sentenceOf, wholeSentence } from "../reasons/say.ts";
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
const TITLES: Record<GateState["kind"], string> = {
  waiting: "waits",
  passed: "may be merged",
  fenced: "must not be merged now",
  merged: "was merged",
};

/** Why the batch waits, what comes next, and the evidence of the batch before. */
export function gateWords(run: Run, batch: Batch, state: GateState, now: number): GateWords {
  const why = plain(sentenceOf(state.why, run));
  const title = why.startsWith("waiting ") ? why.charAt(0).toUpperCase() + why.slice(1) : `${TITLES[state.kind]}: ${why}`;
  const next = nextLine({ waitsFor: awaited({ run }, state.next), deadline: state.next?.deadline }, run, now);
  const parts = [batchPlace(run, batch), prose(wholeSentence(state.why, run, 1000)), next];
  const rest = evidenceBefore(run, batch, now, 100);
  const summary = [...parts, rest].filter((part) => part !== "").join("\n\n");
  const shown = summary.length <= SUMMARY_LIMIT ? summary : parts.filter((part) => part !== "").join("\n\n");
  if (state.kind === "waiting") return { status: "in_progress", title: cut(title), summary: shown };
  return { status: "completed", conclusion: state.kind === "fenced" ? "failure" : "success", title: cut(title), summary: shown };
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
