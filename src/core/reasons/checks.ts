import type { AnyReason } from "../base/reason.ts";
import type { AnalysisRef, CheckRef, HookRef } from "./refs.ts";

/** The reasons of analyses and hooks: how they stand, and what comes of a bad end. */
export interface CheckReasons {
  /** What another program said, word for word. */
  SAID: { text: string };
  /** What has failed of a stage, as its hooks are told. */
  CLUSTER_HAS_FAILED: { cluster: string };
  CHECK_HAS_FAILED: { check: CheckRef };
  ANALYSIS_ENDED: { analysis: AnalysisRef; phase: string; because?: AnyReason | undefined };
  ANALYSIS_STOPPED: { analysis: AnalysisRef; because: AnyReason };
  ANALYSIS_END_UNSEEN: { because: AnyReason };
  ANALYSIS_CALLED_OFF: { because: AnyReason };
  ANALYSIS_FAILED: { analysis: AnalysisRef; error: boolean; because: AnyReason };
  ANALYSIS_INCONCLUSIVE: { analysis: AnalysisRef; because: AnyReason };
  ANALYSIS_ACCEPTED: { check: CheckRef; by: string };
  CHECKS_END_WITH_RUN: { ended: boolean };
  ASK_FAILED_CHECK: { again: "asks" | "measures" };
  ASK_UNDECIDED_CHECK: { again: "asks" | "measures" };

  HOOK_ASKED: { hook?: HookRef | undefined; again: boolean };
  HOOK_ENDED: { hook: HookRef; phase: string; because: AnyReason };
  HOOK_SAID: { said: "go" | "fail" | "wait" };
  HOOK_HOLDS: { hook: HookRef; because: AnyReason };
  HOOK_HELD_TOO_LONG: { forMs: number; because: AnyReason };
  HOOK_ASKED_OFTEN: { times: number; because: AnyReason };
  HOOK_NOT_ANSWERED: { hook: HookRef; because: AnyReason };
  HOOK_FAILED_RUN: { hook: HookRef; because: AnyReason };
  HOOK_UNDECIDED: { hook: HookRef; because: AnyReason };
  HOOK_UNANSWERED_AT_END: Record<never, never>;
  HOOK_OVER_WITH_RUN: { because: AnyReason };
  HOOK_SECRET_MISSING: Record<never, never>;
  HOOK_UNREACHED: Record<never, never>;
  HOOK_ANSWER_STATUS: { status: number };
  HOOK_ANSWER_NO_JSON: { type: string };
  HOOK_ANSWER_NO_ACTION: Record<never, never>;
  HOOK_ANSWER_NO_DURATION: Record<never, never>;
}
