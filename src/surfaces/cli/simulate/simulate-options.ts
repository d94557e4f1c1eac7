/** What `--fail` and `--from-journal` of `simulate` name. */
import { count } from "../../../core/base/count.ts";
import type { Plan } from "../../../core/plan/plan-types.ts";
import { weightsOf } from "../../../core/plan/steps.ts";
import { countedWord, countedWords } from "../../../core/report/counted.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { FAULTS, type Fault } from "../../../simulate/plan/faults.ts";
import { type Times, timesOf } from "../../../simulate/plan/times.ts";
import { like } from "../args.ts";
import { CommandError } from "../command.ts";
import { entryOf } from "../journal/known-rollouts.ts";
import { type SourceOptions, withSource } from "../journal/source.ts";
import { visible } from "../print.ts";

/** `any` stands for a cluster that is drawn. */
const ANY = "any";

/** All that were given. Of two for one cluster one would never show: wrong usage, but for one that follows the other with a batch. */
export function parseFaults(texts: readonly string[], plan: Plan, rollout: Rollout): Fault[] {
  const faults = texts.map((text) => parseFault(text, plan, rollout));
  const named = new Set<string>();
  for (const [place, { cluster, batch }] of faults.entries()) {
    if (cluster === undefined) continue;
    const slot = `${cluster} ${batch === undefined ? "change" : "batch"}`;
    if (named.has(slot))
      throw noFault(texts[place], `the ${countedWord(plan)} has a fault already; give one for each, or a second with @N`);
    named.add(slot);
  }
  const clusters = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const drawn = faults.filter(({ cluster }) => cluster === undefined).length;
  const taken = new Set(faults.flatMap(({ cluster }) => cluster ?? [])).size;
  if (drawn + taken <= clusters) return faults;
  throw new CommandError(2, `--fail: ${drawn + taken} ${countedWords(plan)} are to fail, and the plan has ${clusters}`);
}

function noFault(text: string | undefined, why: string): CommandError {
  return new CommandError(2, visible(`--fail ${text}: ${why}`));
}

/** `CLUSTER=FAULT[@BATCH]`. Wrong usage names what is nearest. */
function parseFault(text: string, plan: Plan, rollout: Rollout): Fault {
  const [, name, word = "", at] = /^([^=]+)=([^@]*)(?:@(.*))?$/s.exec(text) ?? [];
  if (name === undefined) throw noFault(text, "write CLUSTER=FAULT, such as eu-1=degraded");
  const kind = FAULTS.find((one) => one === word);
  if (kind === undefined) throw noFault(text, `"${word}" is no fault${like(word, FAULTS)}; there are ${FAULTS.join(", ")}`);
  if (at !== undefined && !/^[1-9]\d{0,5}$/.test(at)) throw noFault(text, "after @ stands the number of a batch of the run, from 1");
  return { cluster: clusterOf(name, text, plan), kind, batch: at === undefined ? undefined : batchOf(Number(at), text, plan, rollout) };
}

/** A run may have fewer batches than this, never more. */
function batchOf(number: number, text: string, plan: Plan, rollout: Rollout): number {
  let most = 0;
  for (const [index, stage] of plan.stages.entries()) {
    const spec = rollout.stages[index];
    const batches = spec?.batching === "Rolling" ? stage.clusters.length : stage.batches.length;
    // A canary's batches travel once a weight; those that were put off come after them, all at once or one after the other.
    const weights = spec?.steps === undefined ? 1 : weightsOf(spec.steps).length;
    most += (batches + stage.requeued.length) * weights;
  }
  if (number <= most) return number;
  throw noFault(text, `the plan has ${count(most, "batch")}, there is no batch ${number}`);
}

function clusterOf(name: string, text: string, plan: Plan): string | undefined {
  const keys = plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]);
  const fitting = keys.filter((key) => key === name || key.slice(key.indexOf("/") + 1) === name);
  const [key, other] = fitting;
  if (other !== undefined) throw noFault(text, `several ${countedWords(plan)} are called so: ${fitting.join(", ")}`);
  if (key !== undefined) return key;
  if (name === ANY) return undefined;
  const names = keys.map((one) => one.slice(one.indexOf("/") + 1));
  throw noFault(text, `the plan has no ${countedWord(plan)} "${name}"${like(name, names)}; ${ANY} draws one for each run`);
}

const MOST_RUNS = 20;

/** From the journal of a checkout. CommandError 1 where it has no run of the rollout that has ended with anything to go by. */
export async function timesFromJournal(place: SourceOptions, rollout: string, settleMs: number): Promise<Times> {
  const runs = await withSource(place, async (source) => {
    await entryOf(source, rollout);
    const found: (Run | undefined)[] = [];
    for (const { number } of (await source.runs(rollout)).slice(-MOST_RUNS)) found.push(await source.run(rollout, number));
    return found.filter((run) => run !== undefined && isEnded(run)) as Run[];
  });
  if (runs.length === 0)
    throw new CommandError(1, `the journal has no run of ${rollout} that has ended yet: leave --from-journal out, or wait for one`);
  const times = timesOf(runs, settleMs);
  if (times.samples > 0) return times;
  const moved = runs.length === 1 ? ["the run", "no"] : [`none of the ${runs.length} runs`, "any"];
  const why = `${moved[0]} of ${rollout} that ended in the journal moved ${moved[1]} cluster`;
  throw new CommandError(1, `${why}: leave --from-journal out`);
}
