import { type AnyReason, type NoData, reasonsOf } from "../base/reason.ts";
import type { Problem } from "./problems/problem.ts";
import type { RenderProblem } from "./render.ts";

type Values = Readonly<Record<string, string>>;

interface Application {
  application: string;
  plane: string;
}

interface Set {
  /** `namespace/name`. */
  set: string;
  plane: string;
}

interface Branch {
  branch: string;
  /** Where it is. */
  head: string;
}

/** What the engine decides by what it sees, and what it cannot see: each code with its data. `core/report/reasons/engine.ts` says them. */
export interface EngineReasons {
  SAID_OF: { application: string; because: AnyReason };

  // Why a batch must not be merged.
  GUARD_CONFLICTS: { files: readonly string[] };
  /** files: several declare it, and which of them the plane follows nobody can tell. */
  GUARD_UNDECLARED: { set: string; plane: string | undefined; files: readonly string[] };
  /** problem: the first of rendering it here. because: why Argo CD does not render it either. */
  GUARD_UNRENDERED: { problem: RenderProblem | undefined; because: AnyReason };
  PLANE_NOT_ASKED: { plane: string };
  GENERATE_NOT_ALLOWED: { plane: string };
  GENERATE_FAILED: { plane: string; forbidden: boolean; because: AnyReason };
  COMMIT_UNREADABLE: { commit: string };
  GUARD_DELETES: { applications: readonly string[] };
  GUARD_CREATES: { applications: readonly string[] };
  /** follows: the branch that it follows, of a batch that moves branches. */
  /** `field`: where it is no part of its spec. */
  GUARD_CHANGES: { application: string; follows?: string; field?: string };
  GUARD_MOVES: { application: string; field: string };
  /** Two sets of the rollout make it. */
  GUARD_TWICE: { application: string; sets: readonly string[] };
  GUARD_NO_SET: Set;
  GUARD_SET_LEAVES: Set;
  /** parent: it renders the set, and `declaredIn` is not known. */
  GUARD_SET_DIFFERS: { plane: string; declaredIn: string; field: string; parent?: string };
  /** A set that is patched or made on its way to the cluster. by: `unknown` where only `unverified` lets it through. */
  GUARD_PIN_NOT_LIVE: { plane: string; declaredIn: string; by: "kustomize" | "helm" | "unknown"; field: string };
  GUARD_SET_MADE: { plane: string; declaredIn: string; by: "kustomize" | "helm" | "unknown"; changed: string };
  /** What a parent Application renders. `empty`: of the base or with the batch. */
  PARENT_UNRENDERED: { plane: string; parent: string; commit: string; because: AnyReason };
  PARENT_EMPTY: { plane: string; parent: string; with: "base" | "batch" };
  PARENT_CHANGES: { plane: string; parent: string; object: string; does: "changes" | "adds" | "removes" };
  PARENT_MOVED: { plane: string; parent: string; object: string };
  PARENT_SHOWS_NOTHING: Application & { parent: string; to: string };
  CHILD_DIFFERS: Application & { parent: string };
  GUARD_LOSES: Application;
  GUARD_READ_OUTSIDE: Application & { changed: string };
  GUARD_PARENT_READS: Application & { changed: string };
  BRANCH_NOT_FOLLOWED: { application: string; branch: string };
  BRANCH_GONE: { branch: string };
  BRANCH_UNFETCHED: Branch;
  BRANCH_PAST: Branch & { commit: string };
  BRANCH_APART: Branch & { commit: string; tip: { author: string; subject: string } | undefined };

  // Why a pull request of ours is closed again.
  PULL_RUN_OVER: { rollout: string; run: number };
  PULL_ATTEMPT_OVER: { rollout: string; run: number; attempt: number };
  PULL_BATCH_CLOSED: { rollout: string; run: number };
  PULL_RUN_PAUSED: { rollout: string; run: number };

  // What cannot be seen or done now.
  CONNECTION_FAILED: NoData;
  PLANES_NOT_CONFIGURED: { planes: readonly string[] };
  PLANE_UNSEEN_NOW: { plane: string; because: AnyReason | undefined };
  INVENTORY_UNREADABLE: { problem: Problem | undefined };
  SETTINGS_INVALID: { problem: Problem };
  ARGOCD_UNSEEN: NoData;
  NO_ANALYSES: NoData;
  NO_HOOKS: NoData;
  APPROVER_UNSEEN: NoData;
  APPROVER_LEFT: NoData;
  REPOSITORY_ARCHIVED: NoData;
  ASK_UNARCHIVE: NoData;

