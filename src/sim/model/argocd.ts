import type { Edit } from "../../rollout/plan-types.ts";
import type { Evidence, Verdict } from "../../rollout/run.ts";
import { iso } from "../../rollout/time.ts";
import type { Assessment } from "../../rollout/world.ts";
import { type ModelGit, pinOf } from "./git.ts";
import type { Behaviour, Condition } from "./scenario.ts";

/** One Application as it truly is. Everything about it is a function of time, so that a stale read is a read of an earlier time. */
export interface ModelTarget {
  key: string;
  cluster: string;
  edits: Edit[];
  behaviour: Behaviour;
  /** From then on it is healthy whatever its script says: somebody mended it. */
  mendedAt: number;
  /** From then on the Application is not there. */
  goneAt: number;
}

export const SETTLE_MS = 10_000;
export const GRACE_MS = 60_000;

interface Segment {
  state: Condition;
  from: number;
  to: number;
}

/** When the target has seen a commit, and so every one before it. */
export function seenAt(git: ModelGit, target: ModelTarget, commitId: string): number {
  const made = git.commits.find((one) => one.id === commitId);
  const lag = target.behaviour.lagMs;
  return made === undefined ? Number.POSITIVE_INFINITY : Math.min(made.at + lag, Math.max(made.at, target.mendedAt));
}

/** When the script started: the last change of its pins that it has seen by then. */
function startOf(git: ModelGit, target: ModelTarget, time: number): number | undefined {
  let start: number | undefined;
  for (const edit of target.edits) {
    for (const entry of git.log.get(pinOf(edit)) ?? []) {
      if (entry.index === 0) continue;
      const seen = Math.min(entry.at + target.behaviour.lagMs, Math.max(entry.at, target.mendedAt));
      if (seen <= time && (start === undefined || seen > start)) start = seen;
    }
  }
  return start;
}

/** The states it goes through from the last change seen by `time`, up to then. */
function segments(git: ModelGit, target: ModelTarget, time: number): Segment[] {
  const start = startOf(git, target, time);
  if (start === undefined) return [{ state: "Healthy", from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }];
  const list: Segment[] = [];
  let from = start;
  for (const { state, forMs } of target.behaviour.script) {
    if (from >= target.mendedAt) break;
    const to = Math.min(from + forMs, target.mendedAt);
    push(list, { state, from, to });
    from = to;
  }
  if (Number.isFinite(from)) push(list, { state: "Healthy", from, to: Number.POSITIVE_INFINITY });
  return list;
}

function push(list: Segment[], segment: Segment): void {
  if (segment.to <= segment.from) return;
  const last = list.at(-1);
  if (last?.state === segment.state) last.to = segment.to;
  else list.push(segment);
}

/** The truth: whether at some moment by `time` it had been healthy at this change for the settle time. */
export function wasConfirmable(git: ModelGit, target: ModelTarget, commitId: string, mergedAt: number, time: number): boolean {
  const seen = Math.max(seenAt(git, target, commitId), mergedAt);
  // The script starts again with each change, so every start up to now is looked at.
  const starts = [
    time,
    ...target.edits.flatMap((edit) => (git.log.get(pinOf(edit)) ?? []).map((entry) => entry.at + target.behaviour.lagMs - 1)),
  ];
  for (const until of starts) {
    if (until > time) continue;
    for (const segment of segments(git, target, until)) {
      const from = Math.max(segment.from, seen);
      if (segment.state === "Healthy" && Math.min(segment.to, time) - from >= SETTLE_MS) return true;
    }
  }
  return false;
}

/** What a correct liveness says of a read taken at `time`, of the change `commitId`. */
export function assess(git: ModelGit, target: ModelTarget, commitId: string, time: number): Assessment {
  if (time >= target.goneAt) return answer("lost", "exists", "There is no such Application.", time, {});
  const seen = seenAt(git, target, commitId);
  if (time < seen) return answer("pending", "compared", "The status is older than the change.", time, { wantsRefresh: true });
  const segment = segments(git, target, time).findLast((one) => one.from <= time);
  const since = Math.max(segment?.from ?? seen, seen);
  const more = { firstSeenAt: iso(seen) };
  switch (segment?.state) {
    case "Healthy":
      if (time - since >= SETTLE_MS) return answer("live", "all", "Live and healthy.", time, more);
      return answer("pending", "settled", "Healthy, not for long enough yet.", time, { ...more, lookAgainAt: iso(since + SETTLE_MS) });
    case "Degraded":
      if (time - since >= GRACE_MS) return answer("failing", "health", "Degraded.", time, more);
      return answer("pending", "health", "Degraded, within the grace.", time, { ...more, lookAgainAt: iso(since + GRACE_MS) });
    case "Waiting":
      return answer("waiting", "synced", "A sync window is closed.", time, more);
    case "Unreachable":
      return answer("lost", "cluster", "Its cluster cannot be reached.", time, more);
    default:
      return answer("pending", "health", "Progressing.", time, more);
  }
}

function answer(verdict: Verdict, clause: string, sentence: string, time: number, more: Partial<Assessment>): Assessment {
  const evidence: Evidence = { verdict, clause, sentence, readAt: iso(time), fields: {} };
  return { verdict, clause, sentence, wantsRefresh: false, ...more, evidence };
}
