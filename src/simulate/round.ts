import { sentenceOf } from "../core/report/reasons/say.ts";
import { isEnded, type Run } from "../core/run/state/run.ts";
import type { World } from "../core/run/state/world.ts";
import { act, fence, sweep } from "./act.ts";
import { type Decision, type Driver, isSpokenTo, note, runsOf } from "./driver.ts";
import { judgeMerge, judgeRecord, judgeStep } from "./truth/judge.ts";
import { runQueue } from "./world/forge.ts";
import { observe } from "./world/observe.ts";
import { readHealth } from "./world/observe-health.ts";
import { dieOutside, tidyOutside } from "./world/outside.ts";
import { editPage } from "./world/page.ts";
import { startAll } from "./world/start.ts";
import type { Entry } from "./world/world.ts";

/** How often what was recorded goes on as it is read back: each time would be half the time of a step. */
const REREAD = 0.05;

/** One round of the repo; perhaps of two replicas that read the same state, of which one is late. */
export function round(driver: Driver): void {
  const { dice, chaos } = driver.truth;
  driver.busy = false;
  tidyOutside(driver.truth.outside, driver.now);
  const { entries, version } = driver;
  replica(driver, entries, version);
  // The other one has seen nothing that is not recorded.
  const mine = driver.unrecorded;
  driver.unrecorded = new Map();
  if (dice.chance(chaos.lose)) replica(driver, entries, version);
  driver.unrecorded = mine;
}

/** Look, decide, record, act. */
function replica(driver: Driver, read: readonly Entry[], version: number): void {
  const { truth, now } = driver;
  for (const pull of runQueue(truth.forge, truth.git, now)) judgeMerge(driver.judge, driver.entries, pull, now, true);
  const entries = read.slice();
  const started = (driver.options.start ?? startAll)(truth, read, now);
  for (const { index, entry } of started) entries[index] = entry;
  const decisions = decideAll(driver, entries);
  if (!record(driver, read, entries, decisions, version)) return;
  const journal = driver.version;
  if (crashes(driver)) return;
  // All of them first, as the shell does.
  const fenced = decisions.map((decision) => fence(driver, decision)).every(Boolean);
  for (const decision of decisions) {
    for (const effect of decision.advanced.effects) {
      // Dies here: what was not tried yet is wanted again in the next round.
      if (crashes(driver)) return;
      act(driver, decision, effect, { journal, fenced });
    }
  }
  sweep(driver);
  for (const { advanced } of decisions) editPage(truth, advanced.run, now);
}

/** With the process goes what it only remembered. */
function crashes({ truth: { dice, chaos, outside, pages }, unrecorded }: Driver): boolean {
  if (!dice.chance(chaos.crash)) return false;
  dieOutside(outside);
  unrecorded.clear();
  pages.known.clear();
  return true;
}

function decideAll(driver: Driver, entries: readonly Entry[]): Decision[] {
  const { truth, now } = driver;
  const last = entries.map(({ run }, index) => asLastSeen(driver, index, run));
  const decisions: Decision[] = [];
  for (const [index, run] of last.entries()) {
    if (run === undefined || (isEnded(run) && !isSpokenTo(truth, run))) continue;
    // Two runs of one round each see what those before decided.
    const others = last.flatMap((other, place) => (other === undefined || place === index ? [] : [other]));
    const { world, advanced } = decide(driver, run, observe(truth, run, others, now));
    driver.steps += 1;
    judgeStep(driver.judge, driver.advance, { before: run, world, advanced, now });
    for (const event of advanced.events) note(driver, () => `${run.rollout} #${run.number}: ${sentenceOf(event)}`);
    if (advanced.wakeAt !== undefined) driver.wake = Math.min(driver.wake, advanced.wakeAt);
    last[index] = advanced.run;
    decisions.push({ index, before: run, world, advanced });
  }
  return decisions;
}

/** As this process last saw it, with what is not recorded. */
function asLastSeen({ unrecorded }: Driver, index: number, run: Run | undefined): Run | undefined {
  const known = unrecorded.get(index);
  return known !== undefined && known.of === run ? known.run : run;
}

/** What the core wants read first is read, and then it is decided again, as the shell does. */
function decide({ truth, advance, now }: Driver, run: Run, looked: World): Pick<Decision, "world" | "advanced"> {
  const first = advance(run, looked, now);
  if (first.wantsHealth === undefined) return { world: looked, advanced: first };
  const world = readHealth(truth, looked, first.wantsHealth, now);
  return { world, advanced: advance(run, world, now) };
}

/** One commit for all runs of the repo, by compare-and-swap: false where another replica was faster. Mere observations may be left for later. */
function record(driver: Driver, read: readonly Entry[], entries: Entry[], decisions: readonly Decision[], version: number): boolean {
  const { dice, chaos } = driver.truth;
  const next = entries.slice();
  let changed = next.some((entry, index) => entry !== read[index]);
  let moved = changed;
  // Whatever is recorded, all that was seen goes with it.
  const isDue =
    changed ||
    decisions.some(({ advanced: { change } }) => change === "transition" || (change === "observation" && !dice.chance(chaos.lazy)));
  for (const { index, advanced } of decisions) {
    const entry = next[index];
    if (entry === undefined || (advanced.change === "none" && !driver.unrecorded.has(index))) continue;
    if (!isDue) {
      if (entry.run !== undefined) driver.unrecorded.set(index, { of: entry.run, run: advanced.run });
      continue;
    }
    next[index] = { ...entry, run: advanced.run };
    driver.unrecorded.delete(index);
    moved ||= advanced.change === "transition";
    changed = true;
  }
  if (!changed) return true;
  if (driver.version !== version) return false;
  const reread = dice.chance(driver.options.reread ?? REREAD);
  driver.entries = next.map((entry, index) => (entry === read[index] || !reread ? entry : { ...entry, run: written(entry.run) }));
  driver.version += 1;
  if (moved) driver.movedAt = driver.now;
  driver.busy ||= moved;
  judgeRecord(driver.judge, read, driver.entries, driver.now);
  driver.options.watch?.(runsOf(driver), driver.now, driver.truth);
  return true;
}

/** As it is read back: plan and resource are written once and frozen, the rest goes through JSON. */
function written(run: Run | undefined): Run | undefined {
  if (run === undefined) return undefined;
  const { plan, spec, release } = run;
  const rest = { ...run, plan: undefined, spec: undefined, release: undefined };
  return { ...(JSON.parse(JSON.stringify(rest)) as Omit<Run, "plan" | "spec" | "release">), plan, spec, release };
}
