import { defined } from "../../core/base/defined.ts";
import { iso } from "../../core/base/time.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { said } from "../../core/reasons/run.ts";
import type { Evidence, Verdict } from "../../core/run/state/run.ts";
import type { Assessment, ObservedTarget } from "../../core/run/state/world.ts";
import { type Behaviour, type Condition, FOREVER, type ModelRollout, type Script } from "../generate/scenario.ts";
import { awaitedSync, changesOf, type Reachable, sightOf } from "./changes.ts";
import { type ModelGit, pinOf } from "./git.ts";

/** One Application as it truly is. Everything about it is a function of time, so that a stale read is a read of an earlier time. */
export interface ModelTarget extends Reachable {
  key: string;
  cluster: string;
  /** From then on the Application is not there. */
  goneAt: number;
  /** From then on it does this instead, whatever changes. */
  fault?: { from: number; script: Script };
  /** Worked out once for each state of its pins. */
  known?: Known;
  /** How it looked last, where nothing of it changes any more. */
  still?: { segments: readonly Segment[]; commit: string | undefined; seen: ObservedTarget };
}

/** What its segments were worked out from. */
interface Known {
  /** Commits of the base when it was last looked whether one changed its pins. */
  commits: number;
  changes: number;
  mendedAt: number;
  faultAt: number | undefined;
  outages: number;
  syncs: number;
  segments: Segment[];
}

export const SETTLE_MS = 10_000;
const GRACE_MS = 60_000;

/** What it is from one moment to another, and at which values of its pins. */
interface Segment {
  state: Condition;
  from: number;
  to: number;
  values: (string | null)[];
  /** The commit that brought the values. */
  commit: string;
}

/** `byHand`: of its rollout, where automated sync is off. */
export function modelTarget(
  key: string,
  cluster: string,
  edits: readonly Edit[],
  behaviour: Behaviour,
  byHand?: ModelRollout["byHand"],
): ModelTarget {
  const hands = byHand && { ...byHand, syncs: [] };
  return { key, cluster, pins: edits.map(pinOf), behaviour, mendedAt: FOREVER, goneAt: FOREVER, ...defined({ byHand: hands }) };
}

function seenAt(git: ModelGit, target: ModelTarget, commitId: string): number {
  const made = git.byId.get(commitId);
  return made === undefined ? Number.POSITIVE_INFINITY : sightOf(target, made.at);
}

/** All that it goes through as things stand, from the beginning to the end of time. */
export function segmentsOf(git: ModelGit, target: ModelTarget): readonly Segment[] {
  const { known, mendedAt } = target;
  const faultAt = target.fault?.from;
  const outages = target.outages?.length ?? 0;
  const syncs = target.byHand?.syncs.length ?? 0;
  const same = known?.mendedAt === mendedAt && known.faultAt === faultAt && known.outages === outages && known.syncs === syncs;
  const commits = git.commits.length;
  if (same && known.commits === commits) return known.segments;
  let changes = 0;
  for (const pin of target.pins) changes += git.log.get(pin)?.length ?? 0;
  if (same && known.changes === changes) {
    known.commits = commits;
    return known.segments;
  }
  let segments = work(git, target);
  for (const outage of target.outages ?? []) segments = overlay(segments, outage);
  target.known = { commits, changes, mendedAt, faultAt, outages, syncs, segments };
  return segments;
}

/** What goes on in the cluster goes on; it is only not seen. */
function overlay(segments: readonly Segment[], { from, to }: { from: number; to: number }): Segment[] {
  const seen: Segment[] = [];
  for (const one of segments) {
    if (one.to <= from || one.from >= to) {
      seen.push(one);
      continue;
    }
    if (one.from < from) seen.push({ ...one, to: from });
    seen.push({ ...one, state: "Unreachable", from: Math.max(one.from, from), to: Math.min(one.to, to) });
    if (one.to > to) seen.push({ ...one, from: to });
  }
  return seen;
}

function work(git: ModelGit, target: ModelTarget): Segment[] {
  const { behaviour } = target;
  const values: (string | null)[] = target.pins.map(() => null);
  const first = target.pins.map((pin) => git.log.get(pin)?.[0]);
  const segments: Segment[] = [];
  for (const { index, pin, value, from: there } of changesOf(git, target)) {
    values[pin] = value;
    const isFirst = index === first[pin]?.index;
    const from = index === 0 ? Number.NEGATIVE_INFINITY : there;
    cut(segments, from);
    // What a run made, and took away again, is nothing as before.
    const isBack = !isFirst && behaviour.back !== undefined && values.every((one, place) => (one ?? "") === (first[place]?.value ?? ""));
    const script: Script = isFirst
      ? [{ state: behaviour.before ?? "Healthy", forMs: FOREVER }]
      : isBack
        ? (behaviour.back ?? [])
        : behaviour.script;
    play(segments, script, { from, until: target.mendedAt, values: values.slice(), commit: git.commits[index]?.id ?? "" });
  }
  const { fault } = target;
  const last = segments.at(-1);
  if (fault !== undefined && last !== undefined) {
    cut(segments, fault.from);
    play(segments, fault.script, { from: fault.from, until: target.mendedAt, values: last.values, commit: last.commit });
  }
  return segments;
}

