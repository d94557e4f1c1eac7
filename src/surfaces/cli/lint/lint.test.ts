import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./lint.ts";

const FIXTURES = new URL("../../../../fixtures/", import.meta.url).pathname;
const ROOT = new URL("../../../../", import.meta.url).pathname;

const here = sampleRepo();

/** `file:line:column CODE` of each problem, and the exit code. */
async function linted(...args: string[]): Promise<{ exit: number; problems: string[] }> {
  here.clear();
  const exit = await run([...args, "--repo", here.dir, "--inventory", join(here.dir, "inventory.yaml"), "-o", "json"]);
  const { problems } = JSON.parse(here.out) as { problems: { file: string; line: number; column: number; code: string }[] };
  return { exit, problems: problems.map((p) => `${p.file}:${p.line}:${p.column} ${p.code}`) };
}

describe("lint", () => {
  test("the fleet's repo has no problem", async () => {
    expect(await linted()).toEqual({ exit: 0, problems: [] });
  });

  test("without an inventory it has none either, and says what was not judged", async () => {
    expect(await run([here.dir])).toBe(0);
    expect(here.out).toBe(
      "1 rollout in 1 file: 0 errors, 0 warnings\nWhether stages select clusters and cover all of them was not judged: give --inventory.\n",
    );
  });

  test("a folder called rollouts is no repo of its own, whatever lies in it", async () => {
    mkdirSync(join(here.dir, "rollouts", ".github"));
    writeFileSync(join(here.dir, "rollouts", ".github", "stagecoach.yaml"), "mode: Run\n");
    expect(await run([join(here.dir, "rollouts")])).toBe(0);
    expect(here.out).toMatch(/^1 rollout in 1 file: 0 errors/);
  });

  test("with an inventory of its own a rollout's stages are judged without --inventory", async () => {
    here.edit("rollouts/my-app.yaml", "  mode: Run\n", "  mode: Run\n  inventory: { file: inventory.yaml }\n");
    expect(await run([here.dir])).toBe(0);
    expect(here.out).toBe("1 rollout in 1 file: 0 errors, 0 warnings\n");
    here.edit("inventory.yaml", "        region: eu-west-1\n", "        region: 7\n");
    here.clear();
    expect(await run([here.dir])).toBe(1);
    expect(here.out).toMatch(/inventory\.yaml:\d+:17 error .*region.* INVENTORY_INVALID\n.*region: 7\n/);
  });

  test("a cluster that no stage takes is named where stages go by names, which a list in the repo tells for sure", async () => {
    const stages = (names: string) =>
      `  stages:\n    - name: all\n      clusters: { selector: { matchExpressions: [{ key: name, operator: In, values: [${names}] }] } }\n`;
    const text = readFileSync(join(ROOT, "fixtures/minimal/rollouts/hello.yaml"), "utf8").replace(/^ {2}inventory:.*\n/m, "");
    const hello = (names: string) => text.replace(/^ {2}stages:\n[\s\S]*/m, () => stages(names));
    const dir = join(here.dir, "minimal");
    cpSync(join(ROOT, "fixtures/minimal"), dir, { recursive: true });
    writeFileSync(join(dir, "rollouts/hello.yaml"), hello("staging-1, prod-eu-1"));
    expect(await run([dir])).toBe(0);
    expect(here.out).toMatch(
      /warning no stage takes 1 of 3 clusters.*: prod-us-1 COVERAGE\n[\s\S]*add .*selector: \{\}.* as the last stage/,
    );
    here.clear();
    writeFileSync(join(dir, "rollouts/hello.yaml"), hello("staging-1, prod-eu-1, prod-us-1"));
    expect(await run([dir])).toBe(0);
    expect(here.out).toMatch(/: 0 errors, 0 warnings\n/);
  });

  test("what counts Applications is judged by their own labels without an inventory, and not by those of clusters", async () => {
    const dir = join(here.dir, "by-application");
    cpSync(join(ROOT, "fixtures/minimal"), dir, { recursive: true });
    const put = (stages: string) => {
      const text = readFileSync(join(ROOT, "fixtures/minimal/rollouts/hello.yaml"), "utf8").replace(/ +inventory: .*\n/, "");
      const [head = ""] = text.replace("spec:\n", "spec:\n  targetBy: application\n").split("    - name: staging");
      writeFileSync(
        join(dir, "rollouts/hello.yaml"),
        `${head}    - { name: one, targets: { selector: { matchLabels: { ${stages} } } } }\n`,
      );
    };
    put("env: staging");
    expect(await run([dir])).toBe(0);
    expect(here.out).toMatch(
      /: 0 errors, 0 warnings\nWhether stages select Applications and cover all of them was not judged: give --inventory/,
    );
    here.clear();
    put("env: staging }, matchExpression: { x: y");
    expect(await run([dir])).toBe(1);
    expect(here.out).toContain("matchExpression");
    expect(here.out).not.toContain("give --inventory");
    here.clear();
    put("env: staging");
    const file = join(dir, "rollouts/hello.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/path: \S+/, "path: nothing"));
    expect(await run([dir])).toBe(1);
    expect(here.out).not.toContain("give --inventory");
    here.clear();
    put("stagecoach.dev/cluster: staging-1");
    expect(await run([dir])).toBe(0);
    expect(here.out).toContain("no stage takes 2 of 3 Applications");
    expect(here.out).not.toContain("not judged");
  });

  test("a label that hand-written Applications do not bear, but one like it, is judged without an inventory as plan judges it", async () => {
    const dir = join(here.dir, "by-hand");
    for (const folder of ["rollouts", "apps"]) mkdirSync(join(dir, folder), { recursive: true });
    for (const env of ["dev", "prod"])
      writeFileSync(
        join(dir, `apps/web-${env}.yaml`),
        `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: web-${env}, namespace: argocd, labels: { app: web, env: ${env} } }
spec:
  project: default
  source: { repoURL: https://github.com/acme/config, targetRevision: v1, path: web }
  destination: { name: eu-1, namespace: ${env} }
  syncPolicy: { automated: {} }
`,
      );
    const rollout = (key: string) => `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: web }
spec:
  targetBy: application
  sourceRef: { kind: Application, selector: { matchLabels: { app: web } } }
  release: { version: v2 }
  pins: [{ file: "apps/{{ application.name }}.yaml", path: spec.source.targetRevision }]
  stages:
    - { name: dev, targets: { selector: { matchLabels: { env: dev } } } }
    - { name: prod, targets: { selector: { matchLabels: { ${key}: prod } } } }
`;
    const told = async (key: string) => {
      writeFileSync(join(dir, "rollouts/web.yaml"), rollout(key));
      here.clear();
      await run(["--repo", dir]);
      return here.out;
    };
    expect(await told("env")).toBe("1 rollout in 1 file: 0 errors, 0 warnings\n");
    const out = await told("enviroment");
    expect(out).toMatch(/:11:\d+ warning .*no Application has UNKNOWN_LABEL[\s\S]*did you mean env\?/);
    expect(out).toContain("EMPTY_STAGE");
    expect(out).toMatch(/COVERAGE[\s\S]*add `- { name: the rest, targets: { selector: {} } }` as the last stage/);
    expect(out).not.toContain("not judged");
  });

  test("an inventory that is not there is told with the nearest file, and how one is printed", async () => {
    await expect(run([here.dir, "--inventory", join(here.dir, "inventry.yaml")])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/inventry\.yaml is not a file \(did you mean inventory\.yaml\?\); kubectl get secrets .* prints one$/),
    });
  });

  test("an inventory that holds no cluster is told to hold none", async () => {
    expect(await run([here.dir, "--inventory", join(here.dir, "appsets/my-app-set.yaml")])).toBe(0);
    expect(here.out).toMatch(/was not judged: the inventory given holds no cluster; put the cluster Secrets into it\.\n$/);
  });

  test("a rollout written as JSON is told to be passed over", async () => {
    writeFileSync(join(here.dir, "rollouts", "zz.json"), "{}");
    expect(await linted()).toEqual({ exit: 0, problems: ["rollouts/zz.json:1:1 NOT_A_ROLLOUT"] });
  });

  test("a folder given as the inventory is told to be one", async () => {
    await expect(run([here.dir, "--inventory", join(here.dir, "rollouts")])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/rollouts is a folder: name a file in it; kubectl get secrets .* prints one$/),
    });
  });

  test("the examples have no error of their own", async () => {
    expect(await run([join(ROOT, "rollouts"), "--repo", join(ROOT, "rollouts"), "-o", "json"])).toBe(1);
    const { problems } = JSON.parse(here.out) as { problems: { code: string; severity: string; file: string }[] };
    // They are about repos of their own, so their files are not there; nothing else is wrong with them. Settings and templates are no rollouts.
    const errors = problems.filter((p) => p.severity === "error" && !/^(?:\.github|analysis)\//.test(p.file));
    expect(new Set(errors.map((p) => p.code))).toEqual(
      new Set(["COPY_FOLDER", "INVENTORY_NOT_FOUND", "PIN_FILE_MISSING", "RELEASE_NOT_FOUND"]),
    );
    expect(problems.filter((p) => /^ANALYSIS/.test(p.code))).toEqual([]);
  });

  test("the ancestor's sample has warnings only: what is missing to run it, and the clusters it leaves out", async () => {
    mkdirSync(join(here.dir, "old"));
    cpSync(join(FIXTURES, "skyscanner", "progressiverollout-sample.yaml"), join(here.dir, "old", "sample.yaml"));
    expect(await linted(join(here.dir, "old", "sample.yaml"))).toEqual({
      exit: 0,
      problems: ["old/sample.yaml:4:9 CANNOT_RUN", "old/sample.yaml:14:5 COVERAGE"],
    });
  });
});

