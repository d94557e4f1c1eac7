import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answering, json, startAnswering } from "../../../adapters/analysis/testing.ts";
import { runHere } from "../testing/in-process.ts";
import { run } from "./analysis.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

let dir = "";
let service: Answering;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "stagecoach-analysis-"));
  service = await startAnswering(json({ status: "ok" }));
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await service.close();
});

function template(metric: string, name = "webcheck"): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: { name: ${name} }
spec:
  args: [{ name: host }]
  metrics:
    - { name: webcheck, ${metric}, provider: { web: { url: "http://{{ args.host }}/", jsonPath: "{$.status}" } } }
`;
}

function file(text: string): string {
  const path = join(dir, "t.yaml");
  writeFileSync(path, text);
  return path;
}

const analysis = (...args: string[]) => runHere(run, "run", ...args);

/** In a process of its own, which ends only where nothing is left behind. */
function startedAnalysis(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, "analysis", "run", ...args], { env: { ...process.env, NO_COLOR: "1" } });
    let [out, err] = ["", ""];
    child.stdout.on("data", (part) => {
      out += String(part);
    });
    child.stderr.on("data", (part) => {
      err += String(part);
    });
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

const OK = 'successCondition: result == "ok", count: 2, interval: 100ms';

const JOB = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: { name: smoke }
spec:
  metrics:
    - name: smoke
      provider: { job: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } } } }
`;
const BY_NAME =
  "apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: { name: all }\nspec: { templates: [{ templateName: smoke }] }\n";

describe("stagecoach analysis run", () => {
  test("measures, says each measurement, and exits 0 where all passed", async () => {
    const { code, out } = await startedAnalysis(file(template(OK)), "--arg", `host=${service.host}`);
    expect(out).toBe(`webcheck 1: ok
webcheck 2: ok
webcheck: Successful, every metric passed

metric    state       ok  failed  inconclusive  errors  last value
webcheck  Successful  2   0       0             0       ok
`);
    expect(code).toBe(0);
  });

  test("exits 1 where it failed, and -o json is one document", async () => {
    const path = file(template('successCondition: result == "fine"'));
    const { code, out } = await analysis(path, "--arg", `host=${service.host}`, "-o", "json");
    expect(JSON.parse(out)).toMatchObject({ template: "webcheck", phase: "Failed", metrics: [{ failed: 1, value: "ok" }] });
    expect(code).toBe(1);
  });

  test("exits 3 where it could not be measured, such as a host that --allow does not name", async () => {
    const path = file(template("consecutiveErrorLimit: 0"));
    const { code, out } = await analysis(path, "--arg", `host=${service.host}`, "--allow", "example.com");
    expect([code, out]).toEqual([3, expect.stringContaining("outbound.allow")]);
  });

  test.each<[string, () => string[], RegExp]>([
    ["an argument without a value", () => [file(template(OK))], /the argument host has no value; give it one: --arg/],
    ["one that is not declared", () => [file(template(OK)), "--arg", "hosts=x"], /did you mean host\?/],
    ["two templates and no name", () => [file(`${template(OK)}---\n${template(OK, "other")}`)], /webcheck, other: choose one with --name/],
    ["no file", () => [join(dir, "none.yaml")], /is not a file/],
    ["a Job without a namespace", () => [file(JOB)], /the metric smoke runs a Job.*--namespace NAME.*--kubeconfig FILE/],
    ["one of a template that it names", () => [file(`${JOB}---\n${BY_NAME}`), "--name", "all"], /smoke runs a Job.*--namespace/],
    ["an argument without =", () => [file(template(OK)), "--arg", "host"], /is not NAME=VALUE/],
  ])("%s is wrong usage", async (_name, args, expected) => {
    const { code, err } = await analysis(...args());
    expect([code, err]).toEqual([2, expect.stringMatching(expected)]);
  });

  test("a template that cannot be run is told with its place", async () => {
    const { code, err } = await analysis(file(template("successCondition: results > 1")), "--arg", `host=${service.host}`);
    expect(err).toMatch(/t\.yaml:7:\d+: error ANALYSIS_CONDITION: successCondition: results /);
    expect(code).toBe(1);
  });
});
