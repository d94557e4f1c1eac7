import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import type { Batch, Run } from "../../src/core/run/state/run.ts";
import { asApplication } from "../../src/sim/argocd/types.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import {
  applications,
  askFor,
  branchHeads,
  clustersGenerator,
  environmentBranches,
  environmentTags,
  followBranches,
  forcedTags,
  releaseTag,
  SET_FILE,
} from "../support/pin-kinds.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

function clustersIn(batch: Batch): string[] {
  return [...new Set(batch.targets.map((target) => target.cluster.replace(/^.*\//, "")))].sort();
}

function uids(world: EmbeddedWorld): Map<string, string> {
  return new Map(applications(world).map(({ metadata }) => [metadata.name, String(metadata.uid)]));
}

/** Names of the clusters in the order in which their Applications came to ask for another revision. */
function watchMoves(world: EmbeddedWorld): string[] {
  const moves: string[] = [];
  const last = new Map(applications(world).map(({ metadata, spec }) => [metadata.name, spec.source?.targetRevision]));
  world.kubernetes.store.subscribe("applications", ({ object }) => {
    const { metadata, spec } = asApplication(object);
    const revision = spec.source?.targetRevision;
    if (!last.has(metadata.name) || last.get(metadata.name) === revision) return;
    last.set(metadata.name, revision);
    moves.push(metadata.name.replace("my-app-", ""));
  });
  return moves;
}

/** Each batch's clusters moved, after those of the batches before it and before those after it. */
function expectBatchByBatch(run: Run, moves: readonly string[]): void {
  let at = 0;
  for (const batch of run.batches) {
    const own = clustersIn(batch);
    expect(moves.slice(at, at + own.length).sort(), `batch ${batch.number}`).toEqual(own);
    at += own.length;
  }
  expect(moves).toHaveLength(at);
}

describe("the version is a value of a clusters generator", () => {
  test("clusters move between its entries batch by batch, and back with the next release; none is deleted", async () => {
    journey = await startJourney({ files: clustersGenerator });
    const { world } = journey;
    const before = uids(world);
    expect(before.size).toBe(12);
    const moves = watchMoves(world);
    const repo = world.github.repoDirectory(world.repository);
    await journey.release("v1.4.2");
    const first = await journey.until("the first run ends", ended);
    expect([first.phase, journey.errors]).toEqual(["Succeeded", []]);
    expect(first.batches).toHaveLength(3);
    expectBatchByBatch(first, moves);
    for (const batch of first.batches) {
      const diff = git(repo, "show", "--format=", "--name-only", batch.merged?.commit ?? "");
      expect(diff).toBe(SET_FILE);
      expect(batch.targets.flatMap((target) => target.edits.map(({ from, to }) => `${from} → ${to}`))).toEqual(
        batch.targets.map(() => "v1.4.1 → v1.4.2"),
      );
    }
    moves.splice(0);
    await journey.release("v1.4.3");
    const second = await journey.until("the second run ends", (run) => run.number === 2 && ended(run));
    expect([second.phase, journey.errors]).toEqual(["Succeeded", []]);
    expectBatchByBatch(second, moves);
    expect(git(repo, "show", `main:${SET_FILE}`)).toContain("operator: NotIn\n            values: [no-cluster.stagecoach.dev]");
    expect(new Set(applications(world).map(({ spec }) => spec.source?.targetRevision))).toEqual(new Set(["v1.4.3"]));
    for (const name of before.keys()) expect(world.argocd.liveHealth(name)).toBe("Healthy");
    expect(uids(world)).toEqual(before);
  });

  test("a cluster that somebody moves back is drift, and pauses the run", async () => {
    journey = await startJourney({ files: clustersGenerator });
    const { world } = journey;
    await journey.release("v1.4.2");
    await journey.until("the canary is merged", (run) => run.batches[0]?.merged !== undefined);
    const set = git(world.github.repoDirectory(world.repository), "show", `main:${SET_FILE}`);
    const back = set.replaceAll(/values: \[.*\]/g, "values: [no-cluster.stagecoach.dev]");
    await world.github.actAs("bob").push(world.repository, { branch: "main", files: { [SET_FILE]: `${back}\n` }, message: "Back again" });
    const paused = await journey.until("the run pauses", (run) => run.phase === "Paused");
    expect(paused.paused).toMatchObject({ kind: "Drift", by: expect.stringMatching(/bob/i) });
    expect(paused.paused?.reason).toMatchObject({ code: "PIN_DRIFT", found: "v1.4.1", want: "v1.4.2" });
  });
});

describe("each cluster follows a branch of its own", () => {
  test("the branches are fast-forwarded to the tag's commit batch by batch, without a pull request; /requeue moves one back and on again", async () => {
    journey = await startJourney({ files: environmentBranches });
    const { world } = journey;
    await followBranches(world);
    const old = branchHeads(world);
    const before = uids(world);
    const release = await releaseTag(world, "v1.4.2");
    await journey.until("the first batch is moved", (run) => run.batches[0]?.merged !== undefined);
    const canary = clustersIn(journey.run()?.batches[0] as Batch);
    const early = branchHeads(world);
    expect(canary.map((cluster) => early.get(cluster))).toEqual([release, release]);
    const [again = ""] = canary;
    world.github.actAs("bob").comment(world.repository, journey.run()?.trigger.pull ?? 0, `/requeue ${again}`);
    const isBack = (at?: Batch) => at?.kind === "Revert" && at.merged !== undefined;
    await journey.until("its branch is moved back", ({ batches }) => isBack(batches.find(({ kind }) => kind === "Revert")));
    expect(branchHeads(world).get(again)).toBe(old.get(again));
    const run = await journey.until("the run ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    expect(new Set(branchHeads(world).values())).toEqual(new Set([release]));
    expect(applications(world).map(({ status }) => status?.sync?.revision)).toEqual(world.clusters.map(() => release));
    expect(uids(world)).toEqual(before);
    expect(run.batches.filter(({ kind }) => kind === "CatchUp").map(clustersIn)).toEqual([[again]]);
    for (const batch of run.batches.filter(({ kind }) => kind !== "Revert")) {
      expect([batch.phase, batch.pull, batch.merged?.commit]).toEqual(["Settled", undefined, release]);
      for (const { cluster, edits } of batch.targets) {
        const name = cluster.replace(/^.*\//, "");
        expect(edits).toMatchObject([{ kind: "branch", path: `env/${name}`, from: old.get(name), to: release }]);
      }
    }
    const comment = await world.untilComment(run.trigger.pull ?? 0, "**Succeeded**");
    expect(comment).not.toMatch(/#0\b/);
    await askFor(world, "v1.4.1");
    const back = await journey.until("the way back is refused", ({ number, phase }) => number === 2 && phase === "Paused");
    expect(back.paused?.reason).toHaveCode("BRANCH_PAST");
    expect(new Set(branchHeads(world).values())).toEqual(new Set([release]));
  });

  test("a branch that somebody committed to pauses the run with the reason, and no branch moves until it is mended", async () => {
    journey = await startJourney({ files: environmentBranches });
    const { world } = journey;
    await followBranches(world);
    const repo = world.github.repoDirectory(world.repository);
    const kept = branchHeads(world);
    const bob = world.github.actAs("bob");
    await bob.push(world.repository, { branch: "env/eu-central-1-a", files: { "hotfix.txt": "x\n" }, message: "Hotfix by hand" });
    const changed = branchHeads(world);
    const release = await releaseTag(world, "v1.4.2");
    const paused = await journey.until("the run pauses", (run) => run.phase === "Paused");
    expect(paused.paused?.kind).toBe("Refused");
    expect(paused.paused?.reason).toHaveCode("BRANCH_APART", {
      branch: "env/eu-central-1-a",
      tip: { author: expect.stringContaining("bob"), subject: "Hotfix by hand" },
    });
    expect(branchHeads(world)).toEqual(changed);
    const comment = await world.untilComment(paused.trigger.pull ?? 0, "cannot fast-forward");
    expect(comment).not.toMatch(/#0\b/);
    git(repo, "update-ref", "refs/heads/env/eu-central-1-a", kept.get("eu-central-1-a") ?? "");
    world.github.actAs("alice").comment(world.repository, paused.trigger.pull ?? 0, "/resume");
    const run = await journey.until("the run ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    expect(new Set(branchHeads(world).values())).toEqual(new Set([release]));
  });
});

describe("each cluster follows a tag of its own", () => {
  test("the tags, annotated at first, are moved batch by batch; /requeue moves one back and on again, and /rollback all of them to their commits", async () => {
    journey = await startJourney({ files: environmentTags });
    const { world } = journey;
    await followBranches(world, "tag");
    const tags = () => branchHeads(world, "tags");
    const old = tags();
    const [bad = "", bob] = ["eu-central-1-a", world.github.actAs("bob")];
    world.argocd.setFault(bad, { kind: "degraded", application: `my-app-${bad}` });
    const release = await releaseTag(world, "v1.4.2");
    const first = await journey.until("the first batch is moved", (run) => run.batches[0]?.merged !== undefined);
    expect([...tags()].filter(([, commit]) => commit === release).map(([name]) => name)).toEqual(clustersIn(first.batches[0] as Batch));
    const failed = await journey.until("one fails", (run) => run.phase === "Paused");
    bob.comment(world.repository, failed.trigger.pull ?? 0, `/requeue ${bad}`);
    const put = await journey.until("its tag is moved back", ({ batches }) =>
      batches.some(({ kind, merged }) => kind === "Revert" && merged),
    );
    expect([tags().get(bad), put.batches.at(-1)?.targets[0]?.edits]).toEqual([
      old.get(bad),
      [expect.objectContaining({ from: release, to: old.get(bad) })],
    ]);
    world.argocd.setFault(bad, null);
    bob.comment(world.repository, failed.trigger.pull ?? 0, "/resume");
    const run = await journey.until("the run ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    expect(new Set(tags().values())).toEqual(new Set([release]));
    const seen = () => applications(world).map(({ status }) => status?.sync?.revision);
    expect(seen()).toEqual(world.clusters.map(() => release));
    const pull = run.trigger.pull ?? 0;
    expect(run.batches.filter(({ kind }) => kind === "CatchUp").map(clustersIn)).toEqual([[bad]]);
    bob.comment(world.repository, pull, "/rollback");
    const back = await journey.until("it is taken back", (now) => now.number === 2 && ended(now));
    expect([back.phase, journey.errors]).toEqual(["RolledBack", []]);
    expect(tags()).toEqual(old);
    expect(seen()).toEqual(world.clusters.map((name) => old.get(name)));
    expect(back.batches.every(({ pull: one, merged }) => one === undefined && merged !== undefined)).toBe(true);
  });

  test.each([
    ["pauses the run and is left where it is", environmentTags],
    ["is moved with fastForward: false", forcedTags],
  ])("a tag that somebody moved aside %s", async (_, files) => {
    journey = await startJourney({ files });
    const { world } = journey;
    await followBranches(world, "tag");
    const repo = world.github.repoDirectory(world.repository);
    const aside = git(repo, "commit-tree", "-m", "by hand", `${git(repo, "rev-parse", "main")}^{tree}`);
    git(repo, "tag", "-f", "env/eu-central-1-a", aside);
    const release = await releaseTag(world, "v1.4.2");
    const tag = () => branchHeads(world, "tags").get("eu-central-1-a");
    if (files === forcedTags) {
      const run = await journey.until("the run ends", ended);
      expect([run.phase, journey.errors, tag()]).toEqual(["Succeeded", [], release]);
      return;
    }
    const paused = await journey.until("the run pauses", (run) => run.phase === "Paused");
    expect(paused.paused?.reason).toHaveCode("BRANCH_APART", { branch: "refs/tags/env/eu-central-1-a" });
    expect(tag()).toBe(aside);
  });
});
