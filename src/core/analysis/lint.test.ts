import { describe, expect, test } from "vitest";
import { sayProblem } from "../report/reasons/problems/problems.ts";
import { parseRollouts } from "../spec/parse/parse.ts";
import { lintAnalyses } from "./lint.ts";

const WEBCHECK = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: { name: webcheck }
spec:
  args: [{ name: host }]
  metrics:
    - name: webcheck
      successCondition: result == "ok"
      interval: 5
      failureLimit: 1
      provider: { web: { url: "http://{{ args.host }}/", jsonPath: "{$.status}" } }
`;

function lint(stage: string, files: Record<string, string> = { "analysis/webcheck.yaml": WEBCHECK }, builtin: boolean | "unknown" = true) {
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: payments }
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
  release: { version: v1 }
  pins: [{ file: a.yaml, path: "x[c={{ cluster.name }}].v" }]
  stages:
    - name: all
      clusters: { selector: {} }
${stage}`;
  const { rollouts, problems } = parseRollouts(text, "rollouts/payments.yaml");
  const source = { read: (path: string) => files[path] ?? null, paths: () => Object.keys(files) };
  const engine = builtin === "unknown" ? { builtin: false, unknown: true as const } : { builtin };
  const found = rollouts.flatMap((rollout) => lintAnalyses(rollout, source, engine));
  return [...problems, ...found]
    .map((one) => ({ ...one, ...sayProblem(one) }))
    .map(({ code, severity, file, message, hint }) => `${severity} ${code} ${file}: ${message} (${hint})`);
}

const analysis = (body: string, more = "") => `      analysis: { ${body} }\n${more}`;
const ASKED = "templates: [{ templateName: webcheck }]";
const HOST = 'args: [{ name: host, value: "{{ cluster.name }}.example.com" }]';

