import { type AnyReason, type NoData, reasonsOf } from "../base/reason.ts";
import type { Time } from "../base/time.ts";

type Because = { because: AnyReason };
/** What Kubernetes or Argo CD says itself: its first line, shortened. */
type Said = { message?: string | undefined };
/** Day of the read in UTC: of times on it only the clock is said. */
type OnDay = { day: string };

/** Whom a spec waits for. `compare`: the parent has not looked at Git since. `apply`, `byHand`: it has, and has not applied it yet. */
export type ParentStep = "compare" | "apply" | "byHand" | "generate" | "unseen";

/** Whether a change is live and healthy in an Application, and if not, why: each code with its data. */
export interface LivenessReasons {
  NO_APPLICATION: NoData;
  /** `seen`: it is there, and has generated nothing yet, or its controller said what hinders it. */
  CHILD_SET_UNTOLD: { set: string; seen: boolean; said?: string | undefined };
  /** `seen`: the first revisions that Argo CD shows, and how many `more` there are. */
  CHANGE_LIVE: OnDay & { seen: readonly string[]; more: number; health: string; since?: Time | undefined; comparedAt: Time } & {
    /** When its cluster answered; unasked: with this set-up it cannot be asked. Absent: nobody has asked. */
    cluster?: Time | "unasked" | undefined;
    /** What its objects say: that it is there; nothing; or nothing that can be read. Absent: they were not looked at. */
    objects?: "shown" | "untold" | "unread" | undefined;
  };
  /** Of the clusters that a page shows, none or not every one can be asked. */
  CLUSTERS_UNASKED: { all: boolean };
  /** `broken`: it is further off than is made up for. */
  CLOCK_AHEAD: Because & { seconds: number; broken: boolean };

  APPLICATION_DELETED: { since: Time };
  OWNER_ENDS: { name: string; state: "gone" | "deleting" };
  OWNER_SAYS: { message: string };
  OWNER_UNREADABLE: Because;

  APPLICATION_UNREADABLE: Because;
  /** `status.conditions[2].type`, of another type than Argo CD writes, too long, or too many. */
  FIELDS_UNREADABLE: { fields: readonly string[] };
  NESTED_TOO_DEEP: { most: number };
  UNLISTED_UNASKED: NoData;
  UNLISTED_FORBIDDEN: Because;
  UNLISTED_ASKING_FAILED: Because;

  /** `owner`: the ApplicationSet that fails, and why. */
  CHANGE_NOT_IN_SPEC: Because & { owner?: ({ name: string } & Because) | undefined };
  /**
   * Whom it waits for then: the parent (an Application) that applies the ApplicationSet `set` from Git, or the set's controller. `asked`:
   * what came of asking it to look again; `mute`: there is no way to ask it from here.
   */
  SPEC_AWAITS: Because &
    OnDay & {
      step: ParentStep;
      parent?: string | undefined;
      set?: string | undefined;
      asked?: { at: Time; answer: "asked" | "unavailable" | { failed: AnyReason } } | undefined;
      mute?: true | undefined;
    };
  SPEC_UNRENDERED: NoData;
  SPEC_DIFFERS: { part: "destination" | "project" | "ignoreDifferences" | "sourceHydrator" | "sources" };
  SOURCES_COUNT_DIFFERS: { has: number; wanted: number };
  /** `dry`: it is the dry source of a hydrated Application. */
  REVISION_NOT_IN_SPEC: { dry?: true | undefined; asks: string; wanted: string };

  STATUS_STALE: Because & { skipped?: true | undefined; refreshAsked?: true | undefined };
  NEVER_COMPARED: NoData;
  COMPARED_TO_OLDER_SPEC: OnDay & { at?: Time | undefined };
  NEVER_RECONCILED: NoData;
  COMPARED_BEFORE_MERGE: OnDay & { at: Time; mergedAt: Time; behindSeconds?: number | undefined };
  /** Files that a source reads by `$ref` may be those of before in the first comparison that shows the change. */
  REFERENCE_COMPARED_ONCE: OnDay & { at: Time };
  COMPARED_BEFORE_END: OnDay & { at: Time; endedAt: Time };

