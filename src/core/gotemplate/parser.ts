import type { Expr, Node, Pipe, Template } from "./ast.ts";
import { describe, expectClose, type Parser, peekWord, skipSpace, tryClose, wordAt } from "./cursor.ts";
import { lex, type Token } from "./lexer.ts";
import { parseNumber } from "./number.ts";
import { TemplateError } from "./value.ts";

/**
 * Parses Go's template language. Like Go it refuses unknown functions, undefined variables and unclosed blocks here,
 * before anything is executed.
 * @throws TemplateError
 */
export function parseTemplate(source: string, known: (name: string) => boolean): Template {
  const parser: Parser = { tokens: lex(source), at: 0, named: new Map(), scope: ["$"], loops: 0, known };
  const body = parseList(parser);
  if (body.end !== undefined) throw new TemplateError(`unexpected {{${body.end}}}`);
  return { body: body.nodes, named: parser.named };
}

interface List {
  nodes: Node[];
  /** The keyword that ended it; undefined: the template's end. */
  end: "end" | "else" | undefined;
}

function parseList(parser: Parser): List {
  const nodes: Node[] = [];
  for (;;) {
    const token = parser.tokens[parser.at++];
    if (token === undefined) return { nodes, end: undefined };
    if (token.type === "text") {
      nodes.push({ type: "text", text: token.text });
      continue;
    }
    const keyword = peekWord(parser);
    if (keyword === "end" || keyword === "else") {
      parser.at = wordAt(parser) + 1;
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
      parser.at = wordAt(parser) + 1;
      return parseControl(parser, keyword);
    case "define":
    case "block":
    case "template":
      parser.at = wordAt(parser) + 1;
      return parseNamed(parser, keyword);
    case "break":
    case "continue":
      parser.at = wordAt(parser) + 1;
      if (parser.loops === 0) throw new TemplateError(`{{${keyword}}} outside {{range}}`);
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
  if (body.end === undefined) throw new TemplateError(`unclosed {{${type}}}: an {{end}} is missing`);
  parser.scope.length = depth;
  return { type, pipe, body: body.nodes, otherwise };
}

function parseElse(parser: Parser, type: "if" | "with" | "range"): Node[] {
  const chained = peekWord(parser);
  if (chained !== undefined) {
    if (chained !== type || type === "range") throw new TemplateError(`{{else ${chained}}} does not belong to {{${type}}}`);
    parser.at = wordAt(parser) + 1;
    return [parseControl(parser, type)];
  }
  expectClose(parser, "else");
  const list = parseList(parser);
  if (list.end !== "end")
    throw new TemplateError(list.end === "else" ? "expected end; found {{else}}" : `unclosed {{${type}}}: an {{end}} is missing`);
  return list.nodes;
}

function parseNamed(parser: Parser, type: "define" | "block" | "template"): Node | undefined {
  const token = parser.tokens[wordAt(parser)];
  if (token?.type !== "string") throw new TemplateError(`{{${type}}} wants a quoted name`);
  parser.at = wordAt(parser) + 1;
  if (type === "template") {
    if (tryClose(parser)) return { type: "template", name: token.value };
    return { type: "template", name: token.value, pipe: parsePipe(parser, "close", "template clause") };
  }
  const pipe = type === "block" ? parsePipe(parser, "close", "block clause") : undefined;
  if (pipe === undefined) expectClose(parser, type);
  const outer = parser.scope;
  parser.scope = ["$"];
  const body = parseList(parser);
  parser.scope = outer;
  if (body.end !== "end") throw new TemplateError(`unclosed {{${type}}}: an {{end}} is missing`);
  parser.named.set(token.value, body.nodes);
  return pipe === undefined ? undefined : { type: "template", name: token.value, pipe };
}

function parsePipe(parser: Parser, end: "close" | "right", context: string): Pipe {
  const declared = parseDeclarations(parser, context);
  const commands: Expr[][] = [];
  for (;;) {
    const { args, stop } = parseCommand(parser, end, context);
    if (args.length === 0)
      throw new TemplateError(commands.length === 0 && stop !== "pipe" ? `missing value for ${context}` : `missing value in ${context}`);
    const first = args[0]?.type;
    if (commands.length > 0 && first !== undefined && ["bool", "dot", "nil", "number", "string"].includes(first)) {
      throw new TemplateError(`non executable command in pipeline stage ${commands.length + 1}`);
    }
    commands.push(args);
    if (stop === end) return { ...declared, commands };
  }
}

function parseDeclarations(parser: Parser, context: string): { variables: string[]; assigns: boolean } {
  const start = parser.at;
  const variables: string[] = [];
  for (;;) {
    skipSpace(parser);
    const token = parser.tokens[parser.at];
    if (token?.type !== "variable") break;
    parser.at++;
    skipSpace(parser);
    variables.push(token.text);
    const next = parser.tokens[parser.at];
    if (next?.type === "comma" && context === "range" && variables.length < 2) {
      parser.at++;
      continue;
    }
    if (next?.type !== "declare" && next?.type !== "assign") break;
    parser.at++;
    for (const name of variables) {
      if (next.type === "declare") parser.scope.push(name);
      else if (!parser.scope.includes(name)) throw new TemplateError(`undefined variable ${JSON.stringify(name)}`);
    }
    return { variables, assigns: next.type === "assign" };
  }
  parser.at = start;
  return { variables: [], assigns: false };
}

function parseCommand(parser: Parser, end: "close" | "right", context: string): { args: Expr[]; stop: "close" | "right" | "pipe" } {
  const args: Expr[] = [];
  for (;;) {
    skipSpace(parser);
    const token = parser.tokens[parser.at++];
    if (token?.type === "pipe" || token?.type === end) return { args, stop: token.type };
    if (token === undefined || token.type === "close" || token.type === "right") {
      throw new TemplateError(end === "right" ? "unclosed left paren" : "unexpected right paren");
    }
    args.push(withFields(parser, parseTerm(parser, token, context)));
    const next = parser.tokens[parser.at]?.type;
    if (next !== "space" && next !== "pipe" && next !== "right" && next !== "close") {
      throw new TemplateError(`unexpected ${describe(parser.tokens[parser.at])} in operand`);
    }
  }
}

function parseTerm(parser: Parser, token: Token, context: string): Expr {
  switch (token.type) {
    case "dot":
      return { type: "dot" };
    case "field":
      return { type: "field", path: [token.text.slice(1)] };
    case "variable":
      if (!parser.scope.includes(token.text)) throw new TemplateError(`undefined variable ${JSON.stringify(token.text)}`);
      return { type: "variable", name: token.text, path: [] };
    case "string":
      return { type: "string", value: token.value, source: token.text };
    case "number":
      return parseNumber(token.text);
    case "char":
      return { type: "number", value: token.text.codePointAt(0) ?? 0, isInt: true, isRune: true, source: `'${token.text}'` };
    case "left":
      return { type: "pipe", pipe: parsePipe(parser, "right", "parenthesized pipeline") };
    case "word":
      return parseWord(parser, token.text);
    default:
      throw new TemplateError(`unexpected ${describe(token)} in ${context}`);
  }
}

function parseWord(parser: Parser, word: string): Expr {
  if (word === "true" || word === "false") return { type: "bool", value: word === "true" };
  if (word === "nil") return { type: "nil" };
  if (!parser.known(word)) throw new TemplateError(`function ${JSON.stringify(word)} not defined`);
  return { type: "function", name: word };
}

/** Fields written right after an operand belong to it: `(index .a 0).name`. */
function withFields(parser: Parser, expr: Expr): Expr {
  const path: string[] = [];
  for (let next = parser.tokens[parser.at]; next?.type === "field"; next = parser.tokens[++parser.at]) path.push(next.text.slice(1));
  if (path.length === 0) return expr;
  if (expr.type === "field") return { type: "field", path: [...expr.path, ...path] };
  if (expr.type === "variable") return { ...expr, path };
  if (expr.type === "dot") return { type: "field", path };
  if (expr.type === "bool" || expr.type === "string" || expr.type === "number" || expr.type === "nil")
    throw new TemplateError(`unexpected . after a constant`);
  return { type: "chain", on: expr, path };
}
