import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drive } from "../../src/sim/model/drive.ts";
import { generate } from "../../src/sim/model/generate.ts";
import { minimise, report } from "../../src/sim/model/minimise.ts";
import type { Scenario } from "../../src/sim/model/scenario.ts";
import { MUTANTS } from "./mutants.ts";

const asked = Number(process.env.STAGECOACH_RUNS ?? Number.NaN);
const RUNS = asked > 0 ? asked : process.env.STAGECOACH_REQUIRE_ALL === "1" ? 10_000 : 1_000;
const SECONDS = 1000;

describe("runs driven through a seeded world with faults", () => {
  test(`${RUNS} of them keep every invariant, and each comes to an end`, { timeout: (60 + RUNS / 20) * SECONDS }, () => {
    const seen: Record<string, number> = {};
    let steps = 0;
    const started = performance.now();
    const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(seeds, (seed) => {
        const outcome = drive(generate(seed));
        steps += outcome.steps;
        seen[outcome.run.phase] = (seen[outcome.run.phase] ?? 0) + 1;
        if (outcome.violations.length > 0) throw new Error(report(generate(seed)));
      }),
      // A smaller seed is not a smaller scenario: report() makes it small.
      { numRuns: RUNS, endOnFailure: true, ...(asked > 0 ? {} : { seed: 20_261_121 }) },
    );
    const rate = Math.round((steps / (performance.now() - started)) * SECONDS);
    console.log(`${RUNS} runs, ${steps} steps, ${rate} steps a second: ${JSON.stringify(seen)}`);
    // A generator that never got a run to its end, or never stopped one, would prove nothing.
    expect(seen.Succeeded ?? 0).toBeGreaterThan(RUNS / 3);
    expect((seen.Aborted ?? 0) + (seen.Superseded ?? 0)).toBeGreaterThan(RUNS / 50);
  });

  test("the same seed gives the same run, step for step", () => {
    for (const seed of [1, 22, 333, 4444]) {
      const [a, b] = [drive(generate(seed), { log: true }), drive(generate(seed), { log: true })];
      expect(a.log).toEqual(b.log);
      expect(a.run).toEqual(b.run);
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
  test.each(MUTANTS)("$name", { timeout: 60 * SECONDS }, ({ advance }) => {
    const found = firstFailure(advance, 400);
    expect(found, "no scenario shows it").toBeDefined();
  });

  test("and made small: what is printed is shorter than what was drawn, and still fails", { timeout: 60 * SECONDS }, () => {
    const mutant = MUTANTS.find(({ name }) => name === "health is not waited for");
    if (mutant === undefined) throw new Error("the mutant is gone");
    const scenario = firstFailure(mutant.advance, 400);
    if (scenario === undefined) throw new Error("no scenario shows it");
    const smallest = minimise(scenario, mutant.advance);
    expect(drive(smallest, { advance: mutant.advance }).violations).not.toEqual([]);
    expect(smallest.happenings).toEqual([]);
    expect(JSON.stringify(smallest).length).toBeLessThan(JSON.stringify(scenario).length);
  });
});

function firstFailure(advance: (typeof MUTANTS)[number]["advance"], most: number): Scenario | undefined {
  for (let seed = 0; seed < most; seed += 1) {
    const scenario = generate(seed);
    if (drive(scenario, { advance }).violations.length > 0) return scenario;
  }
  return undefined;
}
