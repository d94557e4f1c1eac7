/** Tables of what was measured and asked, drawn from the model. */
import { cell } from "../escape.ts";
import { foldText, table } from "../markdown.ts";
import { LABELS } from "../model/labels.ts";
import type { ModelNode, RunModel, Tone } from "../model/types.ts";
import { addStop } from "../reasons/phrases.ts";

const MOST_ROWS = 40;

function rowsOf(first: string, checks: readonly ModelNode[], most = MOST_ROWS): string {
  const rows = checks.map(({ name, state, facts, says }) => [
    cell(name, 200),
    LABELS[state],
    cell(facts.join(" · "), 500),
    cell(addStop(says), 500),
  ]);
  return table([first, "state", "measured", "why"], rows, most);
}

/** What was measured of a batch, for the pull request of the next; empty where nothing was. */
export function measuredOf({ children }: ModelNode, most = MOST_ROWS): string {
  const checks = children.filter(({ kind }) => kind === "check");
  return checks.length === 0 ? "" : rowsOf("measured", checks, Math.min(most, MOST_ROWS));
}

const ORDER: readonly Tone[] = ["bad", "warn", "busy", "good", "dim"];

/** Everything a run has measured and asked so far: what is not well first. Folded where all of it is over and well. */
export function measuredOfRun(model: RunModel): string {
  const checks = model.children.flatMap((stage) => [
    ...ofKind(stage, `stage ${stage.name}`),
    ...stage.children.flatMap((batch) => (batch.kind === "batch" ? ofKind(batch, `${batch.name} of ${stage.name}`) : [])),
  ]);
  if (checks.length === 0) return "";
  const text = rowsOf(
    "analysis or hook",
    checks.toSorted((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone)),
  );
  return checks.some(({ when }) => when === "now") ? text : foldText("What was measured and asked", text);
}

function ofKind({ children }: ModelNode, where: string): ModelNode[] {
  return children.filter(({ kind }) => kind === "check").map((check) => ({ ...check, name: `${check.name}, ${where}` }));
}
