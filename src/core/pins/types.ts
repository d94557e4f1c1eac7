/** Where a value stands. Offsets are UTF-16 indices into the text as given; line and column count from 1. */
export interface Found {
  /** The scalar as text: of `part` where one was asked for. null: absent or empty (only with `create`). */
  value: string | null;
  line: number;
  column: number;
  start: number;
  end: number;
}

/** One change of one file. */
export interface SpliceEdit {
  /** docs/spec.md §6 *Pin paths*: `a.b[0].c`, `[key=value]`, `["odd.key"]`, `#2/` prefix, `!` into a block scalar. */
  path: string;
  part?: "tag" | "digest" | "tag+digest" | "ref";
  create?: boolean;
  value: string;
}

export type PinErrorCode =
  | "PIN_PATH_SYNTAX"
  | "PIN_NOT_FOUND"
  | "PIN_AMBIGUOUS"
  | "PIN_NOT_SCALAR"
  | "PIN_SHARED_ANCHOR"
  | "PIN_DUPLICATE_KEY"
  | "PIN_IS_TEMPLATE"
  | "PIN_FILE_NOT_YAML"
  | "PIN_FILE_TOO_LARGE"
  | "PIN_ALIAS_BOMB"
  | "PIN_PART"
  | "PIN_VERIFY";

export interface PinError {
  code: PinErrorCode;
  message: string;
  /** What to do, one sentence. */
  hint: string;
  line?: number;
  column?: number;
}
