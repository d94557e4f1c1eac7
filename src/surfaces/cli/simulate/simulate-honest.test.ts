import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { labelsWithout } from "../../../simulate/plan/people.ts";
import { simulate } from "../../../simulate/plan/simulate.ts";
import { openCheckout } from "../lint/lint-checkout.ts";
import { readRollouts } from "../lint/lint-run.ts";
import { inventoryAt } from "../plan/plan-args.ts";
import { makePlan } from "../plan/plan-make.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./simulate.ts";
import { count, type SimulateJson, tally } from "./simulate-show.ts";
import { toText } from "./simulate-text.ts";

const ROLLOUT = "rollouts/my-app.yaml";

const here = sampleRepo();

function edit(from: string | RegExp, to: string): void {
  const path = join(here.dir, ROLLOUT);
  const text = readFileSync(path, "utf8");
  expect(text).toMatch(from);
  writeFileSync(path, text.replace(from, to));
}

async function simulated(...args: string[]): Promise<{ code: number; text: string }> {
  here.clear();
  const code = await run(["my-app", "--repo", here.dir, "--inventory", join(here.dir, "inventory.yaml"), "--to", "v1.5.0", ...args]);
  return { code, text: here.out.replaceAll(/\s+/g, " ") };
}

const refused = (code: number, message: RegExp, ...args: string[]) =>
  expect(simulated(...args)).rejects.toMatchObject({ exitCode: code, message: expect.stringMatching(message) });

describe("what the bot would do", () => {
  test("a cluster that cannot be reached any more while it waits for its batch is left out by quarantine", async () => {
    edit("  mode: Run\n", '  mode: Run\n  quarantine: { max: "50%" }\n');
    const { text } = await simulated("--runs", "1", "--fail", "us-east-1-d=unreachable@1", "-o", "json");
    const { phase, timeline } = JSON.parse(text) as SimulateJson;
    const merged = timeline.filter((one) => one.what === "merged").flatMap((one) => one.clusters ?? []);
    expect(phase).toBe("Succeeded");
    expect(merged).toHaveLength(11);
    expect(merged).not.toContain("us-east-1-d");
  });

  test("with mode: Observe nothing is opened, which is said", async () => {
    edit("mode: Run", "mode: Observe");
    const { text } = await simulated("--runs", "1");
    expect(text).toContain("mode is Observe");
  });

  test("what it depends on must be in the repo, and so must the files of its analyses", async () => {
    edit("  mode: Run\n", "  mode: Run\n  dependsOn: [{ rollout: my-ap }]\n");
    await refused(1, /my-app depends on my-ap, and there is no rollout without errors called so \(did you mean my-app\?\)/);
    edit("  dependsOn: [{ rollout: my-ap }]\n", "");
    const analysis = "      analysis: { when: [AfterStage], templates: [{ templateName: x, file: nope.yaml }] }\n";
    edit(/( {4}- name: .*\n)/, `$1${analysis}`);
    expect((await simulated()).code).toBe(1);
    expect(here.err).toContain("nope.yaml");
    edit(", file: nope.yaml", "");
    const { code, text } = await simulated("--runs", "1");
    expect(code).toBe(0);
    expect(text).toMatch(/ANALYSIS_TEMPLATE: .* x\b/);
  });
});

