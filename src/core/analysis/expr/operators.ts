import { type Budget, equal, fails, isList, isMap, LONGEST, ofText, outline, spend, type Value, wantNumber } from "./values.ts";

/** Two values and what stands between them, as expr-lang has it; not those that may leave their right side unread. Throws ExpressionError. */
export function operate(op: string, left: Value, right: Value, at: number, budget: Budget): Value {
  if (Object.hasOwn(ORDERS, op)) return ORDERS[op]?.(compare(left, right, op, at, budget)) ?? false;
  switch (op) {
    case "==":
      return equal(left, right, budget);
    case "!=":
      return !equal(left, right, budget);
    case "in":
      return isIn(left, right, at, budget);
    case "contains":
    case "startsWith":
    case "endsWith":
      return texts(left, right, op, at, budget);
    case "..":
      return range(wantNumber(left, "range", at), wantNumber(right, "range", at), at, budget);
    case "matches":
      throw fails("EXPR_MATCHES", { at });
    default:
      return arithmetic(left, right, op, at);
  }
}

const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

export function truth(value: Value, op: string, at: number): boolean {
  if (typeof value !== "boolean") throw fails("EXPR_NO_BOOLEAN", { op, is: outline(value), at });
  return value;
}

/** Below, at or above 0; NaN compared with anything gives NaN, which is none of them. Numbers with numbers, texts with texts. */
export function compare(a: Value, b: Value, op: string, at: number, budget: Budget): number {
  spend(budget, 1);
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
    return a === b ? 0 : a < b ? -1 : 1;
  }
  if (typeof a === "string" && typeof b === "string") {
    spend(budget, ofText(Math.min(a.length, b.length)));
    return a === b ? 0 : a < b ? -1 : 1;
  }
  throw fails("EXPR_INCOMPARABLE", { left: outline(a), op, right: outline(b), at });
}

function isIn(left: Value, right: Value, at: number, budget: Budget): boolean {
  if (right === null) return false;
  if (isList(right)) return right.some((item) => equal(left, item, budget));
  if (isMap(right)) return typeof left === "string" && Object.hasOwn(right, left);
  throw fails("EXPR_IN", { is: outline(right), at });
}

function texts(left: Value, right: Value, op: "contains" | "startsWith" | "endsWith", at: number, budget: Budget): boolean {
  if (typeof left !== "string" || typeof right !== "string")
    throw fails("EXPR_NO_TEXTS", { op, left: outline(left), right: outline(right), at });
  spend(budget, ofText(left.length + right.length));
  if (op === "contains") return contains(left, right, budget);
  return op === "startsWith" ? left.startsWith(right) : left.endsWith(right);
}

/** Below this many comparisons at the very most, the platform's own search is quick enough. */
const QUICK = 1_000_000;

/** The platform's search may take length × length on texts made for it; Knuth, Morris and Pratt's takes their sum. */
function contains(text: string, wanted: string, budget: Budget): boolean {
  if (text.length * wanted.length <= QUICK) return text.includes(wanted);
  spend(budget, (text.length + wanted.length) / 8);
  const back = new Int32Array(wanted.length);
  /** How much of what is wanted ends here, when so much of it ended one character before. */
  const goOn = (matched: number, code: number): number => {
    let k = matched;
    while (k > 0 && code !== wanted.charCodeAt(k)) k = back[k - 1] ?? 0;
    return code === wanted.charCodeAt(k) ? k + 1 : k;
  };
  for (let i = 1, k = 0; i < wanted.length; i++) {
    k = goOn(k, wanted.charCodeAt(i));
    back[i] = k;
  }
  for (let i = 0, k = 0; i < text.length; i++) {
    k = goOn(k, text.charCodeAt(i));
    if (k === wanted.length) return true;
  }
  return false;
}

function range(from: number, to: number, at: number, budget: Budget): Value {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) throw fails("EXPR_WHOLE", { of: "range", at });
  if (to - from >= LONGEST) throw fails("EXPR_TOO_LONG", { what: "range", at });
  const length = Math.max(0, to - from + 1);
  spend(budget, length);
  return Array.from({ length }, (_, i) => from + i);
}

function arithmetic(left: Value, right: Value, op: string, at: number): Value {
  if (op === "+" && typeof left === "string" && typeof right === "string") {
    if (left.length + right.length > LONGEST) throw fails("EXPR_TOO_LONG", { what: "text", at });
    return left + right;
  }
  const a = wantNumber(left, { before: op }, at);
  const b = wantNumber(right, { after: op }, at);
  if (op === "%" && !(Number.isInteger(a) && Number.isInteger(b))) throw fails("EXPR_WHOLE", { of: op, at });
  if (op === "%" && b === 0) throw fails("EXPR_DIVISION", { at });
  return ARITHMETIC[op]?.(a, b) ?? a ** b;
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};
