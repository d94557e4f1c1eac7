import type { Finding, Path } from "../../reasons/problem.ts";
import type { Resource } from "../schema.ts";
import { checkCommitPaths, checkFile, checkTemplate } from "./pins.ts";

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
      findings.push({ code: "WEIGHT_PINS", kind: "Missing", stage: stage.name, path, atKey: true });
  }
  if (spec.weightPins !== undefined && !stepped)
    findings.push({ code: "WEIGHT_PINS", kind: "NoSteps", path: ["spec", "weightPins"], atKey: true });
  findings.push(...checkWeightPins(spec));
  return findings;
}

function checkList(stage: WrittenStage, steps: readonly WrittenStep[], path: Path): Finding[] {
  const findings = steps.flatMap((step, index) => checkKind(step, [...path, index]));
  if (findings.length > 0) return findings;
  const first = steps.findIndex((step) => step.setWeight !== undefined);
  if (first < 0) return [{ code: "STEP_WEIGHT", kind: "None", stage: stage.name, path, atKey: true }];
  if (first > 0) findings.push({ code: "STEP_WEIGHT", kind: "WaitFirst", stage: stage.name, path: [...path, 0] });
  return [...findings, ...checkGrowth(steps, path)];
}

function checkKind(step: WrittenStep, path: Path): Finding[] {
  const used = (["setWeight", "pause", "analysis"] as const).filter((kind) => step[kind] !== undefined);
  return used.length === 1 ? [] : [{ code: "STEP_KIND", used, path }];
}

function checkGrowth(steps: readonly WrittenStep[], path: Path): Finding[] {
  const findings: Finding[] = [];
  let before: number | undefined;
  for (const [index, { setWeight }] of steps.entries()) {
    if (setWeight === undefined) continue;
    if (before !== undefined && setWeight <= before)
      findings.push({ code: "STEP_WEIGHT", kind: "NotMore", weight: setWeight, before, path: [...path, index, "setWeight"] });
    before = Math.max(before ?? 0, setWeight);
  }
  return findings;
}

/** All clusters of a batch are at one weight: a window that is refilled cluster by cluster has no batch. */
function checkTravel(spec: Resource["spec"], stage: WrittenStage, path: Path): Finding[] {
  const fault = (kind: "Rolling" | "Commit"): Finding[] => [{ code: "STEPS_BATCHING", kind, stage: stage.name, path, atKey: true }];
  if (stage.batching === "Rolling") return fault("Rolling");
  return spec.delivery.strategy === "Commit" ? fault("Commit") : [];
}

function checkWeightPins(spec: Resource["spec"]): Finding[] {
  const findings: Finding[] = [...checkCommitPaths(spec.release, spec.weightPins ?? [], ["spec", "weightPins"])];
  for (const [index, pin] of (spec.weightPins ?? []).entries()) {
    const path = ["spec", "weightPins", index];
    findings.push(...checkFile(pin.file, [...path, "file"]));
    findings.push(...checkTemplate(pin.file, spec.release, [...path, "file"]), ...checkTemplate(pin.path, spec.release, [...path, "path"]));
    findings.push(...checkTemplate(pin.value, spec.release, [...path, "value"], true));
    const splits = /\{\{\s*step\.replicas\s*\}\}/.test(pin.value);
    if (splits && pin.replicas === undefined) findings.push({ code: "WEIGHT_PINS", kind: "NoReplicas", path: [...path, "value"] });
    if (!splits && pin.replicas !== undefined)
      findings.push({ code: "WEIGHT_PINS", kind: "UnusedReplicas", path: [...path, "replicas"], atKey: true });
    if (!splits && !/\{\{\s*step\.weight\s*\}\}/.test(pin.value))
      findings.push({ code: "WEIGHT_PINS", kind: "SameAlways", path: [...path, "value"] });
    const twin = (spec.pins ?? []).findIndex((one) => one.file === pin.file && one.path === pin.path);
    if (twin >= 0) findings.push({ code: "WEIGHT_PINS", kind: "Twin", pin: twin, path: [...path, "path"] });
  }
  return findings;
}
