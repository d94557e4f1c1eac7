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

/** As in expr-lang; a higher number binds tighter. */
export const BINARY: Record<string, number> = {
  "|": 0,
  or: 10,
  "||": 10,
  and: 15,
  "&&": 15,
  "==": 20,
  "!=": 20,
  "<": 20,
  ">": 20,
  "<=": 20,
  ">=": 20,
  in: 20,
  "not in": 20,
  contains: 20,
  startsWith: 20,
  endsWith: 20,
  matches: 20,
  "..": 25,
  "+": 30,
  "-": 30,
  "*": 60,
  "/": 60,
  "%": 60,
  "**": 100,
  "^": 100,
  "??": 500,
};
export const NOT = 50;
export const SIGN = 90;

/** Functions whose last argument is asked of each item: `{# > 1}`, or without braces. */
export const PREDICATES = new Set([
  "all",
  "any",
  "none",
  "one",
  "filter",
  "map",
  "count",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
  "sum",
]);