  CHANGE_NOT_SEEN: Because;
  NO_SUCH_SOURCE: { repo: string };
  NO_REVISION_SHOWN: NoData;
  NAME_SHOWN: { seen: string };
  COMMIT_NOT_SEEN: { seen: string; commit: string };
  COMMIT_UNDECIDED: { seen: string; commit: string };
  /** `override`: the pin is as it was, but this file of `by` takes its place. */
  PIN_CHANGED_SINCE: { seen: string; commit: string; by: string; override?: string | undefined };
  /** `shortened`: what is wanted looks like a shortened commit id. */
  OTHER_REVISION_SEEN: { seen: string; wanted: string; shortened?: true | undefined };
  /** An edited file is outside of `paths`, the annotation `manifest-generate-paths`; `right`: what it should be. */
  CHANGE_NOT_RENDERED: { changed: string; paths: string; right: string };
  DRY_SOURCE_DIFFERS: { repo: string; wanted: string };
  HYDRATED_NOT_COMPARED: { hydrated?: string | undefined; compared: string };
  HYDRATION_FAILED: Said;
  /** `dry`: the commit that the path's own files name. */
  HYDRATED_FROM_OLDER: { dry: string; wanted: string };
  HYDRATION_UNDECIDED: { seen: string };
  HYDRATION_SHARED: { other: string };
  HYDRATED_BY_OLDER: NoData;
  /** No `wanted`: a change of the sourceHydrator alone. `now`: the dry commit that is being hydrated. */
  NOT_HYDRATED: { wanted?: string | undefined; now?: string | undefined };

  /** Its grace is over, and only one comparison says so. */
  FAILING_UNCONFIRMED: Because;

  SYNC_NOT_BEGUN: NoData;
  /** It was synced from files of somebody's own machine. */
  SYNC_LOCAL: NoData;
  SYNC_AWAITS_WINDOW: Said & { opensAt?: Time | undefined };
  OPERATION_GOES_ON: OnDay & { phase: string; since?: Time | undefined };
  /** `overdue`: it was due, and nothing has begun. */
  SYNC_RETRIES: OnDay & Said & { failedAt: Time; retry: number; of?: number | undefined; at: Time; overdue: boolean };
  /** `spent`: auto-sync does not try this revision again. */
  SYNC_FAILED: Said & { phase: string; spent: boolean };

  /** `againAt`: it may be for a moment only, and is asked for again then. */
  CLUSTER_UNREACHABLE: OnDay & Said & { name: string; triedAt?: Time | undefined; againAt?: Time | undefined };
  CLUSTER_UNREACHED: Said;
  SYNC_STATUS: { status?: string | undefined };
  SYNC_BY_HAND: NoData;
  /** `idle`: nothing syncs it, though sync windows are `open`, or `unseen`. */
  OUT_OF_SYNC: { idle?: "open" | "unseen" | undefined };
  SYNC_WINDOW_CLOSED: { opensAt?: Time | undefined; manual: boolean };
  CONDITION_BAD: Said & { type: string; spent: boolean };
  /** `child`: namespace and name of an Application that it makes. */
  CHILD_NOT_LIVE: { child: string; because: AnyReason };
  HEALTH: Said & { status?: string | undefined };
  /** By a status that does not show the change. */
  DEGRADED_BEFORE: Said;
  /** `since`: by Argo CD, where it says; `seenAt`: when it was first seen with the change. */
  DEGRADED: OnDay & Said & { since?: Time | undefined; seenAt: Time };
  SUSPENDED: Said;
  /** `shown`: some images of the same repository that its pods have. */
  IMAGE_NOT_SHOWN: { wanted: string; shown: readonly string[] };

  CONTENT_ASKED: NoData;
  CONTENT_UNREAD: { because: AnyReason; required: boolean };
  CONTENT_UNTOLD: NoData;
  CONTENT_NOT_LIVE: NoData;
  CONTENT_UNCHANGED: NoData;

  SETTLING: OnDay & { since: Time; until: Time };
  READ_AWAITED: OnDay & { at: Time };
  READ_FAILED: { because: AnyReason; problem: AnyReason };
  EARLIER_READ_DIFFERS: { by: "uid" | "resourceVersion" | "absence" };
  EARLIER_READ_UNMET: { clause: string };
}

/** Makes a reason of liveness. */
export const livenessReason = reasonsOf<LivenessReasons>();
