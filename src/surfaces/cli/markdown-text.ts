/** Markdown that the bot wrote, drawn for a terminal: tables as aligned columns, no marks, nothing that only GitHub draws. */
import { styleText } from "node:util";
import type { Nodes, Parents, RootContent, Table } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { fittedColumns, foldLine as foldedLine, visible } from "./print.ts";

interface Room {
  /** undefined: as wide as it is. */
  width?: number | undefined;
  colour?: boolean | undefined;
}

/** The bot writes no longer ones. */
const LONGEST = 70_000;

/** Quotes, lists and footnotes in one another. */
const DEEP = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t]|\[\^[^\]\n]{1,99}\]:)){20}/m;

/** Draws a text, with an empty line between its blocks and a line break at its end. Charts, hidden marks and folded parts are left out. */
export function markdownText(markdown: string, { width, colour = false }: Room = {}): string {
  const bare = markdown
    .slice(0, LONGEST)
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/<details>[\s\S]*?<\/details>/g, "");
  // A parser of nested blocks goes over each line for each of them: the bot nests none so deep.
  if (DEEP.test(bare)) return visible(bare);
  const { children } = fromMarkdown(bare, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return children
    .map((node) => block(node, { width, colour }))
    .filter((text) => text !== "")
    .join("\n");
}

function block(node: RootContent, room: Room): string {
  switch (node.type) {
    case "heading":
      return bold(folded(inline(node), room), room);
    case "table":
      return tableText(node, room);
    case "list":
      return node.children.map((item) => indented(item.children.map((child) => block(child, inner(room))).join(""), "• ")).join("");
    case "blockquote":
      return indented(node.children.map((child) => block(child, inner(room))).join("\n"), "  ");
    case "code":
      return node.lang === "mermaid" ? "" : indented(`${visible(node.value)}\n`, "  ");
    case "html":
    case "definition":
      return "";
    case "thematicBreak":
      return `${"─".repeat(Math.min(room.width ?? 40, 40))}\n`;
    default:
      return folded(inline(node), room);
  }
}

function inner({ width, colour }: Room): Room {
  return { width: width === undefined ? undefined : Math.max(10, width - 2), colour };
}

/** The text of what stands in a line. A link is its text: on the terminal its address would be most of it. */
function inline(node: Nodes): string {
  if (node.type === "html") return "";
  if (node.type === "break") return "\n";
  if (node.type === "image") return visible(node.alt ?? "");
  // The bot keeps numbers and names from becoming links by a character that nobody sees.
  if ("value" in node) return visible(node.value.replaceAll("\u200b", ""));
  return "children" in node ? (node as Parents).children.map(inline).join("") : "";
}

function tableText({ children: [head, ...rows] }: Table, room: Room): string {
  const cells = [head, ...rows].map((row) => (row?.children ?? []).map((cell) => inline(cell).replaceAll("\n", " ")));
  const isEmpty = cells[0]?.every((cell) => cell === "") === true;
  const shown = isEmpty ? [[""], ...cells.slice(1)] : [cells[0]?.map((cell) => cell.toUpperCase()) ?? [], ...cells.slice(1)];
  const text = fittedColumns(shown, room.width);
  return isEmpty ? text.replace(/^\n/, "") : text;
}

function folded(text: string, { width }: Room): string {
  const lines = text.split("\n");
  return lines
    .flatMap((line) => foldedLine(line, width))
    .map((line) => `${line}\n`)
    .join("");
}

/** The first line behind a mark, the others below its text. */
function indented(text: string, mark: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line, at) => `${line === "" ? "" : at === 0 ? mark : " ".repeat(mark.length)}${line}\n`)
    .join("");
}

function bold(text: string, { colour }: Room): string {
  return colour === true ? `${styleText("bold", text.trimEnd(), { validateStream: false })}\n` : text;
}
