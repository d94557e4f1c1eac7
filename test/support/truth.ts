import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import type { ArgoCdSim } from "../../src/sim/argocd/index.ts";
import { PATIENCE_MS } from "./ask-until.ts";
import type { Journey } from "./journey.ts";

/** What was true in the clusters whenever the run went on, and what it said meanwhile. */
export interface Truth {
  /** Batches that were merged, or targets confirmed, while something before them was not truly done; empty is right. */
  early: string[];
  /** How many confirmations and merges were looked at. */
  looks(): number;
  /** Everything that was said of a cluster's target, in order. */
  said(cluster: string): string[];
  /** Resolves once something like this was said of the cluster. */
  hears(cluster: string, words: RegExp, patienceMs?: number): Promise<string>;
  stop(): void;
}

const short = (key: string) => key.replace(/^.*\//, "");

/**
 * Looks at the clusters themselves, behind Argo CD's back, in the very moment in which the bot confirms a target or merges a
 * batch. To be begun before the release; every Application of the fleet has to be at its old version then.
 */
export function watchTruth(journey: Journey): Truth {
  const { world } = journey;
  const argocdOf = (application: string): ArgoCdSim | undefined =>
    world.planes.find((plane) => plane.argocd.truth(application) !== undefined)?.argocd;
  const before = new Map(world.clusters.map((cluster) => [cluster, contentOf(cluster)]));
  const early: string[] = [];
  const seen = new Set<string>();
  const words = new Map<string, string[]>();
  const listeners = new Set<() => void>();
  let looks = 0;

  function contentOf(cluster: string): string | undefined {
    return argocdOf(`my-app-${cluster}`)?.truth(`my-app-${cluster}`)?.content;
  }

  /** Why a target is not truly at the new version and healthy; undefined: it is. */
  function wrong(application: string, cluster: string): string | undefined {
    const truth = argocdOf(application)?.truth(application);
    if (truth?.content === undefined || truth.content === before.get(cluster)) return "still runs the old version";
    return truth.health === "Healthy" ? undefined : `is ${truth.health}`;
  }

  function look(): void {
    const run = journey.run();
    if (run === undefined) return;
    for (const batch of run.batches) {
      for (const target of batch.targets) {
        const cluster = short(target.cluster);
        listen(cluster, sentenceOf(target.why, run));
        if (target.evidence !== undefined) listen(cluster, sentenceOf(target.evidence.sentence, run));
        const mark = `${batch.number} ${target.key} ${target.confirmedAt}`;
        if (target.confirmedAt === undefined || seen.has(mark)) continue;
        seen.add(mark);
        looks += 1;
        const why = wrong(target.application, cluster);
        if (why !== undefined) early.push(`${cluster} was confirmed at ${target.confirmedAt}, and ${why}`);
      }
      if (batch.merged !== undefined) judgeMerge(run, batch.number);
    }
    for (const listener of listeners) listener();
  }

  function judgeMerge(run: Run, number: number): void {
    if (seen.has(`merged ${number}`)) return;
    seen.add(`merged ${number}`);
    for (const batch of run.batches) {
      if (batch.number >= number) continue;
      for (const { application, cluster, phase } of batch.targets) {
        if (phase === "Failed" || phase === "Skipped") continue;
        looks += 1;
        const why = wrong(application, short(cluster));
        if (why !== undefined) early.push(`batch ${number} was merged, and ${short(cluster)} of batch ${batch.number} ${why}`);
      }
    }
  }

  function listen(cluster: string, sentence: string): void {
    const all = words.get(cluster) ?? [];
    words.set(cluster, all);
    if (!all.includes(sentence)) all.push(sentence);
  }

  const stop = journey.bot.onChange(look);
  return {
    early,
    looks: () => looks,
    said: (cluster) => words.get(cluster) ?? [],
    hears(cluster, pattern, patienceMs = PATIENCE_MS) {
      return new Promise((resolve, reject) => {
        const calm = journey.world.clock.after(patienceMs, () => {
          listeners.delete(check);
          reject(new Error(`${cluster} never said ${pattern}, but: ${(words.get(cluster) ?? []).join(" / ")}`));
        });
        function check(): void {
          const found = (words.get(cluster) ?? []).find((sentence) => pattern.test(sentence));
          if (found === undefined) return;
          calm();
          listeners.delete(check);
          resolve(found);
        }
        listeners.add(check);
        check();
      });
    },
    stop,
  };
}
