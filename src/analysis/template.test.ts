import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AnalysisError, prepare } from "./request.ts";
import { readTemplates } from "./template.ts";

const CORPUS = fileURLToPath(new URL("../../../shared/data/corpus/analysistemplate/", import.meta.url));

function read(metric: string, spec = "") {
  const text = `apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: t}\nspec:\n${spec}  metrics:\n    - ${metric}\n`;
  return readTemplates(text, "t.yaml", { builtin: true });
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
    ["{name: m, provider: {}}", "BAD_VALUE", /exactly one provider/],
  ])("%s is %s", (metric, code, message) => {
    const { problems } = read(metric, "  args: [{name: host}]\n");
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code, file: "t.yaml" });
    expect(`${problems[0]?.message} ${problems[0]?.hint}`).toMatch(message);
    expect(problems[0]?.line).toBe(7);
  });

  test("arguments: given, default, from a secret, from a field; what is missing or unknown is named", () => {
    const { templates } = read(
      "{name: m, count: '{{args.n}}', provider: {web: {url: '{{args.a}}/{{ args.b }}/{{args.c}}'}}}",
      "  args: [{name: a}, {name: b, value: B}, {name: c, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: n, value: '3'}]\n",
    );
    const asked = (args: { name: string; value: string }[]) => ({ templates: [{ templateName: "t" }], args });
    const sources = { ...SOURCES, templates, field: () => "C" };
    const [{ metric, rules } = {}] = prepare(asked([{ name: "a", value: "A" }]), sources).metrics;
    expect(metric?.provider.web?.url).toBe("A/B/C");
    expect(rules?.count).toBe(3);
    expect(() => prepare(asked([]), sources)).toThrow("the argument a has no value");
    expect(() => prepare(asked([{ name: "nn", value: "1" }]), sources)).toThrow("did you mean n?");
    expect(() =>
      prepare(
        asked([
          { name: "a", value: "A" },
          { name: "n", value: "NaN" },
        ]),
        sources,
      ),
    ).toThrow("count is NaN");
    expect(() => prepare({ templates: [{ templateName: "tt" }], args: [] }, sources)).toThrow(AnalysisError);
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
    expect(() => prepare({ templates: [{ templateName: "a" }], args: [] }, { ...SOURCES, templates })).toThrow("a → b → a");
  });

  test.skipIf(!existsSync(CORPUS))("real templates are read, or refused with a reason (skipped where the corpus is absent)", () => {
    let good = 0;
    const refused: string[] = [];
    for (const name of readdirSync(CORPUS)) {
      const { templates, problems } = readTemplates(readFileSync(`${CORPUS}${name}`, "utf8"), name, { builtin: false });
      good += templates.length;
      if (templates.length === 0) refused.push(`${name}: ${problems.map((p) => `${p.code} ${p.message}`).join("; ")}`);
    }
    process.stdout.write(
      `AnalysisTemplates of the corpus: ${good} read, ${refused.length} files refused\n${refused.map((r) => `  ${r}\n`).join("")}`,
    );
    expect(good).toBeGreaterThan(15);
  });
});
