import { defined } from "../core/base/defined.ts";
import type { Cluster } from "../core/plan/plan-types.ts";
import { sentenceOf } from "../core/report/reasons/say.ts";
import { advance } from "../core/run/advance.ts";
import { isEnded, type Run } from "../core/run/state/run.ts";
import { type DriveOptions, type Driver, isSpokenTo, note, runsOf, START } from "./driver.ts";
import type { Behaviour, Happening, Scenario } from "./generate/scenario.ts";
import { nextTime } from "./moments.ts";
import { round } from "./round.ts";
import { judgment } from "./truth/judge.ts";
import { freezeOf, partsOf } from "./world/fleet.ts";
import { operate, operator } from "./world/operator.ts";
import { happen } from "./world/people.ts";
import { startAll } from "./world/start.ts";
import { type Setup, type Truth, truthOf } from "./world/world.ts";

/**
 * Where nothing has moved for so long, with somebody there to answer what is asked for, it hangs; `longestMs`: where it moves and
 * moves and never ends.
 */
const PATIENCE = { steps: 50_000, idleMs: 3 * 24 * 3_600_000, longestMs: 120 * 24 * 3_600_000 };
const CALM_MS = 600_000;

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
      note(driver, () => `happens: ${JSON.stringify(due)}`);
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
      (options.operate ?? operate)(driver, (text) => note(driver, () => `operator: ${text}`));
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
    entries: setup.rollouts.map(() => ({ run: undefined, lastRun: 0, lastRelease: { version: "v1" }, cursor: 0 })),
    version: 0,
    unrecorded: new Map(),
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

function stuck(driver: Driver, calmAt: number): void {
  const { judge, now, steps, movedAt } = driver;
  const most = driver.options.patience ?? PATIENCE;
  if (steps >= most.steps) judge.violations.push(`spins: ${most.steps} steps without an end (${where(driver)})`);
  if (now - Math.max(calmAt, movedAt) > most.idleMs) judge.violations.push(`hangs: ${where(driver)}`);
  if (now - calmAt > most.longestMs) judge.violations.push(`never ends: ${where(driver)}`);
}

function where(driver: Driver): string {
  const active = runsOf(driver).flatMap((run) => (run === undefined || isEnded(run) ? [] : [run]));
  return active.map((run) => `${run.rollout} #${run.number} is ${run.phase}, ${sentenceOf(run.why, run)}`).join("; ");
}

const PROMPT: Behaviour = { lagMs: 1000, script: [] };

/** The world that a scenario describes. */
function setupOf(scenario: Scenario): Setup {
  const fleets = scenario.rollouts.map((_, index) => partsOf(scenario, index));
  const clusters: readonly Cluster[] = fleets[0]?.clusters ?? [];
  return {
    seed: scenario.seed,
    chaos: scenario.chaos,
    queue: scenario.queue === true,
    rollouts: fleets.map(({ rollout: spec, targets }, index) =>
      defined({
        index,
        name: spec.name,
        spec,
        targets,
        model: scenario.rollouts[index],
      }),
    ),
    clusters,
    behaviourOf: ({ application }) => scenario.behaviours[application] ?? PROMPT,
    freezes: (scenario.freezes ?? []).map((model) => ({ ...freezeOf(model), model })),
    limits: scenario.limits,
    outside: scenario.outside,
  };
}
