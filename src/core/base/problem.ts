/** One finding about a file people wrote: what was seen, where, and what to do about it. */
export interface Problem {
  /** Stable, e.g. `UNKNOWN_KEY`. Listed in the reference. */
  code: string;
  severity: "error" | "warning";
  message: string;
  /** The next step, one sentence. */
  hint: string;
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** Keys and indices down to the value; empty for the file as a whole. */
  path: (string | number)[];
}

/** A finding before it is placed in a file: `path` is the place. */
export interface Finding {
  code: string;
  severity?: "warning";
  message: string;
  hint: string;
  path: (string | number)[];
  /** The key itself is meant, not its value. */
  atKey?: boolean;
}

const MARK = "\u0001";

/** Packs a code and a hint into a message of zod, which carries text only; `unsay` takes it apart. */
export function say(code: string, message: string, hint: string): string {
  return [code, message, hint].join(MARK);
}

export function unsay(text: string): { code: string; message: string; hint: string } | undefined {
  const [code, message, hint] = text.split(MARK);
  return code === undefined || message === undefined || hint === undefined ? undefined : { code, message, hint };
}

/** How a value looks to the person who wrote it, cut short. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = typeof value === "string" ? `"${value}"` : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
