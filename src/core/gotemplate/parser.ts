/**
 * Parses Go's template language into the shapes of text/template/parse. Like Go it refuses unknown functions, undefined variables and unclosed
 * blocks here, before anything is executed.
 */
import { lex, readNumber, type Token, unquote } from "./lexer.ts";
import { fails } from "./value.ts";

export type Node =
  | { type: "text"; text: string }
  | { type: "action"; pipe: Pipe }
  | { type: "if" | "with" | "range"; pipe: Pipe; body: Node[]; otherwise: Node[] }
  | { type: "template"; name: string; pipe?: Pipe }
  | { type: "break" | "continue" };

export interface Pipe {
  /** `$x` names declared or assigned by this pipeline. */
  variables: string[];
  assigns: boolean;
  commands: [Expr, ...Expr[]][];
}

export type Constant =
  | { type: "nil"; source: string }
  | { type: "bool"; value: boolean; source: string }
  | { type: "string"; value: string; source: string }
  | { type: "number"; value: number; isInt: boolean; isRune: boolean; source: string };

export type Expr =
  | Constant
  | { type: "dot" }
  | { type: "field"; path: string[] }
  | { type: "variable"; name: string; path: string[] }
  | { type: "function"; name: string }
  | { type: "pipe"; pipe: Pipe }
  | { type: "chain"; on: Expr; path: string[] };

interface Parser {
  tokens: Token[];
  at: number;
  named: Map<string, Node[]>;
  /** Names of variables in scope; `$` always is. */
  scope: string[];
  loops: number;
  isKnown(name: string): boolean;
}

/** Returns the template, and those that `define` and `block` name in it. @throws TemplateError */
export function parseTemplate(source: string, isKnown: (name: string) => boolean): { body: Node[]; named: ReadonlyMap<string, Node[]> } {
  const parser: Parser = { tokens: lex(source), at: 0, named: new Map(), scope: ["$"], loops: 0, isKnown };
  const { nodes, end } = parseList(parser);
  if (end !== undefined) throw fails("GO_STRAY", { what: `{{${end}}}` });
  return { body: nodes, named: parser.named };
}

/** Returns the next token that is no space, and stands before it. */
function peek(parser: Parser): Token | undefined {
  if (parser.tokens[parser.at]?.type === "space") parser.at++;
  return parser.tokens[parser.at];
}

/** Goes past the next token where it is of this type. */
function take(parser: Parser, type: Token["type"]): Token | undefined {
  const token = peek(parser);
  if (token?.type !== type) return undefined;
  parser.at++;
  return token;
}

function expectClose(parser: Parser, context: string): void {
  if (take(parser, "close") === undefined) throw fails("GO_UNEXPECTED", { token: peek(parser)?.text, in: context });
}

/** `end`: the keyword that ended the list; undefined: the template's end. */
function parseList(parser: Parser): { nodes: Node[]; end: "end" | "else" | undefined } {
  const nodes: Node[] = [];
  for (;;) {
    const token = parser.tokens[parser.at++];
    if (token === undefined) return { nodes, end: undefined };
    if (token.type === "text") {
      nodes.push({ type: "text", text: token.text });
      continue;
    }
    const next = peek(parser);
    const keyword = next?.type === "word" ? next.text : undefined;
    if (keyword === "end" || keyword === "else") {
      parser.at++;
      if (keyword === "end") expectClose(parser, "end");
      return { nodes, end: keyword };
    }
    const node = parseAction(parser, keyword);
    if (node !== undefined) nodes.push(node);
  }
}

function parseAction(parser: Parser, keyword: string | undefined): Node | undefined {
  switch (keyword) {
    case "if":
    case "with":
    case "range":
      parser.at++;
      return parseControl(parser, keyword);
    case "define":
    case "block":
    case "template":
      parser.at++;
      return parseNamed(parser, keyword);
    case "break":
    case "continue":
      parser.at++;
      if (parser.loops === 0) throw fails("GO_OUTSIDE_RANGE", { word: keyword });
      expectClose(parser, keyword);
      return { type: keyword };
    default:
      return { type: "action", pipe: parsePipe(parser, "close", "command") };
  }
}

function parseControl(parser: Parser, type: "if" | "with" | "range"): Node {
  const depth = parser.scope.length;
  const pipe = parsePipe(parser, "close", type);
  if (type === "range") parser.loops++;
  const body = parseList(parser);
  if (type === "range") parser.loops--;
  const otherwise = body.end === "else" ? parseElse(parser, type) : [];
  if (body.end === undefined) throw fails("GO_NO_END", { block: type });
  parser.scope.length = depth;
  return { type, pipe, body: body.nodes, otherwise };
}

function parseElse(parser: Parser, type: "if" | "with" | "range"): Node[] {
  const chained = take(parser, "word")?.text;
  if (chained !== undefined) {
    if (chained !== type || type === "range") throw fails("GO_FOREIGN_ELSE", { word: chained, block: type });
    return [parseControl(parser, type)];
  }
  expectClose(parser, "else");
  const { nodes, end } = parseList(parser);
  if (end === "else") throw fails("GO_SECOND_ELSE");
  if (end === undefined) throw fails("GO_NO_END", { block: type });
  return nodes;
}

