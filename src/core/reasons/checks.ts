import type { Words } from "../base/reason.ts";
import type { AnalysisRef, CheckRef, HookRef } from "./refs.ts";

/** The reasons of analyses and hooks: how they stand, and what comes of a bad end. */
export interface CheckReasons {
  ANALYSIS_ENDED: { analysis: AnalysisRef; phase: string; because?: Words };
  ANALYSIS_STOPPED: { analysis: AnalysisRef; because: Words };
  ANALYSIS_END_UNSEEN: { because: Words };
  ANALYSIS_CALLED_OFF: { because: Words };
  ANALYSIS_FAILED: { analysis: AnalysisRef; error: boolean; because: Words };
  ANALYSIS_INCONCLUSIVE: { analysis: AnalysisRef; because: Words };
  ANALYSIS_ACCEPTED: { check: CheckRef; by: string };
  CHECKS_END_WITH_RUN: { ended: boolean };
  ASK_FAILED_CHECK: { again: "asks" | "measures" };
  ASK_UNDECIDED_CHECK: { again: "asks" | "measures" };

  HOOK_ASKED: { hook?: HookRef; again: boolean };
  HOOK_ENDED: { hook: HookRef; phase: string; because: Words };
  HOOK_SAID: { said: "go" | "fail" | "wait" };
  HOOK_HOLDS: { hook: HookRef; because: Words };
  HOOK_HELD_TOO_LONG: { forMs: number; because: Words };
  HOOK_ASKED_OFTEN: { times: number; because: Words };
  HOOK_NOT_ANSWERED: { hook: HookRef; because: Words };
  HOOK_FAILED_RUN: { hook: HookRef; because: Words };
  HOOK_UNDECIDED: { hook: HookRef; because: Words };
  HOOK_UNANSWERED_AT_END: Record<never, never>;
  HOOK_OVER_WITH_RUN: { because: Words };
  HOOK_SECRET_MISSING: Record<never, never>;
  HOOK_UNREACHED: Record<never, never>;
  HOOK_ANSWER_STATUS: { status: number };
  HOOK_ANSWER_NO_JSON: { type: string };
  HOOK_ANSWER_NO_ACTION: Record<never, never>;
  HOOK_ANSWER_NO_DURATION: Record<never, never>;
}
