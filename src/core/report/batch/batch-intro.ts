/** Draws what a batch's PR begins with, from the model. */
import { cell, code, prose } from "../escape.ts";
import { firstOf, present } from "../markdown.ts";
import type { BatchPlace, BatchPlan, Gate } from "../model/types.ts";
import { runTitle } from "../words.ts";
import { withCode } from "./batch-gates.ts";

const MOST_NAMED = 5;
/** More changes than these are in the table alone. */
const MOST_CHANGES = 2;
/** Of several values each is told, so that nobody has to look which of them moves. */
const MOST_VALUES = 5;

/** What somebody who is woken by it has to know first: what it changes and where, how far the run is, and what comes next. */
export function batchIntro(plan: BatchPlan, clusters: readonly string[]): string {
  const places = firstOf(clusters.map(code), MOST_NAMED);
  return [`**${changes(plan)}** on ${places}`, batchPlace(plan.place), `${merges(plan)} ${afterwards(plan)}`].join("\n\n");
}

/** `v1.4.1 → v1.4.2`; of a canary step the weight, which is all that changes. */
function changes({ changes: all, weight, place }: BatchPlan): string {
  const most = all.every(({ value }) => value !== undefined) ? MOST_VALUES : MOST_CHANGES;
  const values = all.length > most ? `→ ${code(place.release)}` : all.map(changed).join(", ");
  return present(values, weight !== undefined && `weight ${weight}`).join(", at ") || code(place.release);
}

function changed({ value, from, to }: BatchPlan["changes"][number]): string {
  return `${value === undefined ? "" : `${cell(value, 60)} `}${from === undefined ? "" : `${code(from.slice(0, 100))} `}→ ${code(to.slice(0, 100))}`;
}

/** `Stage canary, 1 of 4; batch 1 of 3. Run payments #42, release v1.4.2 (#10).` */
export function batchPlace({ stage, number, of, batch, run, release, pull }: BatchPlace): string {
  const which = `Stage **${cell(stage)}**, ${number} of ${of}; ${batch}.`;
  const whole = `${run.kind === "Rollback" ? "Rollback" : "Run"} **${runTitle(run)}**`;
  return `${which} ${whole}, release ${code(release)}${pull === undefined ? "" : ` (#${pull})`}.`;
}

/** Who merges, and when, in words that stay true once it is merged, for a body is written once. All else is in the table of gates. */
function merges({ mode, gates }: BatchPlan): string {
  if (mode !== "Run") return `**As planned:** a person merges this PR, as the rollout's mode is ${mode}.`;
  const waits = gates.filter(({ isAfter }) => isAfter !== true).flatMap(plannedOf);
  if (!gates.some(({ kind }) => kind === "person"))
    return `**As planned:** Stagecoach merges this PR once ${listed([...waits, "its checks pass"])}.`;
  const once = waits.length === 0 ? "" : ` once ${listed(waits)}`;
  return `**As planned:** a person merges this PR${once}; \`/promote\` has Stagecoach do it.`;
}

/** From its merge to what follows it. */
function afterwards({ gates, follows }: BatchPlan): string {
  const parts = gates.filter(({ isAfter }) => isAfter === true).flatMap(plannedOf);
  return `Once ${listed(parts)}, Stagecoach ${cell(follows)}.`;
}

/** Who has to approve is to hear of it; nobody else. */
function plannedOf({ kind, planned }: Gate): string[] {
  if (planned === undefined) return [];
  const said = prose(withCode(planned));
  return [kind === "approval" ? said.replaceAll("@\u200b", "@") : said];
}

/** `a window opens and its checks pass`. */
function listed(waits: readonly string[]): string {
  return waits.length < 2 ? waits.join("") : `${waits.slice(0, -1).join(", ")} and ${waits.at(-1)}`;
}
