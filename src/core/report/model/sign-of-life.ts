import { livenessReason } from "../../reasons/liveness.ts";
import type { Batch, BatchTarget } from "../../run/state/run.ts";
import { sentenceOf } from "../reasons/say.ts";

/** Says once, below what shows these batches, that their clusters cannot be asked for a sign of life. Nothing where they can. */
export function unaskedNotes(batches: readonly Batch[]): string[] {
  const live = batches.flatMap(({ targets }) => targets.flatMap((target) => proofOf(target) ?? []));
  const unasked = live.filter(({ cluster }) => cluster === "unasked").length;
  return unasked === 0 ? [] : [sentenceOf(livenessReason("CLUSTERS_UNASKED", { all: unasked === live.length }))];
}

/** Of what is live: nobody wonders about a cluster that is still waited for. */
function proofOf({ evidence, why }: BatchTarget): { cluster?: unknown } | undefined {
  const said = evidence?.sentence ?? why;
  return typeof said === "object" && said.code === "CHANGE_LIVE" ? (said as { cluster?: unknown }) : undefined;
}
