/** An expression, read. `at`: 0-based offset of the piece that made it. */
export type Node =
  | { kind: "literal"; value: number | string | boolean | null; at: number }
  | { kind: "name"; name: string; at: number }
  /** `#`: the item a predicate is asked of. */
  | { kind: "item"; at: number }
  | { kind: "list"; items: Node[]; at: number }
  | { kind: "map"; pairs: [Node, Node][]; at: number }
  | { kind: "member"; of: Node; key: Node; optional: boolean; at: number }
  /** All that stands behind the first `?.`: where that meets nil, the whole is nil. */
  | { kind: "chain"; of: Node; at: number }
  | { kind: "slice"; of: Node; from: Node | undefined; to: Node | undefined; at: number }
  | { kind: "unary"; op: string; of: Node; at: number }
  | { kind: "binary"; op: string; left: Node; right: Node; at: number }
  | { kind: "choice"; test: Node; yes: Node; no: Node; at: number }
  | { kind: "call"; name: string; args: Node[]; at: number };

/** Of operators that `not` may stand before, as in `not in`. */
export const COMPARES = 20;

/** As in expr-lang, by power: a higher number binds tighter. */
export const BINARY: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: "|",
    10: "or ||",
    15: "and &&",
    [COMPARES]: "== != < > <= >= in contains startsWith endsWith matches",
    25: "..",
    30: "+ -",
    60: "* / %",
    100: "** ^",
    500: "??",
  }).flatMap(([power, operators]) => operators.split(" ").map((op): [string, number] => [op, Number(power)])),
);
export const NOT = 50;
export const SIGN = 90;

/** Functions whose last argument is asked of each item: `{# > 1}`, or without braces. */
export const PREDICATES: ReadonlySet<string> = new Set(
  "all any none one filter map count find findIndex findLast findLastIndex sum".split(" "),
);
