import { iso } from "../../core/base/time.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Limits } from "../../core/spec/schema-common.ts";
import { pinOf } from "../world/git.ts";
import type { Truth } from "../world/world.ts";
import { wasHealthyAt } from "./checks.ts";
import type { Moment } from "./moment.ts";

/** Something in flight, and where it travels. */
interface Flying {
  key: string;
  cluster: string;
  rollout: string;
  stage: string | undefined;
}

/** What would be over the limits of the settings, or of the rollout that merges: of what is in flight over all runs that are not over. */
export function overLimits({ truth, entries, now, index }: Pick<Moment, "truth" | "entries" | "now" | "index">): string[] {
  const flying = entries.flatMap(({ run }) => (run === undefined || run.endedAt !== undefined ? [] : inFlight(truth, run, now)));
  const { name, model } = truth.rollouts[index] ?? {};
  const own = flying.filter(({ rollout }) => rollout === name);
  return [...over(truth, truth.limits, flying), ...over(truth, model?.limits, own).map((wrong) => `${wrong} of its own limits`)];
}

/** From the intention until confirmed or out of it. What truly is confirmed need not be recorded yet. */
function inFlight(truth: Truth, run: Run, now: number): Flying[] {
  return run.batches.flatMap((batch) => {
    if (batch.merged === undefined && batch.intention === undefined) return [];
    return batch.targets.flatMap(({ key, cluster, phase, edits }): Flying[] => {
      if (!["Pending", "Proposed", "Merged", "Syncing"].includes(phase)) return [];
      const real = truth.targets.get(key);
      if (real !== undefined && wasHealthyAt(truth, real, asMerged(truth, batch), edits, now)) return [];
      return [{ key, cluster, rollout: run.rollout, stage: run.plan.stages[batch.stage]?.name }];
    });
  });
}

function over(truth: Truth, limits: Limits | undefined, flying: readonly Flying[]): string[] {
  if (limits === undefined) return [];
  const wrong = overIn(truth, limits, flying);
  for (const { selector, stages, rollouts, ...own } of limits.selected ?? []) {
    const isSelected = (cluster: string) =>
      Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => truth.clusters.get(cluster)?.labels[key] === value);
    const counted = flying.filter(
      ({ cluster, rollout, stage = "" }) =>
        isSelected(cluster) && (stages ?? [stage]).includes(stage) && (rollouts ?? [rollout]).includes(rollout),
    );
    const of = stages === undefined ? "" : " in its stage";
    wrong.push(...overIn(truth, own, counted).map((one) => `${one} of those selected${of}`));
  }
  return wrong;
}

function overIn(truth: Truth, limits: Omit<Limits, "selected">, flying: readonly Flying[]): string[] {
  const wrong: string[] = [];
  const hosts = new Set(flying.map(({ cluster }) => hostIn(truth, cluster).key));
  const targets = new Set(flying.map(({ key }) => key));
  if (limits.clusters !== undefined && hosts.size > limits.clusters)
    wrong.push(`with ${hosts.size} clusters in flight of ${limits.clusters}`);
  if (limits.targets !== undefined && targets.size > limits.targets)
    wrong.push(`with ${targets.size} targets in flight of ${limits.targets}`);
  const { label } = limits;
  if (label === undefined) return wrong;
  const known = new Map([...truth.clusters.keys()].map((key) => hostIn(truth, key)).map((host) => [host.key, host.labels[label.key]]));
  for (const value of new Set([...hosts].map((host) => known.get(host)))) {
    if (value === undefined) continue;
    const all = [...known.values()].filter((one) => one === value).length;
    const flying = [...hosts].filter((host) => known.get(host) === value).length;
    if (flying > Math.max(1, Math.floor((all * label.percent) / 100)))
      wrong.push(`with ${flying} of ${all} clusters of ${value} in flight`);
  }
  return wrong;
}

/** The cluster itself, of what is counted on it. */
function hostIn({ clusters, rollouts }: Truth, key: string): { key: string; labels: Readonly<Record<string, string>> } {
  const counted = clusters.get(key);
  if (counted !== undefined) return counted.on ?? counted;
  // It has left.
  const { on } = rollouts.flatMap(({ targets }) => targets).find(({ cluster }) => cluster === key) ?? {};
  return { key: on ?? key, labels: {} };
}

/** A merge of ours is recorded with what comes of it: until then GitHub alone tells of it. */
function asMerged({ forge }: Truth, batch: Batch): Batch {
  if (batch.merged !== undefined) return batch;
  const merged = forge.pulls.find(({ number }) => number === batch.pull?.number)?.merged;
  return merged === undefined ? batch : { ...batch, merged: { commit: merged.commit, at: iso(merged.at), by: merged.by } };
}

/** What is made larger than the limits could ever allow, and could be smaller, would wait for ever. */
export function isWithinLimits(truth: Truth, run: Run, batch: Batch): string[] {
  const own = truth.rollouts.find(({ name }) => name === run.rollout)?.model?.limits;
  if (batch.step !== undefined && batch.step.index > 1) return [];
  const clusters = new Set(batch.targets.map((target) => hostIn(truth, target.cluster).key));
  const shared = new Set(batch.targets.flatMap(({ edits }) => (edits[0] === undefined ? [] : [pinOf(edits[0])]))).size === 1;
  const leastOf = (of: "clusters" | "targets") => Math.min(...[truth.limits, own].map((one) => one?.[of] ?? Number.POSITIVE_INFINITY));
  const most = [leastOf("clusters"), leastOf("targets")] as const;
  if (shared || (clusters.size <= most[0] && batch.targets.length <= most[1])) return [];
  return [`truth: batch ${batch.number} of ${run.rollout} is made of ${clusters.size} clusters, and limits allow ${Math.min(...most)}`];
}

/** What puts old values back and cannot be cut smaller is not held for good. */
export function isLoneWayBack(run: Run, batch: Batch): boolean {
  if (run.kind !== "Rollback" && batch.kind !== "Revert") return false;
  const pins = new Set(batch.targets.flatMap(({ edits }) => (edits[0] === undefined ? [] : [pinOf(edits[0])])));
  return pins.size === 1 || batch.kind === "Revert";
}
