import { scalarNode, type YamlNode } from "./model.ts";
import { BAIL, type Cursor, nextContent, skipSpaces } from "./scan-cursor.ts";

/** `|` or `>` without an explicit indentation: its content's column is that of its first line that is not blank. */
export function scanBlockScalar(c: Cursor, at: number, parent: number): YamlNode {
  const { text } = c;
  const header = /[|>][-+]?[ ]*(?:(?<= )#[^\n]*)?(?=\r?\n|$)/y;
  header.lastIndex = at;
  const match = header.exec(text);
  if (match === null) throw BAIL;
  const style = text.charCodeAt(at) === 124 ? "literal" : "folded";
  const keep = text[at + 1] === "+";
  let line = text.indexOf("\n", at) + 1;
  let end = line === 0 ? text.length : line;
  let indent = -1;
  let blanks = 0;
  while (line > 0 && line < text.length) {
    const first = skipSpaces(c, line);
    const next = text.indexOf("\n", line) + 1 || text.length;
    const code = text.charCodeAt(first);
    if (first >= text.length) throw BAIL;
    if (code === 10 || (code === 13 && text.charCodeAt(first + 1) === 10)) {
      if (indent === -1) blanks = Math.max(blanks, first - line);
      if (keep || (indent !== -1 && first - line > indent)) end = next;
    } else if (indent === -1 && first - line > parent) {
      indent = first - line;
      if (blanks > indent || code === 9 || (indent === 0 && isMarker(text, line))) throw BAIL;
      end = next;
    } else if (first - line < indent || indent === -1) {
      if (first - line > parent) throw BAIL;
      break;
    } else {
      if (indent === 0 && isMarker(text, line)) break;
      end = next;
    }
    line = next;
  }
  if (indent === -1) throw BAIL;
  nextContent(c, line > 0 ? line : text.length);
  return scalarNode(style, at, end, indent);
}

function isMarker(text: string, at: number): boolean {
  return text.startsWith("---", at) || text.startsWith("...", at);
}
