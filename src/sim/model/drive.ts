import { advance } from "../../rollout/advance.ts";
import { gatesOf } from "../../rollout/gate-state.ts";
import { checkInvariants } from "../../rollout/invariants.ts";
import { isEnded, type Run } from "../../rollout/run.ts";
import { startRun, supersede } from "../../rollout/start.ts";
import { epoch, iso } from "../../rollout/time.ts";
import type { Advanced, Effect, World } from "../../rollout/world.ts";
import { mergeCall, openPull, runQueue } from "./forge.ts";
import { headOf } from "./git.ts";
import { type Operator, operate, operator } from "./operator.ts";
import { happen } from "./people.ts";
import type { Scenario } from "./scenario.ts";
import { confirmedTruly, mergeIsSound, strangersChangeNothing } from "./truth-checks.ts";
import { observe, type Truth, truthOf } from "./world.ts";

export const START = Date.UTC(2026, 0, 5, 9, 0, 0);
const MOST_STEPS = 20_000;
/** Where the run still has not ended this long after the last trouble, with somebody there to answer it, it hangs. */
const PATIENCE_MS = 7 * 24 * 3_600_000;

export type Advance = typeof advance;

export interface Outcome {
  run: Run;
  truth: Truth;
  steps: number;
  /** Simulated, in milliseconds. */
  tookMs: number;
  violations: string[];
  /** What happened, with the time since the start; only where asked for. */
  log: string[];
}

interface Driver {
  truth: Truth;
  advance: Advance;
  /** The journal: what is recorded, through JSON as it is written and read. */
  run: Run;
  version: number;
  now: number;
  steps: number;
  violations: string[];
  log: string[] | undefined;
  operator: Operator;
  wake: number;
  busy: boolean;
}

/** Runs a scenario to its end, with the invariants checked after every step and the truth after every effect. */
export function drive(scenario: Scenario, options: { advance?: Advance; log?: boolean } = {}): Outcome {
  const driver = begin(scenario, options);
  let next = 0;
  const last = scenario.happenings.at(-1)?.at ?? 0;
  const calmAt = START + last + 600_000;
  while (!isEnded(driver.run) && driver.violations.length === 0) {
    if (driver.steps >= MOST_STEPS) driver.violations.push(`spins: ${MOST_STEPS} steps without an end (${driver.run.why})`);
    if (driver.now - calmAt > PATIENCE_MS) driver.violations.push(`hangs: ${driver.run.phase}, ${driver.run.why}`);
    for (let due = scenario.happenings[next]; due !== undefined && START + due.at <= driver.now; due = scenario.happenings[next]) {
      note(driver, `happens: ${JSON.stringify(due)}`);
      if (due.kind === "supersede")
        replace(driver, supersede(driver.run, { values: { version: "v3" }, commit: headOf(driver.truth.git).id }, driver.now));
      else happen(driver.truth, due, driver.run, driver.now);
      next += 1;
    }
    if (driver.now >= calmAt) operate(driver.operator, driver.truth, driver.run, driver.now, (text) => note(driver, `operator: ${text}`));
    round(driver);
    driver.now = nextTime(driver, scenario.happenings[next]?.at);
  }
  return {
    run: driver.run,
    truth: driver.truth,
    steps: driver.steps,
    tookMs: driver.now - START,
    violations: driver.violations,
    log: driver.log ?? [],
  };
}

function begin(scenario: Scenario, options: { advance?: Advance; log?: boolean }): Driver {
  const truth = truthOf(scenario, START);
  const { rollout, release, plan } = truth.fleet;
  const trigger = { commit: headOf(truth.git).id, pull: 1, author: "alice", at: iso(START) };
  const run = startRun({ rollout, number: 1, release, trigger, plan, now: START });
  return {
    truth,
    advance: options.advance ?? advance,
    run,
    version: 0,
    now: START,
    steps: 0,
    violations: [],
    log: options.log === true ? [] : undefined,
    operator: operator(),
    wake: Number.POSITIVE_INFINITY,
    busy: false,
  };
}

function note(driver: Driver, text: string): void {
  driver.log?.push(`${Math.round((driver.now - START) / 1000)}s ${text}`);
}

/** One round, or two replicas that read the same state of which one is late. */
function round(driver: Driver): void {
  const { chaos } = driver.truth.scenario;
  driver.wake = Number.POSITIVE_INFINITY;
  driver.busy = false;
  const read = driver.run;
  const version = driver.version;
  step(driver, read, version);
  if (driver.truth.dice.chance(chaos.lose)) step(driver, read, version);
}

