/**
 * A run as every surface draws it: the PR comment, checks, the terminal, the page, notifications and the JSON of the API. Made by
 * `modelOf()` from what the journal holds, and from nothing else; it decides nothing. Its fields are in `schema/run.ts`.
 *
 * How to draw a node: `LABELS[state]` is its word, `tone` its colour, `says` the one sentence on it (empty where the word says it all),
 * `checking` what of something healthy is still looked at, `waitsFor` what comes next, `deadline` until when at the latest, `eta` when all of it is
 * expected to be done. `ask` of the run is what a person is asked, `actions` what they may do; of those that are not `allowed`, `whyNot` says it. All texts are plain: no Markdown, and
 * whatever came from outside stands in them as it is, so escape it as your surface needs. Times are ISO and in UTC.
 */
import type { Run } from "../../run/state/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { Model, Node } from "./schema/run.ts";

export type ModelNode = Node;
/** The root. */
export type RunModel = Model;

export type NodeKind = Node["kind"];
export type State = Node["state"];
export type Tone = Node["tone"];
export type Action = Node["actions"][number];

type Has<Field extends keyof Node> = NonNullable<Node[Field]>;

/** What it waits for, and when that is expected. */
export type Awaited = Has<"waitsFor">;
/** A reason with its sentence. */
export type Said = Omit<Awaited, "at">;
export type Eta = Has<"eta">;
export type Counts = Has<"counts">;
/** What a failure comes from, in the words of whoever saw it. */
export type Cause = Has<"cause">;
export type Measured = NonNullable<Cause["measured"]>[number];
/** A value as people write it. */
export type Change = Has<"change">;
/** What becomes of one of several values. */
export type ValueShown = NonNullable<Model["values"]>[number];
/** One thing that a batch has to pass. */
export type Gate = Has<"gates">[number];
/** Who or what outside has to act. */
export type WaitsOn = Has<"waitsOn">;

/** What a batch is to do, as its pull request says it once. */
export interface BatchPlan {
  place: BatchPlace;
  /** `value`: which of several values of the release. */
  changes: (Change & { value?: string | undefined })[];
  /** The weight of this step. */
  weight?: number | undefined;
  mode: Rollout["mode"];
  gates: Gate[];
  /** `opens batch 2 of 3` */
  follows: string;
}

/** Where a batch stands in its run. */
export interface BatchPlace {
  stage: string;
  /** Of the stage, from 1. */
  number: number;
  of: number;
  /** `batch 1 of 3, step 2 of 3 (weight 60)` */
  batch: string;
  run: { rollout: string; number: number; kind: Run["kind"] };
  release: string;
  pull?: number | undefined;
}
