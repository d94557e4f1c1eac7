import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { run as lint } from "../lint/lint.ts";
import { run as plan } from "../plan/plan.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./init.ts";

const here = sampleRepo();
beforeEach(() => {
  for (const known of ["rollouts", ".github"]) rmSync(join(here.dir, known), { recursive: true });
});

async function init(...args: string[]): Promise<{ exit: number; out: string }> {
  here.clear();
  return { exit: await run([here.dir, ...args]), out: here.out };
}

const inventory = () => ["--inventory", join(here.dir, "inventory.yaml")];

describe("stagecoach init", () => {
  test("says what it found and would write, and writes nothing", async () => {
    const { exit, out } = await init(...inventory());
    expect(exit).toBe(0);
    expect(out).toBe(`Found 7 files with 1 ApplicationSet, 1 kustomization; 12 clusters, as Argo CD knows them.

rollouts/my-app.yaml   ApplicationSet my-app-set at v1.4.1, 12 clusters
  writes  appsets/my-app-set.yaml  spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision
  stages  canary (1 cluster, 1 at once) → everywhere else (11 clusters, 25% at once, one per region)
  plan    1  canary   every cluster · 1 cluster · 1 at once · at most 1 · bake 15m
  plan       1.1    eu-central-1-a  my-app-eu-central-1-a  v1.4.1 → next
  plan    2  everywhere else   every cluster · 11 clusters · 2 at once · one per region · bake 10m
  plan       2.1    eu-central-1-b  my-app-eu-central-1-b  v1.4.1 → next
  plan              eu-west-1-a     my-app-eu-west-1-a     v1.4.1 → next
  plan       2.2    us-east-1-a     my-app-us-east-1-a     v1.4.1 → next
  plan              eu-central-1-c  my-app-eu-central-1-c  v1.4.1 → next
  plan       2.3    eu-west-1-b     my-app-eu-west-1-b     v1.4.1 → next
  plan              us-east-1-b     my-app-us-east-1-b     v1.4.1 → next
  plan       2.4    eu-central-1-d  my-app-eu-central-1-d  v1.4.1 → next
  plan              eu-west-1-d     my-app-eu-west-1-d     v1.4.1 → next
  plan       2.5    us-east-1-c     my-app-us-east-1-c     v1.4.1 → next
  plan       2.6    us-east-1-d     my-app-us-east-1-d     v1.4.1 → next
  plan       later  eu-west-1-c  drained=true: looked at every 30m, 5 times
  plan    rule  Clusters of everywhere else: never two of one region at once.
  plan    simulated: all of it takes 3h17m, where nothing waits for a person
  plan    simulated: a release that fails where it first comes reaches 1 of 12 clusters, and pauses

.github/stagecoach.yaml   mode: Propose

Nothing was written: --write does, and -o markdown or json shows the files.
`);
    expect(existsSync(join(here.dir, "rollouts"))).toBe(false);
  });

  test("--write writes nothing through a link that leads out of the repo", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    symlinkSync(outside, join(here.dir, "rollouts"));
    await expect(init(...inventory(), "--write")).rejects.toThrow("rollouts/my-app.yaml cannot be written: rollouts is a symbolic link");
    expect(readdirSync(outside)).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  test("--write leaves what stands under the name of a proposed file as it is, a link, too, and writes the others", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    writeFileSync(join(outside, "a.yaml"), "theirs\n");
    mkdirSync(join(here.dir, "rollouts"));
    symlinkSync(join(outside, "a.yaml"), join(here.dir, "rollouts/my-app.yaml"));
    const { exit, out } = await init(...inventory(), "--write");
    expect([exit, readFileSync(join(outside, "a.yaml"), "utf8")]).toEqual([0, "theirs\n"]);
    expect(out).toContain("Written: .github/stagecoach.yaml.");
    rmSync(outside, { recursive: true });
  });

  test("--write writes the files, which lint and plan take as they are", async () => {
    expect((await init(...inventory(), "--write")).out).toContain("Written: .github/stagecoach.yaml, rollouts/my-app.yaml.");
    const given = `--repo ${here.dir} --inventory ${join(here.dir, "inventory.yaml")}`;
    expect(here.out).toContain(`Next: stagecoach lint ${given}, and stagecoach plan my-app --to VERSION ${given}.`);
    expect(await lint(["--repo", here.dir, ...inventory()])).toBe(0);
    expect(here.out).toContain("1 rollout in 1 file: 0 errors, 0 warnings");
    expect(await plan(["my-app", "--repo", here.dir, ...inventory(), "--to", "v1.4.2"])).toBe(0);
    expect(here.out).toContain("12 clusters in 7 batches over 2 stages");
  });

  test("never writes over a file, and does not propose what has a rollout", async () => {
    await init(...inventory(), "--write");
    const file = join(here.dir, "rollouts/my-app.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("15m", "25m"));
    const again = await init(...inventory(), "--write");
    expect([again.exit, readFileSync(file, "utf8").includes("25m")]).toEqual([1, true]);
    expect(again.out).toContain("Nothing was written. What could be staged here has a rollout already. There are already: my-app.");
    expect((await init(...inventory())).out).toContain("No rollout is proposed. What could be staged here has a rollout already.");
  });

  test("JSON has everything, the files included", async () => {
    const json = JSON.parse((await init(...inventory(), "-o", "json")).out) as { rollouts: { text: string }[] };
    expect(json).toMatchObject({
      found: { applicationSets: 1, clusters: 12, clustersFrom: "inventory" },
      rollouts: [{ name: "my-app", file: "rollouts/my-app.yaml", version: "v1.4.1", kinds: ["generator field"], clusters: 12 }],
      settings: { file: ".github/stagecoach.yaml" },
      undecided: [],
    });
    expect(json.rollouts[0]?.text).toContain("kind: ProgressiveRollout");
  });

  test("Markdown is what the onboarding pull request says", async () => {
    const { out } = await init(...inventory(), "-o", "markdown");
    expect(out).toMatch(/### 🗺️ Proposed[\s\S]*\| `rollouts\/my-app.yaml` \|[\s\S]*```yaml\n# Proposed by/);
  });

  test("a folder with nothing of Argo CD's is told so, with exit 1", async () => {
    rmSync(join(here.dir, "appsets"), { recursive: true });
    const { exit, out } = await init();
    expect(exit).toBe(1);
    expect(out).toContain("No rollout is proposed. There are kustomizations (apps/my-app/kustomization.yaml), and no Argo CD Application");
  });

  test("--write writes no settings where no rollout is proposed", async () => {
    rmSync(join(here.dir, "appsets"), { recursive: true });
    const { exit, out } = await init("--write");
    expect([exit, existsSync(join(here.dir, ".github"))]).toEqual([1, false]);
    expect(out).toContain("Nothing was written. There are kustomizations");
  });

  test("a folder that is not there is named as it was given", async () => {
    await expect(run([join(here.dir, "nope")])).rejects.toMatchObject({
      exitCode: 2,
      message: `${join(here.dir, "nope")} is not a folder`,
    });
  });

  test("hostile names of a repo move no terminal and break no table", async () => {
    const set = join(here.dir, "appsets/my-app-set.yaml");
    writeFileSync(set, readFileSync(set, "utf8").replace("name: my-app-set", 'name: "my\\e[31m|<b>@all"'));
    expect((await init(...inventory())).out).not.toContain("\u001b");
    const { out } = await init(...inventory(), "-o", "markdown");
    expect(out.replaceAll(/```yaml[\s\S]*?```/g, "")).not.toMatch(/[^\\]<b>|@all/);
  });
});
