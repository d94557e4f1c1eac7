import { expect, test } from "vitest";
import { samplePlan } from "../../../../test/support/sample-run.ts";
import { label, planChart } from "./plan-chart.ts";

/** All that a chart of ours may hold: what Mermaid's grammar of flowcharts takes, and nothing that it could read as more. */
const TEXT = String.raw`[\p{L}\p{N}\p{M}\p{Extended_Pictographic} .,:()\/_+=!?*…-]*`;
const NODE = new RegExp(`^ {2}s\\d+\\["${TEXT}(?:<br/>${TEXT})?"\\]$`, "u");
const EDGE = new RegExp(`^ {2}s\\d+ -->(?:\\|"${TEXT}"\\|)? s\\d+$`, "u");

function expectGrammar(chart: string): void {
  const lines = chart.split("\n");
  expect([lines[0], lines[1], lines.at(-1)]).toEqual(["```mermaid", "flowchart LR", "```"]);
  for (const line of lines.slice(2, -1)) expect(NODE.test(line) || EDGE.test(line), line).toBe(true);
}

const HOSTILE = [
  'end"] --> x["',
  "%%{init: {'theme':'x'}}%%",
  "```\n# not a chart",
  "a\nb\r\nc\u2028d",
  'click s0 href "javascript:alert(1)"',
  "#quot;#35;&quot;&#34;",
  "<img src=x onerror=alert(1)>",
  "`**bold**`",
  "subgraph end graph style classDef",
  "\u202eabc\u0000\u0007\ud83d",
  "x".repeat(5000),
  "",
  '"',
];

test.each(HOSTILE)("a stage and a gate of the name %j stay inside their quotes", (name) => {
  const plan = samplePlan();
  const stages = plan.stages.map((stage) => ({ ...stage, name }));
  const chart = planChart({ ...plan, stages }, [[name, name], []]);
  expectGrammar(chart);
  expect(chart.split("\n")).toHaveLength(2 + 3 + 1);
});

test("hundreds of stages are drawn as far as people can read them", () => {
  const plan = samplePlan();
  const [stage] = plan.stages;
  if (stage === undefined) throw new Error("the sample has stages");
  const chart = planChart({ ...plan, stages: Array.from({ length: 300 }, () => stage) }, []);
  expectGrammar(chart);
  expect(chart).toContain('s40["and 260 more stages"]');
});

test("no stage, no chart", () => {
  expect(planChart({ ...samplePlan(), stages: [] }, [])).toBe("");
});

test("a label keeps what people wrote, as far as it is harmless", () => {
  expect(label("canary in EMEA (2 of 10): bake=10m, 漢字 🚀")).toBe("canary in EMEA (2 of 10): bake=10m, 漢字 🚀");
});
