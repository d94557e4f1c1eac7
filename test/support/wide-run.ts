import type { Run } from "../../src/core/run/state/run.ts";
import { batchTarget, sampleRun } from "./sample-run.ts";

/** In batches of a hundred, the last of which is under way; so many of it are healthy. */
export function wideRun(clusters: number, healthy: number): Run {
  const run = sampleRun();
  const names = Array.from({ length: clusters }, (_unused, index) => `cluster-${index + 1}`);
  const groups = Array.from({ length: clusters / 100 }, (_unused, index) => names.slice(100 * index, 100 * index + 100));
  const [first] = run.batches;
  const [canary] = run.plan.stages;
  if (first === undefined || canary === undefined) throw new Error("the sample has both");
  const planned = groups.map((group) => ({
    clusters: group.map((name) => `hub/${name}`),
    targets: group.map((name) => {
      const { key, application, cluster, edits } = batchTarget(name, "Pending");
      return { key, application, cluster, edits };
    }),
  }));
  const batches = groups.slice(0, -2).map((group, index) => {
    const isLast = index === groups.length - 3;
    const { settledAt: __, ...rest } = first;
    return {
      ...(isLast ? rest : first),
      ...{ number: index + 1, ofStage: index + 1, branch: `stagecoach-run/payments/42/1-${index + 1}-1` },
      phase: isLast ? ("Merged" as const) : ("Settled" as const),
      targets: group.map((name, place) => batchTarget(name, isLast ? (place < healthy ? "Healthy" : "Syncing") : "Baked")),
    };
  });
  const stage = { ...canary, clusters: names.map((name) => `hub/${name}`), batches: planned };
  return { ...run, stage: 0, batches, plan: { ...run.plan, stages: [stage] } };
}
