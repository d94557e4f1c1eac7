import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { run } from "./plan.ts";
import type { PlanJson } from "./plan-show.ts";
import { wantedOf } from "./release-edits.ts";

const FIXTURES = new URL("../../../../fixtures/", import.meta.url).pathname;
const FLEET = join(FIXTURES, "fleet");
const INVENTORY = join(FLEET, "inventory.yaml");

let out = "";
let err = "";
let dir = "";

beforeEach(() => {
  out = "";
  err = "";
  dir = mkdtempSync(join(tmpdir(), "plan-"));
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += String(text);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true });
});

async function json(...args: string[]): Promise<PlanJson> {
  expect(await run([...args, "-o", "json"]), err).toBe(0);
  return JSON.parse(out) as PlanJson;
}

function batches(plan: PlanJson): string[] {
  return plan.stages.map((stage) => stage.batches.map((batch) => batch.targets.map((target) => target.cluster).join(" ")).join(" | "));
}

/** A copy of the fleet's repo in which a file is changed. */
function changed(file: string, from: string | RegExp, to: string): string {
  cpSync(FLEET, dir, { recursive: true });
  edit(file, from, to);
  return dir;
}

function edit(file: string, from: string | RegExp, to: string): void {
  const path = join(dir, file);
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
}

describe("the fleet's rollout", () => {
  test("in JSON, as documented", async () => {
    const plan = await json("my-app", "--repo", FLEET, "--inventory", INVENTORY, "--to", "v1.5.0");
    expect(plan).toMatchObject({ rollout: "my-app", release: "v1.5.0", uncovered: [], warnings: [] });
    expect(plan.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(batches(plan)).toEqual([
      "eu-central-1-a eu-west-1-a",
      "eu-west-1-b | eu-west-1-d",
      "eu-central-1-b | eu-central-1-c | eu-central-1-d",
      "us-east-1-a us-east-1-b | us-east-1-c us-east-1-d",
    ]);
    expect(plan.stages.map((stage) => stage.requeued)).toEqual([[], ["eu-west-1-c"], [], []]);
    expect(plan.next).toMatchObject({ stage: "canary in EMEA", batch: 1 });
    expect(plan.next?.targets[1]).toEqual({
      cluster: "eu-west-1-a",
      application: "my-app-eu-west-1-a",
      from: "v1.4.1",
      to: "v1.5.0",
      file: "appsets/my-app-set.yaml",
      path: "spec.generators[0].list.elements[cluster=eu-west-1-a].targetRevision",
    });
  });

  test("next goes on from where the pins and the status are", async () => {
    const repo = changed("appsets/my-app-set.yaml", /(cluster: eu-(?:central|west)-1-a\n(?:.*\n){3}.*targetRevision: )v1.4.1/g, "$1v1.5.0");
    const plan = await json("my-app", "--repo", repo, "--inventory", INVENTORY, "--to", "v1.5.0");
    expect(plan.next).toMatchObject({ stage: "eu-west-1", batch: 1, targets: [{ cluster: "eu-west-1-b" }] });
    edit("inventory.yaml", "status: Healthy", "status: Progressing");
    out = "";
    expect((await json("my-app", "--repo", repo, "--inventory", join(dir, "inventory.yaml"), "--to", "v1.5.0")).next).toBe(null);
  });

  test("rules are there for programs, too: windows, limits and the repo's freezes, for whom each is and how it stands", async () => {
    const own = "  windows: [{ schedule: '0 0 * * *', duration: 24h, stages: [us-east-1] }]\n  limits: { clusters: 3 }\n";
    const repo = changed("rollouts/my-app.yaml", "  mode: Run\n", `  mode: Run\n${own}`);
    const prod = "selector: { matchLabels: { env: prod } }";
    const freeze = `{ schedule: '0 0 * * *', duration: 23h, kind: deny, ${prod}, stages: [us-east-1], rollouts: [my-app] }`;
    const limit = `{ ${prod}, clusters: 2 }`;
    mkdirSync(join(dir, ".github"), { recursive: true });
    writeFileSync(join(dir, ".github/stagecoach.yaml"), `mode: Run\nfreezes: [${freeze}]\nlimits: { selected: [${limit}] }\n`);
    const { rules } = await json("my-app", "--repo", repo, "--inventory", INVENTORY, "--to", "v1.5.0");
    const day = { schedule: "0 0 * * *", duration: "1d", timeZone: "UTC" };
    const scope = { selector: "env=prod", rollouts: ["my-app"], stages: ["us-east-1"] };
    expect([rules.windows, rules.limits]).toEqual([
      [
        { of: "rollout", stages: ["us-east-1"], windows: [{ ...day, kind: "allow" }], open: true, changesAt: null },
        {
          ...{ of: "repo", ...scope, windows: [{ ...day, duration: "23h", kind: "deny" }] },
          ...{ open: expect.any(Boolean), changesAt: expect.any(String) },
        },
      ],
      [
        { of: "rollout", clusters: 3 },
        { of: "repo", selector: "env=prod", clusters: 2 },
      ],
    ]);
    expect(rules.says[1]).toMatch(
      /^Freezes of the repo where env=prod in stage us-east-1 of rollout my-app: deny 0 0 \* \* \* for 23h \(UTC\); (open|closed) now, /,
    );
  });

  test("without an inventory it is planned from the ApplicationSet in the repo", async () => {
    const plan = await json("my-app", "--repo", FLEET, "--to", "v1.5.0");
    expect(batches(plan)[3]).toBe("us-east-1-a us-east-1-b | us-east-1-c us-east-1-d");
    expect(plan.next).toBe(null);
    expect(plan.warnings.map((w) => w.code)).toContain("LABELS_GUESSED");
  });

  test("spec.inventory: clusters and labels are those of the file in the repo, without --inventory", async () => {
    const repo = changed("rollouts/my-app.yaml", "  mode: Run\n", "  mode: Run\n  inventory: { file: inventory.yaml }\n");
    const before = batches(await json("my-app", "--repo", FLEET, "--inventory", INVENTORY, "--to", "v1.5.0"));
    out = "";
    expect(batches(await json("my-app", "--repo", repo, "--to", "v1.5.0"))).toEqual(before);
    expect(out).not.toContain("LABELS_GUESSED");

    edit("inventory.yaml", "    data:\n      name:", "    data:\n      config: aHVzaA==\n      name:");
    expect(await run(["my-app", "--repo", repo, "--to", "v1.5.0"])).toBe(1);
    expect(err).toMatch(/inventory\.yaml:\d+:\d+.*INVENTORY_CREDENTIALS/s);
    expect(err).not.toContain("aHVzaA==");
    edit("rollouts/my-app.yaml", "file: inventory.yaml", "file: inventry.yaml");
    err = "";
    expect(await run(["my-app", "--repo", repo, "--to", "v1.5.0"])).toBe(1);
    expect(err).toMatch(/rollouts\/my-app\.yaml:\d+:\d+.*inventry\.yaml does not exist.*did you mean inventory\.yaml\?/s);
  });

  test("with an inventory of clusters alone the Applications are rendered", async () => {
    const text = readFileSync(INVENTORY, "utf8");
    const path = join(dir, "clusters.yaml");
    writeFileSync(path, text.slice(0, text.indexOf("  - apiVersion: argoproj.io/v1alpha1")));
    const plan = await json("my-app", "--repo", FLEET, "--inventory", path, "--to", "v1.5.0");
    expect(batches(plan)[0]).toBe("eu-central-1-a eu-west-1-a");
    expect(plan.stages[1]?.requeued).toEqual(["eu-west-1-c"]);
    expect(plan.warnings).toEqual([]);
  });

  test("the release of the repo, where no other is asked for", async () => {
    expect((await json("my-app", "--repo", FLEET, "--inventory", INVENTORY)).release).toBe("v1.4.1");
  });

  test("--to with a name that the release does not have is wrong usage", async () => {
    await expect(run(["my-app", "--repo", FLEET, "--to", "x=1"])).rejects.toThrow(
      'the release of my-app has no value "x"; write the version alone',
    );
  });

  test("--to of a release of several values names them, and the nearest", () => {
    const rollout = { name: "shop", release: { kind: "values", values: { chart: "1", image: "v1" } } } as unknown as Rollout;
    expect(wantedOf(rollout, { image: "v2" })).toEqual({ image: "v2" });
    expect(wantedOf(rollout, { image: "v2,chart=3" })).toEqual({ image: "v2", chart: "3" });
    expect(wantedOf(rollout, { image: "v2,other=3" })).toEqual({ image: "v2,other=3" });
    expect(() => wantedOf(rollout, { image: "v2,chart=3", chart: "4" })).toThrow("--to says chart twice");
    expect(() => wantedOf(rollout, { image: "v2,chart=" })).toThrow("--to gives chart no value: write chart=VERSION");
    expect(() => wantedOf(rollout, { version: "v2" })).toThrow("shop releases several values (chart, image): write chart=…");
    expect(() => wantedOf(rollout, { imag: "v2" })).toThrow('has no value "imag"; it has chart, image: write image=…');
  });

  test.each(["v1.5.0\nv1.6.0", "v1\r", "v1\u0000"])(
    "--to that is no single line is wrong usage, not a version of several: %j",
    async (to) => {
      const message = expect.stringMatching(/^--to [^\n]*: a version is one line of text/);
      await expect(run(["my-app", "--repo", FLEET, "--to", to])).rejects.toMatchObject({ exitCode: 2, message });
    },
  );

  test.each([
    ["''", ""],
    ["' '", " "],
    ["x=", "version="],
  ])("--to without a version is wrong usage: %s", async (_name, to) => {
    await expect(run(["my-app", "--repo", FLEET, "--to", to])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("there is no version in it"),
    });
  });

  test("where nothing would change that is said, with how to plan for another version", async () => {
    expect(await run(["my-app", "--repo", FLEET])).toBe(0);
    expect(out).toContain("nothing to do  every cluster has it already; --to VERSION plans for another");
    out = "";
    expect(await run(["my-app", "--repo", FLEET, "-o", "markdown"])).toBe(0);
    expect(out).toContain("**Nothing to change:** all 12 clusters are pinned to it already.");
    expect(out).toContain("| `v1.4.1` already |");
    expect(out).toContain("LABELS_GUESSED");
    out = "";
    expect(await run(["my-app", "--repo", FLEET, "--to", "v1.5.0"])).toBe(0);
    expect(out).not.toContain("nothing to do");
  });

  test.each(["just words", "kind: List\nitems: []\n"])("an inventory without anything to go by is wrong usage: %j", async (text) => {
    const inventory = join(dir, "inventory.yaml");
    writeFileSync(inventory, text);
    await expect(run(["my-app", "--repo", FLEET, "--inventory", inventory])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("--inventory holds nothing to go by"),
    });
  });

  test("a plan that cannot be made ends with that, and counts no rollouts", async () => {
    const repo = changed("rollouts/my-app.yaml", "{{ cluster.name }}", "{{ cluster.labels.nope }}");
    expect(await run(["my-app", "--repo", repo, "--to", "v1.5.0"])).toBe(1);
    expect(err).toMatch(/TEMPLATE_VALUE[\s\S]*\nNothing is planned before that is corrected\.\n$/);
    expect(err).not.toContain("0 rollouts");
  });

  test("in text: every stage, batch and cluster, what is written, and what comes next", async () => {
    expect(await run(["my-app", "--repo", FLEET, "--inventory", INVENTORY, "--to", "v1.5.0"])).toBe(0);
    expect(out).toMatchSnapshot();
  });

  test("in Markdown, as on the release PR", async () => {
    expect(await run(["my-app", "--repo", FLEET, "--inventory", INVENTORY, "--to", "v1.5.0", "-o", "markdown"])).toBe(0);
    expect(out).toContain("canary in EMEA");
  });
});

