import { iso, type Time } from "../../core/base/time.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { ObservedPull } from "../../core/run/state/world.ts";
import { BOT, commit, type ModelGit, pinOf, pinValue } from "./git.ts";

/** A PR of a batch. `mergeable` is computed a moment after it is first asked for, as GitHub does. */
export interface ModelPull {
  number: number;
  branch: string;
  rollout: string;
  run: number;
  batch: number;
  head: string;
  ours: boolean;
  draft: boolean;
  state: "open" | "closed" | "merged";
  openedAt: number;
  /** Pin → value on the base when the branch was made, and on the branch. */
  edits: Map<string, { from: string | null; to: string }>;
  askedAt: number | undefined;
  closedBy?: string;
  /** By person, of the head they saw. */
  reviews: Map<string, { head: string; at: number }>;
  /** In the merge queue until then, when it is merged or thrown out. */
  queue?: { until: number; fate: "merge" | "drop" } | undefined;
  /** What our gate said last: a queue merges nothing on a gate that failed. */
  fenced: boolean;
  merged?: { commit: string; at: number; by: string; byUs: boolean; exact: boolean };
}

export interface ModelForge {
  pulls: ModelPull[];
  byBranch: Map<string, ModelPull>;
  heads: number;
  /** Merge calls are refused until then. */
  refusing: { until: number; answer: "Human" | "Wait" | "Retry" };
  /** The last refusal, by branch and head, as one process remembers it. */
  refusals: Map<string, { kind: "Human" | "Wait" | "Retry"; message: string; to: Time }>;
}

const MERGEABLE_MS = 1_500;

export function modelForge(): ModelForge {
  return { pulls: [], byBranch: new Map(), heads: 0, refusing: { until: 0, answer: "Wait" }, refusals: new Map() };
}

/** Finds before it creates; the branch is as it was made the first time. */
export function openPull(forge: ModelForge, git: ModelGit, run: Run, batchNumber: number, now: number): void {
  const batch = run.batches[batchNumber - 1];
  if (batch === undefined || forge.byBranch.has(batch.branch)) return;
  const edits: ModelPull["edits"] = new Map();
  for (const edit of [...batch.targets.flatMap((target) => target.edits), ...(batch.also ?? [])]) {
    const from = pinValue(git, pinOf(edit));
    // A pin that is gone cannot be edited: the commit is refused, and nothing is opened.
    if (from === null && edit.create !== true) return;
    edits.set(pinOf(edit), { from, to: edit.to });
  }
  forge.heads += 1;
  const pull: ModelPull = {
    number: 100 + forge.pulls.length,
    branch: batch.branch,
    rollout: run.rollout,
    run: run.number,
    batch: batchNumber,
    head: `head${forge.heads}`,
    ours: true,
    draft: false,
    state: "open",
    openedAt: now,
    edits,
    askedAt: undefined,
    reviews: new Map(),
    fenced: false,
  };
  forge.pulls.push(pull);
  forge.byBranch.set(pull.branch, pull);
}

export function conflicts(git: ModelGit, pull: ModelPull): boolean {
  for (const [pin, { from, to }] of pull.edits) {
    const value = pinValue(git, pin);
    if (value !== from && value !== to) return true;
  }
  return false;
}

export function mergeNow(git: ModelGit, pull: ModelPull, by: string, byUs: boolean, now: number): void {
  const changes = [...pull.edits].map(([pin, { to }]): [string, string] => [pin, to]).filter(([pin, to]) => pinValue(git, pin) !== to);
  if (!pull.ours) changes.push(["elsewhere", `${pull.head}`]);
  const made = commit(git, now, by, changes);
  pull.state = "merged";
  pull.queue = undefined;
  pull.merged = { commit: made.id, at: now, by, byUs, exact: pull.ours };
}

/** What has waited long enough in the queue is merged, or leaves it. Gives those merged. */
export function runQueue(forge: ModelForge, git: ModelGit, now: number): ModelPull[] {
  const merged: ModelPull[] = [];
  for (const pull of forge.pulls) {
    if (pull.queue === undefined || now < pull.queue.until) continue;
    const { fate } = pull.queue;
    pull.queue = undefined;
    // A required gate that fails on the merge group throws it out as well.
    if (pull.state !== "open" || fate !== "merge" || pull.fenced || conflicts(git, pull)) continue;
    mergeNow(git, pull, BOT, true, now);
    merged.push(pull);
  }
  return merged;
}

export type MergeAnswer = "merged" | "refused" | "queued" | "gone";

/** GitHub's merge call, guarded by the head. */
export function mergeCall(
  forge: ModelForge,
  git: ModelGit,
  call: { pull: number; head: string; to: Time; queue?: ModelPull["queue"] | undefined },
  now: number,
): MergeAnswer {
  const { pull: number, head, to } = call;
  const pull = forge.pulls[number - 100];
  if (pull === undefined || pull.state !== "open") return "gone";
  const key = `${pull.branch}@${head}`;
  if (pull.head !== head || pull.draft || conflicts(git, pull)) {
    forge.refusals.set(key, { kind: "Retry", message: "Head branch was modified. Review and try the merge again.", to });
    return "refused";
  }
  if (now < forge.refusing.until) {
    forge.refusals.set(key, { kind: forge.refusing.answer, message: "Repository rule violations found", to });
    return "refused";
  }
  forge.refusals.delete(key);
  if (call.queue !== undefined) {
    pull.queue ??= call.queue;
    return "queued";
  }
  mergeNow(git, pull, BOT, true, now);
  return "merged";
}

export function observePull(forge: ModelForge, git: ModelGit, branch: string, now: number): ObservedPull | null {
  const pull = forge.byBranch.get(branch);
  if (pull === undefined) return null;
  pull.askedAt ??= now;
  const known = now - pull.askedAt >= MERGEABLE_MS;
  const refusal = forge.refusals.get(`${pull.branch}@${pull.head}`);
  const mergeable: ObservedPull["mergeable"] = !known ? "unknown" : conflicts(git, pull) ? "conflict" : "yes";
  return {
    number: pull.number,
    url: `https://forge.invalid/pull/${pull.number}`,
    state: pull.state,
    draft: pull.draft,
    head: pull.head,
    headIsOurs: pull.ours,
    mergeable,
    refusal,
    queue: pull.queue === undefined ? null : { state: "QUEUED", position: 1 },
    openedAt: iso(pull.openedAt),
    merged: pull.merged === undefined ? undefined : { ...pull.merged, at: iso(pull.merged.at) },
    closedBy: pull.closedBy,
  };
}
