/** A parsed template, in the shapes of Go's text/template/parse. */
export type Node =
  | { type: "text"; text: string }
  | { type: "action"; pipe: Pipe }
  | { type: "if" | "with"; pipe: Pipe; body: Node[]; otherwise: Node[] }
  | { type: "range"; pipe: Pipe; body: Node[]; otherwise: Node[] }
  | { type: "template"; name: string; pipe?: Pipe }
  | { type: "break" | "continue" };

export interface Pipe {
  /** `$x` names declared or assigned by this pipeline. */
  variables: string[];
  assigns: boolean;
  commands: Expr[][];
}

export type Expr =
  | { type: "dot" }
  | { type: "nil" }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string; source: string }
  | { type: "number"; value: number; isInt: boolean; isRune: boolean; source: string }
  | { type: "field"; path: string[] }
  | { type: "variable"; name: string; path: string[] }
  | { type: "function"; name: string }
  | { type: "pipe"; pipe: Pipe }
  | { type: "chain"; on: Expr; path: string[] };

export interface Template {
  body: Node[];
  /** By `define` and `block`. */
  named: ReadonlyMap<string, Node[]>;
}
