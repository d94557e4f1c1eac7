import type { AnyReason } from "../base/reason.ts";
import type { Time } from "../base/time.ts";

/** Why a target is where it is, and what was seen of it. Clusters are keys. */
export interface TargetReasons {
  TARGET_LEFT: { cluster: string; application: string };
  TARGET_GONE: Record<never, never>;
  READ_BEFORE_MERGE: { because: AnyReason };
  CONTROL_PLANE_UNSEEN: { plane: string; since: Time; because: AnyReason };
  NOT_READ_SINCE_MERGE: Record<never, never>;
  ARGOCD_UNREADABLE: Record<never, never>;
  CONFIRMED_THEN_UNSEEN: { because: AnyReason };
  TARGET_CONFIRMED: { cluster: string; application: string };
  /** `baseline`: health issues. */
  NO_WORSE_THAN_BASELINE: { baseline: readonly string[]; because: AnyReason };
  TARGET_FAILED: { cluster: string; baseline: boolean; because: AnyReason };
  /** `seen`: Argo CD had shown the change. */
  DEADLINE_PASSED: { seen: boolean; because: AnyReason };
  UNHEALTHY_WHILE_BAKING: { cluster: string; because: AnyReason };
  BAKE_RESTARTED_OFTEN: { times: number; because: AnyReason };
  FAILED_AFTERWARDS: { because: AnyReason };
  /** `until`: when it counts as failed. */
  UNWELL_AFTERWARDS: { lost: boolean; until: Time; because: AnyReason };
  FLAP_IGNORED: { until: Time; because: AnyReason };
  /** What Argo CD was asked for besides. `seen`: it has shown the change. */
  REFRESH_WANTED: { because: AnyReason; at: Time; answer: "asked" | "unavailable" | { failed: AnyReason }; seen: boolean };

  TARGET_SYNC_ASKED: { cluster: string; application: string };
  SYNC_ASKED: { at: Time };
  SYNC_NOT_ASKED: { because: AnyReason };
  SYNC_HELD: Record<never, never>;

  TARGETS_UNREAD: { clusters: readonly string[] };
  COMMIT_NOT_IN_HISTORY: { cluster: string; commit: string };
  ASK_RESTORE_HISTORY: Record<never, never>;
  /** `to` undefined: it is gone. `first`: the cluster that it was known by. `cluster`: the one that shows another now. */
  REVISION_MOVED: {
    revision: string;
    repo: string;
    from: string;
    to?: string | undefined;
    first?: string | undefined;
    cluster?: string | undefined;
  };
  ASK_REVISION_BACK: Record<never, never>;
  REVISION_UNREAD: { revision: string; repo: string };
  REVISIONS_UNREAD: Record<never, never>;
  TARGET_LOST: { cluster: string; because: AnyReason };
  PIN_LEAVING: { cluster: string };
  /** `found`: null: it is gone. */
  PIN_DRIFT: {
    cluster: string;
    place: PinRef;
    by?: { author: string; commit: string; subject: string } | undefined;
    found: string | null;
    want: string;
  };
  ASK_UNDO_DRIFT: { cluster: string; want: string };
  OTHER_CHANGE_SEEN: { cluster: string; commit: string; because: AnyReason };
  ASK_AWAIT_SEEN: Record<never, never>;

  JOINED_RUN: { clusters: readonly string[] };
  CLUSTERS_APPEARED: { clusters: readonly string[] };
  ASK_JOIN: { clusters: readonly string[] };
  NOT_JOINED: { cluster: string; because: AnyReason };
  JOINER_ON_KNOWN_CLUSTER: { applications: readonly string[] };
  JOINER_UNSTAGED: Record<never, never>;
  JOINER_SHARES_PIN: { cluster: string };
  JOINER_IGNORED: Record<never, never>;
}

/** Where a pin stands: a branch, or a file. */
export interface PinRef {
  branch?: string | undefined;
  file?: string | undefined;
}
