import { count } from "../../base/count.ts";
import { formatDuration } from "../../base/time.ts";
import type { CheckReasons } from "../../reasons/checks.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { analysisPhrase, hookPhrase } from "./phrases.ts";

/** What comes of requests that a config repo asks for, and of what is measured by them. */
const REQUESTS = entriesOf<CheckReasons>()({
  OUTBOUND_NO_ADDRESS: { says: "the address is not an http or https URL" },
  OUTBOUND_NAMED_ADDRESS: { says: "the address holds a name and password, which everybody could read there" },
  OUTBOUND_HEADER: { says: "a template may not set the header {header}" },
  OUTBOUND_NOT_LISTED: { says: "{host} may not be asked: `outbound.allow` of the server's configuration does not list it" },
  OUTBOUND_SECRET: { says: "{host} may not be sent that secret: `analysis.secrets` of the server's configuration lists the hosts of each" },
  OUTBOUND_NETWORK: { says: "{host} is at {address}, which may not be asked: see `networks` of `outbound.allow`" },
  OUTBOUND_REDIRECTS: { says: "{host} redirects more than {most} times" },
  OUTBOUND_REDIRECTS_AWAY: { says: "{host} redirects to {to}, and Stagecoach does not follow redirects to other hosts" },
  OUTBOUND_REDIRECTS_CALL: { says: "{host} redirects a {method}, which Stagecoach does not send twice" },
  OUTBOUND_TOO_LARGE: { says: ({ host, bytes }) => `${host} answers with more than ${count(bytes, "byte")}` },
  OUTBOUND_SLOW: { says: ({ host, ms }) => `${host} did not answer within ${formatDuration(ms)}` },
  OUTBOUND_UNREACHED: { says: "Stagecoach could not ask {host}: {said}" },
  OUTBOUND_NO_TOKEN: { says: "the token's address gave no token (status {status})" },

  MEASURE_TWO_BODIES: { says: "`body` and `jsonBody` are both given: use one" },
  MEASURE_BODY_OF_GET: { says: "a GET has no body: set `method: POST`" },
  MEASURE_TIMEOUT: { says: "`timeoutSeconds` is {given}" },
  MEASURE_STATUS: { says: "the answer has status {status}" },
  MEASURE_EMPTY: { says: "the answer is empty" },
  MEASURE_NO_JSON: { says: "the answer is no JSON[ ({type})]" },
  MEASURE_TOO_DEEP: { says: "the answer nests more than {most} levels deep" },
  MEASURE_NO_FIELD: { says: "{field} is missing" },
  MEASURE_RANGE_QUERY: { says: "`rangeQuery` needs the argo-rollouts engine: write the range into the query" },
  MEASURE_NO_PROMETHEUS: { says: "the answer, of status {status}, is not one of Prometheus' API" },
  MEASURE_PROMETHEUS: { says: "Prometheus says: {said}" },
  MEASURE_TEXT: { says: "the query gives a text, not numbers" },
  MEASURE_PROVIDER: { says: "the provider {provider} needs the argo-rollouts engine" },
  MEASURE_NO_JOBS: { says: "no cluster is configured to run Jobs in (`analysis.jobs` of the server's configuration)" },
  MEASURE_JOB_DELETED: { says: "somebody deleted the Job {job} before it ended" },
  MEASURE_JOB_LATE: { says: "the Job {job} did not end in time" },
  MEASURE_JOB: { says: "the Job {job}: {said}" },
  MEASURE_FAILED: { says: "it could not be measured: {said}" },
});

