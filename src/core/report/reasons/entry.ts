import type { ReasonsOf } from "../../base/reason.ts";
import type { CommandName } from "../../spec/commands.ts";
import type { Filled, Wording } from "./wording.ts";

/** What a reason is about: what a view links to and groups by. */
export type Subject =
  | "run"
  | "stage"
  | "batch"
  | "cluster"
  | "application"
  /** Another object of Argo CD or Kubernetes: what owns an Application, or is in it. */
  | "resource"
  | "pull"
  | "check"
  | "window"
  | "person"
  | "analysis"
  | "hook"
  | "controlPlane"
  | "repository"
  | "file";

/** One code of the registry: its sentence, and what is known of it besides. */
export interface Entry<Reason> {
  /** The sentence, without a full stop at its end, so that it can stand behind another. */
  says: Wording<Reason>;
  subject?: Subject;
  /** Commands that a person may answer with; who may is in the table of commands. */
  actions?: readonly CommandName[];
  /** Of what comes next. */
  by?: By;
  /** Its row of docs/troubleshooting.md: what it means, and what to do; of a problem without `todo` that is the hint of the example. */
  means?: string;
  todo?: string;
}

/** Who brings about what is waited for: a person, and nobody knows when; or else it comes by itself. */
type By = "itself" | "person";

/** Of what comes next it is asked, so that no code of that kind is without it. */
type Traits<Code> = Code extends `NEXT_${string}` ? { readonly by: By } : { readonly by?: never };

/** The registry of a table of codes: an entry for each, and the compiler asks for those that are missing. */
export type Entries<Table> = {
  readonly [Code in keyof Table & string]: Omit<Entry<{ readonly code: Code } & Readonly<Table[Code]>>, "by"> & Traits<Code>;
};

/** A sentence for each code of a table that is told as the cause of something else. */
export type Sentences<Table> = { readonly [Code in keyof Table & string]: (reason: Readonly<Table[Code]>) => string };

/** Returns what says a reason of such a table. */
export function sayBy<Table>(sentences: Sentences<Table>) {
  return (reason: ReasonsOf<Table>): string => sentences[reason.code](reason as never);
}

/** Declares entries of a table of codes, some or all: the compiler checks the holes of each wording against the data of its code. */
export function entriesOf<Table>() {
  return <const Given extends Partial<Entries<Table>>>(given: Given & Checked<Given, Table>) =>
    given as Pick<Entries<Table>, keyof Given & keyof Table & string>;
}

/** Of entries: holes of their wordings and hints that are no data of their code. */
export type Checked<Given, Table> = {
  [Code in keyof Given]: Code extends keyof Table ? Filled<Wordings<Given[Code]>, Table[Code]> : never;
};

type Wordings<Given> = (Given extends { says: infer Said } ? Said : never) | (Given extends { hint: infer Said } ? Said : never);