/** What comes after `at` is overtaken. */
function cut(segments: Segment[], at: number): void {
  while ((segments.at(-1)?.from ?? Number.NEGATIVE_INFINITY) >= at && segments.length > 0) segments.pop();
  const last = segments.at(-1);
  if (last !== undefined && last.to > at) last.to = at;
}

/** The states of a script, one after the other, until somebody mends it; healthy from then on. */
function play(segments: Segment[], script: Script, at: Pick<Segment, "from" | "values" | "commit"> & { until: number }): void {
  const { values, commit, until } = at;
  let from = at.from;
  const start = segments.length;
  const push = (state: Condition, to: number) => {
    const last = segments.length > start ? segments.at(-1) : undefined;
    if (last?.state === state) last.to = to;
    else if (to > from) segments.push({ state, from, to, values, commit });
    from = to;
  };
  for (const { state, forMs } of script) {
    if (from >= until) break;
    push(
      state,
      from === Number.NEGATIVE_INFINITY
        ? Math.min(until, forMs >= FOREVER ? Number.POSITIVE_INFINITY : forMs)
        : Math.min(from + forMs, until),
    );
  }
  if (from < Number.POSITIVE_INFINITY) push("Healthy", Number.POSITIVE_INFINITY);
}

export function segmentAt(git: ModelGit, target: ModelTarget, time: number): Segment | undefined {
  return segmentsOf(git, target).findLast((one) => one.from <= time);
}

/** When it changes next after `time`, as things stand: what Argo CD would send an event for. */
export function changesAfter(git: ModelGit, target: ModelTarget, time: number): number {
  if (target.goneAt > time && target.goneAt < FOREVER) return target.goneAt;
  const segments = segmentsOf(git, target);
  if ((segments.at(-1)?.from ?? 0) <= time) return Number.POSITIVE_INFINITY;
  return segments.find(({ from }) => from > time)?.from ?? Number.POSITIVE_INFINITY;
}

/** The truth: whether at some moment by `time` it had been healthy at this change, with these values, for the settle time. */
export function wasConfirmable(
  git: ModelGit,
  target: ModelTarget,
  change: { commit: string; at: number; values: readonly (string | null)[] },
  time: number,
): boolean {
  const seen = Math.max(seenAt(git, target, change.commit), change.at);
  for (const segment of segmentsOf(git, target)) {
    if (segment.state !== "Healthy" || !change.values.every((value, place) => segment.values[place] === value)) continue;
    if (Math.min(segment.to, time) - Math.max(segment.from, seen) >= SETTLE_MS) return true;
  }
  return false;
}

/** What a correct liveness says of a read taken at `time`, of the change `commitId` that set the pins to `values`. */
export function assess(git: ModelGit, target: ModelTarget, commitId: string, values: readonly string[], time: number): Assessment {
  if (time >= target.goneAt) return answer("lost", "exists", "Argo CD has no such Application.", time, {});
  const seen = seenAt(git, target, commitId);
  if (time < seen) return answer("pending", "compared", "The status is older than the change.", time, { wantsRefresh: true });
  const segment = segmentAt(git, target, time);
  const since = Math.max(segment?.from ?? seen, seen);
  const more = { firstSeenAt: iso(seen) };
  const sync = awaitedSync(git, target, commitId, time);
  if (sync !== undefined) return answer("waiting", "synced", "Somebody has to sync it.", time, { ...more, sync });
  if (segment !== undefined && values.some((value, place) => segment.values[place] !== value)) {
    const changedBy = segment.commit;
    return answer("waiting", "revision", "A later commit has another value.", time, { ...more, changedBy });
  }
  switch (segment?.state) {
    case "Healthy":
      if (time - since >= SETTLE_MS) return answer("live", "all", "Synced and Healthy.", time, more);
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

function answer(verdict: Verdict, clause: string, text: string, time: number, more: Partial<Assessment>): Assessment {
  const sentence = said(text);
  const evidence: Evidence = { verdict, clause, sentence, readAt: iso(time), fields: {} };
  return { verdict, clause, sentence, wantsRefresh: false, ...more, evidence };
}

/** Argo CD's word for its health, or that there is no such Application. */
export function healthAt(git: ModelGit, target: ModelTarget, time: number): string {
  if (time >= target.goneAt) return "gone";
  const state = segmentAt(git, target, time)?.state;
  if (state === "Unreachable") return "Unknown";
  return state === "Degraded" || state === "Healthy" ? state : "Progressing";
}

/** What is wrong with it, whatever changed last. */
export function healthIssuesAt(git: ModelGit, target: ModelTarget, time: number): string[] {
  if (time >= target.goneAt) return ["NoApplication"];
  const state = segmentAt(git, target, time)?.state;
  if (state === "Degraded") return ["Degraded"];
  return state === "Unreachable" ? ["ClusterUnreachable", "Unknown"] : [];
}
