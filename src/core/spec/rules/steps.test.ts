import { describe, expect, test } from "vitest";
import { sayProblem } from "../../report/reasons/problems/problems.ts";
import { parseRollouts } from "../parse/parse.ts";

function resource(steps: string, { pins = true, spec = "", stage = "" } = {}): string {
  const weights = pins ? '  weightPins: [ { file: apps.yaml, path: "e[cluster={{ cluster.name }}].weight" } ]\n' : "";
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: payments }
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
  release: { version: v2 }
  pins: [ { file: apps.yaml, path: "e[cluster={{ cluster.name }}].version" } ]
${weights}${spec}  stages:
    - name: canary
      clusters: { selector: {} }
${stage}${steps === "" ? "" : `      steps:\n${steps}`}`;
}

const step = (text: string) => `        - ${text}\n`;

/** Code, line and the beginning of each problem. */
function told(text: string): string[] {
  return parseRollouts(text, "r.yaml")
    .problems.map((one) => ({ ...one, ...sayProblem(one) }))
    .map(({ code, line, message }) => `${code} ${line} ${message}`);
}

describe("steps of a stage", () => {
  test("the seed's are read: weights, pauses with and without an end, an analysis", () => {
    const steps = [
      "setWeight: 20",
      "pause: {}",
      "analysis: { templates: [ { templateName: webcheck } ] }",
      "setWeight: 60",
      "pause: { duration: 10m }",
    ];
    const { problems, rollouts } = parseRollouts(resource(steps.map(step).join("")), "r.yaml");
    expect(problems).toEqual([]);
    expect(rollouts[0]?.stages[0]?.steps).toEqual([
      { kind: "setWeight", weight: 20 },
      { kind: "pause" },
      { kind: "analysis", analysis: { templates: [{ templateName: "webcheck", clusterScope: false }], args: [], when: ["AfterBatch"] } },
      { kind: "setWeight", weight: 60 },
      { kind: "pause", durationMs: 600_000 },
    ]);
    expect(rollouts[0]?.weightPins).toEqual([
      { file: "apps.yaml", path: "e[cluster={{ cluster.name }}].weight", value: "{{ step.weight }}" },
    ]);
  });

  test.each([
    [
      "weights that do not grow",
      step("setWeight: 60") + step("pause: {}") + step("setWeight: 20"),
      "STEP_WEIGHT 15 setWeight 20 is not more than the 60 before it",
    ],
    [
      "the same weight twice",
      step("setWeight: 60") + step("setWeight: 60"),
      "STEP_WEIGHT 14 setWeight 60 is not more than the 60 before it",
    ],
    ["no weight at all", step("pause: {}"), 'STEP_WEIGHT 12 the steps of stage "canary" set no weight'],
    [
      "a wait before the first weight",
      step("pause: {}") + step("setWeight: 20"),
      'STEP_WEIGHT 13 the steps of stage "canary" begin with a wait, before anything has changed',
    ],
    ["a step of two kinds", step("{ setWeight: 20, pause: {} }"), "STEP_KIND 13 the step has both setWeight and pause"],
    [
      "an argument without a value during a run",
      step("setWeight: 20") +
        step('analysis: { templates: [{ templateName: webcheck }], args: [{ name: a, value: "{{ application.path }}" }] }'),
      "ANALYSIS_ARG 14 {{ application.path }} cannot be an analysis's argument",
    ],
    ["an empty step", step("{}"), "STEP_KIND 13 the step does nothing"],
    ["a weight over 100", step("setWeight: 120"), "BAD_VALUE 13 spec.stages[0].steps[0].setWeight is more than 100"],
    ["a weight that is no number", step('setWeight: "20%"'), 'WRONG_TYPE 13 spec.stages[0].steps[0].setWeight must be a number, not "20%"'],
    ["a pause of 10", step("setWeight: 20") + step("pause: { duration: 10 }"), "BAD_DURATION 14 10 is not a duration"],
    ["steps that are empty", "        []\n", "BAD_VALUE 13 spec.stages[0].steps is empty"],
  ])("%s: an error with its line", (_, steps, problem) => {
    expect(told(resource(steps))).toContain(problem);
  });

  test("Rolling and Commit are refused, since a batch travels as one, in files", () => {
    expect(told(resource(step("setWeight: 20"), { stage: "      batching: Rolling\n" }))).toEqual([
      'STEPS_BATCHING 13 stage "canary" has steps and batching: Rolling',
    ]);
    expect(told(resource(step("setWeight: 20"), { spec: "  delivery: { strategy: Commit }\n" }))).toContain(
      'STEPS_BATCHING 13 stage "canary" has steps and delivery.strategy: Commit',
    );
  });
});

describe("weight pins", () => {
  test("steps without them, and they without steps, are errors", () => {
    expect(told(resource(step("setWeight: 20"), { pins: false }))).toEqual([
      'WEIGHT_PINS 11 stage "canary" has steps, and no weightPins say where their weight is written',
    ]);
    expect(told(resource(""))).toEqual([expect.stringMatching(/^WEIGHT_PINS 8 /)]);
  });

  test.each([
    ['{ file: w.yaml, path: w, value: "{{ step.replicas }}" }', "value uses {{ step.replicas }}, and replicas is missing"],
    ["{ file: w.yaml, path: w, replicas: 10 }", "replicas is there, and value does not use it"],
    ['{ file: w.yaml, path: w, value: "20" }', "value is the same at every weight"],
    ['{ file: apps.yaml, path: "e[cluster={{ cluster.name }}].version" }', "the weight would be written where pins[0] writes the version"],
    ["{ file: ../w.yaml, path: w }", '"../w.yaml" leads out of the repo by ".."'],
    ['{ file: w.yaml, path: w, value: "{{ step.weigth }}{{ step.weight }}" }', "unknown variable {{ step.weigth }}"],
  ])("%s", (pin, message) => {
    const found = told(resource(step("setWeight: 20"), { pins: false, spec: `  weightPins: [ ${pin} ]\n` }));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`8 ${message}`);
  });

  test("a pin of a version knows no step", () => {
    const text = resource(step("setWeight: 20")).replace('].version" }', '].version", value: "{{ step.weight }}" }');
    expect(told(text)).toEqual(["BAD_TEMPLATE 7 unknown variable {{ step.weight }}"]);
  });
});
