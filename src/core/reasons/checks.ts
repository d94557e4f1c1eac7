import { type AnyReason, reasonsOf } from "../base/reason.ts";
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

  /** Why a request that a config repo asks for was not made, or got no usable answer. */
  OUTBOUND_NO_ADDRESS: Record<never, never>;
  OUTBOUND_NAMED_ADDRESS: Record<never, never>;
  OUTBOUND_HEADER: { header: string };
  OUTBOUND_NOT_LISTED: { host: string };
  OUTBOUND_SECRET: { host: string };
  OUTBOUND_NETWORK: { host: string; address: string };
  OUTBOUND_REDIRECTS: { host: string; most: number };
  OUTBOUND_REDIRECTS_AWAY: { host: string; to: string };
  OUTBOUND_REDIRECTS_CALL: { host: string; method: string };
  OUTBOUND_TOO_LARGE: { host: string; bytes: number };
  OUTBOUND_SLOW: { host: string; ms: number };
  OUTBOUND_UNREACHED: { host: string; said: string };
  OUTBOUND_NO_TOKEN: { status: number };

  /** Why a measurement could not be taken. */
  MEASURE_TWO_BODIES: Record<never, never>;
  MEASURE_BODY_OF_GET: Record<never, never>;
  MEASURE_TIMEOUT: { given: string };
  MEASURE_STATUS: { status: number };
  MEASURE_EMPTY: Record<never, never>;
  MEASURE_NO_JSON: { type: string };
  MEASURE_TOO_DEEP: { most: number };
  MEASURE_NO_FIELD: { field: string };
  MEASURE_RANGE_QUERY: Record<never, never>;
  MEASURE_NO_PROMETHEUS: { status: number };
  MEASURE_PROMETHEUS: { said: string };
  MEASURE_TEXT: Record<never, never>;
  MEASURE_PROVIDER: { provider: string };
  MEASURE_NO_JOBS: Record<never, never>;
  MEASURE_JOB_DELETED: { job: string };
  MEASURE_JOB_LATE: { job: string };
  MEASURE_JOB: { job: string; said: string };
  MEASURE_FAILED: { said: string };
}

/** Makes a reason of an analysis or a hook, or of a request of theirs. */
export const checkReason = reasonsOf<CheckReasons>();
