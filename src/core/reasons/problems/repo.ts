import type { NoData, ReasonsOf } from "../../base/reason.ts";
import type { BareBranch } from "../gates.ts";
import type { PinReason } from "../pins.ts";
import type { SourceNamed } from "../refs.ts";

/** What lint sees outside of a rollout's file: the release, the inventory, the ApplicationSet, GitHub and Argo CD. */
export interface RepoProblems {
  BASE_NOT_DEFAULT: { base: string; defaultBranch: string };
  BASE_REVISION:
    | { kind: "Generator"; set: string; revision: string; base: string }
    | { kind: "Parent"; parent: string; set: string; revision: string; base: string }
    | { kind: "Source"; applications: readonly string[]; revision: string; base: string }
    | { kind: "OtherRepo"; applications: readonly string[]; reads: string; repoURL: string };
  /** `shared`: a repo and branch that several of them are hydrated to. */
  /** `of`: how many there are; `locks` are the first. */
  CHART_LOCKED: { locks: readonly string[]; of: number };
  HYDRATED_ELSEWHERE: { applications: readonly string[]; shared: string | undefined };
  NOT_APPLIED: { set: string };
  ROLLING_SYNC: { set: string };
  CREATE_ONLY: { set: string; policy: string };
  /** `applications`: undefined for all of them. */
  AUTO_SYNC_OFF: { set: string; applications: readonly string[] | undefined };
  IGNORED_PIN: { set: string; ignored: string; change: string };
  IMAGE_UPDATER:
    | { kind: "Annotation"; set: string | undefined; applications: readonly string[]; annotation: string }
    | { kind: "Resource"; declaredIn: string; name: string; applications: readonly string[] };
  KARGO_WRITES:
    | { kind: "Annotation"; set: string | undefined; applications: readonly string[]; annotation: string }
    /** `by`: Stage or PromotionTask. `step`: as Kargo calls it. `written`: a file, or a branch. */
    | { kind: "Step"; declaredIn: string; by: string; name: string; step: string; written: string };
  /** `manager`: as Renovate calls it. */
  RENOVATE_WRITES: { declaredIn: string; manager: string; written: string; change: string };
  SILENT_CHECK: { check: string; changed: readonly string[]; workflows: readonly string[] };
  RELEASE_NOT_FOUND:
    | { kind: "Unsaid"; rollout: string }
    | { kind: "NoCommit" }
    | { kind: "Empty"; at: string }
    | { kind: "NoTag"; range: string; prefix?: string | undefined }
    | { kind: "NoFile"; name: string; rollout: string; rolloutFile: string; near?: string | undefined }
    | { kind: "Unreadable"; said: string }
    | { kind: "Pin"; because: PinReason };
  SOURCE_NOT_FOUND: /** `near`: what is there and was most likely meant. */
  /** `unread`: a file that is too large to be read, where it may be. */
    | {
        kind: "NotInRepo";
        source: SourceNamed;
        inventory: boolean;
        near?: string | undefined;
        unread?: { file: string; bytes: number } | undefined;
      }
    /** `declared`: Git yields Applications of it. `grants`: what the server keeps from this repository. */
    | { kind: "NotInArgo"; source: SourceNamed; declared: boolean; grants: NotGranted | undefined; near?: string | undefined }
    | { kind: "Fleet"; said: string | undefined };
  /** `asked`: the one that is not granted. */
  CONTROL_PLANE_NOT_GRANTED: { granted: readonly string[]; asked?: string };
  PROJECT_NOT_GRANTED: { controlPlane: string; projects: readonly string[] };
  PLANE_LOST: { said: string; clusters: number | undefined };
  /** Absent: there is no such tag or branch yet. Hidden: that repository cannot be read from here. */
  REVISION_UNRESOLVED: { kind: "Absent" | "Hidden"; revision: string; repo: string };
  IN_QUARANTINE: { clusters: readonly string[] };
  METHOD_FORBIDDEN: { branch: string; method: string; allowed: readonly string[] };
  /** Of every batch: approving reviews, one of a code owner, one of somebody other than who pushed last. */
  /** `owners`: some of those that own what batches change, and how many batches that are. */
  BASE_WANTS_PERSON: { branch: string; batches: number; reviews: number; codeOwners: boolean; lastPush: boolean } & {
    owners?: { names: readonly string[]; batches: number } | undefined;
  };
  BASE_WANTS_SIGNED: { branch: string; batches: number };
  /** Branches of ours that others may write to, with a rollout that merges by itself. */
  BRANCHES_UNPROTECTED: { bare: readonly BareBranch[] };
  /** Checks of ours that the base requires of whoever reports them. */
  CHECK_UNBOUND: { branch: string; checks: readonly string[] };
  /** Others than the App, and than administrators, who could change the rules as well. */
  RULES_PASSED_BY: { branch: string; who: readonly string[] };
  APP_PASSES_NOT: { branch: string };
  TEAM_UNSEEN: { teams: readonly string[] };
  DEPENDS_NOWHERE: { dependency: string; rollout: string };
  WINDOW_CLOSED: { rule: { kind: "allow" | "deny"; schedule: string; timeZone: string } | undefined; until: string | undefined };
  UNSTAGED: NoData;
}

/** What the server's operator keeps from a repository. */
export type NotGranted = ReasonsOf<Pick<RepoProblems, "CONTROL_PLANE_NOT_GRANTED" | "PROJECT_NOT_GRANTED">>;
