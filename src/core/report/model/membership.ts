import type { Time } from "../../base/time.ts";
import { isEnded, type Run, type TargetPhase } from "../../run/state/run.ts";
import { sentenceOf } from "../reasons/say.ts";

/** A cluster that stands beside the batches, as every report shows it. */
interface Beside {
  cluster: string;
  /** Absent: no stage has it. */
  stage?: number;
  status: "Joined" | "Quarantined" | "Not in this run" | "Skipped";
  phase: TargetPhase;
  since: Time;
  why: string;
}

/** Lists clusters beside the batches: those that joined, those in quarantine, and those not taken. */
export function besides(run: Run): Beside[] {
  const moved = new Set(run.batches.flatMap((batch) => batch.targets.map((target) => target.cluster)));
  const shown = new Set([...run.requeued, ...run.skipped].map((one) => one.cluster));
  const rows: Beside[] = [];
  for (const { cluster, stage, at } of run.joined ?? []) {
    const left = run.skipped.find((one) => one.cluster === cluster);
    if (left !== undefined && !moved.has(cluster))
      rows.push({ cluster, stage, status: "Skipped", phase: "Skipped", since: left.at, why: sentenceOf(left.why, run) });
    if (moved.has(cluster) || shown.has(cluster)) continue;
    const why = `appeared during the run: ${isEnded(run) ? "the run ended before it was caught up" : "caught up after the last stage"}`;
    rows.push({ cluster, stage, status: "Joined", phase: "Pending", since: at, why });
  }
  for (const { cluster, stage, since, why } of run.quarantined ?? []) {
    const back = run.spec.quarantine?.onReturn === "Skip" || isEnded(run) ? "" : "; caught up after the last stage if it is back by then";
    rows.push({ cluster, stage, status: "Quarantined", phase: "Skipped", since, why: `${sentenceOf(why, run)}${back}` });
  }
  for (const { cluster, why, at } of run.notJoined ?? []) {
    rows.push({ cluster, status: "Not in this run", phase: "Skipped", since: at, why: sentenceOf(why, run) });
  }
  return rows;
}
