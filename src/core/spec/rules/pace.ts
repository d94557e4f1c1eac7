/** Checks what sets a rollout's pace: deadlines, bakes, windows, analyses, hooks and steps that no run could go by. */
import type { z } from "zod";
import { parseTemplate } from "../../base/template.ts";
import { formatDuration, parseDuration } from "../../base/time.ts";
import type { Finding, Path } from "../../reasons/problems/problem.ts";
import type { Resource } from "../schema.ts";
import type { freezeSchema, Limits } from "../schema-common.ts";
import { badWindow, everOpens } from "../windows.ts";
import { type PlacedFreeze, scopesOf, type Travels, toFreeze, windowSets } from "../windows-binding.ts";
import { neverTogether } from "../windows-together.ts";
import { checkFile } from "./files.ts";
import { checkCommitPaths, checkTemplate } from "./pins.ts";
import { checkSelector } from "./selectors.ts";

type WrittenStage = Resource["spec"]["stages"][number];
type WrittenStep = NonNullable<WrittenStage["steps"]>[number];

/** Bakes longer than this are rather a slip of the pen. */
const LONG_BAKE_MS = 30 * 86_400_000;

/** Deadlines that nothing could meet, sizes that never grow, and bakes that hardly anybody means. */
export function paceIsMeant({ spec }: Resource): Finding[] {
  return [
    ...deadline(spec.seenDeadline, "seenDeadline", ["spec"]),
    ...deadline(spec.waitingDeadline, "waitingDeadline", ["spec"]),
    ...spec.stages.flatMap((stage, i) => {
      const path = ["spec", "stages", i];
      return [
        ...deadline(stage.progressDeadline, "progressDeadline", path),
        ...growth(stage.maxUnavailable, [...path, "maxUnavailable"]),
        ...longBake(stage.bake, [...path, "bake"]),
      ];
    }),
  ];
}

function deadline(given: string, key: "seenDeadline" | "waitingDeadline" | "progressDeadline", path: Path): Finding[] {
  return (parseDuration(given) ?? 1) > 0 ? [] : [{ code: "BAD_DURATION", kind: "Zero", key, given, path: [...path, key] }];
}

function growth(size: WrittenStage["maxUnavailable"], path: Path): Finding[] {
  if (typeof size !== "object") return [];
  const { start, factor, max } = size;
  const findings: Finding[] = [];
  if (factor <= 1) findings.push({ code: "BAD_QUANTITY", kind: "NeverGrows", factor, start, path: [...path, "factor"] });
  if (typeof max === "number" && start > max)
    findings.push({ code: "BAD_QUANTITY", kind: "StartAboveMax", start, max, path: [...path, "start"] });
  return findings;
}

function longBake(value: string, path: Path): Finding[] {
  const ms = parseDuration(value) ?? 0;
  return ms <= LONG_BAKE_MS ? [] : [{ code: "LONG_BAKE", severity: "warning", bake: formatDuration(ms), path }];
}

/** Any moment does: a set of windows that repeats by the calendar opens within a year of it, or never. */
const SOME_DAY = Date.UTC(2026, 0, 1);

/**
 * Windows that open each by themselves and never at one moment: of the rollout, its stages and the freezes of the settings. Of freezes for some
 * clusters only plans tell whom they bind.
 */
export function checkTogether(rollout: Travels["rollout"], freezes: readonly PlacedFreeze[], settings: string): Finding[] {
  const told = new Set<string>();
  return rollout.stages.flatMap((own, stage) => {
    // A selector matches none of no clusters.
    const apart = neverTogether(windowSets({ rollout, stage, clusters: [] }, freezes), SOME_DAY);
    const key = JSON.stringify(apart);
    if (apart === undefined || told.has(key)) return [];
    told.add(key);
    const path =
      own.windows !== undefined ? ["spec", "stages", stage, "windows"] : rollout.windows === undefined ? [] : ["spec", "windows"];
    return [{ code: "WINDOW_NEVER_OPENS", kind: "Together", whose: apart, settings, path }];
  });
}

