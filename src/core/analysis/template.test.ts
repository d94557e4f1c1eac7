import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sayProblem } from "../report/reasons/problems/problems.ts";
import { AnalysisError, type Asked, prepare, type Sources } from "./request.ts";
import { readTemplates } from "./template.ts";

const CORPUS = fileURLToPath(new URL("../../../../shared/data/corpus/analysistemplate/", import.meta.url));

function read(metric: string, spec = "") {
  const text = `apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: t}\nspec:\n${spec}  metrics:\n    - ${metric}\n`;
  return readTemplates(text, "t.yaml", { builtin: true });
}

/** Why an analysis cannot be run. */
function failureOf(asked: Asked, sources: Sources): AnalysisError["reason"] | undefined {
  try {
    prepare(asked, sources);
    return undefined;
  } catch (error) {
    if (error instanceof AnalysisError) return error.reason;
    throw error;
  }
}

const SOURCES = { secret: () => undefined, field: () => undefined };

describe("templates", () => {
  test.each([
    ["{name: m, provider: {web: {url: u}}, sucessCondition: x}", "UNKNOWN_KEY", /successCondition/],
    ["{name: m, provider: {datadog: {query: q}}}", "ANALYSIS_PROVIDER", /datadog needs the argo-rollouts engine/],
    ["{name: m, provider: {web: {url: '{{args.hots}}'}}}", "ANALYSIS_UNKNOWN_ARG", /args\.hots is not declared/],
    ["{name: m, successCondition: 'results[0] > 1', provider: {web: {url: u}}}", "ANALYSIS_CONDITION", /results is unknown/],
    ["{name: m, provider: {web: {url: u, jsonPath: '{range .items[*]}{.x}{end}'}}}", "ANALYSIS_JSONPATH", /more than one path/],
    ["{name: m, interval: soon, provider: {web: {url: u}}}", "BAD_DURATION", /not a duration/],
    ["{name: m, count: 1, failureLimit: 3, provider: {web: {url: u}}}", "ANALYSIS_VALUE", /failureLimit \+ consecutiveSuccessLimit are 3/],
    ["{name: m, interval: 1s, count: 3, inconclusiveLimit: 4, provider: {web: {url: u}}}", "ANALYSIS_VALUE", /inconclusiveLimit 4/],
    ["{name: m, count: 3, provider: {web: {url: u}}}", "ANALYSIS_VALUE", /there is no interval/],
    ["{name: m, failureLimit: -1, provider: {web: {url: u}}}", "ANALYSIS_VALUE", /nothing would decide/],
    ["{name: m, consecutiveErrorLimit: -1, provider: {web: {url: u}}}", "ANALYSIS_VALUE", /whole number from 0/],
    ["{name: m, failureLimit: '1.5', provider: {web: {url: u}}}", "ANALYSIS_VALUE", /failureLimit is 1.5/],
    ["{name: m, provider: {}}", "BAD_VALUE", /exactly one provider/],
  ])("%s is %s", (metric, code, message) => {
    const { problems } = read(metric, "  args: [{name: host}]\n");
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code, file: "t.yaml" });
    const [said] = problems.map(sayProblem);
    expect(`${said?.message} ${said?.hint}`).toMatch(message);
    expect(problems[0]?.line).toBe(7);
  });

  test("arguments: given, default, from a secret, from a field; what is missing or unknown is named", () => {
    const { templates } = read(
      "{name: m, interval: 1s, count: '{{args.n}}', provider: {web: {url: '{{args.a}}/{{ args.b }}/{{args.c}}'}}}",
      "  args: [{name: a}, {name: b, value: B}, {name: c, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: n, value: '3'}]\n",
    );
    const asked = (args: { name: string; value: string }[]) => ({ templates: [{ templateName: "t" }], args });
    const sources = { ...SOURCES, templates, field: () => "C" };
    const [{ metric, rules } = {}] = prepare(asked([{ name: "a", value: "A" }]), sources).metrics;
    expect(metric?.provider.web?.url).toBe("A/B/C");
    expect(rules?.count).toBe(3);
    const given = (name: string, value: string) => ({ name, value });
    expect(failureOf(asked([]), sources)).toMatchObject({ code: "ANALYSIS_ARG", kind: "NoValue", name: "a" });
    expect(failureOf(asked([given("nn", "1")]), sources)).toMatchObject({ code: "ANALYSIS_ARG", kind: "Unknown", name: "nn", near: "n" });
    const count = failureOf(asked([given("a", "A"), given("n", "NaN")]), sources);
    expect(count).toMatchObject({ code: "ANALYSIS_VALUE", kind: "NotWhole", field: "count", given: "NaN", metric: "m" });
    const unknown = failureOf({ templates: [{ templateName: "tt" }], args: [] }, sources);
    expect(unknown).toMatchObject({ code: "ANALYSIS_TEMPLATE", kind: "None", name: "tt", known: ["t"], near: "t" });
  });

  test("dryRun and measurementRetention go by patterns of names, over all templates together; a rule for nobody is refused", () => {
    const doc = (name: string, spec: string) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: ${name}}\nspec:\n  metrics: [{name: ${name}-rate, provider: {web: {url: u}}}]\n${spec}---\n`;
    const asked = { templates: [{ templateName: "a" }, { templateName: "b" }], args: [] };
    const sources = (rules: string) => {
      const { templates } = readTemplates(doc("a", rules) + doc("b", ""), "t.yaml", { builtin: true });
      return { ...SOURCES, templates };
    };
    const made = (rules: string) => {
      const { metrics } = prepare(asked, sources(rules));
      return metrics.map(({ rules: { name, dryRun, retention } }) => `${name} ${dryRun} ${retention}`);
    };
    const refused = (pattern: string) => failureOf(asked, sources(`  dryRun: [{metricName: '${pattern}'}]\n`));
    expect(made("")).toEqual(["a-rate false 10", "b-rate false 10"]);
    expect(made("  dryRun: [{metricName: '^b-'}]\n")).toEqual(["a-rate false 10", "b-rate true 10"]);
    expect(made("  dryRun: [{metricName: '.*'}]\n")).toEqual(["a-rate true 10", "b-rate true 10"]);
    expect(made("  measurementRetention: [{metricName: rate, limit: 3}, {metricName: b-rate, limit: 0}]\n")).toEqual([
      "a-rate false 3",
      "b-rate false 10",
    ]);
    // As Go's regexp has it: groups and counts, too.
    expect(made("  dryRun: [{metricName: '^(b|c)-[a-z]{4}$'}]\n")).toEqual(["a-rate false 10", "b-rate true 10"]);
    const known = ["a-rate", "b-rate"];
    expect(refused("c")).toEqual({ code: "ANALYSIS_VALUE", kind: "NoMetric", rule: "dryRun", pattern: "c", known });
    for (const bad of ["*", "(a", "[z-a]", "a**", "(?=a)", "x".repeat(201)])
      expect(refused(bad)).toMatchObject({ code: "ANALYSIS_VALUE", kind: "BadPattern", rule: "dryRun" });
  });

  test("a value with template or YAML signs in it stays a text", () => {
    const { templates } = read("{name: m, provider: {web: {url: '{{args.a}}'}}}", "  args: [{name: a, value: x}, {name: b, value: y}]\n");
    const value = '"}, {{args.b}} \n name: other';
    const [{ metric } = {}] = prepare(
      { templates: [{ templateName: "t" }], args: [{ name: "a", value }] },
      { ...SOURCES, templates },
    ).metrics;
    expect(metric?.provider.web?.url).toBe(value);
  });

  test("templates that name each other in a circle are refused", () => {
    const text = (name: string, other: string) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: ${name}}\nspec: {templates: [{templateName: ${other}}]}\n`;
    const { templates } = readTemplates(`${text("a", "b")}---\n${text("b", "a")}`, "t.yaml", { builtin: true });
    const reason = failureOf({ templates: [{ templateName: "a" }], args: [] }, { ...SOURCES, templates });
    expect(reason).toMatchObject({ code: "ANALYSIS_TEMPLATE", kind: "Circle", names: ["a", "b", "a"] });
  });

  test.skipIf(!existsSync(CORPUS))("real templates are read, or refused with a reason (skipped where the corpus is absent)", () => {
    let good = 0;
    const refused: string[] = [];
    for (const name of readdirSync(CORPUS)) {
      const { templates, problems } = readTemplates(readFileSync(`${CORPUS}${name}`, "utf8"), name, { builtin: false });
      good += templates.length;
      if (templates.length === 0) refused.push(`${name}: ${problems.map((p) => `${p.code} ${sayProblem(p).message}`).join("; ")}`);
    }
    process.stdout.write(
      `AnalysisTemplates of the corpus: ${good} read, ${refused.length} files refused\n${refused.map((r) => `  ${r}\n`).join("")}`,
    );
    expect(good).toBeGreaterThan(15);
  });
});
