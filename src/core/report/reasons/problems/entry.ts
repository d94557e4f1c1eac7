import type { AnyReason, KindsOf } from "../../../base/reason.ts";
import { firstOf } from "../../markdown.ts";
import type { Checked, Entry } from "../entry.ts";
import type { Names } from "../phrases.ts";
import { sayWording, type Wording } from "../wording.ts";

/** One code of a problem: what was seen, the next step in one sentence, and its row of docs/troubleshooting.md. */
interface ProblemEntry<Reason> extends Entry<Reason> {
  hint: Wording<Reason>;
  means: string;
  /** It stops nothing. */
  warns?: true;
}

/** A registry for a table of problems: an entry for each code. */
export type ProblemEntries<Table> = {
  readonly [Code in keyof Table & string]: ProblemEntry<{ readonly code: Code } & Readonly<Table[Code]>>;
};

/** Problems name clusters as people do, and no other reason is why. */
export const BY_NAME: Names = { cluster: String, clusters: (names, most = 5) => firstOf([...names], most), because: JSON.stringify };

/** A problem in words: what was seen, and the next step, one sentence each. */
export interface SaidProblem {
  message: string;
  hint: string;
}

/** Says a reason as its entry does. */
export function sayEntry(entry: ProblemEntry<never>, reason: { readonly code: string }): SaidProblem {
  return { message: sayWording(entry.says, reason as AnyReason, BY_NAME), hint: sayWording(entry.hint, reason as AnyReason, BY_NAME) };
}

/** Declares the entries of a table of problems: the compiler checks the holes of each wording against the data of its code. */
export function problemsOf<Table>() {
  return <const Given extends ProblemEntries<Table>>(given: Given & Checked<Given, Table>) => given as ProblemEntries<Table>;
}

/** For each kind of one code: what was seen, and the next step. */
type Lines<Kinds> = {
  readonly [Kind in keyof Kinds & string]: readonly [says: Line<Readonly<Kinds[Kind]>>, hint: Line<Readonly<Kinds[Kind]>>];
};

type Line<Data> = string | ((data: Data) => string);

/** Returns the two wordings of a code whose kinds have a line each. */
export function byKind<Kinds>(lines: Lines<Kinds>) {
  const column = (at: 0 | 1) => Object.fromEntries(Object.entries<readonly unknown[]>(lines).map(([kind, line]) => [kind, line[at]]));
  return { says: { kind: column(0) } as Wording<KindsOf<Kinds>>, hint: { kind: column(1) } as Wording<KindsOf<Kinds>> };
}

/** The word that was most likely meant, or what is said where none is near. */
export function didYouMean(near: string | undefined, otherwise: string, quote = ""): string {
  return near === undefined ? otherwise : `did you mean ${quote}${near}${quote}?`;
}
