import type { NameList } from "./cluster-entries.ts";
import { type Layout, lineEnd, type Op } from "./create.ts";
import { encodeLike, encodePlain } from "./encode.ts";
import type { PinNode, SeqNode } from "./model.ts";

/** Adds names at a list's end, quoted as its last one is. */
export function addItems(text: string, list: NameList, names: readonly string[], layout: Layout): Op {
  const { node } = list;
  const last = node.kind === "seq" ? node.items.at(-1) : undefined;
  const encoded = names.map((name) => encodeName(text, last, name, { ...layout, flow: node.kind !== "seq" || node.flow }));
  if (node.kind !== "seq") return insert(node.start, ` [${encoded.join(", ")}]`);
  if (last === undefined) return insert(node.start + 1, encoded.join(", "));
  if (node.flow) {
    const before = /[[,](\s*)$/.exec(text.slice(node.start, last.start))?.[1] ?? " ";
    const gap = before.includes("\n") ? before : " ";
    return insert(last.end, encoded.map((name) => `,${gap}${name}`).join(""));
  }
  const lead = `${layout.eol}${" ".repeat(node.column)}-${text.slice((node.dashes.at(-1) ?? 0) + 1, last.start)}`;
  return insert(lineEnd(text, last.end), encoded.map((name) => lead + name).join(""));
}

/** Takes names out. `instead`: the one name that stays where none would. */
export function removeItems(text: string, list: NameList, names: readonly string[], instead: string | undefined, layout: Layout): Op[] {
  const { node } = list;
  if (node.kind !== "seq") return [];
  const gone = node.items.flatMap((_, at) => (names.includes(list.texts[at] ?? "") ? [at] : []));
  const [first, ...others] = gone;
  const kept = first === undefined ? undefined : node.items[first];
  if (instead === undefined || first === undefined || kept === undefined) return cut(text, node, gone);
  const source = encodeName(text, kept, instead, { ...layout, flow: node.flow });
  return [{ start: kept.start, end: kept.end, text: source }, ...cut(text, node, others)];
}

function cut(text: string, node: SeqNode, gone: readonly number[]): Op[] {
  return gone.flatMap((at) => {
    const item = node.items[at];
    if (item === undefined) return [];
    return node.flow ? cutFlow(text, node, at, gone) : cutLine(text, node.dashes[at] ?? item.start, item.end);
  });
}

/** The item's own line goes, with the comment on it and the line break before it, so that a file without a last one stays so. */
function cutLine(text: string, dash: number, end: number): Op[] {
  const lineStart = text.lastIndexOf("\n", dash - 1) + 1;
  return [{ start: lineStart - (text[lineStart - 2] === "\r" ? 2 : 1), end: lineEnd(text, end), text: "" }];
}

/** With the comma and the space before it; those of the items that open the list, with what comes after them. */
function cutFlow(text: string, node: SeqNode, at: number, gone: readonly number[]): Op[] {
  const item = node.items[at];
  if (item === undefined) return [];
  const opens = gone.slice(0, at + 1).length === at + 1 && gone[at] === at;
  const next = node.items[at + 1];
  if (opens && next !== undefined) return [{ start: item.start, end: next.start, text: "" }];
  const previous = node.items[at - 1];
  const start = previous === undefined ? item.start : text.indexOf(",", previous.end);
  return [{ start, end: item.end, text: "" }];
}

function encodeName(text: string, like: PinNode | undefined, name: string, layout: Layout): string {
  if (like?.kind !== "scalar" || (like.style !== "single" && like.style !== "double")) return encodePlain(name, layout, undefined);
  return encodeLike(text, like, "", name, layout) ?? encodePlain(name, layout, undefined);
}

function insert(at: number, text: string): Op {
  return { start: at, end: at, text };
}
