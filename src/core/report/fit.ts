import { BODY_LIMIT } from "./escape.ts";

/** The hidden marker that a comment is found by stands before it. */
const MARKER_ROOM = 300;

/** What needs attention is put above it as it is sent. */
const LINE_ROOM = 1500;

/** What a comment of ours may have besides its marker. */
export const COMMENT_ROOM = BODY_LIMIT - MARKER_ROOM - LINE_ROOM;

/**
 * Returns the first of several ways to say a thing, each shorter, that has at most `limit` characters. Where even the last is too
 * long, its longest paragraphs are left out, with `instead` in place of the first of them. Whatever names and messages it holds, the
 * bound holds, and no paragraph, table or fold is cut in two.
 */
export function fitting<T>(limit: number, ways: readonly T[], say: (way: T) => readonly string[], instead: string): string {
  let parts: string[] = [];
  for (const way of ways) {
    parts = say(way).filter((part) => part !== "");
    const text = parts.join("\n\n");
    if (text.length <= limit) return text;
  }
  return withoutLongest(parts, limit, instead);
}

function withoutLongest(all: readonly string[], limit: number, instead: string): string {
  const parts = [...all];
  let said = false;
  for (;;) {
    const text = parts.join("\n\n");
    if (text.length <= limit) return text;
    const longest = parts.reduce((most, part, index) => (part.length > (parts[most]?.length ?? 0) ? index : most), 0);
    parts.splice(longest, 1, ...(said ? [] : [instead]));
    said = true;
  }
}
