/**
 * Messages as a Teams Workflow takes them ("When a Teams webhook request is received"): one Adaptive Card in an envelope. Texts of others stand in
 * text runs, where no Markdown is read; what is a macro or an expression elsewhere is broken up.
 */
import type { Notice } from "./notice.ts";

interface TextRun {
  type: "TextRun";
  text: string;
  weight?: "Bolder";
  size?: "Large" | "Small";
  color?: "Good" | "Attention" | "Warning" | "Accent" | "Default";
  isSubtle?: boolean;
}

interface RichTextBlock {
  type: "RichTextBlock";
  inlines: TextRun[];
}

interface AdaptiveCard {
  $schema: "http://adaptivecards.io/schemas/adaptive-card.json";
  type: "AdaptiveCard";
  version: "1.4";
  body: RichTextBlock[];
  actions?: { type: "Action.OpenUrl"; title: string; url: string }[];
}

interface TeamsMessage {
  type: "message";
  attachments: [{ contentType: "application/vnd.microsoft.card.adaptive"; contentUrl: null; content: AdaptiveCard }];
}

const COLORS = { good: "Good", busy: "Accent", warn: "Warning", bad: "Attention", dim: "Default" } as const;
/** Teams takes 28 KB of a message, envelope and all. */
const MOST_BYTES = 24_000;

export function teamsMessage(notice: Pick<Notice, "title" | "tone" | "lines" | "links" | "repository">): TeamsMessage {
  const { title, tone, links, repository } = notice;
  const lines = fitting(notice.lines);
  const content: AdaptiveCard = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      paragraph({ type: "TextRun", text: teamsText(title), weight: "Bolder", size: "Large", color: COLORS[tone] }),
      ...lines.map((text) => paragraph({ type: "TextRun", text: teamsText(text) })),
      paragraph({ type: "TextRun", text: teamsText(repository), size: "Small", isSubtle: true }),
    ],
  };
  if (links.length > 0) content.actions = links.map(({ name, url }) => ({ type: "Action.OpenUrl", title: teamsText(name), url }));
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }] };
}

function fitting(lines: readonly string[]): string[] {
  let left = MOST_BYTES / 3;
  return lines.filter((line) => {
    left -= line.length;
    return left > 0;
  });
}

function paragraph(run: TextRun): RichTextBlock {
  return { type: "RichTextBlock", inlines: [run] };
}

/** `{{DATE(…)}}` and `${…}` are worked out by who shows a card, `<at>…</at>` calls a person. */
function teamsText(text: string): string {
  return text
    .replace(/\{\{/g, "{\u200b{")
    .replace(/\$\{/g, "$\u200b{")
    .replace(/<(?=\/?at\b)/gi, "<\u200b");
}