describe("each mistake is an error with its place", () => {
  const rollout = "rollouts/my-app.yaml";
  test.each<[string, () => void, string]>([
    ["a pin path that matches nothing", () => here.edit(rollout, "elements[cluster", "element[cluster"), "PIN_NOT_FOUND"],
    [
      "a pin path that matches two places",
      () => here.edit("appsets/my-app-set.yaml", "cluster: eu-west-1-b", "cluster: eu-west-1-a"),
      "PIN_AMBIGUOUS",
    ],
    [
      "a pin file that is not there",
      () => here.edit(rollout, "file: appsets/my-app-set.yaml", "file: appsets/other.yaml"),
      "PIN_FILE_MISSING",
    ],
    [
      "a pin file out of the repo",
      () => here.edit(rollout, "file: appsets/my-app-set.yaml", "file: ../my-app-set.yaml"),
      "FILE_OUTSIDE_REPO",
    ],
    [
      "a release file that is not there",
      () => here.edit(rollout, "file: releases/my-app.yaml", "file: releases/other.yaml"),
      "RELEASE_NOT_FOUND",
    ],
    ["a release path that is not there", () => here.edit(rollout, "path: version", "path: verison"), "RELEASE_NOT_FOUND"],
    ["a mistake in the settings", () => here.edit(".github/stagecoach.yaml", "mode: Propose", "mode: Fast"), "BAD_VALUE"],
    ["two rollouts of one name", () => cpSync(join(here.dir, rollout), join(here.dir, "rollouts/second.yaml")), "DUPLICATE_ROLLOUT"],
    [
      "an ApplicationSet of another rollout",
      () =>
        writeFileSync(
          join(here.dir, "rollouts/second.yaml"),
          readFileSync(join(here.dir, rollout), "utf8").replace("name: my-app\n", "name: second\n"),
        ),
      "SOURCE_SHARED",
    ],
    [
      "something else among the rollouts",
      () => writeFileSync(join(here.dir, "rollouts/other.yaml"), "apiVersion: v1\nkind: ConfigMap\n"),
      "NOT_A_ROLLOUT",
    ],
    ["a file of 50 MB", () => writeFileSync(join(here.dir, "rollouts/huge.yaml"), "a: 1\n".repeat(10_000_000)), "UNREADABLE"],
    [
      "a shared pin that spans stages",
      () => here.edit(rollout, /path: spec.*/, "path: spec.generators[0].list.elements[0].targetRevision"),
      "UNIT_SPANS_STAGES",
    ],
  ])("%s", async (_name, spoil, code) => {
    spoil();
    const { exit, problems } = await linted();
    expect(exit).toBe(1);
    expect(
      problems.some((problem) => problem.endsWith(` ${code}`)),
      problems.join("\n"),
    ).toBe(true);
    for (const problem of problems) expect(problem).toMatch(/^[^:]+:\d+:\d+ [A-Z_]+$/);
  });

  test("a pin file that is a symbolic link out of the repo", async () => {
    rmSync(join(here.dir, "appsets/my-app-set.yaml"));
    symlinkSync("/etc/hostname", join(here.dir, "appsets/my-app-set.yaml"));
    expect((await linted()).problems).toEqual(["rollouts/my-app.yaml:16:13 PIN_FILE_UNREADABLE"]);
  });

  test("a rollout that is a symbolic link", async () => {
    rmSync(join(here.dir, "rollouts/my-app.yaml"));
    symlinkSync("/etc/hostname", join(here.dir, "rollouts/my-app.yaml"));
    const told = { exit: 1, problems: ["rollouts/my-app.yaml:1:1 UNREADABLE"] };
    expect(await linted(join(here.dir, "rollouts/my-app.yaml"))).toEqual(told);
    // Nor where nobody names it, among others or in its folder: a link that is passed over is a rollout that never runs.
    expect(await linted()).toEqual(told);
    expect(await linted(join(here.dir, "rollouts"))).toEqual(told);
  });
});

