import { advance } from "../../rollout/advance.ts";
import type { gatesOf } from "../../rollout/gate-state.ts";
import { isEnded, type Run } from "../../rollout/run.ts";
import { epoch } from "../../rollout/time.ts";
import type { Advanced, World } from "../../rollout/world.ts";
import { act, fence, sweep } from "./act.ts";
import { runQueue } from "./forge.ts";
import { type Judge, judgeMerge, judgeRecord, judgeStep, judgment } from "./judge.ts";
import { type Entry, startAll } from "./lanes.ts";
import { nextTime } from "./moments.ts";
import { observe } from "./observe.ts";
import { type Operator, operate, operator } from "./operator.ts";
import { dieOutside, tidyOutside } from "./outside.ts";
import { happen } from "./people.ts";
import type { Happening, Scenario } from "./scenario.ts";
import { setupOf } from "./setup.ts";
import { type Setup, type Truth, truthOf } from "./world.ts";

export const START = Date.UTC(2026, 0, 5, 9, 0, 0);
/**
 * Where nothing has moved for so long, with somebody there to answer what is asked for, it hangs; `longestMs`: where it moves and
 * moves and never ends.
 */
const PATIENCE = { steps: 50_000, idleMs: 3 * 24 * 3_600_000, longestMs: 120 * 24 * 3_600_000 };
const CALM_MS = 600_000;
/** How often what was recorded goes on as it is read back: each time would be half the time of a step. */
const REREAD = 0.1;

export type Advance = typeof advance;

export interface DriveOptions {
  advance?: Advance;
  log?: boolean;
  /** What starts runs; a planted bug may stand here. */
  start?: typeof startAll;
  /** What says which PRs must not be merged. */
  gates?: typeof gatesOf;
  /** Who answers what runs ask for; by default somebody who mends everything in the end. */
  operate?: typeof operate;
  /** Nobody will answer any more: it ends here. */
  enough?: (runs: readonly (Run | undefined)[]) => boolean;
  /** How often what was recorded goes on as it is read back, of 1; by default now and then, since each costs half a step. */
  reread?: number;
  /** What is too much, where a run may rightly take more: rounds, time in which nothing moves, time as a whole. */
  patience?: { steps: number; idleMs: number; longestMs: number };
  /** How long to wait for more before the next look, in milliseconds: in a large fleet something changes all the time. */
  rest?: (runs: readonly (Run | undefined)[]) => number;
  /** Called after each round that recorded something. */
  watch?: (runs: readonly (Run | undefined)[], now: number, truth: Truth) => void;
}

export interface Outcome {
  /** The last run of each rollout. */
  runs: (Run | undefined)[];
  /** Of the first rollout. */
  run: Run;
  truth: Truth;
  steps: number;
  /** Simulated, in milliseconds. */
  tookMs: number;
  violations: string[];
  /** What happened, with the time since the start; only where asked for. */
  log: string[];
  /** How often what was met: runs by kind and end, gates waited for, commands. */
  seen: Record<string, number>;
}

/** The machinery, and how its outside world is going. */
export interface Driver {
  truth: Truth;
  options: DriveOptions;
  advance: Advance;
  /** The journal, one entry a rollout: what is recorded, through JSON as it is written and read. */
  entries: Entry[];
  version: number;
  now: number;
  steps: number;
  judge: Judge;
  log: string[] | undefined;
  operator: Operator;
  /** When the core, or whoever operates it, wants to look again. */
  wake: number;
  /** Something was recorded or tried: its outcome is worth a look at once. */
  busy: boolean;
  /** Rounds in a row in which nothing was recorded. */
  idle: number;
  /** When something last moved. */
  movedAt: number;
}

/** Runs a scenario to its end, with the invariants checked after every step and the truth after every effect. */
export function drive(scenario: Scenario, options: DriveOptions = {}): Outcome {
  return driveWorld(setupOf(scenario), scenario.happenings, options);
}

