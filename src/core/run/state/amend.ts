import { canonicalJson, sha256 } from "../../base/hash.ts";
import type { Time } from "../../base/time.ts";
import { stageOf } from "./names.ts";
import type { Run } from "./run.ts";

/** What amends the frozen plan (docs/spec.md §9.16). */
const AMENDMENTS = ["skipped", "requeued", "joined", "quarantined"] as const;

/**
 * What an approval is given to: the stage as planned and every amendment to it so far (docs/spec.md §9.16). One cluster left out, put
 * off or joined makes it another, and approvals of the stage lapse.
 */
export function approvalHash(run: Run, stage: number): string {
  const own = (cluster: string) => stageOf(run, cluster) === stage;
  const skipped = run.skipped
    .map((one) => one.cluster)
    .filter(own)
    .sort();
  const requeued = run.requeued
    .map((one) => one.cluster)
    .filter(own)
    .sort();
  const joined = (run.joined ?? []).filter((one) => one.stage === stage).map((one) => one.cluster);
  const quarantined = (run.quarantined ?? []).filter((one) => one.stage === stage).map((one) => one.cluster);
  return sha256(canonicalJson([run.plan.stages[stage]?.hash ?? "", skipped, requeued, joined.sort(), quarantined.sort()]));
}

/** `run.amended` once the patch is applied; undefined: it is as it was. */
export function amendedBy(run: Run, patch: Partial<Run>, at: Time): Run["amended"] | undefined {
  if (!AMENDMENTS.some((key) => key in patch)) return undefined;
  const after = { ...run, ...patch };
  const changed: number[] = [];
  for (const [stage, spec] of run.spec.stages.entries())
    if (spec.approval !== undefined && approvalHash(run, stage) !== approvalHash(after, stage)) changed.push(stage);
  if (changed.length === 0) return undefined;
  const others = (run.amended ?? []).filter((one) => !changed.includes(one.stage));
  return [...others, ...changed.map((stage) => ({ stage, at }))];
}

/** Whether what a stage holds has changed at that moment or since. */
export function amendedSince(run: Pick<Run, "amended">, stage: number, at: Time): boolean {
  const last = run.amended?.find((one) => one.stage === stage);
  return last !== undefined && Date.parse(at) <= Date.parse(last.at);
}
