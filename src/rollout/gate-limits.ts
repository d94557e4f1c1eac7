import type { Blocked } from "./pull-gates.ts";
import { type Batch, isEnded, type Run } from "./run.ts";
import type { Draft } from "./run-draft.ts";
import { clustersOf, count, liveTargets } from "./run-names.ts";
import { isMidway } from "./steps.ts";
import { epoch } from "./time.ts";
import type { Limits } from "./world.ts";

/** `limits` of the repo: what all its runs may have in flight together, this batch included. */
export function limitsGate(draft: Draft, batch: Batch): Blocked | undefined {
  const { limits, others } = draft.world;
  if (limits === undefined) return undefined;
  if (others === undefined)
    return { why: "the other runs of the repo could not be read, and limits hold over all", next: { what: "they are read" } };
  const flying = [draft.run, ...others].flatMap((run) =>
    (isEnded(run) ? leftBehind(run, draft.now) : inFlight(run)).map((target) => ({ ...target, run: run.rollout })),
  );
  const coming = liveTargets(batch).filter((target) => !flying.some((one) => one.key === target.key));
  const why = over(draft, limits, flying, coming);
  return why === undefined ? undefined : { why, next: { what: "others are confirmed" } };
}

interface Flying {
  key: string;
  cluster: string;
}

/** Targets of a run from the merge intention until confirmed, at their whole weight where there are steps, failed or left out (SPEC §9.9). */
export function inFlight(run: Run): Flying[] {
  const found = new Map<string, Flying>();
  for (const batch of run.batches) {
    if (batch.merged === undefined && batch.intention === undefined) continue;
    for (const { key, cluster, phase } of batch.targets) {
      if (phase === "Merged" || phase === "Syncing" || phase === "Proposed" || isMidway(batch, { phase })) found.set(key, { key, cluster });
    }
  }
  return [...found.values()];
}

/** An aborted run looks after nothing any more: what it left in flight counts until its deadline, when it would be there or have failed. */
function leftBehind(run: Run, now: number): Flying[] {
  const waited = new Set<string>();
  for (const batch of run.batches)
    for (const { key, deadlineAt } of batch.targets) if (deadlineAt !== undefined && now < epoch(deadlineAt)) waited.add(key);
  return inFlight(run).filter((target) => waited.has(target.key));
}

function over(draft: Draft, limits: Limits, flying: readonly (Flying & { run: string })[], coming: readonly Flying[]): string | undefined {
  const now = new Set(clustersOf(flying));
  const then = new Set([...now, ...clustersOf(coming)]);
  const who = [...new Set(flying.map((one) => one.run))].join(", ");
  const would = (n: number, noun: string, most: number) =>
    `${count(n, noun)} of the repo would be in flight, and its limits allow ${most}${who === "" ? "" : ` (now: ${who})`}`;
  if (limits.clusters !== undefined && then.size > limits.clusters) return would(then.size, "cluster", limits.clusters);
  const targets = flying.length + coming.length;
  if (limits.targets !== undefined && targets > limits.targets) return would(targets, "target", limits.targets);
  return limits.label === undefined ? undefined : overLabel(draft, limits.label, then);
}

function overLabel(draft: Draft, { key, percent }: NonNullable<Limits["label"]>, then: ReadonlySet<string>): string | undefined {
  const { clusters, clustersKnown } = draft.world;
  if (!clustersKnown) return "the clusters could not be read, and a limit is by their labels";
  const all = new Map<string, number>();
  for (const { labels } of clusters.values()) if (labels[key] !== undefined) all.set(labels[key], (all.get(labels[key]) ?? 0) + 1);
  const flying = new Map<string, number>();
  for (const cluster of then) {
    const value = clusters.get(cluster)?.labels[key];
    if (value !== undefined) flying.set(value, (flying.get(value) ?? 0) + 1);
  }
  for (const [value, n] of flying) {
    const most = Math.max(1, Math.floor(((all.get(value) ?? 0) * percent) / 100));
    if (n > most) return `${count(n, "cluster")} with ${key}=${value} would be in flight, and the limits allow ${most} (${percent}%)`;
  }
  return undefined;
}
