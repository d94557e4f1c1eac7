import type { BatchRef, PullRef } from "../../reasons/refs.ts";

const BATCH_NOUNS: Record<BatchRef["kind"], string> = {
  Planned: "batch",
  CatchUp: "catch-up batch",
  Hotfix: "hotfix batch",
  Revert: "revert batch",
};

/** Names a batch: `batch 2 of stage "eu-west-1"`. */
export function batchPhrase({ stage, number, kind, step }: BatchRef): string {
  const weight = step === undefined ? "" : `, step ${step.index} of ${step.of} (weight ${step.weight})`;
  return `${BATCH_NOUNS[kind]} ${number} of stage "${stage}"${weight}`;
}

/** Names a batch's PR; where it has none, because it moves branches, what takes its place. */
export function pullPhrase(pull: PullRef): string {
  return pull === null || pull === 0 ? "the fast-forward" : `#${pull}`;
}
