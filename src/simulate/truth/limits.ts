import { iso } from "../../core/base/time.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Limits } from "../../core/spec/repo-config.ts";
import { pinOf } from "../world/git.ts";
import type { Truth } from "../world/world.ts";
import { wasHealthyAt } from "./checks.ts";
import type { Moment } from "./moment.ts";

/** In flight: from the intention until confirmed or out of it, over all runs that are not over. What truly is confirmed need not be recorded yet. */
export function overLimits({ truth, entries, now }: Pick<Moment, "truth" | "entries" | "now">): string[] {
  const { limits } = truth;
  if (limits === undefined) return [];
  const targets = new Set<string>();
  const clusters = new Set<string>();
  for (const { run } of entries) {
    if (run === undefined || run.endedAt !== undefined) continue;
    for (const batch of run.batches) {
      if (batch.merged === undefined && batch.intention === undefined) continue;
      for (const target of batch.targets) {
        if (!["Pending", "Proposed", "Merged", "Syncing"].includes(target.phase)) continue;
        const real = truth.targets.get(target.key);
        if (real !== undefined && wasHealthyAt(truth, real, asMerged(truth, batch), target.edits, now)) continue;
        targets.add(target.key);
        clusters.add(target.cluster);
      }
    }
  }
  const wrong = overIn(truth, limits, clusters, targets);
  for (const { selector, ...own } of limits.selected ?? []) {
    const isSelected = (cluster: string) =>
      Object.entries(selector.matchLabels).every(([key, value]) => truth.clusters.get(cluster)?.labels[key] === value);
    const within = new Set([...clusters].filter(isSelected));
    const applications = new Set([...targets].filter((key) => isSelected(truth.targets.get(key)?.cluster ?? "")));
    wrong.push(...overIn(truth, own, within, applications).map((over) => `${over} of those selected`));
  }
  return wrong;
}

function overIn(truth: Truth, limits: Omit<Limits, "selected">, clusters: ReadonlySet<string>, targets: ReadonlySet<string>): string[] {
  const wrong: string[] = [];
  const hosts = new Set([...clusters].map((cluster) => hostIn(truth, cluster).key));
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
  const { limits } = truth;
  if (limits === undefined || (batch.step !== undefined && batch.step.index > 1)) return [];
  const clusters = new Set(batch.targets.map((target) => hostIn(truth, target.cluster).key));
  const shared = new Set(batch.targets.flatMap(({ edits }) => (edits[0] === undefined ? [] : [pinOf(edits[0])]))).size === 1;
  const most = [limits.clusters ?? Number.POSITIVE_INFINITY, limits.targets ?? Number.POSITIVE_INFINITY] as const;
  if (shared || (clusters.size <= most[0] && batch.targets.length <= most[1])) return [];
  return [`truth: batch ${batch.number} of ${run.rollout} is made of ${clusters.size} clusters, and limits allow ${Math.min(...most)}`];
}

/** What puts old values back and cannot be cut smaller is not held for good. */
export function isLoneWayBack(run: Run, batch: Batch): boolean {
  if (run.kind !== "Rollback" && batch.kind !== "Revert") return false;
  const pins = new Set(batch.targets.flatMap(({ edits }) => (edits[0] === undefined ? [] : [pinOf(edits[0])])));
  return pins.size === 1 || batch.kind === "Revert";
}