function step(driver: Driver, read: Run, version: number): void {
  driver.steps += 1;
  runQueue(driver.truth.forge, driver.truth.git, driver.now);
  const world = observe(driver.truth, read, driver.now);
  const advanced = driver.advance(read, world, driver.now);
  judge(driver, read, world, advanced);
  for (const event of advanced.events) note(driver, event);
  if (!record(driver, read, advanced, version)) return;
  driver.busy = advanced.change === "transition" || advanced.effects.some((effect) => effect.kind === "Merge" || effect.kind === "Propose");
  driver.wake = Math.min(driver.wake, advanced.wakeAt === undefined ? Number.POSITIVE_INFINITY : epoch(advanced.wakeAt));
  const { chaos } = driver.truth.scenario;
  if (driver.truth.dice.chance(chaos.crash)) return;
  fence(driver, world, advanced);
  for (const effect of advanced.effects) {
    // Dies here: what was not tried yet is wanted again in the next round.
    if (driver.truth.dice.chance(chaos.crash)) return;
    act(driver, read, effect, version);
  }
}

/** What is fenced leaves the queue, as far as GitHub can be reached. */
function fence({ truth, now }: Driver, world: World, advanced: Advanced<Run>): void {
  if (now < truth.forgeDownUntil) return;
  for (const gate of gatesOf(advanced.run, world, advanced.cleared ?? [])) {
    const pull = truth.forge.pulls.find((one) => one.number === gate.pull);
    if (pull !== undefined && gate.state.kind === "fenced") pull.queue = undefined;
  }
}

function judge(driver: Driver, before: Run, world: World, advanced: Advanced<Run>): void {
  const broken = checkInvariants(before, advanced.run, advanced.effects, world, driver.now);
  driver.violations.push(...broken.map(({ invariant, message }) => `invariant ${invariant}: ${message}`));
  driver.violations.push(...confirmedTruly(driver.truth, before, advanced.run, driver.now));
  driver.violations.push(...strangersChangeNothing(driver.advance, before, world, advanced, driver.now));
}

/** Compare-and-swap: false where another replica was faster. A mere observation may be left for later. */
function record(driver: Driver, before: Run, advanced: Advanced<Run>, version: number): boolean {
  if (advanced.change === "none") return true;
  if (advanced.change === "observation" && driver.truth.dice.chance(driver.truth.scenario.chaos.lazy)) return true;
  if (driver.version !== version) return false;
  replace(driver, advanced.run);
  return before !== undefined;
}

/** As it is read back: plan and resource are written once and frozen, the rest goes through JSON. */
function replace(driver: Driver, run: Run): void {
  const { plan, spec, release, ...rest } = run;
  driver.run = { ...(JSON.parse(JSON.stringify(rest)) as Omit<Run, "plan" | "spec" | "release">), plan, spec, release };
  driver.version += 1;
}

function act(driver: Driver, run: Run, effect: Effect, version: number): void {
  const { truth, now } = driver;
  if (now < truth.forgeDownUntil) return;
  switch (effect.kind) {
    case "Propose":
      openPull(truth.forge, truth.git, driver.run, effect.batch, now);
      return;
    case "Close": {
      const pull = truth.forge.pulls.find((one) => one.number === effect.pull);
      if (pull?.state !== "open") return;
      pull.state = "closed";
      pull.queue = undefined;
      return;
    }
    case "Merge": {
      // The journal is read again right before the call (SPEC §9.13).
      if (driver.version > version + 1 || (driver.version !== version && run === driver.run)) return;
      const before = driver.run;
      const to = before.batches[effect.batch - 1]?.intention?.at ?? iso(now);
      if (mergeCall(truth.forge, truth.git, { pull: effect.pull, head: effect.head, to, queue: place(truth, now) }, now) === "merged") {
        driver.violations.push(...mergeIsSound(truth, before, effect.batch, now));
      }
      return;
    }
    default:
      return;
  }
}

/** Where the base merges through a queue: a few minutes in it, and now and then out of it again. */
function place({ scenario, dice }: Truth, now: number): { until: number; fate: "merge" | "drop" } | undefined {
  if (scenario.queue !== true) return undefined;
  return { until: now + dice.int(1, 20) * 60_000, fate: dice.chance(0.1) ? "drop" : "merge" };
}

function nextTime(driver: Driver, happening: number | undefined): number {
  const { truth, now } = driver;
  const deaf = truth.dice.chance(truth.scenario.chaos.deaf);
  if (driver.busy && !deaf) return now + 200;
  const moving = driver.run.batches.some((batch) => batch.phase !== "Settled" && batch.phase !== "Closed");
  const resync = now + (deaf || !moving ? 300_000 : 20_000);
  const event = happening === undefined ? Number.POSITIVE_INFINITY : START + happening;
  return Math.max(now + 50, Math.min(driver.wake, event, resync));
}
