import { formatDuration } from "../../base/time.ts";
import type { CheckReasons } from "../../reasons/checks.ts";
import type { Entries } from "./entry.ts";
import { analysisPhrase, hookPhrase } from "./phrases.ts";

/** What analyses and hooks say. */
export const CHECKS: Entries<CheckReasons> = {
  ANALYSIS_ENDED: {
    subject: "analysis",
    says: ({ analysis, phase, because }, names) =>
      `${analysisPhrase(analysis, names)}: ${phase}${because === undefined ? "" : `: ${names.because(because)}`}`,
  },
  ANALYSIS_STOPPED: {
    subject: "analysis",
    says: ({ analysis, because }, names) => `${analysisPhrase(analysis, names)} is ended: ${names.because(because)}`,
  },
  ANALYSIS_END_UNSEEN: { subject: "analysis", says: ({ because }, names) => `${names.because(because)}; its end was not seen` },
  ANALYSIS_CALLED_OFF: { subject: "analysis", says: ({ because }, names) => `nothing failed until it ended: ${names.because(because)}` },
  ANALYSIS_FAILED: {
    subject: "analysis",
    actions: ["retry", "resume", "abort"],
    says: ({ analysis, error, because }, names) =>
      `the ${analysisPhrase(analysis, names)} ${error ? "could not be measured" : "failed"}: ${names.because(because)}`,
    help: {
      means: "An analysis of the stage measured a failure, or could not be measured.",
      todo: "Look at what it measured. `/retry` measures again, `/resume` goes on all the same, `/abort` ends the run.",
    },
  },
  ANALYSIS_INCONCLUSIVE: {
    subject: "analysis",
    actions: ["resume", "retry", "abort"],
    says: ({ analysis, because }, names) => `the ${analysisPhrase(analysis, names)} is inconclusive: ${names.because(because)}`,
    help: {
      means: "An analysis ended with neither its success nor its failure condition met.",
      todo: "Somebody decides: `/resume` goes on, `/retry` measures again, `/abort` ends the run.",
    },
  },
  ANALYSIS_ACCEPTED: {
    subject: "person",
    says: ({ check, by }, names) =>
      "host" in check ? `${hookPhrase(check)} is passed over by ${by}` : `${analysisPhrase(check, names)} is accepted by ${by}`,
  },
  CHECKS_END_WITH_RUN: { subject: "run", says: ({ ended }) => (ended ? "the run has ended" : "the run is ending") },
  ASK_FAILED_CHECK: {
    subject: "run",
    actions: ["retry", "resume", "abort"],
    says: ({ again }) => `\`/retry\` ${again} again, \`/resume\` goes on all the same (maintain), \`/abort\` ends the run`,
  },
  ASK_UNDECIDED_CHECK: {
    subject: "run",
    actions: ["resume", "retry", "abort"],
    says: ({ again }) =>
      again === "asks"
        ? "`/retry` asks again, `/resume` goes on without its consent, `/abort` ends the run"
        : "`/resume` goes on, `/retry` measures again, `/abort` ends the run",
  },

  HOOK_ASKED: {
    subject: "hook",
    says: ({ hook, again }) => `${hook === undefined ? "it" : hookPhrase(hook)} is asked${again ? " again" : ""}`,
  },
  HOOK_ENDED: { subject: "hook", says: ({ hook, phase, because }, names) => `${hookPhrase(hook)}: ${phase}: ${names.because(because)}` },
  HOOK_SAID: {
    subject: "hook",
    says: ({ said }) => ({ go: "it said to go on", fail: "it said that it failed", wait: "it said to wait" })[said],
  },
  HOOK_HOLDS: { subject: "hook", says: ({ hook, because }, names) => `${hookPhrase(hook)} holds: ${names.because(because)}` },
  HOOK_HELD_TOO_LONG: {
    subject: "hook",
    says: ({ forMs, because }, names) => `it has held for ${formatDuration(forMs)}: ${names.because(because)}`,
  },
  HOOK_ASKED_OFTEN: { subject: "hook", says: ({ times, because }, names) => `${names.because(because)} (asked ${times} times)` },
  HOOK_NOT_ANSWERED: { subject: "hook", says: ({ hook, because }, names) => `${hookPhrase(hook)}: ${names.because(because)}` },
  HOOK_FAILED_RUN: {
    subject: "hook",
    actions: ["retry", "resume", "abort"],
    says: ({ hook, because }, names) => `${hookPhrase(hook)} failed the run: ${names.because(because)}`,
    help: {
      means: "A hook of the stage answered that the run has failed.",
      todo: "Look at the system that answered. `/retry` asks it again, `/resume` goes on all the same, `/abort` ends the run.",
    },
  },
  HOOK_UNDECIDED: {
    subject: "hook",
    actions: ["retry", "resume", "abort"],
    says: ({ hook, because }, names) => `${hookPhrase(hook)} gives no answer to go by: ${names.because(because)}`,
    help: {
      means: "A hook could not be reached, or its answer is none that the protocol knows.",
      todo: "Put the hook right, then `/retry`; or `/resume` goes on without its consent.",
    },
  },
  HOOK_UNANSWERED_AT_END: { subject: "hook", says: () => "it had not answered when the run ended" },
  HOOK_OVER_WITH_RUN: { subject: "hook", says: ({ because }, names) => `the run ended; last: ${names.because(because)}` },
};
