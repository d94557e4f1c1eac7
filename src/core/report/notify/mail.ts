/** Messages as e-mail: plain text and HTML of the same words. What one run is told of stands in one thread. */
import { html } from "../escape.ts";
import { type Notice, runKey } from "./notice.ts";

interface Mail {
  subject: string;
  text: string;
  html: string;
  /** The same however often it is sent. */
  messageId: string;
  /** The message it answers: absent for one of no run. */
  references?: string | undefined;
  headers: Record<string, string>;
}

/** `hash`: of a text, short and safe in a header. `from`: whose domain ids are of. */
export function mailOf(notice: Notice, from: string, hash: (text: string) => string): Mail {
  const { title, lines, links, repository } = notice;
  const domain = /@([a-z0-9.-]+)>?\s*$/i.exec(from)?.[1] ?? "stagecoach.invalid";
  const idOf = (text: string) => `<${hash(text)}@${domain}>`;
  const key = runKey(notice);
  return {
    subject: header(`[${repository}] ${title}`),
    text: `${[title, "", ...lines, "", ...links.map(({ name, url }) => `${name}: ${url}`), "", repository].join("\n")}\n`,
    html: htmlOf(notice),
    messageId: idOf(`${repository} ${notice.id}`),
    references: key === undefined ? undefined : idOf(key),
    // RFC 3834: nobody's absence is answered to it.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

function htmlOf({ title, lines, links, repository }: Notice): string {
  const anchors = links.map(({ name, url }) => `<a href="${html(url, 2000)}">${html(name)}</a>`);
  const paragraphs = [`<h3>${html(title)}</h3>`, ...lines.map((line) => `<p>${html(line, 1000)}</p>`)];
  return [...paragraphs, `<p>${[...anchors, html(repository)].join(" · ")}</p>`].join("\n");
}

function header(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").slice(0, 250);
}