/** The same for a world that is made of something else. */
export function driveWorld(setup: Setup, happenings: readonly Happening[], options: DriveOptions = {}): Outcome {
  const driver = begin(setup, options);
  const calmAt = START + (happenings.at(-1)?.at ?? 0) + CALM_MS;
  let next = 0;
  while (driver.judge.violations.length === 0) {
    for (let due = happenings[next]; due !== undefined && START + due.at <= driver.now; due = happenings[next]) {
      note(driver, `happens: ${JSON.stringify(due)}`);
      happen(driver.truth, due, runsOf(driver), driver.now);
      driver.busy = true;
      next += 1;
    }
    const coming = happenings[next];
    if (isOver(driver)) {
      if (coming === undefined) break;
      driver.now = START + coming.at;
      continue;
    }
    stuck(driver, calmAt);
    if (options.enough?.(runsOf(driver)) === true) break;
    driver.wake = Number.POSITIVE_INFINITY;
    if (options.operate !== undefined || driver.now >= calmAt)
      (options.operate ?? operate)(driver, (text) => note(driver, `operator: ${text}`));
    round(driver);
    const rested = driver.now + (options.rest?.(runsOf(driver)) ?? 0);
    driver.now = Math.max(rested, nextTime(driver, coming === undefined ? undefined : START + coming.at));
  }
  return outcomeOf(driver);
}

function begin(setup: Setup, options: DriveOptions): Driver {
  const truth = truthOf(setup, START);
  return {
    truth,
    options,
    advance: options.advance ?? advance,
    entries: setup.lanes.map(() => ({ run: undefined, lastRun: 0, lastRelease: { version: "v1" }, cursor: 0 })),
    version: 0,
    now: START,
    steps: 0,
    judge: judgment(truth),
    log: options.log === true ? [] : undefined,
    operator: operator(),
    wake: Number.POSITIVE_INFINITY,
    busy: true,
    idle: 0,
    movedAt: START,
  };
}

export function runsOf(driver: Driver): (Run | undefined)[] {
  return driver.entries.map((entry) => entry.run);
}

function outcomeOf(driver: Driver): Outcome {
  const runs = runsOf(driver);
  const [run] = runs;
  if (run === undefined) throw new Error("nothing of the first rollout was ever released");
  const { judge, truth, steps, now, log } = driver;
  return { runs, run, truth, steps, tookMs: now - START, violations: judge.violations, log: log ?? [], seen: judge.seen };
}

/** Every run has ended, none is asked for, and everybody was answered. */
function isOver(driver: Driver): boolean {
  const { truth, entries, now } = driver;
  if (entries.some(({ run }) => run !== undefined && !isEnded(run))) return false;
  for (const { run } of entries) if (run !== undefined && isSpokenTo(truth, run)) return false;
  return (driver.options.start ?? startAll)(truth, entries, now).length === 0;
}

function isSpokenTo(truth: Truth, run: Run): boolean {
  return truth.commands.some((said) => !said.answered && said.pull === run.trigger.pull);
}

function stuck(driver: Driver, calmAt: number): void {
  const { judge, now, steps, movedAt } = driver;
  const most = driver.options.patience ?? PATIENCE;
  if (steps >= most.steps) judge.violations.push(`spins: ${most.steps} steps without an end (${where(driver)})`);
  if (now - Math.max(calmAt, movedAt) > most.idleMs) judge.violations.push(`hangs: ${where(driver)}`);
  if (now - calmAt > most.longestMs) judge.violations.push(`never ends: ${where(driver)}`);
}

function where(driver: Driver): string {
  const active = runsOf(driver).flatMap((run) => (run === undefined || isEnded(run) ? [] : [run]));
  return active.map((run) => `${run.rollout} #${run.number} is ${run.phase}, ${run.why}`).join("; ");
}

export function note(driver: Driver, text: string): void {
  driver.log?.push(`${Math.round((driver.now - START) / 1000)}s ${text}`);
}

