import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { askUntil } from "../support/ask-until.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { applications, ROLLOUT_FILE, releasedByCommit, releasedByTag, SET_FILE } from "../support/pin-kinds.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

interface CheckRun {
  name: string;
  status: string;
  conclusion: string | null;
  output: { title: string; summary: string; annotations_count: number };
  id: number;
  check_suite: { id: number };
}

async function get<T>(world: EmbeddedWorld, path: string): Promise<T> {
  const response = await fetch(`${world.github.url}/repos/${world.repository}/${path}`, {
    headers: { authorization: `token ${world.github.token("alice")}` },
  });
  return (await response.json()) as T;
}

/** The newest check run of each name. */
async function checkRuns(world: EmbeddedWorld, head: string): Promise<CheckRun[]> {
  return (await get<{ check_runs: CheckRun[] }>(world, `commits/${head}/check-runs`)).check_runs;
}

/** The check stagecoach/plan at the head of a branch, as soon as its title is so. */
async function planCheck(world: EmbeddedWorld, branch: string, title: RegExp): Promise<CheckRun & { head: string }> {
  const head = git(world.github.repoDirectory(world.repository), "rev-parse", branch).trim();
  const runs = await askUntil(
    world.clock,
    `the check of ${branch} says ${title}`,
    async () => (await checkRuns(world, head)).filter((run) => run.name === "stagecoach/plan"),
    (all) => all.some((run) => title.test(run.output.title)),
  );
  expect(runs).toHaveLength(1);
  return { ...(runs[0] as CheckRun), head };
}

function comments(world: EmbeddedWorld, pull: number): Promise<{ id: number; body: string; user: { login: string } }[]> {
  return get(world, `issues/${pull}/comments`);
}

