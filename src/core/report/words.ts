import { EMPTY_TREE } from "../base/folder.ts";
import type { Time } from "../base/time.ts";
import type { Edit } from "../plan/plan-types.ts";
import type { Batch, Run } from "../run/state/run.ts";
import { cell } from "./escape.ts";
import type { ModelNode, State } from "./model/types.ts";
import { BATCH_NOUNS, stepPhrase } from "./reasons/phrases.ts";

/** Short words and marks every report shares, so that the terminal, the PR and the page say the same. */

const RUN_MARKS: Partial<Record<State, string>> = {
  Pending: "⏳",
  Progressing: "🚚",
  Paused: "⏸️",
  RollingBack: "↩️",
  Succeeded: "✅",
  RolledBack: "↩️",
  Failed: "❌",
  Aborted: "🛑",
  Superseded: "⏭️",
};

/** Who released; of a commit whose makers GitHub does not know, what it says itself. */
export function releaser({ trigger }: Pick<Run, "trigger">): string {
  return trigger.accounts?.length === 0 ? `${trigger.author} (so says the commit; GitHub knows no account)` : trigger.author;
}

const STATE_MARKS: Partial<Record<State, string>> = {
  ToCome: "⚪",
  Requeued: "🔁",
  Open: "📝",
  Merged: "🔀",
  Syncing: "🔄",
  Healthy: "💚",
  Failed: "❌",
  Skipped: "⏭️",
  RolledBack: "↩️",
};

export function runMark({ state, waitsOn }: Pick<ModelNode, "state" | "waitsOn">): string {
  if (state === "Waiting") return waitsOn?.kind === "person" ? "✋" : "⏳";
  return RUN_MARKS[state] ?? "⚪";
}

/** Beside the word of a state; what is healthy has a tick once nothing of it is looked at any more. */
export function stateMark({ state, when }: Pick<ModelNode, "state" | "when">): string {
  return state === "Healthy" && when === "past" ? "✅" : (STATE_MARKS[state] ?? "⚪");
}

/** `v1.4.2`, or `chart=1.2.0, image=v3` where a release has several values. `named`: of such a release these are some, or all. */
export function releaseName(values: Readonly<Record<string, string>>, how?: "named"): string {
  const entries = Object.entries(values).sort(([a], [b]) => a.localeCompare(b));
  const only = entries.length === 1 && how === undefined ? entries[0]?.[1] : undefined;
  return only ?? entries.map(([name, value]) => `${name}=${value}`).join(", ");
}

/** A value of a pin as a table has room for: of a branch it is a commit id, of a directory that of its tree. */
export function pinValue(edit: Pick<Edit, "kind" | "from" | "to" | "removes">, which: "from" | "to"): string {
  const value = edit[which] ?? "";
  if (edit.removes === true && value === "") return "nothing";
  if (edit.kind === "copy" && value === EMPTY_TREE) return "empty";
  return (edit.kind === "branch" || edit.kind === "copy") && /^[0-9a-f]{40}$/.test(value) ? value.slice(0, 10) : value;
}

/** Where an edit writes: of a directory that is copied also what becomes of it. */
export function editPlace({ kind, file, path }: Pick<Edit, "kind" | "file" | "path">): string {
  return kind === "branch" ? path.replace(/^refs\//, "") : kind === "copy" ? `${path}/ → ${file}/` : file;
}

/** `2 added, 5 changed, 1 removed`; undefined: it copies nothing. */
export function copiedWords({ copied }: Pick<Edit, "copied">): string | undefined {
  if (copied === undefined) return undefined;
  const parts = (["added", "changed", "removed"] as const).flatMap((what) => (copied[what] === 0 ? [] : [`${copied[what]} ${what}`]));
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** What an edit does to a pin, on a line of a terminal. */
export function changeWords(edit: Edit): string {
  if (edit.kind !== "copy")
    return edit.from === edit.to ? `${pinValue(edit, "to")} already` : `${edit.from ?? "–"} → ${pinValue(edit, "to")}`;
  if (edit.from === edit.to) return `${edit.file}/ is it already`;
  return `${pinValue(edit, "from")} → ${pinValue(edit, "to")} (${copiedWords(edit) ?? ""})`;
}

/** `payments #3` in Markdown, where GitHub would take a bare `#3` for issue 3: a zero-width space keeps it from being a link to that. */
export function runTitle({ rollout, number }: Pick<Run, "rollout" | "number">): string {
  return `${cell(rollout)} ${runNumber(number)}`;
}

export function runNumber(number: number): string {
  return `#\u200b${number}`;
}

/** `controlPlane/cluster` → `cluster`: for people, where the control plane adds nothing. */
export function shortName(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

export function stageName(run: Pick<Run, "plan">, stage: number): string {
  return run.plan.stages[stage]?.name ?? `stage ${stage + 1}`;
}

/** How many batches a stage will have had when it is done, as known now. */
export function batchesOfStage(run: Pick<Run, "plan" | "batches">, stage: number): number {
  const planned = run.plan.stages[stage]?.batches.length ?? 0;
  // A batch that travels in steps is one.
  const opened = new Set(run.batches.flatMap((batch) => (batch.stage === stage ? [batch.ofStage] : []))).size;
  return Math.max(planned, opened);
}

/** `batch 2 of 3 of canary in EMEA`. */
export function batchName(run: Pick<Run, "plan" | "batches">, batch: Batch): string {
  const stage = `${stageName(run, batch.stage)}${stepPhrase(batch)}`;
  if (batch.kind !== "Planned") return `${BATCH_NOUNS[batch.kind]} of ${stage}`;
  return `batch ${batch.ofStage} of ${batchesOfStage(run, batch.stage)} of ${stage}`;
}

/** `2026-11-21 14:05:09 UTC`. */
export function dayAndTime(time: Time): string {
  return `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;
}

/** `14:05:09 UTC`, with the date where it is not `now`'s. */
export function clockTime(time: Time, now: number): string {
  const whole = dayAndTime(time);
  return time.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? whole.slice(11) : whole;
}
