import type { Node } from "./ast.ts";
import type { Token } from "./lexer.ts";
import { TemplateError } from "./value.ts";

/** Where the parser stands. */
export interface Parser {
  tokens: Token[];
  at: number;
  named: Map<string, Node[]>;
  /** Names of variables in scope; `$` always is. */
  scope: string[];
  loops: number;
  /** Whether a name can be called. */
  known(name: string): boolean;
}

export function wordAt(parser: Parser): number {
  return parser.tokens[parser.at]?.type === "space" ? parser.at + 1 : parser.at;
}

export function peekWord(parser: Parser): string | undefined {
  const token = parser.tokens[wordAt(parser)];
  return token?.type === "word" ? token.text : undefined;
}

export function tryClose(parser: Parser): boolean {
  const at = wordAt(parser);
  if (parser.tokens[at]?.type !== "close") return false;
  parser.at = at + 1;
  return true;
}

export function expectClose(parser: Parser, context: string): void {
  if (!tryClose(parser)) throw new TemplateError(`unexpected ${describe(parser.tokens[wordAt(parser)])} in ${context}`);
}

export function skipSpace(parser: Parser): void {
  if (parser.tokens[parser.at]?.type === "space") parser.at++;
}

export function describe(token: Token | undefined): string {
  if (token === undefined) return "end of the template";
  return "text" in token ? JSON.stringify(token.text) : `<${token.type}>`;
}
