import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drive } from "../../src/simulate/drive.ts";
import { generate } from "../../src/simulate/generate/generate.ts";
import { minimise, report } from "../../src/simulate/generate/minimise.ts";
import type { Scenario } from "../../src/simulate/generate/scenario.ts";
import { MUTANTS } from "./mutants/all.ts";
import { SHOWN_AT } from "./mutants/seeds.ts";
import { openPool, type Pool, type Result, sum } from "./pool.ts";

const asked = Number(process.env.STAGECOACH_RUNS ?? Number.NaN);
const RUNS = asked > 0 ? asked : process.env.STAGECOACH_REQUIRE_ALL === "1" ? 30_000 : 2_000;
/** Those that are asked for are new ones each time. */
const FIRST = asked > 0 ? Math.floor(Math.random() * 2 ** 30) : 1_000_000;
const CHUNK = 100;
/** So many runs to find a bug are few. */
const SOON = 50;
const SECONDS = 1000;

let pool: Pool;

beforeAll(() => {
  pool = openPool();
});

afterAll(async () => {
  await pool.close();
});

describe("runs driven through a seeded world with faults", () => {
  test(`${RUNS} of them keep every invariant, and each comes to an end`, { timeout: (600 + RUNS / 10) * SECONDS }, async () => {
    const total = await driveMany(FIRST, RUNS);
    const seconds = total.cpuMs / SECONDS;
    const rate = Math.round(total.steps / seconds);
    console.log(`${total.runs} runs, ${total.steps} steps in ${seconds.toFixed(0)} s of processor time, ${rate} steps a second`);
    console.log(inWords(total.seen));
    const [failed] = total.failed;
    if (failed !== undefined) throw new Error(`${failed.wrong}\n${report(generate(failed.seed))}`);
    // A generator that never met a thing would prove nothing about it.
    for (const [what, atLeast] of MET) expect(total.seen[what] ?? 0, what).toBeGreaterThanOrEqual(Math.floor(RUNS * atLeast));
  });

  test("the same seed gives the same run, step for step", () => {
    for (const seed of [1, 22, 333, 4444]) {
      const [a, b] = [drive(generate(seed), { log: true }), drive(generate(seed), { log: true })];
      expect(a.log).toEqual(b.log);
      expect(a.runs).toEqual(b.runs);
    }
  });

  const scenario = process.env.STAGECOACH_SCENARIO;
  test.skipIf(scenario === undefined)("the scenario that was asked for", () => {
    const outcome = drive(JSON.parse(scenario ?? "{}") as Scenario, { log: true });
    console.log(outcome.log.join("\n"));
    expect(outcome.violations).toEqual([]);
  });
});

describe("a planted bug is found", () => {
  const found = new Map<string, Promise<Result>>();
  beforeAll(() => {
    for (const { name, within = 3000 } of MUTANTS) {
      const job = pool.run({ first: SHOWN_AT[name], from: 0, to: within, mutant: name });
      // Awaited by the test of its name.
      job.catch(() => undefined);
      found.set(name, job);
    }
  });

  test.each(MUTANTS)("$name", { timeout: 900 * SECONDS }, async ({ name, by }) => {
    const result = await found.get(name);
    const [failed] = result?.failed ?? [];
    expect(failed, "no seed shows it").toBeDefined();
    if ((result?.runs ?? 0) > SOON) console.log(`test/properties/mutants/seeds.ts should say ${JSON.stringify(name)}: ${failed?.seed}`);
    if (by !== undefined) expect(failed?.wrong).toMatch(by);
  });

  test("and made small: what is printed is shorter than what was drawn, and still fails", { timeout: 900 * SECONDS }, async () => {
    const mutant = MUTANTS.find(({ name }) => name === "health is not waited for");
    const seed = (await found.get(mutant?.name ?? ""))?.failed[0]?.seed;
    if (mutant === undefined || seed === undefined) throw new Error("no scenario shows it");
    const scenario = generate(seed);
    const smallest = minimise(scenario, mutant.bug);
    expect(drive(smallest, mutant.bug).violations).not.toEqual([]);
    expect(smallest.happenings).toHaveLength(1);
    expect(JSON.stringify(smallest).length).toBeLessThan(JSON.stringify(scenario).length);
    expect(report(scenario, mutant.bug)).toContain("STAGECOACH_SCENARIO=");
  });
});

/** How often at least each is met, in a run. */
const MET: readonly [what: string, atLeast: number][] = [
  ["runs", 1],
  ["merges", 1],
  ["Succeeded", 0.5],
  ["Failed", 0.05],
  ["Aborted", 0.02],
  ["Superseded", 0.05],
  ["rollback runs", 0.05],
  ["rollback RolledBack", 0.03],
  ["paused: Failure", 0.1],
  ["paused: Drift", 0.002],
  ["batches: ahead", 0.2],
  ["batches: CatchUp", 0.005],
  ["batches: Hotfix", 0.001],
  ["/halt done", 0.005],
  ["/hotfix done", 0.001],
  ["/promote done", 0.05],
  ["/rollback done", 0.01],
  ["batches: at a later weight", 0.2],
  ["batches: Revert", 0.01],
  ["analysis BeforeStage: Successful", 0.04],
  ["analysis AfterBatch: Successful", 0.06],
  ["analysis AfterStage: Successful", 0.03],
  ["analysis Background: Successful", 0.06],
  ["analysis of a step: Successful", 0.08],
  ["analysis AfterBatch: Failed", 0.001],
  ["analysis of a step: Failed", 0.001],
  ["analysis Background: Failed", 0.001],
  ["analysis AfterBatch: Inconclusive", 0.0005],
  ["analysis of a step: Inconclusive", 0.0005],
  ["analysis of a step: Error", 0.0005],
  ["hook before: Done", 0.08],
  ["hook before: Held", 0.003],
  ["hook before: Failed", 0.001],
  ["hook before: Waiting", 0.002],
  ["hook after: Done", 0.03],
  ["hook onFailure: Done", 0.02],
  ["joined", 0.05],
  ["appeared, and not taken", 0.005],
  ["paused: Joined", 0.003],
  ["quarantined", 0.03],
  ["paused: Quarantine", 0.008],
  ["paused: Undecided", 0.005],
  ["syncs asked", 0.05],
  ["merges before other stages of dependsOn", 0.0005],
];

async function driveMany(first: number, runs: number): Promise<Result> {
  const jobs: Promise<Result>[] = [];
  for (let from = first; from < first + runs; from += CHUNK) jobs.push(pool.run({ from, to: Math.min(from + CHUNK, first + runs) }));
  return sum(await Promise.all(jobs));
}

function inWords(seen: Record<string, number>): string {
  return Object.entries(seen)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, times]) => `${what} ${times}`)
    .join(", ");
}
