import { drive, type Outcome } from "../drive.ts";
import type { DriveOptions } from "../driver.ts";
import {
  CALM,
  FOREVER,
  type Happening,
  type Measure,
  type ModelOutside,
  type ModelRollout,
  type ModelStage,
  PLAIN,
  type Reply,
  type Scenario,
} from "./scenario.ts";

/** What to drive it with: a planted bug may stand there. */
type With = Pick<DriveOptions, "advance" | "start" | "gates">;

/** A smaller scenario that still goes wrong: trouble after trouble, feature after feature is left out for as long as it does. */
export function minimise(scenario: Scenario, options: With = {}): Scenario {
  let smallest = scenario;
  for (let again = true; again; ) {
    again = false;
    for (const candidate of simpler(smallest)) {
      if (!fails(candidate, options)) continue;
      smallest = candidate;
      again = true;
      break;
    }
  }
  return smallest;
}

function fails(scenario: Scenario, options: With): boolean {
  try {
    return drive(scenario, options).violations.length > 0;
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
  for (const key of ["limits", "freezes", "outside"] as const) if (scenario[key] !== undefined) yield without(scenario, key);
  if (scenario.outside !== undefined) for (const outside of simplerOutside(scenario.outside)) yield { ...scenario, outside };
  for (const index of scenario.happenings.keys()) yield { ...scenario, happenings: scenario.happenings.toSpliced(index, 1) };
  if (scenario.rollouts.length > 1) yield alone(scenario);
  for (const [index, rollout] of scenario.rollouts.entries())
    for (const plainer of simplerRollout(rollout)) yield { ...scenario, rollouts: scenario.rollouts.with(index, plainer) };
  for (const [index, { name }] of scenario.clusters.entries()) {
    if (scenario.clusters.length > 1 && !isNamed(scenario, name)) yield { ...scenario, clusters: scenario.clusters.toSpliced(index, 1) };
  }
  for (const [application, behaviour] of Object.entries(scenario.behaviours)) {
    if (behaviour.script.length <= 1 && behaviour.lagMs <= 1000) continue;
    const plain = { lagMs: 1000, script: [{ state: "Healthy" as const, forMs: FOREVER }] };
    yield { ...scenario, behaviours: { ...scenario.behaviours, [application]: plain } };
  }
}

const PASSES: Measure = { forMs: 15_000, ends: "Successful" };
const GOES: Reply = { afterMs: 1000, says: "go" };

function* simplerOutside(outside: ModelOutside): Generator<ModelOutside> {
  if (outside.forgets) yield { ...outside, forgets: false };
  for (const [at, one] of outside.measures.entries())
    if (one.ends !== "Successful") yield { ...outside, measures: outside.measures.with(at, PASSES) };
  for (const [at, one] of outside.replies.entries()) if (one.says !== "go") yield { ...outside, replies: outside.replies.with(at, GOES) };
}

function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = value;
  return rest;
}

/** The first rollout without the others. */
function alone(scenario: Scenario): Scenario {
  const happenings = scenario.happenings.filter((one: Happening) => !("rollout" in one) || one.rollout === 0);
  return { ...scenario, rollouts: scenario.rollouts.slice(0, 1), happenings };
}

const EXTRAS = ["windows", "limits", "dependsOn", "flap", "rollback", "joiners", "quarantine"] as const satisfies (keyof ModelRollout)[];
const PLAINER = ["merge", "mode", "maxFailures", "action", "onNewRelease", "baseline"] as const satisfies (keyof ModelRollout)[];
const STAGE_EXTRAS = [
  "grow",
  "jitterMs",
  "approvals",
  "pairs",
  "topology",
  "seeded",
  "analysis",
  "hooks",
  "steps",
] as const satisfies (keyof ModelStage)[];

function* simplerRollout(rollout: ModelRollout): Generator<ModelRollout> {
  for (const key of EXTRAS) if (rollout[key] !== undefined) yield without(rollout, key);
  for (const key of PLAINER) if (rollout[key] !== PLAIN[key]) yield { ...rollout, [key]: PLAIN[key] };
  for (const [index, stage] of rollout.stages.entries()) {
    if (rollout.stages.length > 1) yield { ...rollout, stages: rollout.stages.toSpliced(index, 1) };
    for (const plainer of simplerStage(stage)) yield { ...rollout, stages: rollout.stages.with(index, plainer) };
  }
}

function* simplerStage(stage: ModelStage): Generator<ModelStage> {
  for (const key of STAGE_EXTRAS) if (stage[key] !== undefined) yield without(stage, key);
  for (const [index] of (stage.steps ?? []).entries()) if (index > 0) yield { ...stage, steps: (stage.steps ?? []).toSpliced(index, 1) };
  if (stage.requeue !== null) yield { ...stage, requeue: null };
  if (stage.bakeMs > 0) yield { ...stage, bakeMs: 0 };
  if (stage.batching !== "Fixed") yield { ...stage, batching: "Fixed" };
}

function isNamed(scenario: Scenario, name: string): boolean {
  return scenario.happenings.some(
    (one) => ("cluster" in one && one.cluster === name) || (one.kind === "command" && one.args.some((arg) => arg.includes(name))),
  );
}

/** What went wrong, the smallest scenario that shows it, its story, and how to play it again. */
export function report(scenario: Scenario, options: With = {}): string {
  const smallest = minimise(scenario, options);
  const outcome: Outcome = drive(smallest, { ...options, log: true });
  return [
    `seed ${scenario.seed}: ${outcome.violations.join("; ")}`,
    ...outcome.log.slice(-40),
    "play it again with:",
    `STAGECOACH_SCENARIO='${JSON.stringify(smallest)}' npx vitest run test/properties/run.test.ts`,
  ].join("\n");
}
