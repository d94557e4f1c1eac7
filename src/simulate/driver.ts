/**
 * What a driven world is made of: the options of a run, the machinery with its journal and its judge, and what one round decided.
 * `drive.ts` makes it, each part of a round is handed it.
 */
import type { gatesOf } from "../core/run/gates/gate-state.ts";
import type { Run } from "../core/run/state/run.ts";
import type { Advanced, World } from "../core/run/state/world.ts";
import type { Judge } from "./truth/judge.ts";
import type { Advance } from "./truth/moment.ts";
import type { startAll } from "./world/start.ts";
import type { Entry, Truth } from "./world/world.ts";

/** When every run begins: a Monday. */
export const START = Date.UTC(2026, 0, 5, 9, 0, 0);

export interface DriveOptions {
  advance?: Advance;
  log?: boolean;
  /** What starts runs; a planted bug may stand here. */
  start?: typeof startAll;
  /** What says which PRs must not be merged. */
  gates?: typeof gatesOf;
  /** Who answers what runs ask for; by default somebody who mends everything in the end. */
  operate?: (driver: Driver, note: (text: string) => void) => void;
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

/** The machinery, and how its outside world is going. */
export interface Driver {
  truth: Truth;
  options: DriveOptions;
  advance: Advance;
  /** The journal, one entry a rollout: what is recorded, through JSON as it is written and read. */
  entries: Entry[];
  version: number;
  /** By rollout's place: what this process has observed of a run since it was recorded; a crash forgets it. */
  unrecorded: Map<number, { of: Run; run: Run }>;
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

/** Somebody on duty, once the troubles are over: mends what is broken and gives the commands that runs ask for. */
export interface Operator {
  lastAt: number;
  /** By run: how often it was answered. */
  acted: Map<string, number>;
  /** By branch: how often it was looked at for approval. */
  visits: Map<string, number>;
}

/** What a replica decided for one run, and what it saw. */
export interface Decision {
  index: number;
  before: Run;
  world: World;
  advanced: Advanced<Run>;
}

export function runsOf(driver: Driver): (Run | undefined)[] {
  return driver.entries.map((entry) => entry.run);
}

/** Somebody said something to it that is not answered yet. */
export function isSpokenTo(truth: Truth, run: Run): boolean {
  return truth.commands.some((said) => !said.answered && said.pull === run.trigger.pull);
}

export function note(driver: Driver, text: () => string): void {
  driver.log?.push(`${Math.round((driver.now - START) / 1000)}s ${text()}`);
}