/** Schedules, time zones and selectors that cannot be meant, and windows that never let anything through. */
export function checkWindows(windows: readonly z.output<typeof freezeSchema>[], path: readonly (string | number)[]): Finding[] {
  const findings = windows.flatMap((window, i): Finding[] => {
    const bad = badWindow(window);
    if (bad === undefined) return [];
    return [{ code: "BAD_WINDOW", ...bad, path: [...path, i, bad.fault === "Zone" ? "timeZone" : "schedule"] }];
  });
  const shut =
    findings.length > 0
      ? []
      : scopesOf(windows.map((window, i) => ({ ...toFreeze(window), i }))).filter((set) => !everOpens(set, SOME_DAY));
  return [
    ...findings,
    ...windows.flatMap(({ selector }, i) => checkSelector(selector, [...path, i, "selector"])),
    ...shut.map(
      (set): Finding => ({
        code: "WINDOW_NEVER_OPENS",
        kind: "Alone",
        path: set.length === windows.length ? [...path] : [...path, set[0]?.i ?? 0],
      }),
    ),
  ];
}

/** Selectors of limits that cannot be meant. */
export function checkLimits(limits: Limits | undefined, path: Path): Finding[] {
  return (limits?.selected ?? []).flatMap(({ selector }, i) => checkSelector(selector, [...path, "selected", i, "selector"]));
}

/** No answer is waited for longer: a round's patience, not a person's. To wait for a person a hook answers `hold`. */
const LONGEST_TIMEOUT_MS = 60_000;

/** What a stage measures and asks must be able to be measured and asked. */
export function analysesAndHooks({ spec }: Resource): Finding[] {
  return spec.stages.flatMap((stage, i) => [
    ...checkAnalysis(stage, spec.targetBy, ["spec", "stages", i, "analysis"]),
    ...(stage.steps ?? []).flatMap(({ analysis }, j) =>
      (analysis?.args ?? []).flatMap(({ value }, k) =>
        checkValue(value, [], spec.targetBy, ["spec", "stages", i, "steps", j, "analysis", "args", k, "value"]),
      ),
    ),
    ...checkHooks(stage, ["spec", "stages", i, "hooks"]),
  ]);
}

function checkAnalysis({ analysis, batching }: WrittenStage, targetBy: Resource["spec"]["targetBy"], path: Path): Finding[] {
  if (analysis === undefined) return [];
  const findings: Finding[] = [];
  if (batching === "Rolling" && analysis.when.includes("AfterBatch")) {
    findings.push({ code: "ANALYSIS_ROLLING", path: [...path, "when"] });
  }
  const names = new Set<string>();
  for (const [j, arg] of analysis.args.entries()) {
    if (names.has(arg.name)) findings.push({ code: "ANALYSIS_ARG", kind: "Twice", name: arg.name, path: [...path, "args", j, "name"] });
    names.add(arg.name);
    findings.push(...checkValue(arg.value, analysis.when, targetBy, [...path, "args", j, "value"]));
  }
  return findings;
}

/** Known where a plan is made, and not while it is run. */
const NOT_IN_RUNS: ReadonlySet<string> = new Set([
  "params",
  "application.path",
  "application.valuesFile",
  "application.set",
  "controlPlane.labels",
]);

function checkValue(value: string, when: readonly string[], targetBy: Resource["spec"]["targetBy"], path: Path): Finding[] {
  const parsed = parseTemplate(value);
  if (!parsed.ok) return [{ code: "BAD_TEMPLATE", ...parsed.fault, path }];
  const roots = parsed.parts.flatMap((part) => ("variable" in part ? [part] : []));
  const param = roots.find(({ variable }) => NOT_IN_RUNS.has(variable.root));
  const vague = roots.find(({ variable: { root } }) => root === "application.labels" || root === "destination.namespace");
  const needs = vague?.variable.root === "application.labels" ? "application" : "namespace";
  if (vague !== undefined && targetBy !== needs && targetBy !== "application")
    return [{ code: "ANALYSIS_ARG", kind: "Vague", variable: vague.source, needs, path }];
  if (param !== undefined) return [{ code: "ANALYSIS_ARG", kind: "Param", variable: param.source, path }];
  const ofCluster = roots.find(({ variable }) => /^(?:cluster|application|destination|controlPlane)\b/.test(variable.root));
  const whole = when.filter((one) => one !== "AfterBatch");
  if (ofCluster === undefined || whole.length === 0) return [];
  return [{ code: "ANALYSIS_ARG", kind: "OfCluster", variable: ofCluster.source, whole, path }];
}

function checkHooks({ hooks }: WrittenStage, path: Path): Finding[] {
  return (["before", "after", "onFailure"] as const).flatMap((when) =>
    (hooks?.[when] ?? []).flatMap((hook, j) => checkHook(hook, [...path, when, j])),
  );
}