describe("the ancestor's sample", () => {
  const SAMPLE = join(FIXTURES, "skyscanner", "progressiverollout-sample.yaml");

  test("is planned unchanged: the clusters, and what is missing to run it", async () => {
    const plan = await json(SAMPLE, "--repo", FIXTURES, "--inventory", INVENTORY);
    expect(plan.release).toBe(null);
    expect(batches(plan)).toEqual([
      "eu-central-1-a eu-west-1-a",
      "eu-west-1-b | eu-west-1-d",
      "eu-central-1-b | eu-central-1-c | eu-central-1-d",
    ]);
    expect(plan.stages[1]?.requeued).toEqual(["eu-west-1-c"]);
    expect(plan.uncovered).toEqual(["a", "b", "c", "d"].map((n) => `us-east-1-${n}`));
    expect(plan.stages[0]?.batches[0]?.targets[0]).toMatchObject({
      application: "my-app-eu-central-1-a",
      from: null,
      to: null,
      file: null,
      path: null,
    });
  });

  test("with the repo's settings the edits are planned too", async () => {
    cpSync(FLEET, dir, { recursive: true });
    rmSync(join(dir, "rollouts", "my-app.yaml"));
    cpSync(SAMPLE, join(dir, "rollouts", "sample.yaml"));
    cpSync(join(FIXTURES, "skyscanner", "stagecoach.yaml"), join(dir, ".github", "stagecoach.yaml"));
    const plan = await json("progressiverollout-sample", "--repo", dir, "--inventory", INVENTORY, "--to", "v1.5.0");
    expect(plan.stages[0]?.batches[0]?.targets[0]).toMatchObject({ from: "v1.4.1", to: "v1.5.0", file: "appsets/my-app-set.yaml" });
    expect(plan.next?.targets.map((t) => t.cluster)).toEqual(["eu-central-1-a", "eu-west-1-a"]);
  });
});

