import { defined } from "./defined.ts";

/**
 * A reason is a code with data: why something waits, is refused, failed or was done. Nothing of the core writes sentences; the codes of
 * each room are declared in `core/reasons/`, and `core/report/reasons/` says them. It stands in the journal as it is.
 */
export interface AnyReason {
  readonly code: string;
  readonly [field: string]: unknown;
}

/** Of a code that says all by itself. */
export type NoData = Record<never, never>;

/** The reasons that a table of codes declares: `{ Shut: { where: string } }` gives `{ code: "Shut"; where: string }`. */
export type ReasonsOf<Table> = { [Code in keyof Table & string]: { readonly code: Code } & Readonly<Table[Code]> }[keyof Table & string];

/** The kinds within one code: `{ Shut: { where: string } }` gives `{ kind: "Shut"; where: string }`. */
export type KindsOf<Table> = { [Kind in keyof Table & string]: { readonly kind: Kind } & Readonly<Table[Kind]> }[keyof Table & string];

type Data<Reason> = keyof Reason extends never ? [] : [data: Readonly<Reason>];

/** Returns what makes the reasons of a table: `gate("SHUT", { where })`, where the compiler checks the data of each code. What is undefined is left out. */
export function reasonsOf<Table>() {
  return <Code extends keyof Table & string>(code: Code, ...[data]: Data<Table[Code]>) => {
    const reason: AnyReason = { code, ...data };
    // Thousands are made in a round: most have nothing to leave out, and need no other copy.
    return (lacksValue(reason) ? defined(reason) : reason) as { readonly code: Code } & Readonly<Table[Code]>;
  };
}

function lacksValue(reason: AnyReason): boolean {
  for (const key in reason) if (reason[key] === undefined) return true;
  return false;
}

/** Says whether two reasons are the same code with the same data. */
export function sameReason(a: AnyReason | undefined, b: AnyReason | undefined): boolean {
  return isSame(a, b);
}

/** Compares plain data, as reasons are: texts, numbers, lists and objects of these. A key that is undefined is as one that is not there. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(one);
  let defined = 0;
  for (const key of keys) {
    const value = one[key];
    if (value !== other[key] && !isSame(value, other[key])) return false;
    if (value !== undefined) defined++;
  }
  const others = Object.keys(other);
  if (others.length === defined) return true;
  for (const key of others) if (other[key] !== undefined) defined--;
  return defined === 0;
}

/** Returns a reason and the causes within it, the outermost first. */
export function causesOf(reason: AnyReason | undefined): AnyReason[] {
  const found: AnyReason[] = [];
  let next: unknown = reason;
  while (typeof next === "object" && next !== null && "code" in next) {
    found.push(next as AnyReason);
    next = "because" in next ? next.because : undefined;
  }
  return found;
}

/** Says whether a reason is another one, or has it as a cause: whoever says the first has said the second. */
export function holdsReason(outer: AnyReason | undefined, inner: AnyReason | undefined): boolean {
  return inner !== undefined && causesOf(outer).some((one) => sameReason(one, inner));
}

/** Says whether a reason, or a cause within it, has this code. */
export function hasCode(reason: AnyReason | undefined, code: string): boolean {
  return causesOf(reason).some((one) => one.code === code);
}