describe("pull requests before they are merged", () => {
  test("every one has the check; a release PR has its plan, and what would pass the stages by is refused", async () => {
    journey = await startJourney({ files: short({ byHand: true }) });
    const { world } = journey;
    const { repository } = world;
    const alice = world.github.actAs("alice");

    const release = await world.openReleasePull(alice);
    const plan = await world.untilComment(release, "### 🗺️ Plan: my-app");
    expect(plan).toContain("`v1.4.1` → `v1.4.2`");
    expect(plan).toMatch(/`mode: Propose`: the bot opens the batches' PRs, and each waits for a person to merge it/);
    expect(plan).toContain("flowchart LR");
    expect(plan).toMatch(/At the least it takes .*3 batches/);
    expect(plan).toContain("`my-app-us-east-1-a`");
    const green = await planCheck(world, "release-v1.4.2", /my-app: 6 clusters in 3 batches over 2 stages/);
    expect([green.status, green.conclusion]).toEqual(["completed", "success"]);

    // "Re-run": the same is said again, by a new run, though nothing has changed.
    alice.rerun(repository, green.id);
    const again = await askUntil(
      world.clock,
      "the check is made anew",
      () => planCheck(world, "release-v1.4.2", /my-app: 6 clusters/),
      (run) => run.id !== green.id,
    );
    expect([again.status, again.conclusion, again.output.title]).toEqual(["completed", "success", green.output.title]);

    await alice.push(repository, { branch: "docs", files: { "docs/x.md": "x\n" }, message: "Docs" });
    await alice.openPull(repository, { head: "docs", title: "Docs" });
    const docs = await planCheck(world, "docs", /not a rollout PR/);
    expect(docs.conclusion).toBe("success");
    // All of ours: the gate comes anew, too.
    const ours = await askUntil(
      world.clock,
      "both are there",
      () => checkRuns(world, docs.head),
      (all) => all.length === 2,
    );
    await alice.rerunAll(repository, docs.check_suite.id);
    const renewed = await askUntil(
      world.clock,
      "both are made anew",
      () => checkRuns(world, docs.head),
      (all) => all.every((run) => ours.every(({ id }) => id !== run.id)),
    );
    expect(renewed.map(({ name, conclusion }) => `${name} ${conclusion}`).sort()).toEqual([
      "stagecoach/gate success",
      "stagecoach/plan success",
    ]);

    const good = git(world.github.repoDirectory(repository), "show", `main:${ROLLOUT_FILE}`);
    await alice.push(repository, {
      branch: "broken",
      files: { [ROLLOUT_FILE]: `${good.replace("maxUnavailable: 2", "maxUnavailible: 2")}\n` },
      message: "Oops",
    });
    const broken = await alice.openPull(repository, { head: "broken", title: "Broken" });
    const red = await planCheck(world, "broken", /1 error: no run would start/);
    expect([red.conclusion, red.output.annotations_count]).toEqual(["failure", 1]);
    const [annotation] = await get<{ path: string; start_line: number; message: string }[]>(world, `check-runs/${red.id}/annotations`);
    const line = good.split("\n").findIndex((text) => text.includes("maxUnavailable: 2")) + 1;
    expect(annotation).toMatchObject({
      path: ROLLOUT_FILE,
      start_line: line,
      message: expect.stringContaining('"maxUnavailable"'),
    });
    await world.untilComment(broken, "### ❌ No run would start");
    await alice.push(repository, {
      branch: "broken",
      files: { [ROLLOUT_FILE]: `${good.replace("maxUnavailable: 2", "maxUnavailable: 1")}\n` },
      message: "Better",
    });
    expect((await planCheck(world, "broken", /my-app: 6 clusters in 4 batches/)).conclusion).toBe("success");
    await world.untilComment(broken, "### ✅ The problems are solved");

    const set = git(world.github.repoDirectory(repository), "show", `main:${SET_FILE}`);
    await alice.push(repository, {
      branch: "by-hand",
      files: { [SET_FILE]: `${set.replace("targetRevision: v1.4.1", "targetRevision: v1.4.2")}\n` },
      message: "One cluster by hand",
    });
    const byHand = await alice.openPull(repository, { head: "by-hand", title: "By hand" });
    const unstaged = await planCheck(world, "by-hand", /UNSTAGED/);
    expect(unstaged.conclusion).toBe("failure");
    expect(unstaged.output.title).toMatch(/Merging this PR changes [a-z0-9-]+ at once/);
    await world.github.actAs("bob").label(repository, byHand, ["stagecoach/bypass"]);
    expect((await planCheck(world, "by-hand", /my-app: /)).conclusion).toBe("success");

    const asked = alice.comment(repository, release, "/plan");
    const early = alice.comment(repository, release, "/pause");
    await askUntil(
      world.clock,
      "/plan is answered",
      () => get<{ content: string }[]>(world, `issues/comments/${asked}/reactions`),
      (all) => all.some((one) => one.content === "rocket"),
    );
    await askUntil(
      world.clock,
      "/pause is refused",
      () => get<{ content: string }[]>(world, `issues/comments/${early}/reactions`),
      (all) => all.some((one) => one.content === "confused"),
    );
    await world.untilComment(release, "No run has begun");

    await alice.mergePull(repository, release, "squash");
    await journey.until("the first batch waits for a person", (run) => run.batches[0]?.phase === "Open");
    expect(journey.run()?.batches[0]?.why).toHaveCode("MODE_MERGES_NOT");
    const next = await world.openReleasePull(alice, "v1.4.3");
    const over = await world.untilComment(next, "Merging this PR ends it");
    expect(over).toMatch(/Run #\u200b1 \(`v1\.4\.2`\) is in progress in stage canary/);
    const batch = journey.run()?.batches[0]?.branch ?? "";
    expect((await planCheck(world, batch, /a batch of a run/)).conclusion).toBe("success");
    for (const pull of [release, next, broken]) {
      const plans = (await comments(world, pull)).filter(({ body }) => body.includes("stagecoach:rollout:my-app"));
      expect(plans.length).toBeLessThanOrEqual(1);
    }
    expect(journey.errors).toEqual([]);
  });

  test("under Observe a release is only commented on", async () => {
    const observed = short();
    journey = await startJourney({
      files: (files) => {
        observed(files);
        files.set(
          ROLLOUT_FILE,
          (files.get(ROLLOUT_FILE) ?? "").replace("  mode: Run\n", "").replace("spec:\n", "spec:\n  mode: Observe\n"),
        );
      },
    });
    const { world } = journey;
    const release = await journey.release();
    await world.untilComment(
      release,
      "started no run, for the rollout's mode is `Observe`. A run would open one pull request a batch: **6 clusters** in **3 batches**",
    );
    await journey.bot.resync();
    await journey.bot.idle();
    expect(journey.run()).toBeUndefined();
    const pulls = await get<{ number: number }[]>(world, "pulls?state=all");
    expect(pulls.map((pull) => pull.number)).toEqual([release]);
    expect(journey.errors).toEqual([]);
  });
});

describe("releases that stand in no file", () => {
  test("the merge commit of a PR that touches the paths goes to every cluster, batch by batch", async () => {
    journey = await startJourney({ files: releasedByCommit });
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const directory = world.github.repoDirectory(world.repository);
    const path = "apps/my-app/kustomization.yaml";
    const changed = git(directory, "show", `main:${path}`).replaceAll("v1.4.1", "v1.4.2");
    await alice.push(world.repository, { branch: "app", files: { [path]: `${changed}\n` }, message: "my-app v1.4.2" });
    const pull = await alice.openPull(world.repository, { head: "app", title: "my-app v1.4.2" });
    const plan = await world.untilComment(pull, "### 🗺️ Plan: my-app");
    expect(plan).toContain("the merge commit of this PR");
    expect((await planCheck(world, "app", /my-app: 12 clusters/)).conclusion).toBe("success");
    const commit = await alice.mergePull(world.repository, pull, "squash");
    const run = await journey.until("the run ends", ended);
    expect([run.phase, run.release.values, run.trigger.pull, journey.errors]).toEqual(["Succeeded", { version: commit }, pull, []]);
    expect(new Set(applications(world).map(({ spec }) => spec.source?.targetRevision))).toEqual(new Set([commit]));
    await journey.bot.resync();
    await journey.bot.idle();
    expect(journey.run()?.number).toBe(1);
  });

  test("a tag in the range starts a run, steered from an issue; an older or foreign tag starts none", async () => {
    journey = await startJourney({ files: releasedByTag });
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const path = "apps/my-app/kustomization.yaml";
    const directory = world.github.repoDirectory(world.repository);
    const changed = git(directory, "show", `main:${path}`).replaceAll("v1.4.1", "v1.4.2");
    const built = await alice.push(world.repository, { branch: "main", files: { [path]: `${changed}\n` }, message: "my-app v1.4.2" });
    git(directory, "tag", "v2.0.0", built);
    git(directory, "tag", "v1.4.0", built);
    git(directory, "tag", "-a", "-m", "v1.4.2", "v1.4.2", built);
    await journey.bot.resync();
    const begun = await journey.until("the run has begun", (run) => run.batches.length > 0);
    const issue = begun.trigger.pull ?? 0;
    const made = await get<{ title: string; body: string; pull_request?: unknown }>(world, `issues/${issue}`);
    expect([made.title, made.pull_request]).toEqual(["my-app: v1.4.2", undefined]);
    alice.comment(world.repository, issue, "/pause have a look");
    const paused = await journey.until("it is paused from the issue", (run) => run.phase === "Paused");
    expect(paused.paused).toMatchObject({ kind: "Command", by: "alice" });
    await world.untilComment(issue, "have a look");
    alice.comment(world.repository, issue, "/resume");
    const run = await journey.until("the run ends", ended);
    expect([run.phase, run.release.values, journey.errors]).toEqual(["Succeeded", { version: "v1.4.2" }, []]);
    expect(new Set(applications(world).map(({ spec }) => spec.source?.targetRevision))).toEqual(new Set(["v1.4.2"]));
    await askUntil(
      world.clock,
      "its issue is closed",
      () => get<{ state: string }>(world, `issues/${issue}`),
      ({ state }) => state === "closed",
    );
    const issues = await get<{ number: number; pull_request?: unknown }[]>(world, "issues?state=all&per_page=100");
    expect(issues.filter((one) => one.pull_request === undefined).map((one) => one.number)).toEqual([issue]);
  });
});

describe("a release that is merged before its rollout is known", () => {
  test("starts no run, which is said on its PR at one of the next looks and stands in the journal; release.attempt starts it", async () => {
    journey = await startJourney({ files: short() });
    const { github, repository, clock } = journey.world;
    await journey.stop();
    const directory = github.repoDirectory(repository);
    git(directory, "update-ref", "-d", "refs/heads/stagecoach/journal");
    github.forgetChecks(repository, "stagecoach/journal");
    const pull = await journey.release();
    const began = clock.now();
    await journey.start();
    expect(await journey.world.untilComment(pull, "### ❌ No run started")).toContain("was merged before this rollout was known");
    // A look a minute; a busy machine may pass by one of this clock.
    expect(clock.now() - began).toBeLessThanOrEqual(185_000);
    expect(git(directory, "show", "refs/heads/stagecoach/journal:index.yaml")).toMatch(/refused:[\s\S]*RELEASE_BEFORE_ADOPTION/);
    expect(journey.run()).toBeUndefined();
    const path = "rollouts/my-app.yaml";
    const again = `${git(directory, "show", `main:${path}`)}\n`.replace("  release:\n", "  release:\n    attempt: 2\n");
    await github.actAs("alice").push(repository, { branch: "main", files: { [path]: again }, message: "release it again" });
    const run = await journey.until("it begins", (one) => one.number === 1);
    expect(run.release.values).toEqual({ version: "v1.4.2" });
    expect(git(directory, "show", "refs/heads/stagecoach/journal:index.yaml")).not.toContain("refused:");
  });
});
