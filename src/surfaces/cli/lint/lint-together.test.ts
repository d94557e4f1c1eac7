import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FLEET, sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./lint.ts";

const here = sampleRepo();
beforeEach(() => void mkdirSync(join(here.dir, ".github"), { recursive: true }));

interface Told {
  file: string;
  line: number;
  column: number;
  code: string;
  severity: string;
  message: string;
  hint: string;
}

async function linted(): Promise<Told[]> {
  here.clear();
  await run(["--repo", here.dir, "--inventory", join(here.dir, "inventory.yaml"), "-o", "json"]);
  return (JSON.parse(here.out) as { problems: Told[] }).problems;
}

function settings(text: string): void {
  writeFileSync(join(here.dir, ".github/stagecoach.yaml"), text);
}

function rollout(name: string, after: string): void {
  const text = readFileSync(join(FLEET, "rollouts/my-app.yaml"), "utf8").replace("name: my-app", `name: ${name}`);
  writeFileSync(join(here.dir, `rollouts/${name}.yaml`), text.replace("  mode: Run\n", `  mode: Run\n${after}`));
}

describe("what the settings and other rollouts make impossible", () => {
  test("windows and freezes that are never open together, at the rollout's windows", async () => {
    settings('freezes: [{ schedule: "0 0 * * 1", duration: 24h, kind: deny }]\n');
    rollout("my-app", '  windows: [{ schedule: "0 9 * * 1", duration: 8h, kind: allow }]\n');
    const [problem, ...more] = await linted();
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      file: "rollouts/my-app.yaml",
      code: "WINDOW_NEVER_OPENS",
      severity: "error",
      message: expect.stringContaining(".github/stagecoach.yaml"),
    });
    const line = readFileSync(join(here.dir, "rollouts/my-app.yaml"), "utf8").split("\n")[(problem?.line ?? 0) - 1];
    expect(line?.slice((problem?.column ?? 0) - 1)).toMatch(/^\[\{ schedule|^windows/);
    settings('freezes: [{ schedule: "0 0 * * 1", duration: 12h, kind: deny }]\n');
    expect(await linted()).toEqual([]);
  });

  test("a freeze or limit by a label that no cluster has, or for a stage that is not there, is told at its place: it would hold nothing", async () => {
    settings(
      'freezes:\n  - { schedule: "0 0 * * 1", duration: 12h, kind: deny, selector: { matchLabels: { area: emae } }, stages: [canry in EMEA] }\n' +
        "limits:\n  selected: [{ clusters: 40, selector: { matchLabels: { aera: emea } } }]\n",
    );
    expect((await linted()).map(({ code, severity, line, message, hint }) => `${severity} ${code} ${line} ${message}: ${hint}`)).toEqual([
      "warning UNKNOWN_LABEL 2 freezes[0] selects by area=emae, which no cluster has: did you mean emea?",
      'warning UNKNOWN_STAGE 2 no stage of these rollouts is called "canry in EMEA": did you mean canary in EMEA?',
      "warning UNKNOWN_LABEL 4 limits.selected[0] selects by the label aera, which no cluster has: did you mean area?",
    ]);
  });

  test("so is that of a rollout's own windows and limits; of labels like no other where they would bind nothing at all", async () => {
    const selecting = (label: string) => `selector: { matchLabels: { ${label} } }`;
    const window = 'schedule: "0 9 * * 1", duration: 8h';
    rollout(
      "my-app",
      `  windows: [{ ${window}, ${selecting("area: emae")} }, { ${window}, ${selecting("team: billing")} }, { ${window}, ${selecting("area: emea")} }]\n` +
        `  limits: { selected: [{ clusters: 40, ${selecting("aera: emea")} }] }\n`,
    );
    settings(`freezes: [{ ${window}, kind: deny, ${selecting("tier: gold")} }]\n`);
    expect((await linted()).map(({ code, severity, file, message, hint }) => `${file} ${severity} ${code} ${message}: ${hint}`)).toEqual([
      ".github/stagecoach.yaml warning UNKNOWN_LABEL freezes[0] selects by tier=gold, which no cluster has: correct it, unless clusters to come will have it",
      "rollouts/my-app.yaml warning UNKNOWN_LABEL spec.windows[0] selects by area=emae, which no cluster has: did you mean emea?",
      "rollouts/my-app.yaml warning UNKNOWN_LABEL spec.windows[1] selects by team=billing, which no cluster has: correct it, unless clusters to come will have it",
      "rollouts/my-app.yaml warning UNKNOWN_LABEL spec.limits.selected[0] selects by the label aera, which no cluster has: did you mean area?",
    ]);
  });

  test("limits below a batch are a warning with the numbers, and below one cluster an error", async () => {
    settings("limits: { clusters: 1 }\n");
    const told = await linted();
    expect(new Set(told.map(({ code, severity }) => `${severity} ${code}`))).toEqual(new Set(["warning BATCHES_CUT"]));
    expect(told[0]?.message).toMatch(/\d+ clusters .*limits\.clusters .* 1\b/);
    settings("limits: { clusters: 40, targets: 40 }\n");
    expect(await linted()).toEqual([]);
  });

  test("a rollout with errors of its own is there all the same: it is named, and may close a circle", async () => {
    rollout("my-app", "  dependsOn: [{ rollout: b }]\n");
    rollout("b", "  dependsOn: [{ rollout: my-app }]\n  windos: []\n");
    const told = await linted();
    expect(
      told.filter(({ file }) => file === "rollouts/my-app.yaml").map(({ code, message, hint }) => `${code} ${message}: ${hint}`),
    ).toEqual([
      expect.stringMatching(/^DEPENDENCY_CYCLE .*my-app → b → my-app/),
      expect.stringMatching(/^UNKNOWN_DEPENDENCY .*"b".*rollouts\/b\.yaml/),
    ]);
    expect(told.filter(({ file }) => file === "rollouts/b.yaml").map(({ code }) => code)).toEqual(["UNKNOWN_KEY"]);
  });
});
