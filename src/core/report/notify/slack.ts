/**
 * Messages as Slack takes them (docs.slack.dev, Block Kit). Texts of others are escaped as Slack asks, `&`, `<` and `>`, so that nothing in them
 * is a link, or calls a channel or a person.
 */
import type { Notice, RunCard } from "./notice.ts";

interface Mrkdwn {
  type: "mrkdwn";
  text: string;
  /** What looks like an address or a name is made no link. */
  verbatim: true;
}

type Block =
  | { type: "header"; text: { type: "plain_text"; text: string; emoji: false } }
  | { type: "section"; text: Mrkdwn }
  | { type: "context"; elements: Mrkdwn[] };

/** Fields of `chat.postMessage`, `chat.update` and incoming webhooks alike. */
interface SlackMessage {
  text: string;
  blocks: Block[];
}

const SIGNS = { good: "✅", busy: "🚚", warn: "✋", bad: "❌", dim: "⚪" } as const;
/** Slack's own limits: of a section, and of a header. */
const MOST_TEXT = 3000;
const MOST_HEADER = 150;

export function slackMessage(notice: Pick<Notice, "title" | "tone" | "lines" | "links" | "repository">): SlackMessage {
  const { title, tone, lines, links, repository } = notice;
  // Of plain text it is written nowhere whether escapes count in it.
  const head = `${SIGNS[tone]} ${title.replace(/</g, "‹").replace(/>/g, "›")}`;
  const header = head.length > MOST_HEADER ? `${head.slice(0, MOST_HEADER - 1)}…` : head;
  const footer = [slackText(repository), ...links.map(({ name, url }) => `<${slackUrl(url)}|${slackText(name)}>`)];
  return {
    // What a phone shows before the message is opened.
    text: slackText(`${head} (${repository})`),
    blocks: [
      { type: "header", text: { type: "plain_text", text: header, emoji: false } },
      ...(lines.length === 0 ? [] : [{ type: "section" as const, text: mrkdwn(fitting(lines.map(slackText), MOST_TEXT).join("\n")) }]),
      { type: "context", elements: [mrkdwn(fitting(footer, MOST_TEXT).join(" · "))] },
    ],
  };
}

export function slackCard(card: RunCard, repository: string): SlackMessage {
  return slackMessage({ ...card, repository });
}

function mrkdwn(text: string): Mrkdwn {
  return { type: "mrkdwn", text, verbatim: true };
}

/** Whole ones only: half an escape, or half a link, would be another text. */
function fitting(parts: readonly string[], most: number): string[] {
  let left = most;
  return parts.filter((part) => {
    left -= part.length + 3;
    return left > 0;
  });
}

/** Text in which Slack finds neither a link nor a mention. */
function slackText(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function slackUrl(url: string): string {
  return slackText(url).replace(/\|/g, "%7C");
}
