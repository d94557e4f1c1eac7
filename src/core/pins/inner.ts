import type { ScalarNode } from "./model.ts";
import { scalarText } from "./scalar.ts";

/** The text that a literal block scalar holds, and where each of its characters stands in the file. */
export interface Inner {
  text: string;
  /** From an offset in `text` to one in the file. */
  outer(offset: number): number;
  /** Text to be inserted in the file, from text to be inserted in `text`. */
  indent(insert: string): string;
}

/** undefined: not a literal block scalar (`|`), so its characters do not stand in the file as they are read. */
export function openInner(file: string, node: ScalarNode): Inner | undefined {
  if (node.style !== "literal") return undefined;
  const text = scalarText(file, node);
  const inner = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) inner.push(at + 1);
  const outer: number[] = [];
  let line = file.indexOf("\n", node.start) + 1;
  const eol = file[line - 2] === "\r" ? "\r\n" : "\n";
  while (outer.length < inner.length) {
    const newline = file.indexOf("\n", line);
    const end = newline === -1 || newline >= node.end ? node.end : newline;
    const length = end - line - (file[end - 1] === "\r" ? 1 : 0);
    const start = line + Math.max(Math.min(node.bodyIndent, length), 0);
    const from = inner[outer.length] ?? 0;
    const to = (inner[outer.length + 1] ?? text.length + 1) - 1;
    if (file.slice(start, start + to - from) !== text.slice(from, to)) return undefined;
    outer.push(start);
    line = newline === -1 || newline >= node.end ? node.end : newline + 1;
  }
  const pad = " ".repeat(node.bodyIndent);
  return {
    text,
    outer(offset) {
      let low = 0;
      let high = inner.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((inner[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      return (outer[low] ?? node.start) + offset - (inner[low] ?? 0);
    },
    indent: (insert) => insert.replaceAll(/\r?\n(?=[^\r\n])/g, eol + pad).replaceAll(/(?<!\r)\n/g, eol),
  };
}
