import { drive } from "../../src/simulate/drive.ts";
import { generate } from "../../src/simulate/generate/generate.ts";
import type { BenchRow } from "./row.ts";

const RUNS = 500;

/** Whole seeded runs with faults, every step checked against the invariants. */
export async function benchRun(): Promise<BenchRow[]> {
  for (let seed = 0; seed < 50; seed++) drive(generate(seed));
  const started = performance.now();
  let steps = 0;
  let violations = 0;
  for (let seed = 0; seed < RUNS; seed++) {
    const outcome = drive(generate(seed));
    steps += outcome.steps;
    violations += outcome.violations.length;
  }
  const seconds = (performance.now() - started) / 1000;
  return [
    { name: `${RUNS} seeded runs with faults, steps a second`, value: steps / seconds, unit: "steps/s", limit: 5000, atLeast: true },
    { name: "invariants violated in them", value: violations, unit: "", limit: 0 },
  ];
}
