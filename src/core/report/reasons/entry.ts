import type { AnyReason, ReasonsOf, Words } from "../../base/reason.ts";
import type { CommandName } from "../../spec/commands.ts";

/** What a reason is about: what a view links to and groups by. */
export type Subject =
  | "run"
  | "stage"
  | "batch"
  | "cluster"
  | "application"
  | "pull"
  | "check"
  | "window"
  | "person"
  | "analysis"
  | "hook"
  | "controlPlane"
  | "repository"
  | "file";

/** How a view says what a reason names by key, or holds as its cause. */
export interface Names {
  /** A cluster's short name, where its key is unique by it. */
  cluster(key: string): string;
  /** At most `most` (5) names, then how many more; "nothing" for none. */
  clusters(keys: Iterable<string>, most?: number): string;
  /** The sentence of a reason within the reason. */
  because(words: Words): string;
}

/** One code of the registry: its sentence, and what is known of it besides. */
export interface Entry<Reason extends AnyReason> {
  /** The sentence, without a full stop at its end, so that it can stand behind another. */
  says(reason: Reason, names: Names): string;
  subject?: Subject;
  /** Commands that a person may answer with; who may is in the table of commands. */
  actions?: readonly CommandName[];
  /** What people find under the code in docs/troubleshooting.md: what it means, and what to do. */
  help?: { means: string; todo: string };
}

/** A registry for a table of codes: an entry for each, and the compiler asks for those that are missing. */
export type Entries<Table> = { readonly [Code in keyof Table & string]: Entry<{ readonly code: Code } & Readonly<Table[Code]>> };

/** A sentence for each code of a table that is told as the cause of something else. */
export type Sentences<Table> = { readonly [Code in keyof Table & string]: (reason: Readonly<Table[Code]>) => string };

/** Returns what says a reason of such a table. */
export function sayBy<Table>(sentences: Sentences<Table>) {
  return (reason: ReasonsOf<Table>): string => sentences[reason.code](reason as never);
}
