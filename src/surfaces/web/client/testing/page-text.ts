/** What a person reads on a screen of the page: a line for each block, marks by their tone, links with where they lead. */
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";

const BLOCK = /^(?:article|section|aside|header|div|form|p|h[1-4]|ul|ol|li|details|summary|dialog)$/;

export function pageText(screen: VNode): string {
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  const end = () => {
    const text = line.replace(/\s+/g, " ").trim();
    if (text !== "") lines.push(`${"  ".repeat(Math.max(0, depth - 2))}${text}`);
    line = "";
  };
  for (const [, close, tag = "", attributes = "", text] of renderToString(screen).matchAll(/<(\/?)([\w-]+)([^>]*?)\/?>|([^<]+)/g)) {
    if (text !== undefined) line += decoded(text);
    else if (BLOCK.test(tag)) {
      end();
      depth += close === "/" ? -1 : 1;
    } else if (close === "/" && (tag === "a" || tag === "button")) line += "] ";
    else line += close === "/" ? (tag === "svg" ? "" : " ") : openedBy(tag, attributes);
  }
  end();
  return lines.join("\n");
}

function openedBy(tag: string, attributes: string): string {
  const of = (name: string) => decoded(new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
  if (tag === "svg") return `(${/t-(\w+)/.exec(of("class"))?.[1]}) `;
  if (tag === "a") return ` [<${of("href")}> `;
  // What a cell says of itself is read aloud.
  if (tag === "button") return of("class") === "cell" ? ` [{${of("aria-label").replaceAll("\n", " | ")}} ` : " [";
  return "";
}

function decoded(html: string): string {
  return html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}
