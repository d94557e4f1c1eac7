import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";

/** Idempotent intentions. Their outcome is never returned: it is observed in the next round. */
export type Effect =
  | { kind: "Propose"; batch: number }
  | { kind: "Merge"; batch: number; pull: number; head: string }
  | { kind: "Close"; batch: number; pull: number; why: AnyReason }
  /** `sets`: ApplicationSets whose controller is to generate anew. */
  | { kind: "Refresh"; targets: string[]; sets?: string[] | undefined }
  /** To what this very round saw of it. `commit`: the merge of its batch. */
  | { kind: "Sync"; target: string; commit: string }
  /** Of the order with this command's id: those Rollouts without an outcome. */
  | { kind: "RolloutActions"; command: string }
  | { kind: "StartAnalysis"; analysis: string }
  /** No further measurement. Also of one that is not known any more. */
  | { kind: "StopAnalysis"; analysis: string }
  /** `request` counts the requests of one event from 1. */
  | { kind: "CallHook"; hook: string; request: number }
  | { kind: "Answer"; command: string; outcome: "done" | "refused"; message: AnyReason };

/** What is known of asking Argo CD to sync a target whose automated sync is off. */
export interface ObservedSync {
  /** Absent: it is not to be asked, as `cannot` says. */
  wanted?: { readonly revisions: readonly string[] } | undefined;
  cannot?: AnyReason | undefined;
  /** What came of asking last, by this process. */
  last?: { at: Time; answer: "asked" | { refused: AnyReason } } | undefined;
}