describe("clusters that are put off", () => {
  const selectors = (selector: string) => edit(/selector:\n +matchLabels:\n +drained: "true"\n/, `selector: ${selector}\n`);
  const expression = (key: string, operator: "In" | "NotIn" | "Exists" | "DoesNotExist", values: string[] = []) => ({
    matchLabels: {},
    matchExpressions: [{ key, operator, values }],
  });
  const cluster = { name: "c1", labels: { tier: "prod" } };

  test.each([
    ["a label's value", { matchLabels: { tier: "prod" }, matchExpressions: [] }, {}],
    ["a label's being there", expression("tier", "Exists"), {}],
    ["another value", expression("tier", "NotIn", ["dev", "test"]), { tier: "dev" }],
    ["a label's not being there", expression("ready", "DoesNotExist"), { tier: "prod", ready: "true" }],
    ["nothing", { matchLabels: {}, matchExpressions: [] }, undefined],
    ["the cluster's own name", expression("name", "In", ["c1"]), undefined],
    ["other names", expression("name", "NotIn", ["c2"]), undefined],
  ])("by %s", (_name, selector, labels) => {
    expect(labelsWithout(selector, cluster)).toEqual(labels);
  });

  test("come back where a selector with NotIn or DoesNotExist put them off", async () => {
    selectors("{ matchExpressions: [{ key: ready, operator: DoesNotExist }] }");
    const { code, text } = await simulated("--runs", "1");
    expect(code).toBe(0);
    expect(text).toContain("Clusters that are put off come back before their last look");
  });

  test("never come back where the selector is empty, which is said, and that a failure stopped the run", async () => {
    selectors("{}");
    const { code, text } = await simulated("--runs", "2");
    expect(code).toBe(1);
    expect(text).toMatch(/never come back: requeue\.selector \(every cluster\) matches/);
    expect(text).not.toContain("come back before their last look");
    expect(text).toContain("clusters had it when a failure stopped the run");
    expect(text).not.toContain("no run was stopped by a failure");
  });
});

test("as many people approve as a stage asks for", async () => {
  edit(/( {4}- name: .*\n)/, "$1      approval: { teams: [sre], count: 5 }\n");
  expect((await simulated("--runs", "1")).code).toBe(0);
});

describe("a run that never ends", () => {
  test("is told as such with what it waits for, and not as a bug", () => {
    const checkout = openCheckout(here.dir);
    const [rollout] = readRollouts(checkout, [ROLLOUT]).rollouts;
    if (rollout === undefined) throw new Error("the fleet has no rollout");
    const { plan, clusters = [] } = makePlan(rollout, checkout, inventoryAt({ inventory: [join(here.dir, "inventory.yaml")] }), {
      version: "v1.5.0",
    });
    if (plan === undefined) throw new Error("the fleet has no plan");
    const never = { schedule: "0 0 * * *", durationMs: 24 * 3_600_000, timeZone: "UTC", kind: "deny" as const, clusters: null };
    const bounds = { freezes: [never] };
    const first = simulate({ rollout, plan, clusters, faults: [], bounds, times: undefined }, 1);
    expect(first).toMatchObject({ endless: true, stopped: false, violations: [] });
    expect(first.timeline.at(-1)).toMatchObject({ what: "waits", why: expect.stringContaining("a year") });
    const all = tally();
    count(all, first);
    const shown = { rollout: "my-app", release: "v1.5.0", seed: 1, clusters: 12, batches: 8, stages: 4, putOff: "", first, tally: all };
    const text = toText({ ...shown, times: "", notes: [] }, { colour: false, columns: 100 });
    expect(text).toContain("✖ This run never ends");
    expect(text).toContain("1 never ends");
    expect(text).toContain("invariants    held");
    expect(text).not.toContain("bug of Stagecoach");
  });
});

describe("wrong usage", () => {
  test.each([
    [/cluster has a fault already/, ["--fail", "eu-west-1-a=stuck", "--fail", "eu-west-1-a=degraded"]],
    [/cluster has a fault already/, ["--fail", "eu-west-1-a=stuck@1", "--fail", "eu-west-1-a=degraded@2"]],
    [/13 clusters are to fail, and the plan has 12/, Array.from({ length: 13 }, () => ["--fail", "any=stuck"]).flat()],
    [/--fetch goes with --from-journal/, ["--fetch"]],
    [/--to '': there is no version in it/, ["--to", ""]],
  ])("%s", async (message, args) => {
    await refused(2, message, ...args);
  });

  test("a fault may follow another with a batch, and those that are drawn fall on different clusters", async () => {
    const both = await simulated("--runs", "1", "--fail", "eu-west-1-a=flap", "--fail", "eu-west-1-a=degraded@2");
    expect(both.code).toBe(1);
    edit("  mode: Run\n", "  mode: Run\n  onFailure: { maxFailures: 12 }\n");
    const twelve = Array.from({ length: 12 }, () => ["--fail", "any=degraded"]).flat();
    const { text } = await simulated("--runs", "1", "-o", "json", ...twelve);
    const failed = (JSON.parse(text) as SimulateJson).timeline.filter((one) => one.what === "failed").flatMap((one) => one.clusters ?? []);
    expect(new Set(failed).size).toBe(12);
  });
});
