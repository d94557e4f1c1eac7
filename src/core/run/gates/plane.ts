import { text } from "../../base/reason.ts";
import type { Batch } from "../state/run.ts";
import type { Draft } from "../state/run-draft.ts";
import { clustersOf, liveTargets } from "../state/run-names.ts";
import { lostOf } from "../targets/target-unseen.ts";
import type { Blocked } from "./pull-gates.ts";

/**
 * What would not be seen is not merged: a batch with targets on a control plane that cannot be read waits for that, whole. One
 * whose targets are all on others goes on, if the order of batches and stages lets it.
 */
export function planeGate(draft: Draft, batch: Batch): Blocked | undefined {
  const lost = lostOf(draft, clustersOf(liveTargets(batch)));
  if (lost === undefined) return undefined;
  const what = `it can be seen again; or \`/requeue\` or \`/skip\` for ${lost.names}, so that the others go on`;
  return { why: `${lost.names} could not be watched: ${text(lost.why)}`, next: { what } };
}
