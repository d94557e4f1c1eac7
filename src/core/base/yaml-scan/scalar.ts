import { parseDocument } from "yaml";
import type { ScalarNode } from "./model.ts";

/** A scalar as text, whatever type a reader makes of it: `1.10` is "1.10". Rare forms are decoded by the `yaml` package. */
export function scalarText(text: string, node: ScalarNode): string {
  const { start, end, style } = node;
  if (style === "empty") return "";
  const source = text.slice(start, end);
  if (style === "plain") return source.includes("\n") ? decode(source) : source;
  if (style === "single" || style === "double") return keyText(text, start, end);
  return decode(blockSource(source, node));
}

/** Decodes a plain or quoted scalar that stands at these offsets. */
export function keyText(text: string, start: number, end: number): string {
  const first = text.charCodeAt(start);
  if (first !== 34 && first !== 39) return text.slice(start, end);
  const inner = text.slice(start + 1, end - 1);
  if (inner.includes("\n")) return decode(text.slice(start, end));
  if (first === 39) return inner.includes("'") ? inner.replaceAll("''", "'") : inner;
  return inner.includes("\\") ? decode(text.slice(start, end)) : inner;
}

/** An explicit indentation in the header counts from the parent's column, which is lost when the scalar stands alone. */
function blockSource(source: string, node: ScalarNode): string {
  const newline = source.indexOf("\n");
  const header = newline === -1 ? source : source.slice(0, newline);
  const digit = /^[|>][-+]?[1-9]/.test(header) || /^[|>][1-9]/.test(header);
  if (!digit) return source;
  const body = source
    .slice(newline + 1)
    .split("\n")
    .map((line) => (line.trim() === "" && line.length <= node.bodyIndent ? "" : ` ${line.slice(node.bodyIndent)}`))
    .join("\n");
  return `${header.replace(/[1-9]/, "1")}\n${body}`;
}

function decode(source: string): string {
  const document = parseDocument(source, { schema: "failsafe", logLevel: "silent", prettyErrors: false });
  const value: unknown = document.toJS();
  return typeof value === "string" ? value : "";
}
