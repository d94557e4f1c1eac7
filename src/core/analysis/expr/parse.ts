/**
 * Reads expr-lang into nodes, by the power of its operators. Whoever evaluates one walks it by recursion, so how deep and long it may be is
 * bounded here.
 */
import { BINARY, COMPARES, NOT, type Node, PREDICATES, SIGN, type Token, tokens } from "./syntax.ts";
import { fails } from "./values.ts";

/** Longest expression read, in characters, and how deep it may nest: what is longer is not a condition. */
const LONGEST = 4000;
const DEEPEST = 100;
/** Words and signs: how deep `a.b.c` and `1 + 2 + 3` may nest, which are read in a row and evaluated by recursion. */
const MOST_PIECES = 1000;

interface Reader {
  tokens: Token[];
  next: number;
  depth: number;
}

/** Reads one expression of expr-lang. Throws ExpressionError. */
export function parseExpression(source: string): Node {
  if (source.length > LONGEST) throw fails("EXPR_LONG", { most: LONGEST, of: "characters" });
  const reader: Reader = { tokens: tokens(source), next: 0, depth: 0 };
  if (reader.tokens.length > MOST_PIECES) throw fails("EXPR_LONG", { most: MOST_PIECES, of: "words and signs" });
  const node = expression(reader, 0);
  const rest = peek(reader);
  if (rest.kind !== "end") throw fails("EXPR_UNEXPECTED", { token: String(rest.value), at: rest.at });
  return node;
}

function peek(reader: Reader, ahead = 0): Token {
  return reader.tokens[reader.next + ahead] ?? { kind: "end", value: "", at: 0 };
}

function take(reader: Reader): Token {
  const token = peek(reader);
  reader.next++;
  return token;
}

function isSign(token: Token, value: string): boolean {
  return token.kind === "sign" && token.value === value;
}

/** Goes past a sign where it stands next. */
function takeSign(reader: Reader, sign: string): boolean {
  const isNext = isSign(peek(reader), sign);
  if (isNext) reader.next++;
  return isNext;
}

function want(reader: Reader, sign: string): void {
  const { kind, at } = peek(reader);
  if (!takeSign(reader, sign)) throw fails("EXPR_EXPECTED", { sign, atEnd: kind === "end", at });
}

function expression(reader: Reader, least: number): Node {
  if (++reader.depth > DEEPEST) throw fails("EXPR_DEEP", { at: peek(reader).at });
  let left = unary(reader);
  for (;;) {
    const found = operator(reader);
    if (found === undefined || found.power < least) break;
    left = binary(reader, left, found);
  }
  if (least === 0 && isSign(peek(reader), "?")) left = choice(reader, left);
  reader.depth--;
  return left;
}

interface Operator {
  op: string;
  power: number;
  /** `not in` and the like. */
  isDenied: boolean;
}

function operator(reader: Reader): Operator | undefined {
  const token = peek(reader);
  const isDenied = token.kind === "name" && token.value === "not";
  const { kind, value } = isDenied ? peek(reader, 1) : token;
  const power = kind === "sign" || kind === "name" ? BINARY.get(value) : undefined;
  return power === undefined || (isDenied && (power !== COMPARES || kind === "sign")) ? undefined : { op: String(value), power, isDenied };
}

function binary(reader: Reader, left: Node, { op, power, isDenied }: Operator): Node {
  const { at } = peek(reader);
  reader.next += isDenied ? 2 : 1;
  if (op === "|") return pipe(reader, left);
  const bindsRight = op === "**" || op === "^";
  const node: Node = { kind: "binary", op, left, right: expression(reader, bindsRight ? power : power + 1), at };
  return isDenied ? { kind: "unary", op: "not", of: node, at } : node;
}

/** `x | f(y)` is `f(x, y)`. */
function pipe(reader: Reader, left: Node): Node {
  const token = take(reader);
  if (token.kind !== "name") throw fails("EXPR_EXPECTED", { what: "function", at: token.at });
  return postfix(reader, call(reader, token.value, token.at, [left]));
}

function choice(reader: Reader, test: Node): Node {
  const { at } = take(reader);
  const yes = expression(reader, 0);
  want(reader, ":");
  return { kind: "choice", test, yes, no: expression(reader, 0), at };
}

