import { count } from "../../base/count.ts";
import type { Plan } from "../../plan/plan-types.ts";
import { countPhrase } from "../counted.ts";

/** Mermaid draws no more of them in a way people can read. */
const MOST_NODES = 40;
const LONGEST_LABEL = 60;

/**
 * The stages as a Mermaid chart. Ids are ours; a label is quoted and holds only letters, numbers and harmless signs, so that
 * no name ends the quote, the fence or the line, or is read as a directive (`%%{`).
 */
export function planChart(plan: Plan, gates: readonly (readonly string[])[]): string {
  if (plan.stages.length === 0) return "";
  const shown = plan.stages.slice(0, MOST_NODES);
  const lines: string[] = [];
  for (const [index, stage] of shown.entries()) {
    const size = `${countPhrase(stage.clusters.length, plan)}, ${count(stage.batches.length, "batch")}`;
    const later = stage.requeued.length === 0 ? "" : `, ${stage.requeued.length} later`;
    lines.push(`  s${index}["${label(stage.name)}<br/>${size}${later}"]`);
  }
  if (plan.stages.length > MOST_NODES) lines.push(`  s${MOST_NODES}["and ${plan.stages.length - MOST_NODES} more stages"]`);
  const nodes = lines.length;
  for (let index = 1; index < nodes; index++) {
    const between = (gates[index - 1] ?? []).map((gate) => label(gate)).join(", ");
    lines.push(between === "" ? `  s${index - 1} --> s${index}` : `  s${index - 1} -->|"${between}"| s${index}`);
  }
  return `\`\`\`mermaid\nflowchart LR\n${lines.join("\n")}\n\`\`\``;
}

export function label(text: string): string {
  const harmless = text
    .replace(/[^\p{L}\p{N}\p{M}\p{Extended_Pictographic} .,:()/_+=!?*-]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...harmless];
  return characters.length <= LONGEST_LABEL ? harmless : `${characters.slice(0, LONGEST_LABEL - 1).join("")}…`;
}

/** By whole characters. */
export function short(text: string, limit: number): string {
  const characters = [...text.slice(0, 2 * limit + 2)];
  return text.length <= limit || characters.length <= limit ? text : `${characters.slice(0, limit - 1).join("")}…`;
}
