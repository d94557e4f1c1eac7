/**
 * A run as every surface draws it: the PR comment, checks, the terminal, the page, notifications and the JSON of the API. Made by
 * `modelOf()` from what the journal holds, and from nothing else; it decides nothing.
 *
 * How to draw a node: `LABELS[state]` is its word, `tone` its colour, `says` the one sentence on it (empty where the word says it all),
 * `checking` what of something healthy is still looked at, `waitsFor` what comes next, `deadline` until when at the latest, `eta` when all of it is
 * expected to be done. `ask` of the run is what a person is asked, `actions` what they may do; of those that are not `allowed`, `whyNot` says it. All texts are plain: no Markdown, and
 * whatever came from outside stands in them as it is, so escape it as your surface needs. Times are ISO and in UTC.
 */
import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Run, RunPhase } from "../../run/state/run.ts";
import type { CommandName, Permission } from "../../spec/commands.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { Subject } from "../reasons/entry.ts";

export type NodeKind = "run" | "stage" | "batch" | "cluster" | "application" | "rollout" | "check" | "controlPlane";

/** What stands in the journal as settled, confirmed, baked or live is one state for people: Healthy. */
export type State =
  | RunPhase
  | "ToCome"
  | "NotReached"
  /** Its pull request is being made; is there; is being merged. */
  | "Opening"
  | "Open"
  | "Merging"
  | "Merged"
  | "Syncing"
  | "Healthy"
  /** Healthy at a weight that is not the whole one. */
  | "AtWeight"
  /** Over, and not all of it is healthy. */
  | "Done"
  | "Closed"
  | "Requeued"
  | "Skipped"
  | "Joined"
  | "Quarantined"
  | "NotInRun"
  /** Of an analysis or a hook. */
  | "Running"
  | "Waiting"
  | "Held"
  | "Passed"
  | "Inconclusive"
  | "Error"
  | "Accepted"
  | "Stopped"
  /** Of an Argo Rollout, besides. */
  | "Degraded"
  | "Unknown"
  /** Of a control plane. */
  | "Unseen";

export type Tone = "good" | "busy" | "warn" | "bad" | "dim";

/** A reason with its sentence. */
export interface Said {
  reason: AnyReason;
  says: string;
}

/** What it waits for, and when that is expected. */
export interface Awaited extends Said {
  at?: Time | undefined;
}

/** When it is expected to be done, as past batches went: half of them were faster than p50, nine of ten than p90. What is certain has both alike. */
export interface Eta {
  p50: Time;
  p90: Time;
}

/** What a failure comes from, in the words of whoever saw it. */
export interface Cause {
  kind: "application" | "rollout" | "analysis" | "hook";
  /** `payments-eu-1 on eu-1` */
  name: string;
  /** Empty where it said nothing. */
  says: string;
  /** The node's own sentence has it already, so whoever draws both leaves it out. */
  told?: true | undefined;
  /** Of an analysis: each metric with what was measured and what it must meet. */
  measured?: Measured[] | undefined;
  link?: string | undefined;
}

export interface Measured {
  metric: string;
  value: string;
  /** What its template allows, or of what could not be measured why. */
  limit: string;
}

/** A command a person may give here. */
export interface Action {
  verb: CommandName;
  args: string[];
  effect: string;
  needs: Permission;
  allowed: boolean;
  whyNot?: Said | undefined;
}

interface Link {
  /** `#12`, `Argo CD` */
  name: string;
  url: string;
}

/** A value as people write it. `from`: absent where none stood there. */
export interface Change {
  from?: string | undefined;
  to: string;
}

/** One thing that a batch has to pass. */
export interface Gate {
  kind: "turn" | "approval" | "windows" | "dependsOn" | "jitter" | "analysis" | "hooks" | "person" | "health" | "step" | "bake";
  name: string;
  why: string;
  opens: string;
  /** At the latest, as far as that is known; "" where it is not. */
  when: string;
  /** What is waited for, as a clause of one sentence; absent: nothing, as of now. */
  planned?: string | undefined;
  /** It comes once the batch has merged. */
  isAfter?: true | undefined;
}

/** What a batch is to do, as its pull request says it once. */
export interface BatchPlan {
  place: BatchPlace;
  changes: Change[];
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

export interface ModelNode {
  kind: NodeKind;
  name: string;
  state: State;
  tone: Tone;
  /** What is over and what is to come may be folded away where room is short. */
  when: "past" | "now" | "later";
  reason?: AnyReason | undefined;
  subject?: Subject | undefined;
  says: string;
  /** Of what is healthy: `baking until 14:10:00 UTC`. */
  checking?: string | undefined;
  since?: Time | undefined;
  cause?: Cause | undefined;
  waitsFor?: Awaited | undefined;
  eta?: Eta | undefined;
  /** When it counts as failed, or a person is asked. */
  deadline?: Time | undefined;
  actions: Action[];
  links: Link[];
  /** What becomes of its version; absent: nothing, or not the same below it. */
  change?: Change | undefined;
  /** Of a batch that has not merged: what stands between it and the next. */
  gates?: Gate[] | undefined;
  /** Short facts besides: `PR #12`, `attempt 2`. */
  facts: string[];
  /** Clusters below it. */
  counts?: Counts | undefined;
  /** Of an Application: when Argo CD was read, and what that showed besides `says`. */
  evidence?: { readAt: Time; notes: string[] } | undefined;
  children: ModelNode[];
}

/** Each cluster counts once. */
export interface Counts {
  clusters: number;
  healthy: number;
  failed: number;
  requeued: number;
  skipped: number;
}

/** The root. */
export interface RunModel extends ModelNode {
  kind: "run";
  rollout: string;
  number: number;
  release: string;
  /** Of the release PR; absent: there was none. */
  pull?: number | undefined;
  author: string;
  planHash: string;
  startedAt: Time;
  endedAt?: Time | undefined;
  counts: Counts;
  /** Who paused it by command. */
  pausedBy?: string | undefined;
  /** What a person is asked while it is paused. */
  ask?: Said | undefined;
  /** Offered besides while it is paused, whatever the pause is about, where there is something to put back. */
  wayBack?: Said | undefined;
  /** Control planes that cannot be seen: their clusters wait. */
  controlPlanes: ModelNode[];
  /** What is worth knowing besides, said once. */
  notes: string[];
}
