import { type Advance, drive, type Outcome } from "./drive.ts";
import { CALM, FOREVER, type Scenario } from "./scenario.ts";

/** A smaller scenario that still goes wrong: trouble after trouble is left out for as long as it does. */
export function minimise(scenario: Scenario, advance?: Advance): Scenario {
  let smallest = scenario;
  for (let again = true; again; ) {
    again = false;
    for (const candidate of simpler(smallest)) {
      if (!fails(candidate, advance)) continue;
      smallest = candidate;
      again = true;
      break;
    }
  }
  return smallest;
}

function fails(scenario: Scenario, advance: Advance | undefined): boolean {
  try {
    return drive(scenario, advance === undefined ? {} : { advance }).violations.length > 0;
  } catch {
    // Without a cluster or stage that something else names: not a smaller scenario but none.
    return false;
  }
}

function* simpler(scenario: Scenario): Generator<Scenario> {
  for (const key of Object.keys(CALM)) {
    if (scenario.chaos[key as keyof typeof CALM] > 0) yield { ...scenario, chaos: { ...scenario.chaos, [key]: 0 } };
  }
  if (scenario.queue === true) yield { ...scenario, queue: false };
  if (scenario.merge !== "Auto") yield { ...scenario, merge: "Auto" };
  if (scenario.mode !== "Run") yield { ...scenario, mode: "Run" };
  for (const index of scenario.happenings.keys()) yield { ...scenario, happenings: scenario.happenings.toSpliced(index, 1) };
  for (const index of scenario.stages.keys()) {
    if (scenario.stages.length > 1) yield { ...scenario, stages: scenario.stages.toSpliced(index, 1) };
  }
  for (const [index, { name }] of scenario.clusters.entries()) {
    const named = scenario.happenings.some(
      (one) => ("cluster" in one && one.cluster === name) || (one.kind === "command" && one.args.includes(name)),
    );
    if (scenario.clusters.length > 1 && !named) yield { ...scenario, clusters: scenario.clusters.toSpliced(index, 1) };
  }
  for (const { name } of scenario.clusters) {
    const behaviour = scenario.behaviours[name];
    if (behaviour !== undefined && (behaviour.script.length > 1 || behaviour.lagMs > 1000)) {
      const plain = { lagMs: 1000, script: [{ state: "Healthy" as const, forMs: FOREVER }] };
      yield { ...scenario, behaviours: { ...scenario.behaviours, [name]: plain } };
    }
  }
}

/** What went wrong, the smallest scenario that shows it, its story, and how to play it again. */
export function report(scenario: Scenario, advance?: Advance): string {
  const smallest = minimise(scenario, advance);
  const outcome: Outcome = drive(smallest, advance === undefined ? { log: true } : { advance, log: true });
  return [
    `seed ${scenario.seed}: ${outcome.violations.join("; ")}`,
    ...outcome.log.slice(-40),
    "play it again with:",
    `STAGECOACH_SCENARIO='${JSON.stringify(smallest)}' npx vitest run test/properties/run.test.ts`,
  ].join("\n");
}