function checkHook({ url, timeout }: { url: string; timeout: string }, path: Path): Finding[] {
  const findings: Finding[] = [];
  const fault = badAddress(url);
  if (fault !== undefined) findings.push({ code: "HOOK_URL", fault, path: [...path, "url"] });
  const ms = parseDuration(timeout) ?? 0;
  if (ms <= 0 || ms > LONGEST_TIMEOUT_MS) findings.push({ code: "HOOK_TIMEOUT", given: timeout, path: [...path, "timeout"] });
  return findings;
}

function badAddress(url: string): "NoAddress" | "Credentials" | undefined {
  const match = /^https?:\/\/([^/?#\s]+)(?:[/?#]\S*)?$/i.exec(url);
  if (match === null) return "NoAddress";
  return match[1]?.includes("@") === true ? "Credentials" : undefined;
}

/** What a canary must be to be one: weights that grow, a place to write them to, and batches that travel as one. */
export function checkSteps({ spec }: Resource): Finding[] {
  const findings: Finding[] = [];
  for (const [index, stage] of spec.stages.entries()) {
    if (stage.steps === undefined) continue;
    const path = ["spec", "stages", index, "steps"];
    findings.push(...checkList(stage, stage.steps, path), ...checkTravel(spec, stage, path));
    // Said once.
    if (spec.weightPins === undefined && findings.every(({ code }) => code !== "WEIGHT_PINS"))
      findings.push({ code: "WEIGHT_PINS", kind: "Missing", stage: stage.name, path, atKey: true });
  }
  if (spec.weightPins !== undefined && spec.stages.every(({ steps }) => steps === undefined))
    findings.push({ code: "WEIGHT_PINS", kind: "NoSteps", path: ["spec", "weightPins"], atKey: true });
  findings.push(...checkWeightPins(spec));
  return findings;
}

function checkList(stage: WrittenStage, steps: readonly WrittenStep[], path: Path): Finding[] {
  const findings = steps.flatMap((step, index): Finding[] => {
    const used = (["setWeight", "pause", "analysis"] as const).filter((kind) => step[kind] !== undefined);
    return used.length === 1 ? [] : [{ code: "STEP_KIND", used, path: [...path, index] }];
  });
  if (findings.length > 0) return findings;
  const first = steps.findIndex((step) => step.setWeight !== undefined);
  if (first < 0) return [{ code: "STEP_WEIGHT", kind: "None", stage: stage.name, path, atKey: true }];
  if (first > 0) findings.push({ code: "STEP_WEIGHT", kind: "WaitFirst", stage: stage.name, path: [...path, 0] });
  return [...findings, ...checkGrowth(steps, path)];
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
  const kind = stage.batching === "Rolling" ? "Rolling" : "Commit";
  if (kind === "Commit" && spec.delivery.strategy !== "Commit") return [];
  return [{ code: "STEPS_BATCHING", kind, stage: stage.name, path, atKey: true }];
}

function checkWeightPins({ release, pins = [], weightPins = [] }: Resource["spec"]): Finding[] {
  const findings = checkCommitPaths(release, weightPins, ["spec", "weightPins"]);
  for (const [index, pin] of weightPins.entries()) {
    const path = ["spec", "weightPins", index];
    findings.push(...checkFile(pin.file, [...path, "file"], { path: pin.path }));
    for (const name of ["file", "path", "value"] as const)
      findings.push(...checkTemplate(pin[name], release, [...path, name], name === "value"));
    const splits = /\{\{\s*step\.replicas\s*\}\}/.test(pin.value);
    if (splits && pin.replicas === undefined) findings.push({ code: "WEIGHT_PINS", kind: "NoReplicas", path: [...path, "value"] });
    if (!splits && pin.replicas !== undefined)
      findings.push({ code: "WEIGHT_PINS", kind: "UnusedReplicas", path: [...path, "replicas"], atKey: true });
    if (!splits && !/\{\{\s*step\.weight\s*\}\}/.test(pin.value))
      findings.push({ code: "WEIGHT_PINS", kind: "SameAlways", path: [...path, "value"] });
    const twin = pins.findIndex((one) => one.file === pin.file && one.path === pin.path);
    if (twin >= 0) findings.push({ code: "WEIGHT_PINS", kind: "Twin", pin: twin, path: [...path, "path"] });
  }
  return findings;
}