function parseNamed(parser: Parser, type: "define" | "block" | "template"): Node | undefined {
  const token = take(parser, "string");
  if (token === undefined) throw fails("GO_NO_NAME", { word: type });
  const name = unquote(token.text);
  if (type === "template" && take(parser, "close") !== undefined) return { type, name };
  const pipe = type === "define" ? undefined : parsePipe(parser, "close", `${type} clause`);
  if (pipe === undefined) expectClose(parser, type);
  else if (type === "template") return { type, name, pipe };
  const outer = parser.scope;
  parser.scope = ["$"];
  const { nodes, end } = parseList(parser);
  parser.scope = outer;
  if (end !== "end") throw fails("GO_NO_END", { block: type });
  parser.named.set(name, nodes);
  return pipe === undefined ? undefined : { type: "template", name, pipe };
}

function parsePipe(parser: Parser, end: "close" | "right", context: string): Pipe {
  const declared = parseDeclarations(parser, context);
  const commands: Pipe["commands"] = [];
  for (;;) {
    const [first, ...args] = parseCommand(parser, end, context);
    const stop = parser.tokens[parser.at++]?.type;
    if (first === undefined) throw fails("GO_MISSING_VALUE", { in: context, last: commands.length === 0 && stop === end });
    if (commands.length > 0 && ("source" in first || first.type === "dot"))
      throw fails("GO_NOT_EXECUTABLE", { stage: commands.length + 1 });
    commands.push([first, ...args]);
    if (stop === end) return { ...declared, commands };
  }
}

function parseDeclarations(parser: Parser, context: string): Omit<Pipe, "commands"> {
  const start = parser.at;
  const variables: string[] = [];
  for (let token = take(parser, "variable"); token !== undefined; token = take(parser, "variable")) {
    variables.push(token.text);
    if (context === "range" && variables.length < 2 && take(parser, "comma") !== undefined) continue;
    const next = take(parser, "declare") ?? take(parser, "assign");
    if (next === undefined) break;
    for (const name of variables) {
      if (next.type === "declare") parser.scope.push(name);
      else checkVariable(parser, name);
    }
    return { variables, assigns: next.type === "assign" };
  }
  parser.at = start;
  return { variables: [], assigns: false };
}

function checkVariable(parser: Parser, name: string): void {
  if (!parser.scope.includes(name)) throw fails("GO_UNKNOWN_VARIABLE", { name });
}

/** Reads operands up to a pipe or the end of the pipeline, and stands before that. */
function parseCommand(parser: Parser, end: "close" | "right", context: string): Expr[] {
  const args: Expr[] = [];
  for (;;) {
    const token = peek(parser);
    if (token?.type === "pipe" || token?.type === end) return args;
    if (token === undefined || token.type === "close" || token.type === "right")
      throw end === "right" ? fails("GO_UNCLOSED", { what: "left paren" }) : fails("GO_STRAY", { what: "right paren" });
    parser.at++;
    args.push(withFields(parser, parseTerm(parser, token, context)));
    const next = parser.tokens[parser.at];
    if (next === undefined || !["space", "pipe", "right", "close"].includes(next.type))
      throw fails("GO_UNEXPECTED", { token: next?.text, in: "operand" });
  }
}

function parseTerm(parser: Parser, { type, text }: Token, context: string): Expr {
  switch (type) {
    case "dot":
      return { type };
    case "field":
      return { type, path: [text.slice(1)] };
    case "variable":
      checkVariable(parser, text);
      return { type, name: text, path: [] };
    case "string":
      return { type, value: unquote(text), source: text };
    case "number":
      return { type, ...readNumber(text), isRune: false, source: text };
    case "char":
      return { type: "number", value: unquote(text).codePointAt(0) ?? 0, isInt: true, isRune: true, source: text };
    case "left":
      return { type: "pipe", pipe: parsePipe(parser, "right", "parenthesized pipeline") };
    case "word":
      if (text === "true" || text === "false") return { type: "bool", value: text === "true", source: text };
      if (text === "nil") return { type: text, source: text };
      if (!parser.isKnown(text)) throw fails("GO_UNKNOWN_FUNCTION", { name: text });
      return { type: "function", name: text };
    default:
      throw fails("GO_UNEXPECTED", { token: text, in: context });
  }
}

/** Fields written right after an operand belong to it: `(index .a 0).name`. */
function withFields(parser: Parser, expr: Expr): Expr {
  const path: string[] = [];
  for (let next = parser.tokens[parser.at]; next?.type === "field"; next = parser.tokens[++parser.at]) path.push(next.text.slice(1));
  if (path.length === 0) return expr;
  if (expr.type === "field") return { type: "field", path: [...expr.path, ...path] };
  if (expr.type === "variable") return { ...expr, path };
  if (expr.type === "dot") return { type: "field", path };
  if ("source" in expr) throw fails("GO_STRAY", { what: ". after a constant" });
  return { type: "chain", on: expr, path };
}
