/**
 * Problems of what people wrote: a code with its data, and the place. Whatever reads files of the config repo makes them; lint, plans, checks
 * and comments show them. `core/report/reasons/problems/problems.ts` says them, and every code is a row of docs/troubleshooting.md.
 */
import type { ReasonsOf } from "../../base/reason.ts";
import type { PinProblems } from "../pins.ts";
import type { AnalysisProblems } from "./analysis.ts";
import type { CopyProblems } from "./copy.ts";
import type { FileProblems } from "./file.ts";
import type { InventoryProblems } from "./inventory.ts";
import type { PaceProblems } from "./pace.ts";
import type { PlanProblems } from "./plan.ts";
import type { RepoProblems } from "./repo.ts";
import type { ReleaseProblems, RuleProblems } from "./rules.ts";
import type { ServerProblems } from "./server.ts";
import type { SetProblems } from "./set.ts";

/** Every code of a problem, with its data. */
export interface ProblemTable
  extends FileProblems,
    ReleaseProblems,
    RuleProblems,
    AnalysisProblems,
    PlanProblems,
    CopyProblems,
    RepoProblems,
    InventoryProblems,
    PaceProblems,
    SetProblems,
    PinCodes,
    ServerProblems {}

/** Pins' own codes. Their data are `PinProblems`, which are too many to be told apart among all the others. */
type PinCodes = { [Code in keyof PinProblems]: { readonly kind?: string | undefined } };

export type ProblemCode = keyof ProblemTable;

/** A code with its data, without a place. */
export type ProblemReason = ReasonsOf<ProblemTable>;

/** The data of a code, without it. */
export type ProblemData<Code extends ProblemCode> = ProblemTable[Code];

export type Path = (string | number)[];

/** Where a problem stands, and whether it stops anything. */
export interface Place {
  severity: "error" | "warning";
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** Keys and indices down to the value; empty for the file as a whole. */
  path: Path;
  /** The place is an annotation that holds YAML: keys and indices in that; empty for all of it. */
  inside?: Path;
  /** The place in another file that is meant: `values.yaml:3:1`. */
  seenAt?: string | undefined;
  /** Of one that is about Applications: those that have it. `example`: the data are of the first only. */
  targets?: { names: readonly string[]; example: boolean };
  /** Of one that comes of a cluster's name or labels: the server that stands for them, since its Secret cannot be read. */
  byServer?: string | undefined;
}

/** A problem of a file that one surface alone reads, such as the server's configuration: it says it in its own words. */
export interface OwnWords {
  code: string;
  message: string;
  hint: string;
}

/** One finding about a file people wrote: what was seen, and where. */
export type Problem = (ProblemReason | OwnWords) & Place;

/** Returns a problem that knows its file and path, and no line: whoever has the text finds that by the path. */
export function problemIn(file: string, reason: ProblemReason, path: Path = []): Problem {
  return { ...reason, severity: "error", file, line: 1, column: 1, path };
}

/** What is known of a plan or a run that stops nothing, and stands in no file. */
export type Warning = ProblemReason;

/** A finding before it is placed in a file: `path` is the place. */
export type Finding = (ProblemReason | OwnWords) & {
  severity?: "warning";
  path: Path;
  /** The key itself is meant, not its value. */
  atKey?: boolean;
  inside?: Path;
};

const MARK = "\u0001";

/** Packs a reason into a message of zod, which carries text only; `unpackReason` takes it out. */
export function packReason(reason: ProblemReason | OwnWords): string {
  return MARK + JSON.stringify(reason);
}

export function unpackReason(text: string): ProblemReason | OwnWords | undefined {
  return text.startsWith(MARK) ? (JSON.parse(text.slice(MARK.length)) as ProblemReason | OwnWords) : undefined;
}