function unary(reader: Reader): Node {
  const token = peek(reader);
  if (isSign(token, "!") || (token.kind === "name" && token.value === "not")) {
    reader.next++;
    return { kind: "unary", op: "not", of: expression(reader, NOT), at: token.at };
  }
  if (isSign(token, "-") || isSign(token, "+")) {
    reader.next++;
    return { kind: "unary", op: String(token.value), of: expression(reader, SIGN), at: token.at };
  }
  return postfix(reader, primary(reader));
}

const WORDS: Record<string, boolean | null> = { true: true, false: false, nil: null };

function primary(reader: Reader): Node {
  const token = take(reader);
  const { at } = token;
  if (token.kind === "number" || token.kind === "string") return { kind: "literal", value: token.value, at };
  if (token.kind === "name") {
    if (Object.hasOwn(WORDS, token.value)) return { kind: "literal", value: WORDS[token.value] ?? null, at };
    if (isSign(peek(reader), "(")) return call(reader, token.value, at, []);
    return { kind: "name", name: token.value, at };
  }
  switch (token.value) {
    case "(": {
      const inner = expression(reader, 0);
      want(reader, ")");
      return inner;
    }
    case "[":
      return { kind: "list", items: several(reader, "]", () => expression(reader, 0)), at };
    case "{":
      return { kind: "map", pairs: several(reader, "}", () => pair(reader)), at };
    case "#":
      return { kind: "item", at };
    case ".":
      // `.value` in a predicate is `#.value`.
      reader.next--;
      return { kind: "item", at };
    default:
      if (token.kind === "end") throw fails("EXPR_EXPECTED", { what: "value", at });
      throw fails("EXPR_UNEXPECTED", { token: token.value, at });
  }
}

/** What stands between commas, up to a sign that closes it. */
function several<T>(reader: Reader, close: string, read: () => T): T[] {
  const items: T[] = [];
  while (!isSign(peek(reader), close)) {
    items.push(read());
    if (!takeSign(reader, ",")) break;
  }
  want(reader, close);
  return items;
}

function pair(reader: Reader): [Node, Node] {
  const { kind, value, at } = peek(reader);
  const isPlain = kind === "name" || kind === "string" || kind === "number";
  const key: Node = isPlain ? { kind: "literal", value: String(value), at } : primary(reader);
  if (isPlain) reader.next++;
  want(reader, ":");
  return [key, expression(reader, 0)];
}

function call(reader: Reader, name: string, at: number, first: Node[]): Node {
  want(reader, "(");
  let isFirst = first.length === 0;
  const args = several(reader, ")", () => {
    const isBraced = PREDICATES.has(name) && !isFirst && takeSign(reader, "{");
    isFirst = false;
    const arg = expression(reader, 0);
    if (isBraced) want(reader, "}");
    return arg;
  });
  return { kind: "call", name, args: [...first, ...args], at };
}

/** As expr-lang puts chains together: a name behind one goes on with it, an index does not, `?.[` begins one. */
function postfix(reader: Reader, start: Node): Node {
  let node = start;
  for (;;) {
    const { at } = peek(reader);
    const optional = takeSign(reader, "?.");
    if (takeSign(reader, "[")) node = index(reader, node, at, optional);
    else if (optional || takeSign(reader, ".")) node = named(reader, node, at, optional);
    else return node;
  }
}

function named(reader: Reader, before: Node, at: number, optional: boolean): Node {
  const name = take(reader);
  if (name.kind !== "name") throw fails("EXPR_EXPECTED", { what: "name", at: name.at });
  const key: Node = { kind: "literal", value: name.value, at: name.at };
  const inChain = before.kind === "chain";
  const member: Node = { kind: "member", of: inChain ? before.of : before, key, optional, at };
  return inChain || optional ? { kind: "chain", of: member, at } : member;
}

function index(reader: Reader, of: Node, at: number, optional: boolean): Node {
  const from = isSign(peek(reader), ":") ? undefined : expression(reader, 0);
  if (takeSign(reader, ":")) {
    const to = isSign(peek(reader), "]") ? undefined : expression(reader, 0);
    want(reader, "]");
    return { kind: "slice", of, from, to, at };
  }
  want(reader, "]");
  if (from === undefined) throw fails("EXPR_EXPECTED", { what: "index", at });
  const member: Node = { kind: "member", of, key: from, optional, at };
  return optional ? { kind: "chain", of: member, at } : member;
}
