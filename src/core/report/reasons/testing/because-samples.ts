/** What stands behind another reason in its sample: one that could be its cause, so that the two are read together as people read them. */
import type { AnyReason } from "../../../base/reason.ts";

const day = "2026-11-21";
const CAUSES: readonly (readonly [cause: AnyReason, codes: string])[] = [
  [
    {
      code: "DEGRADED",
      since: "2026-11-21T09:00:00.000Z",
      seenAt: "2026-11-21T09:00:00.000Z",
      message: "Deployment web: 0 of 3 are ready",
      day,
    },
    `TARGET_FAILED UNHEALTHY_WHILE_BAKING BAKE_RESTARTED_OFTEN FAILED_AFTERWARDS UNWELL_AFTERWARDS FLAP_IGNORED NO_WORSE_THAN_BASELINE
    TOO_MANY_FAILED DEADLINE_PASSED BATCH_AWAITS_HEALTH READ_BEFORE_MERGE`,
  ],
  [
    { code: "HOST_SILENT", origin: "https://argocd.example.com", seconds: 90 },
    `PLANE_UNSEEN CONTROL_PLANE_UNSEEN CONFIRMED_UNREADABLE BATCH_UNCONFIRMED STEP_UNCONFIRMED CONFIRMED_THEN_UNSEEN ROLLOUTS_UNSEEN
    ROLLOUT_UNSEEN PLANE_UNSEEN_NOW UNLISTED_ASKING_FAILED OWNER_UNREADABLE HOST_FAILED HOST_UNANSWERING ANSWER_UNREADABLE COLLECTION_LOST`,
  ],
  [
    { code: "SAID", text: "dial tcp 10.4.0.1:443: i/o timeout" },
    "QUARANTINE_UNREACHABLE QUARANTINED QUARANTINE_FULL QUARANTINED_WITH TARGET_LOST",
  ],
  [
    { code: "COMPARED_BEFORE_MERGE", at: "2026-11-21T09:00:00.000Z", mergedAt: "2026-11-21T09:01:00.000Z", day },
    "STATUS_STALE REFRESH_WANTED OTHER_CHANGE_SEEN CHANGE_NOT_SEEN WAITED_TOO_LONG",
  ],
  [{ code: "REVISION_NOT_IN_SPEC", asks: "v1.4.1", wanted: "v1.4.2" }, "CHANGE_NOT_IN_SPEC"],
  [{ code: "FIELDS_UNREADABLE", fields: ["spec.sources[3].path"] }, "APPLICATION_UNREADABLE"],
  [{ code: "GUARD_DELETES", applications: ["payments-us-1"] }, "GUARD_REFUSES MUST_NOT_PROPOSE BATCH_BUILT_OFTEN NOT_OPENED_YET"],
  [{ code: "BASE_CONFLICTS" }, "PULL_BUILT_AGAIN PR_GATE_CLOSING"],
  [{ code: "BASE_AT_RELEASE" }, "PULL_CLOSED_NEEDLESS PULL_CLOSING"],
  [{ code: "RULES_FORBID", rules: "creation", branch: "stagecoach-run/payments/1/1" }, "OPENING_REFUSED NOT_OPENED JOURNAL_NOT_WRITTEN"],
  [{ code: "PERMISSION_LACKING", needs: "issues=write", said: "Resource not accessible by integration" }, "COMMENT_REFUSED"],
  [
    { code: "JOURNAL_FOREIGN", commit: "3f2a91c0de44aa", subject: "payments #42: merged", because: { code: "NOT_SEALED" } },
    "JOURNAL_NOT_OURS NOTHING_IS_DONE",
  ],
  [{ code: "JOURNAL_FILE", file: "runs/payments/42/run.yaml", because: { code: "JOURNAL_FORMAT", has: "3", reads: 2 } }, "RUN_NOT_READ"],
  [
    {
      code: "SETTINGS_INVALID",
      problem: { code: "DUPLICATE_KEY", file: ".github/stagecoach.yaml", line: 3, column: 1, path: [], severity: "error" },
    },
    "SETTINGS_BROKEN",
  ],
  [{ code: "VERSION_OTHER", there: "v1.4.1", wanted: "v1.4.2" }, "DEPENDENCY_MISSING"],
  [
    { code: "SAID", text: "metric latency: failed twice, and failureLimit is 1" },
    `ANALYSIS_BAD ANALYSIS_ENDED ANALYSIS_FAILED ANALYSIS_INCONCLUSIVE ANALYSIS_RUNNING ANALYSIS_CALLED_OFF ANALYSIS_END_UNSEEN
    ANALYSIS_NOT_PROMOTED RUN_ROLLED_BACK ROLLBACK_IMPOSSIBLE`,
  ],
  [{ code: "RUN_HAS_ENDED", phase: "Failed" }, "ANALYSIS_STOPPED"],
  [
    { code: "SAID", text: "the change board meets at ten" },
    "HOOK_HOLDS HOOK_HOLDS_STAGE HOOK_HELD_TOO_LONG HOOK_OVER_WITH_RUN HOOK_FAILED_RUN",
  ],
  [{ code: "HOOK_ANSWER_STATUS", status: 404 }, "HOOK_BAD HOOK_UNCLEAR HOOK_UNDECIDED HOOK_ASKED_OFTEN HOOK_ENDED HOOK_NOT_ANSWERED"],
  [
    { code: "PAUSED_BY", by: "alice", text: "errors on checkout" },
    `ROUND_HELD MERGE_NOT_TRIED PAUSED RUN_IS_PAUSED HOTFIX_WHILE_PAUSED ALREADY_PAUSED PAUSED_BESIDES COMMAND_BEFORE_PAUSE`,
  ],
  [{ code: "ABORTED_BY", by: "alice", text: "" }, "RUN_IS_ENDING END_AWAITS_PULLS END_AWAITS_CLUSTERS END_AWAITS_CHECKS PR_GATE_RUN_ENDED"],
  [{ code: "ROLLED_BACK_BY", by: "alice", to: "v1.4.1", text: undefined }, "RUN_ROLLS_BACK"],
  [{ code: "PUT_OFF_BY", by: "alice" }, "PUT_TO_END CLUSTERS_PUT_OFF PUT_OFF_ALREADY CLUSTER_EVENT BEING_PUT_BACK"],
  [{ code: "LEFT_OUT_BY", by: "alice" }, "CLUSTER_LEFT_OUT"],
  [{ code: "JOINER_UNSTAGED" }, "NOT_JOINED"],
  [{ code: "PIN_MADE_BY_RUN", file: "values.yaml", path: "image.tag" }, "ROLLBACK_DONE"],
  [{ code: "PIN_MADE_BY_RUN", file: "values.yaml", path: "image.tag", changed: true }, "CLUSTER_EVENT"],
  [{ code: "TARGET_MERGED" }, "IN_BATCH_ALREADY MOVED_ALREADY"],
  [{ code: "GENERATE_NOT_ALLOWED", plane: "hub" }, "GUARD_UNRENDERED"],
  [
    { code: "SAID", text: "rpc error: code = PermissionDenied desc = permission denied" },
    "GENERATE_FAILED UNLISTED_FORBIDDEN GRANT_WANTED PATCH_WANTED",
  ],
  [
    { code: "SAID", text: "the request timed out" },
    "NOT_TRIED_TOGETHER ANALYSIS_ARGUMENT ROLLOUT_FAILED KUBECONFIG_CREDENTIALS SETTING_UNUSABLE",
  ],
  [{ code: "APPLICATION_NOT_GRANTED", application: "payments-eu-1" }, "NOT_GRANTED"],
  [{ code: "COMMAND_UNKNOWN", given: "paus", near: "pause" }, "COMMENT_NOT_DONE"],
  [{ code: "PULL_CHANGED", pull: 7, head: "3f2a91c0de44aa" }, "CHANGED_NOT_MERGED"],
  [{ code: "NO_SUCH_SOURCE", repo: "github.com/acme/config" }, "SAID_OF"],
  [{ code: "RUN_THROUGH", phase: "Succeeded", checks: [], failed: [], skipped: [], quarantined: [] }, "RUN_ENDED"],
];

const WAITS: AnyReason = { code: "GITHUB_WANTS", pull: 7, needs: [{ kind: "check", name: "ci", state: "pending" }], silent: false };

/** The cause that a code's sample has; of most it is what a pull request waits for. */
export function becauseOf(code: string): AnyReason {
  return CAUSES.find(([, codes]) => codes.split(/\s+/).includes(code))?.[0] ?? WAITS;
}