  // Argo Rollouts.
  ROLLOUTS_NOT_SHOWN: { plane: string };
  ROLLOUTS_UNREADABLE: Application & { how: "notAllowed" | "failed" | "now" };
  ROLLOUTS_BEYOND_COUNT: { application: string; count: number };
  /** name: `namespace/name`. */
  ROLLOUT_GONE: { application: string; name: string };
  PLANE_MISSING: { plane: string };
  CONTENT_UNSEEN: { plane: string };
  ACTIONS_NOT_ALLOWED: { plane: string };
  NOT_TRIED_TOGETHER: { because: AnyReason };

  // What is said on a run's page beside its own words.
  RESOURCE_GONE: { declaredIn: string };
  RESOURCE_EDITED: { declaredIn: string; fields: readonly string[] };
  SET_GONE: { declaredIn: string; set: string };
  SET_EDITED: { declaredIn: string; fields: readonly string[] };
  SOURCE_LEFT: { applications: readonly string[] };
  JOINERS_UNRESOLVED: { problem: Problem };
  INVENTORY_UNREAD: { problem: Problem };
  ANALYSIS_NOT_STARTED: { said: string };
  LABELS_NOT_SET: { number: number; said: string };
  /** resetAt: epoch milliseconds. */
  RATE_LIMIT_NEAR: { limit: number; remaining: number; resetAt: number; everyMs: number };

  // How runs begin.
  ROLLOUT_ADOPTED: { values: Values };
  RUN_BEGUN: { values: Values };
  RUN_ROLLS_BACK: { run: number; because: AnyReason };
  RUN_MAKES_WAY: { values: Values };
  MODE_STARTS_NO_RUN: NoData;
  RELEASE_SUPERSEDED: { values: Values };
  /** It was merged, and no run can start from it. count: of problems. */
  RELEASE_REFUSED: { values: Values; count: number };
  /** since: when it was refused. */
  RUN_BEGUN_LATE: { values: Values; since: string };
  RELEASE_REJECTED: { values: Values; run: number };
  RELEASE_HAS_NO_RUN: NoData;
  RELEASE_STARTS_ALREADY: NoData;
  RELEASE_STARTED: NoData;
  RUN_GOES_ON: { run: number };

  // What a pull request that is not merged yet would do.
  PLAN_MADE_AFRESH: NoData;
  PLAN_OF_FORK: NoData;
  /** Judging it passed a limit of the cell. by: absent where it was before a restart. final: the second time. */
  PLAN_KILLED: { by?: "time" | "memory"; final: boolean };
  NOTE_ROLLOUT_GOES: { rollout: string };
  NOTE_ROLLOUT_NEW: { rollout: string };
  NOTE_SOURCE_OF_FORK: { rollout: string };
  NOTE_NO_RELEASE: { rollout: string };
  /** Its head is a fork's, and has more bytes than this. */
  PULL_TOO_LARGE: { mebibytes: number };
  /** Its head is a fork's, and a file too large to be fetched with it was changed on the base, too. */
  PULL_LARGE_FILE: NoData;
  PULL_NO_ROOM: { mebibytes: number };
  NOTE_NO_TAG: { rollout: string; range: string };
  /** What a parent would make of it. object: one of what it renders, or a file that it reads. */
  UNSTAGED_UNTOLD: {
    plane: string;
    parent: string;
    kind: "Unasked" | "Fork" | "Behind" | "Missing" | "Empty" | "Generators" | "Spec";
    object: string;
  };
  NOTE_UNSTAGED_UNTOLD: { because: AnyReason };
  UNSTAGED_DELETED: NoData;
  UNSTAGED_CHANGED: { places: readonly string[] };
  UNSTAGED_PIN: { pinFile: string; from: string | undefined; to: string | undefined };
  UNSTAGED_FOLLOWS: { branch: string };
  UNSTAGED_NO_PIN: NoData;
  UNSTAGED_READS: { changed: string; branch: string };
}

/** Makes a reason of the engine. */
export const engineReason = reasonsOf<EngineReasons>();
