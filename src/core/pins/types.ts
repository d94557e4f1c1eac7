import { position } from "../base/yaml-scan/model.ts";
import type { PinProblems, PinReason } from "../reasons/pins.ts";

/** Where a value stands. Offsets are UTF-16 indices into the text as given; line and column count from 1. */
export interface Found {
  /** The scalar as text: of `part` where one was asked for. null: absent or empty (only with `create`). */
  value: string | null;
  /** Of one that is absent: how many steps of its path would be written with it; left out: how it was could not be told afterwards. */
  made?: number;
  /** Others have it, too, by an anchor: only with `create` can it be said anew. */
  isShared?: true;
  line: number;
  column: number;
  start: number;
  end: number;
}

export type PinPart = "tag" | "digest" | "tag+digest" | "ref";

/** One change of one file. */
export interface SpliceEdit {
  /** docs/spec.md §6 *Pin paths*: `a.b[0].c`, `[key=value]`, `["odd.key"]`, `#2/` prefix, `!` into a block scalar. */
  path: string;
  part?: PinPart | undefined;
  create?: boolean | undefined;
  value: string;
}

/** Why a pin cannot be read or written, and where in the file. */
export type PinError = PinReason & { readonly line?: number | undefined; readonly column?: number | undefined };

export interface Refused {
  ok: false;
  error: PinError;
}

/** Returns the error of a code; `text` and `offset` are its place. */
export function pinError<Code extends keyof PinProblems>(code: Code, data: PinProblems[Code], text?: string, offset = 0): PinError {
  return { code, ...data, ...(text === undefined ? undefined : position(text, offset)) } as unknown as PinError;
}

export function refuse<Code extends keyof PinProblems>(code: Code, data: PinProblems[Code], text?: string, offset?: number): Refused {
  return { ok: false, error: pinError(code, data, text, offset) };
}
