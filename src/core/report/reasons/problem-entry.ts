import type { AnyReason } from "../../base/reason.ts";
import type { Entry } from "./entry.ts";

/** One code of a problem: what was seen, and the next step in one sentence. */
export interface ProblemEntry<Reason extends AnyReason> extends Entry<Reason> {
  says(reason: Reason): string;
  hint: string | ((reason: Reason) => string);
}

/** A row of docs/troubleshooting.md, which every code has. `warns`: it stops nothing. */
export interface Help {
  means: string;
  todo: string;
  warns?: true;
}

/** A registry for a table of problems: an entry for each code. */
export type ProblemEntries<Table> = {
  readonly [Code in keyof Table & string]: ProblemEntry<{ readonly code: Code } & Readonly<Table[Code]>>;
};

/** The word that was most likely meant, or what is said where none is near. */
export function didYouMean(near: string | undefined, otherwise: string, quote = ""): string {
  return near === undefined ? otherwise : `did you mean ${quote}${near}${quote}?`;
}