describe("lint of analyses", () => {
  test("the seed's webcheck beside a bake is fine; its bare interval is a warning with its place", () => {
    expect(lint(analysis(`${ASKED}, ${HOST}`, "      bake: 10m\n"))).toEqual([
      expect.stringMatching(/^warning BAD_DURATION analysis\/webcheck\.yaml: interval is 5 /),
    ]);
  });

  test.each([
    ["an unknown template", analysis("templates: [{ templateName: webchek }]"), /ANALYSIS_TEMPLATE .*did you mean webcheck/],
    ["a file that is not there", analysis("templates: [{ templateName: webcheck, file: x.yaml }]"), /ANALYSIS_TEMPLATE .*x\.yaml/],
    ["an unknown argument", analysis(`${ASKED}, args: [{ name: hosts, value: x }]`), /ANALYSIS_ARG .*did you mean host/],
    ["a missing argument", analysis(ASKED), /ANALYSIS_ARG .*host has no value/],
    ["one that never ends, without a bake", analysis(`${ASKED}, ${HOST}`), /ANALYSIS_ENDLESS .*no count/],
    ["AfterBatch of a rolling stage", analysis(`${ASKED}, ${HOST}`, "      batching: Rolling\n"), /ANALYSIS_ROLLING/],
    ["a cluster where there is no batch", analysis(`${ASKED}, ${HOST}, when: [Background]`), /ANALYSIS_ARG .*Background is of no batch/],
    ["a parameter of the ApplicationSet", analysis(`${ASKED}, args: [{ name: host, value: "{{ params.x }}" }]`), /ANALYSIS_ARG .*params/],
    [
      "a place of its files",
      analysis(`${ASKED}, args: [{ name: host, value: "{{ application.path }}" }]`),
      /ANALYSIS_ARG .*no value during a run/,
    ],
    [
      "a values file",
      analysis(`${ASKED}, args: [{ name: host, value: "{{ application.valuesFile }}" }]`),
      /ANALYSIS_ARG .*application.valuesFile/,
    ],
    [
      "a label of the control plane",
      analysis(`${ASKED}, args: [{ name: host, value: "{{ controlPlane.labels.x }}" }]`),
      /ANALYSIS_ARG .*controlPlane/,
    ],
    ["a hook without a scheme", "      hooks: { before: [{ url: example.com }] }\n", /HOOK_URL/],
    ["a hook with a password", '      hooks: { before: [{ url: "https://a:b@example.com" }] }\n', /HOOK_URL .*password/],
    ["a hook that may take an hour", '      hooks: { before: [{ url: "https://example.com", timeout: 1h }] }\n', /HOOK_TIMEOUT/],
    ["a timeout of 10", '      hooks: { before: [{ url: "https://example.com", timeout: 10 }] }\n', /BAD_DURATION/],
  ])("%s is an error", (_name, stage, expected) => {
    expect(
      lint(stage)
        .filter((line) => line.startsWith("error"))
        .join("\n"),
    ).toMatch(expected);
  });

  test("the seed's webcheck in a step never ends, which is said with what to do, as Argo Rollouts refuses it there; its http-benchmark is fine", () => {
    const steps = (name: string, args = HOST.replace("{{ cluster.name }}", "eu-1")) =>
      `      steps:\n        - setWeight: 20\n        - analysis: { templates: [{ templateName: ${name} }], ${args} }\n  weightPins: [{ file: a.yaml, path: "x[c={{ cluster.name }}].w" }]\n`;
    const benchmark = WEBCHECK.replaceAll("webcheck", "http-benchmark").replace("interval: 5", "count: 1").replace("failureLimit: 1", "");
    const files = { "analysis/webcheck.yaml": WEBCHECK, "analysis/b.yaml": benchmark };
    const errors = (stage: string) => lint(stage, files).filter((line) => line.includes("ANALYSIS"));
    expect(errors(steps("webcheck"))).toEqual([
      expect.stringMatching(/^error ANALYSIS_ENDLESS rollouts\/payments\.yaml: metric webcheck .*\(.*bake/),
    ]);
    expect(errors(steps("http-benchmark"))).toEqual([]);
  });

  test("a dry-run metric that never ends is no better: its run would not end either", () => {
    const dry = `${WEBCHECK}  dryRun: [{ metricName: webcheck }]\n`;
    expect(lint(analysis(`${ASKED}, ${HOST}`), { "analysis/webcheck.yaml": dry }).join()).toContain("ANALYSIS_ENDLESS");
  });

  test("with the argo-rollouts engine a template may be in the cluster, and other providers are its own", () => {
    const datadog = WEBCHECK.replace(/provider: .*/, "provider: { datadog: { query: q } }");
    const files = { "analysis/webcheck.yaml": datadog };
    expect(lint(analysis("templates: [{ templateName: elsewhere }]"), {}, false)).toEqual([]);
    expect(lint(analysis(`${ASKED}, ${HOST}`, "      bake: 1m\n"), files, false).join()).not.toContain("ANALYSIS_PROVIDER");
    expect(lint(analysis(`${ASKED}, ${HOST}`, "      bake: 1m\n"), files).join()).toContain("ANALYSIS_PROVIDER");
  });

  test("where nobody knows the engine, what only the builtin one minds is a warning that names both; a file that is not there is an error", () => {
    expect(lint(analysis("templates: [{ templateName: elsewhere }]"), {}, "unknown")).toEqual([
      expect.stringMatching(/^warning ANALYSIS_TEMPLATE rollouts\/payments\.yaml: .*elsewhere.*argo-rollouts.*builtin/),
    ]);
    const file = lint(analysis("templates: [{ templateName: webcheck, file: x.yaml }]"), {}, "unknown");
    expect(file).toEqual([expect.stringMatching(/^error ANALYSIS_TEMPLATE .*x\.yaml/)]);
    expect(lint(analysis(`${ASKED}, ${HOST}`), undefined, "unknown").join()).toContain("error ANALYSIS_ENDLESS");
  });
});
