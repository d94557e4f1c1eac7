import type { AttentionReason } from "../../reasons/attention.ts";
import { cell, prose } from "../escape.ts";
import { wholeSentence } from "../reasons/say.ts";
import { branchesRuleset } from "../ruleset.ts";

export const ATTENTION_TITLE = "Stagecoach needs attention";

/** What one line, or one entry of the issue, may be long: GitHub's words are in it. */
const MOST_SAID = 500;
const MOST_SHOWN = 20;

/** The one issue that says what stops a repository. */
export function attentionIssue(reasons: readonly AttentionReason[]): string {
  const lines = reasons.slice(0, MOST_SHOWN).map((reason) => `- ${prose(said(reason))}`);
  if (reasons.length > MOST_SHOWN) lines.push(`- and ${reasons.length - MOST_SHOWN} more`);
  return [
    "Something keeps Stagecoach from its work in this repository:",
    lines.join("\n"),
    ...reasons.flatMap((reason) => (reason.code === "RULES_MISSING" ? [`\`\`\`sh\n${branchesRuleset(reason)}\n\`\`\``] : [])),
    "<sub>This issue is edited as things change, and closed by itself when all is well again. Closing it by hand changes nothing.</sub>",
  ].join("\n\n");
}

export function attentionOver(): string {
  return "All is well again: what stood here is over.";
}

/** Stands at the head of every comment meanwhile; "" where there is nothing. */
export function attentionLine(reasons: readonly AttentionReason[]): string {
  const [first, ...more] = reasons;
  if (first === undefined) return "";
  const rest = more.length === 0 ? "" : ` And ${more.length} more: see the issue *${ATTENTION_TITLE}*.`;
  return `> [!CAUTION]\n> **${ATTENTION_TITLE}:** ${prose(said(first))}${rest}`;
}

/** On the PR of a release whose run cannot be recorded, and so does not begin. */
export function heldNotice(rollout: string, reason: AttentionReason): string {
  return `### ⏳ ${cell(rollout)}: the release is merged, and its run waits\n\n${prose(said(reason))} The run begins by itself once that is over, and is shown here then.\n`;
}

function said(reason: AttentionReason): string {
  return wholeSentence(reason, undefined, MOST_SAID);
}