/** What analyses and hooks say. */
export const CHECKS: Entries<CheckReasons> = entriesOf<CheckReasons>()({
  SAID: { says: "{text}" },
  CLUSTER_HAS_FAILED: { subject: "cluster", says: "{cluster}" },
  CHECK_HAS_FAILED: { subject: "hook", says: ({ check }, names) => ("host" in check ? hookPhrase(check) : analysisPhrase(check, names)) },
  ANALYSIS_ENDED: { subject: "analysis", says: "{analysis}: {phase}[: {because}]" },
  ANALYSIS_STOPPED: { subject: "analysis", says: "Stagecoach ended {analysis}: {because}" },
  ANALYSIS_END_UNSEEN: { subject: "analysis", says: "{because}; Stagecoach did not see its end" },
  ANALYSIS_CALLED_OFF: { subject: "analysis", says: "nothing had failed when it ended: {because}" },
  ANALYSIS_FAILED: {
    subject: "analysis",
    actions: ["retry", "resume", "abort"],
    says: ({ analysis, error, because }, names) =>
      `the ${analysisPhrase(analysis, names)} ${error ? "could not be measured" : "failed"}: ${names.because(because)}`,
    means: "an analysis of the stage measured a failure, or could not be measured",
    todo: "look at what it measured. `/retry` measures again, `/resume` continues all the same, `/abort` ends the run",
  },
  ANALYSIS_INCONCLUSIVE: {
    subject: "analysis",
    actions: ["resume", "retry", "abort"],
    says: "the {analysis} is inconclusive: {because}",
    means: "an analysis ended with neither its success nor its failure condition met",
    todo: "somebody decides: `/resume` continues, `/retry` measures again, `/abort` ends the run",
  },
  ANALYSIS_ACCEPTED: {
    subject: "person",
    says: ({ check, by }, names) =>
      "host" in check ? `@${by} decided to go on without ${hookPhrase(check)}` : `@${by} accepted ${analysisPhrase(check, names)}`,
  },
  CHECKS_END_WITH_RUN: { subject: "run", says: ({ ended }) => (ended ? "the run has ended" : "the run is ending") },
  ASK_FAILED_CHECK: {
    subject: "run",
    actions: ["retry", "resume", "abort"],
    says: "`/retry` {again} again, `/resume` continues all the same (needs maintain), `/abort` ends the run",
  },
  ASK_UNDECIDED_CHECK: {
    subject: "run",
    actions: ["resume", "retry", "abort"],
    says: ({ again }) =>
      again === "asks"
        ? "`/retry` asks again, `/resume` continues without its answer, `/abort` ends the run"
        : "`/resume` continues, `/retry` measures again, `/abort` ends the run",
  },

  HOOK_ASKED: {
    subject: "hook",
    says: ({ hook, again }) => `Stagecoach asks ${hook === undefined ? "it" : hookPhrase(hook)}${again ? " again" : ""}`,
  },
  HOOK_ENDED: { subject: "hook", says: "{hook}: {phase}: {because}" },
  HOOK_SAID: {
    subject: "hook",
    says: ({ said }) =>
      ({
        go: "it answered that the run may go on",
        fail: "it answered that the run has failed",
        wait: "it answered that the run has to wait",
      })[said],
  },
  HOOK_HOLDS: { subject: "hook", says: "{hook} asks to wait: {because}" },
  HOOK_HELD_TOO_LONG: { subject: "hook", says: "it has asked to wait for {forMs}: {because}" },
  HOOK_ASKED_OFTEN: { subject: "hook", says: "{because} (asked {times} times)" },
  HOOK_NOT_ANSWERED: { subject: "hook", says: "{hook}: {because}" },
  HOOK_FAILED_RUN: {
    subject: "hook",
    actions: ["retry", "resume", "abort"],
    says: "{hook} answered that the run has failed: {because}",
    means: "a hook of the stage answered that the run has failed",
    todo: "look at the system that answered. `/retry` asks it again, `/resume` continues all the same, `/abort` ends the run",
  },
  HOOK_UNDECIDED: {
    subject: "hook",
    actions: ["retry", "resume", "abort"],
    says: "{hook} gives no usable answer: {because}",
    means: "Stagecoach could not reach a hook, or cannot use its answer",
    todo: "put the hook right, then `/retry`; or `/resume` continues without its answer",
  },
  HOOK_UNANSWERED_AT_END: { subject: "hook", says: "it had not answered when the run ended" },
  HOOK_OVER_WITH_RUN: { subject: "hook", says: "the run ended first; the last answer: {because}" },
  HOOK_SECRET_MISSING: { subject: "hook", says: "the server has no secret to sign with (`hooks.secretFile` in its configuration)" },
  HOOK_UNREACHED: { subject: "hook", says: "Stagecoach could not reach it" },
  HOOK_ANSWER_STATUS: { subject: "hook", says: "it answered with status {status}" },
  HOOK_ANSWER_NO_JSON: { subject: "hook", says: "its answer is neither empty nor JSON[ ({type})]" },
  HOOK_ANSWER_NO_ACTION: { subject: "hook", says: "its answer has none of the actions continue, hold and fail" },
  HOOK_ANSWER_NO_DURATION: { subject: "hook", says: "its `retryAfter` is not a duration" },
  ...REQUESTS,
});
