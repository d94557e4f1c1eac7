import { type AnyReason, sameReason } from "../../core/base/reason.ts";
import { epoch, iso } from "../../core/base/time.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { shortName } from "../../core/report/words.ts";
import { clustersOf, liveTargets } from "../../core/run/state/names.ts";
import { type Batch, isEnded, type Run } from "../../core/run/state/run.ts";

/** One thing that happens in a simulated run. Times are its own. */
export interface Moment {
  at: string;
  what: "started" | "opened" | "merged" | "healthy" | "settled" | "failed" | "waits" | "putOff" | "paused" | "rollback" | "ended";
  stage?: string;
  /** Number of the batch in its run. */
  batch?: number;
  clusters?: string[];
  /** Of a canary step: percent. */
  weight?: number | undefined;
  /** waits: until when. */
  until?: string;
  why?: string;
}

/** What is waited for with a pull request open counts as a wait from here on. */
const WORTH_TELLING_MS = 60_000;

/** Gathers what happens from what is recorded, round after round. */
export function openTimeline() {
  const found: Moment[] = [];
  const waits = new Map<string, { since: number; why: AnyReason; tell: (at: number) => void }>();
  let before: Run | undefined;

  function look(run: Run, now: number): void {
    const was = before?.number === run.number ? before : undefined;
    const at = iso(now);
    if (was === undefined) found.push({ at, what: run.kind === "Rollback" ? "rollback" : "started", why: sentenceOf(run.why, run) });
    for (const batch of run.batches) lookAtBatch(run, batch, was?.batches[batch.number - 1], now);
    for (const { cluster, stage, why } of run.requeued) {
      if (was?.requeued.some((one) => one.cluster === cluster) === true) continue;
      found.push({
        at,
        what: "putOff",
        stage: run.plan.stages[stage]?.name ?? "",
        clusters: [shortName(cluster)],
        why: sentenceOf(why, run),
      });
    }
    if (run.paused !== undefined && was?.paused === undefined) found.push({ at, what: "paused", why: sentenceOf(run.paused.reason, run) });
    if (isEnded(run) && (was === undefined || !isEnded(was)))
      found.push({ at, what: "ended", why: `${run.phase}: ${sentenceOf(run.why, run)}` });
    before = run;
  }

  function lookAtBatch(run: Run, batch: Batch, was: Batch | undefined, now: number): void {
    if (batch === was) return;
    const stage = run.plan.stages[batch.stage]?.name ?? "";
    const clusters = clustersOf(liveTargets(batch)).map(shortName);
    const weight = batch.step?.weight;
    const push = (what: Moment["what"], at: string, more: Partial<Moment> = {}) =>
      found.push({ at, what, stage, batch: batch.number, clusters, weight, ...more });
    if (batch.pull !== undefined && was?.pull === undefined) push("opened", batch.pull.openedAt);
    const key = `${run.number} ${batch.number}`;
    const waiting = batch.phase === "Open" ? batch.why : undefined;
    const wait = waits.get(key);
    if (wait !== undefined && !sameReason(wait.why, waiting)) {
      if (now - wait.since >= WORTH_TELLING_MS) wait.tell(now);
      waits.delete(key);
    }
    if (waiting !== undefined && !waits.has(key)) {
      const tell = (at: number) => void push("waits", iso(now), { until: iso(at), why: sentenceOf(waiting, run) });
      waits.set(key, { since: now, why: waiting, tell });
    }
    if (batch.merged !== undefined && was?.merged === undefined) push("merged", batch.merged.at);
    const confirmed = (one: Batch | undefined) => one?.phase === "Baking" || one?.phase === "Settled";
    if (batch.merged !== undefined && confirmed(batch) && !confirmed(was) && !hasFailed(batch)) push("healthy", iso(now));
    const failed = batch.targets.filter((target, place) => target.phase === "Failed" && was?.targets[place]?.phase !== "Failed");
    const [first] = failed;
    if (first !== undefined) push("failed", iso(now), { clusters: clustersOf(failed).map(shortName), why: sentenceOf(first.why, run) });
    if (batch.settledAt !== undefined && was?.settledAt === undefined) push("settled", batch.settledAt);
  }

  /** In order. `endsAt`: the run never ended by itself; what it waits for then is told, too. */
  function moments(endsAt?: number): Moment[] {
    if (endsAt !== undefined) for (const { tell } of waits.values()) tell(endsAt);
    return found.toSorted((a, b) => epoch(a.at) - epoch(b.at));
  }

  return { look, moments };
}

function hasFailed(batch: Batch): boolean {
  return batch.targets.every((target) => target.phase === "Failed");
}