/** One round of the repo; perhaps of two replicas that read the same state, of which one is late. */
function round(driver: Driver): void {
  const { dice, chaos } = driver.truth;
  driver.busy = false;
  tidyOutside(driver.truth.outside, driver.now);
  const { entries, version } = driver;
  replica(driver, entries, version);
  if (dice.chance(chaos.lose)) replica(driver, entries, version);
}

export interface Decision {
  lane: number;
  before: Run;
  world: World;
  advanced: Advanced<Run>;
}

/** Look, decide, record, act. */
function replica(driver: Driver, read: readonly Entry[], version: number): void {
  const { truth, now } = driver;
  for (const pull of runQueue(truth.forge, truth.git, now)) judgeMerge(driver.judge, driver.entries, pull, now, true);
  const entries = read.slice();
  const started = (driver.options.start ?? startAll)(truth, read, now);
  for (const { lane, entry } of started) entries[lane] = entry;
  const decisions = decideAll(driver, entries);
  if (!record(driver, read, entries, decisions, version)) return;
  const journal = driver.version;
  if (crashes(truth)) return;
  // All of them first, as the shell does.
  const fenced = decisions.map((decision) => fence(driver, decision)).every(Boolean);
  for (const decision of decisions) {
    for (const effect of decision.advanced.effects) {
      // Dies here: what was not tried yet is wanted again in the next round.
      if (crashes(truth)) return;
      act(driver, decision, effect, { journal, fenced });
    }
  }
  sweep(driver);
}

/** With the process goes what it only remembered. */
function crashes({ dice, chaos, outside }: Truth): boolean {
  if (!dice.chance(chaos.crash)) return false;
  dieOutside(outside);
  return true;
}

function decideAll(driver: Driver, entries: readonly Entry[]): Decision[] {
  const { truth, now } = driver;
  const last = entries.map((entry) => entry.run);
  const decisions: Decision[] = [];
  for (const [lane, run] of last.entries()) {
    if (run === undefined || (isEnded(run) && !isSpokenTo(truth, run))) continue;
    // Two runs of one round each see what those before decided.
    const others = last.flatMap((other, place) => (other === undefined || place === lane ? [] : [other]));
    const world = observe(truth, run, others, now);
    driver.steps += 1;
    const advanced = driver.advance(run, world, now);
    judgeStep(driver.judge, driver.advance, { before: run, world, advanced, now });
    for (const event of advanced.events) note(driver, `${run.rollout} #${run.number}: ${event}`);
    if (advanced.wakeAt !== undefined) driver.wake = Math.min(driver.wake, epoch(advanced.wakeAt));
    last[lane] = advanced.run;
    decisions.push({ lane, before: run, world, advanced });
  }
  return decisions;
}

/** One commit for all runs of the repo, by compare-and-swap: false where another replica was faster. Mere observations may be left for later. */
function record(driver: Driver, read: readonly Entry[], entries: Entry[], decisions: readonly Decision[], version: number): boolean {
  const { dice, chaos } = driver.truth;
  const next = entries.slice();
  let changed = next.some((entry, lane) => entry !== read[lane]);
  let moved = changed;
  for (const { lane, advanced } of decisions) {
    const entry = next[lane];
    if (entry === undefined || advanced.change === "none") continue;
    if (advanced.change === "observation" && dice.chance(chaos.lazy)) continue;
    next[lane] = { ...entry, run: advanced.run };
    moved ||= advanced.change === "transition";
    changed = true;
  }
  if (!changed) return true;
  if (driver.version !== version) return false;
  const reread = dice.chance(driver.options.reread ?? REREAD);
  driver.entries = next.map((entry, lane) => (entry === read[lane] || !reread ? entry : { ...entry, run: written(entry.run) }));
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
  const { plan, spec, release, ...rest } = run;
  return { ...(JSON.parse(JSON.stringify(rest)) as Omit<Run, "plan" | "spec" | "release">), plan, spec, release };
}