describe("what lint shows", () => {
  test("the line, a mark under the place, and the next step", async () => {
    here.edit("rollouts/my-app.yaml", "maxUnavailable: 2", "maxUnavailible: 2");
    expect(await run(["--repo", here.dir])).toBe(1);
    expect(here.out).toBe(`rollouts/my-app.yaml:29:7 error unknown key "maxUnavailible" in spec.stages[0] UNKNOWN_KEY
  29 |       maxUnavailible: 2
     |       ^
  → did you mean "maxUnavailable"?

0 rollouts in 1 file: 1 error, 0 warnings
`);
  });

  test("Markdown for a comment", async () => {
    here.edit("rollouts/my-app.yaml", "maxClusters: 2", "maxClusters: 0");
    expect(await run(["--repo", here.dir, "-o", "markdown"])).toBe(1);
    expect(here.out).toContain("| ❌ `rollouts/my-app.yaml:28:20` |");
  });

  test("wrong usage is exit 2", async () => {
    await expect(run(["--nope"])).rejects.toMatchObject({ exitCode: 2 });
    await expect(run([join(here.dir, "nothing.yaml")])).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe("lint of the repo's settings", () => {
  function settings(text: string): void {
    mkdirSync(join(here.dir, ".github"), { recursive: true });
    writeFileSync(join(here.dir, ".github/stagecoach.yaml"), text);
  }

  test("a rollout that no file declares is a warning, a command that is none an error", async () => {
    settings("rollouts:\n  my-ap: { mode: Run }\ncommands:\n  promot: { teams: [sre] }\n");
    expect(await linted()).toEqual({
      exit: 1,
      problems: [".github/stagecoach.yaml:2:3 UNKNOWN_ROLLOUT", ".github/stagecoach.yaml:4:3 UNKNOWN_KEY"],
    });
  });

  test("it can be linted by name, and where there is no rollout at all", async () => {
    settings("bots: [1]\n");
    const file = join(here.dir, ".github/stagecoach.yaml");
    expect(await run([file, "-o", "json"])).toBe(1);
    expect(JSON.parse(here.out)).toMatchObject({ files: [], problems: [{ code: "WRONG_TYPE", line: 1, column: 8 }] });
    rmSync(join(here.dir, "rollouts"), { recursive: true });
    here.clear();
    expect(await run(["--repo", here.dir, "-o", "json"])).toBe(1);
    expect(JSON.parse(here.out)).toMatchObject({ problems: [{ code: "WRONG_TYPE" }] });
  });
});
