import type { Finding } from "../../base/problem.ts";
import type { Resource } from "../schema.ts";
import { checkFile, checkTemplate } from "./pins.ts";
import { checkCommitPaths } from "./release.ts";

type Path = (string | number)[];
type WrittenStage = Resource["spec"]["stages"][number];
type WrittenStep = NonNullable<WrittenStage["steps"]>[number];

/** What a canary must be to be one: weights that grow, a place to write them to, and batches that travel as one. */
export function checkSteps({ spec }: Resource): Finding[] {
  const findings: Finding[] = [];
  const stepped = spec.stages.some((stage) => stage.steps !== undefined);
  for (const [index, stage] of spec.stages.entries()) {
    if (stage.steps === undefined) continue;
    const path = ["spec", "stages", index, "steps"];
    findings.push(...checkList(stage, stage.steps, path), ...checkTravel(spec, stage, path));
    // Said once.
    if (spec.weightPins === undefined && findings.every(({ code }) => code !== "WEIGHT_PINS"))
      findings.push({
        code: "WEIGHT_PINS",
        message: `stage "${stage.name}" has steps, and no weightPins say where their weight is written`,
        hint: "add spec.weightPins with file and path of each place; steps without them would change nothing",
        path,
        atKey: true,
      });
  }
  if (spec.weightPins !== undefined && !stepped)
    findings.push({
      code: "WEIGHT_PINS",
      message: "weightPins are there, and no stage has steps",
      hint: "add steps to a stage, or remove weightPins",
      path: ["spec", "weightPins"],
      atKey: true,
    });
  findings.push(...checkWeightPins(spec));
  return findings;
}

function checkList(stage: WrittenStage, steps: readonly WrittenStep[], path: Path): Finding[] {
  const findings = steps.flatMap((step, index) => checkKind(step, [...path, index]));
  if (findings.length > 0) return findings;
  const first = steps.findIndex((step) => step.setWeight !== undefined);
  if (first < 0)
    return [
      {
        code: "STEP_WEIGHT",
        message: `the steps of stage "${stage.name}" set no weight`,
        hint: "begin with setWeight, such as setWeight: 20; for a wait alone there is bake",
        path,
        atKey: true,
      },
    ];
  if (first > 0)
    findings.push({
      code: "STEP_WEIGHT",
      message: `the steps of stage "${stage.name}" begin with a wait, before anything has changed`,
      hint: "begin with setWeight; before a stage there are approval, windows and analysis with when: [BeforeStage]",
      path: [...path, 0],
    });
  return [...findings, ...checkGrowth(steps, path)];
}

function checkKind(step: WrittenStep, path: Path): Finding[] {
  const used = (["setWeight", "pause", "analysis"] as const).filter((kind) => step[kind] !== undefined);
  if (used.length === 1) return [];
  const [first, second] = used;
  const message = first === undefined ? "the step does nothing" : `the step has both ${first} and ${second}`;
  return [{ code: "STEP_KIND", message, hint: "each step has exactly one of setWeight, pause and analysis", path }];
}

function checkGrowth(steps: readonly WrittenStep[], path: Path): Finding[] {
  const findings: Finding[] = [];
  let before: number | undefined;
  for (const [index, { setWeight }] of steps.entries()) {
    if (setWeight === undefined) continue;
    if (before !== undefined && setWeight <= before)
      findings.push({
        code: "STEP_WEIGHT",
        message: `setWeight ${setWeight} is not more than the ${before} before it`,
        hint: "weights grow with each step; to go back there is /rollback",
        path: [...path, index, "setWeight"],
      });
    before = Math.max(before ?? 0, setWeight);
  }
  return findings;
}

/** All clusters of a batch are at one weight: a window that is refilled cluster by cluster has no batch. */
function checkTravel(spec: Resource["spec"], stage: WrittenStage, path: Path): Finding[] {
  if (stage.batching === "Rolling")
    return [
      {
        code: "STEPS_BATCHING",
        message: `stage "${stage.name}" has steps and batching: Rolling`,
        hint: "use batching: Fixed: the clusters of a batch go from weight to weight together",
        path,
        atKey: true,
      },
    ];
  if (spec.delivery.strategy === "Commit")
    return [
      {
        code: "STEPS_BATCHING",
        message: `stage "${stage.name}" has steps and delivery.strategy: Commit`,
        hint: "use strategy: PullRequest: a weight is written in a file",
        path,
        atKey: true,
      },
    ];
  return [];
}

function checkWeightPins(spec: Resource["spec"]): Finding[] {
  const findings: Finding[] = [...checkCommitPaths(spec.release, spec.weightPins ?? [], ["spec", "weightPins"])];
  for (const [index, pin] of (spec.weightPins ?? []).entries()) {
    const path = ["spec", "weightPins", index];
    findings.push(...checkFile(pin.file, [...path, "file"]));
    findings.push(...checkTemplate(pin.file, spec.release, [...path, "file"]), ...checkTemplate(pin.path, spec.release, [...path, "path"]));
    findings.push(...checkTemplate(pin.value, spec.release, [...path, "value"], true));
    const splits = /\{\{\s*step\.replicas\s*\}\}/.test(pin.value);
    if (splits && pin.replicas === undefined)
      findings.push({
        code: "WEIGHT_PINS",
        message: "{{ step.replicas }} wants to know of how many",
        hint: "add replicas: how many the clusters of one batch have together",
        path: [...path, "value"],
      });
    if (!splits && pin.replicas !== undefined)
      findings.push({
        code: "WEIGHT_PINS",
        message: "replicas is there, and value does not use it",
        hint: 'write value: "{{ step.replicas }}", or remove replicas',
        path: [...path, "replicas"],
        atKey: true,
      });
    if (!splits && !/\{\{\s*step\.weight\s*\}\}/.test(pin.value))
      findings.push({
        code: "WEIGHT_PINS",
        message: "value is the same at every weight",
        hint: 'write "{{ step.weight }}" in it, or leave it out',
        path: [...path, "value"],
      });
    const twin = (spec.pins ?? []).findIndex((one) => one.file === pin.file && one.path === pin.path);
    if (twin >= 0)
      findings.push({
        code: "WEIGHT_PINS",
        message: `the weight would be written where pins[${twin}] writes the version`,
        hint: "name a place of its own",
        path: [...path, "path"],
      });
  }
  return findings;
}
