import { BINARY, NOT, type Node, PREDICATES, SIGN } from "./nodes.ts";
import { ExpressionError, type Token, tokens } from "./tokens.ts";

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
  if (source.length > LONGEST) throw new ExpressionError(`an expression may have at most ${LONGEST} characters`);
  const reader: Reader = { tokens: tokens(source), next: 0, depth: 0 };
  if (reader.tokens.length > MOST_PIECES) throw new ExpressionError(`an expression may have at most ${MOST_PIECES} words and signs`);
  const node = expression(reader, 0);
  const rest = peek(reader);
  if (rest.kind !== "end") throw new ExpressionError(`${JSON.stringify(String(rest.value))} is not expected`, rest.at);
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

function want(reader: Reader, sign: string): void {
  const token = take(reader);
  if (!isSign(token, sign)) throw new ExpressionError(`"${sign}" is expected${token.kind === "end" ? " before the end" : ""}`, token.at);
}

function expression(reader: Reader, least: number): Node {
  if (++reader.depth > DEEPEST) throw new ExpressionError("the expression nests too deeply", peek(reader).at);
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
  words: number;
}

function operator(reader: Reader): Operator | undefined {
  const token = peek(reader);
  if (token.kind !== "sign" && token.kind !== "name") return undefined;
  const negated = token.kind === "name" && token.value === "not";
  const second = peek(reader, 1);
  const op = negated && second.kind === "name" ? `not ${second.value}` : String(token.value);
  const plain = negated ? op.slice(4) : op;
  const power = Object.hasOwn(BINARY, plain) ? BINARY[plain] : undefined;
  if (power === undefined || (negated && power !== 20)) return undefined;
  return { op, power, words: negated ? 2 : 1 };
}

function binary(reader: Reader, left: Node, { op, power, words }: Operator): Node {
  const { at } = peek(reader);
  reader.next += words;
  if (op === "|") return pipe(reader, left);
  const rightBinds = op === "**" || op === "^";
  const right = expression(reader, rightBinds ? power : power + 1);
  if (op.startsWith("not ")) return { kind: "unary", op: "not", of: { kind: "binary", op: op.slice(4), left, right, at }, at };
  return { kind: "binary", op, left, right, at };
}

/** `x | f(y)` is `f(x, y)`. */
function pipe(reader: Reader, left: Node): Node {
  const token = take(reader);
  if (token.kind !== "name") throw new ExpressionError("a function is expected after |", token.at);
  const called = call(reader, token.value, token.at, [left]);
  return postfix(reader, called);
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
      return { kind: "list", items: several(reader, "]"), at };
    case "{":
      return map(reader, at);
    case "#":
      return { kind: "item", at };
    case ".": {
      // `.value` in a predicate is `#.value`.
      reader.next--;
      return { kind: "item", at };
    }
    default:
      throw new ExpressionError(token.kind === "end" ? "a value is expected before the end" : `"${token.value}" is not expected`, at);
  }
}

function several(reader: Reader, close: string): Node[] {
  const items: Node[] = [];
  while (!isSign(peek(reader), close)) {
    items.push(expression(reader, 0));
    if (isSign(peek(reader), ",")) reader.next++;
    else break;
  }
  want(reader, close);
  return items;
}

function map(reader: Reader, at: number): Node {
  const pairs: [Node, Node][] = [];
  while (!isSign(peek(reader), "}")) {
    const key = peek(reader);
    const name: Node =
      key.kind === "name" || key.kind === "string" || key.kind === "number"
        ? { kind: "literal", value: String(take(reader).value), at: key.at }
        : primary(reader);
    want(reader, ":");
    pairs.push([name, expression(reader, 0)]);
    if (isSign(peek(reader), ",")) reader.next++;
    else break;
  }
  want(reader, "}");
  return { kind: "map", pairs, at };
}

function call(reader: Reader, name: string, at: number, first: Node[]): Node {
  want(reader, "(");
  const args = [...first];
  while (!isSign(peek(reader), ")")) {
    const braced = PREDICATES.has(name) && args.length > 0 && isSign(peek(reader), "{");
    if (braced) reader.next++;
    args.push(expression(reader, 0));
    if (braced) want(reader, "}");
    if (isSign(peek(reader), ",")) reader.next++;
    else break;
  }
  want(reader, ")");
  return { kind: "call", name, args, at };
}

/** As expr-lang puts chains together: a name behind one goes on with it, an index does not, `?.[` begins one. */
function postfix(reader: Reader, start: Node): Node {
  let node = start;
  for (;;) {
    const token = peek(reader);
    const optional = isSign(token, "?.");
    if (optional && isSign(peek(reader, 1), "[")) {
      reader.next += 2;
      node = index(reader, node, token.at, true);
    } else if (isSign(token, ".") || optional) {
      reader.next++;
      const name = take(reader);
      if (name.kind !== "name") throw new ExpressionError("a name is expected after the dot", name.at);
      const key: Node = { kind: "literal", value: name.value, at: name.at };
      const goesOn = node.kind === "chain";
      const member: Node = { kind: "member", of: node.kind === "chain" ? node.of : node, key, optional, at: token.at };
      node = goesOn || optional ? { kind: "chain", of: member, at: token.at } : member;
    } else if (isSign(token, "[")) {
      reader.next++;
      node = index(reader, node, token.at, false);
    } else return node;
  }
}

function index(reader: Reader, of: Node, at: number, optional: boolean): Node {
  const from = isSign(peek(reader), ":") ? undefined : expression(reader, 0);
  if (isSign(peek(reader), ":")) {
    reader.next++;
    const to = isSign(peek(reader), "]") ? undefined : expression(reader, 0);
    want(reader, "]");
    return { kind: "slice", of, from, to, at };
  }
  want(reader, "]");
  if (from === undefined) throw new ExpressionError("an index is expected", at);
  const member: Node = { kind: "member", of, key: from, optional, at };
  return optional ? { kind: "chain", of: member, at } : member;
}
