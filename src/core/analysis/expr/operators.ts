import { type Budget, LONGEST, ofText, spend } from "./budget.ts";
import { ExpressionError } from "./tokens.ts";
import { compare, equal, isList, isMap, nameOf, type Value, wantNumber } from "./values.ts";

/** Two values and what stands between them, as expr-lang has it; not those that may leave their right side unread. Throws ExpressionError. */
export function operate(op: string, left: Value, right: Value, at: number, budget: Budget): Value {
  switch (op) {
    case "==":
      return equal(left, right, budget);
    case "!=":
      return !equal(left, right, budget);
    case "<":
      return compare(left, right, op, at, budget) < 0;
    case "<=":
      return compare(left, right, op, at, budget) <= 0;
    case ">":
      return compare(left, right, op, at, budget) > 0;
    case ">=":
      return compare(left, right, op, at, budget) >= 0;
    case "in":
      return within(left, right, at, budget);
    case "contains":
    case "startsWith":
    case "endsWith":
      return texts(left, right, op, at, budget);
    case "..":
      return range(wantNumber(left, "a range", at), wantNumber(right, "a range", at), at, budget);
    case "matches":
      throw new ExpressionError("`matches` is not available in the builtin engine; the argo-rollouts engine has it", at);
    default:
      return arithmetic(left, right, op, at);
  }
}

export function truth(value: Value, op: string, at: number): boolean {
  if (typeof value !== "boolean") throw new ExpressionError(`${op} wants true or false, not ${nameOf(value)}`, at);
  return value;
}

function within(left: Value, right: Value, at: number, budget: Budget): boolean {
  if (right === null) return false;
  if (isList(right)) return right.some((item) => equal(left, item, budget));
  if (isMap(right)) return typeof left === "string" && Object.hasOwn(right, left);
  throw new ExpressionError(`in wants a list or a map, not ${nameOf(right)}`, at);
}

function texts(left: Value, right: Value, op: "contains" | "startsWith" | "endsWith", at: number, budget: Budget): boolean {
  if (typeof left !== "string" || typeof right !== "string")
    throw new ExpressionError(`${op} wants two texts, not ${nameOf(left)} and ${nameOf(right)}`, at);
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
  for (let i = 1, k = 0; i < wanted.length; i++) {
    while (k > 0 && wanted.charCodeAt(i) !== wanted.charCodeAt(k)) k = back[k - 1] ?? 0;
    if (wanted.charCodeAt(i) === wanted.charCodeAt(k)) k++;
    back[i] = k;
  }
  for (let i = 0, k = 0; i < text.length; i++) {
    while (k > 0 && text.charCodeAt(i) !== wanted.charCodeAt(k)) k = back[k - 1] ?? 0;
    if (text.charCodeAt(i) === wanted.charCodeAt(k)) k++;
    if (k === wanted.length) return true;
  }
  return false;
}

function range(from: number, to: number, at: number, budget: Budget): Value {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) throw new ExpressionError("a range wants whole numbers", at);
  if (to - from >= LONGEST) throw new ExpressionError("the range is too long", at);
  const length = Math.max(0, to - from + 1);
  spend(budget, length);
  return Array.from({ length }, (_, i) => from + i);
}

function arithmetic(left: Value, right: Value, op: string, at: number): Value {
  if (op === "+" && typeof left === "string" && typeof right === "string") {
    if (left.length + right.length > LONGEST) throw new ExpressionError("the text is too long", at);
    return left + right;
  }
  const a = wantNumber(left, `what stands before ${op}`, at);
  const b = wantNumber(right, `what stands after ${op}`, at);
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      if (!Number.isInteger(a) || !Number.isInteger(b)) throw new ExpressionError("% wants whole numbers", at);
      if (b === 0) throw new ExpressionError("division by zero", at);
      return a % b;
    default:
      return a ** b;
  }
}