describe("what cannot be planned", () => {
  test("a pin shared by all clusters: exit 1, naming the pin", async () => {
    const repo = changed("rollouts/my-app.yaml", /path: spec.*/, "path: spec.generators[0].list.elements[0].targetRevision");
    expect(await run(["my-app", "--repo", repo, "--inventory", INVENTORY, "-o", "json"])).toBe(1);
    const { problems } = JSON.parse(out) as { problems: { code: string; file: string; line: number }[] };
    expect(problems[0]).toMatchObject({ code: "UNIT_SPANS_STAGES", file: "rollouts/my-app.yaml", line: 23 });
  });

  test("a rollout that is not there: exit 2, naming those that are", async () => {
    await expect(run(["other", "--repo", FLEET])).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining("my-app") });
  });

  test.each([
    ["settings that the bot would start nothing with", ".github/stagecoach.yaml", "mode: run\n", "BAD_VALUE", ".github/stagecoach.yaml"],
    ["a set that another rollout has", "rollouts/a.yaml", "", "SOURCE_SHARED", "rollouts/my-app.yaml"],
    [
      "a set that syncs by its own steps",
      "appsets/my-app-set.yaml",
      "  strategy: { type: RollingSync }\n",
      "ROLLING_SYNC",
      "rollouts/my-app.yaml",
    ],
  ])("what lint refuses is not planned either: %s", async (_what, file, text, code, told) => {
    cpSync(FLEET, dir, { recursive: true });
    const rollout = readFileSync(join(dir, "rollouts/my-app.yaml"), "utf8").replace("name: my-app\n", "name: a\n");
    const set = readFileSync(join(dir, "appsets/my-app-set.yaml"), "utf8").replace("spec:\n", `spec:\n${text}`);
    mkdirSync(join(dir, ".github"), { recursive: true });
    writeFileSync(join(dir, file), code === "SOURCE_SHARED" ? rollout : code === "ROLLING_SYNC" ? set : text);
    expect(await run(["my-app", "--repo", dir, "-o", "json"])).toBe(1);
    const { problems } = JSON.parse(out) as { problems: { code: string; file: string }[] };
    expect(problems.map((one) => [one.code, one.file])).toContainEqual([code, told]);
  });

  test("stages that select nobody: exit 1, with the label that was most likely meant", async () => {
    const repo = changed(
      "rollouts/my-app.yaml",
      /^( {2}stages:\n)[\s\S]*/m,
      "$1    - name: all\n      clusters: { selector: { matchLabels: { regoin: eu-west-1 } } }\n",
    );
    expect(await run(["my-app", "--repo", repo, "--inventory", INVENTORY])).toBe(1);
    expect(err).toMatch(/^rollouts\/my-app\.yaml:22:5 error no stage takes any of 12 clusters.*did you mean region, not regoin\?/s);
  });

  test("a topologyKey that no cluster has is warned of, and not promised", async () => {
    const planOf = async (key: string) => {
      out = "";
      const repo = changed("rollouts/my-app.yaml", /topologyKey: \S+/g, `topologyKey: ${key}`);
      expect(await run(["my-app", "--repo", repo, "--inventory", INVENTORY])).toBe(0);
      return out;
    };
    expect(await planOf("area")).toMatch(/one per area[\s\S]*never two of one area at once/);
    const told = await planOf("regoin");
    expect(told).toContain("NOT_KEPT_APART: stage");
    expect(told).toContain("did you mean region?");
    expect(told).not.toMatch(/one per|never two of/);
  });

  test("a rollout with an error: exit 1, with its place", async () => {
    const repo = changed("rollouts/my-app.yaml", "maxClusters: 2", "maxClusters: 0");
    expect(await run(["my-app", "--repo", repo])).toBe(1);
    expect(err).toContain("rollouts/my-app.yaml:28:20 error 0 ");
  });
});
