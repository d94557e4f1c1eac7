import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { hasCode } from "../../src/core/base/reason.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { ended, type Journey, SHORT_CLUSTERS, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";
import { clustersGenerator } from "../support/pin-kinds.ts";
import { mergeChange, onMain, untilRunOf, withLedger } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const SET = "appsets/my-app-set.yaml";
const RELEASE = "releases/my-app.yaml";

const clusters = (run: Run) => run.batches.map((batch) => batch.targets.map((target) => target.cluster.slice(4)).sort());

/** Merges a PR that releases a version whose tag is there already. */
function releaseAgain(here: Journey, version: string): Promise<number> {
  return mergeChange(here, "alice", { [RELEASE]: onMain(here, RELEASE).replace(/v1\.\d\.\d/, version) }, `Release ${version} once more`);
}

function pinned(here: Journey, cluster: string, to: string): string {
  const text = onMain(here, SET);
  const at = text.indexOf(`- cluster: ${cluster}\n`);
  return text.slice(0, at) + text.slice(at).replace(/targetRevision: \S+/, `targetRevision: ${to}`);
}

test("the way back: automatic, of a run long over, and of one in progress; its last PR restores the release and starts nothing", async () => {
  const here = await startJourney({ files: short({ spec: "onFailure: { action: Rollback }" }) });
  journey = here;
  const { world } = here;
  const bob = world.github.actAs("bob");
  world.argocd.setFault("us-east-1-b", { kind: "degraded", revision: "v1.4.2" });

  // A failure rolls the run back by itself, in reverse order.
  const first = await here.release("v1.4.2");
  const failed = await here.until("it fails", (run) => run.number === 1 && ended(run));
  expect([failed.phase, failed.rollback?.by]).toEqual(["Failed", "stagecoach"]);
  const back = await here.until("it is rolled back", (run) => run.number === 2 && ended(run));
  expect([back.phase, back.kind, back.of, clusters(back)]).toEqual([
    "RolledBack",
    "Rollback",
    1,
    [
      ["us-east-1-a", "us-east-1-b"],
      ["eu-central-1-a", "eu-west-1-a"],
    ],
  ]);
  expect([...here.versions().values()].every((version) => version === "v1.4.1")).toBe(true);
  expect(onMain(here, RELEASE)).toContain("v1.4.1");
  await world.untilComment(first, "**Rolled back**");

  // The very same version can be released again, once what was wrong is put right; nothing else has started meanwhile.
  world.argocd.setFault("us-east-1-b", null);
  const again = await releaseAgain(here, "v1.4.2");
  const third = await here.until("it goes through", (run) => run.number === 3 && ended(run));
  expect([third.phase, third.trigger.pull]).toEqual(["Succeeded", again]);

  // Of a run long over. What was pinned by hand since is named, and left.
  await bob.push(world.repository, { branch: "main", files: { [SET]: pinned(here, "us-east-1-d", "main") }, message: "By hand" });
  bob.comment(world.repository, again, "/rollback");
  const fourth = await here.until("it is taken back", (run) => run.number === 4 && ended(run));
  expect([fourth.phase, fourth.skipped.map(({ cluster, why }) => [cluster.slice(4), why])]).toEqual([
    "RolledBack",
    [["us-east-1-d", { code: "PINNED_BY_HAND", value: "main" }]],
  ]);
  expect(SHORT_CLUSTERS.map((cluster) => here.versions().get(cluster))).toEqual(["v1.4.1", "v1.4.1", "v1.4.1", "v1.4.1", "v1.4.1", "main"]);
  expect(onMain(here, RELEASE)).toContain("v1.4.1");

  // Of one in progress: it ends first.
  const fifth = await here.release("v1.4.3");
  await here.until("its second batch is open", (run) => run.number === 5 && run.batches.length === 2);
  bob.comment(world.repository, fifth, "/rollback");
  const sixth = await here.until("it is taken back, too", (run) => run.number === 6 && ended(run));
  expect([sixth.phase, sixth.of]).toEqual(["RolledBack", 5]);
  expect([...here.versions().values()].includes("v1.4.3")).toBe(false);
  expect(onMain(here, RELEASE)).toContain("v1.4.1");
  await here.bot.idle();
  expect([here.run()?.number, here.errors]).toEqual([6, []]);

  // To a version that was asked for, not the one before; a rollback that fails itself stops and asks, and goes on when told to.
  const seventh = await releaseAgain(here, "v1.4.2");
  const good = await here.until("it goes through once more", (run) => run.number === 7 && ended(run));
  expect([good.phase, good.trigger.pull]).toEqual(["Succeeded", seventh]);
  const eighth = await releaseAgain(here, "v1.4.3");
  await here.until("its canary is settled", (run) => run.number === 8 && run.batches[0]?.phase === "Settled");
  world.argocd.setFault("eu-west-1-a", { kind: "degraded", revision: "v1.4.1" });
  bob.comment(world.repository, eighth, "/rollback --to v1.4.1");
  const asks = await here.until("it stops and asks", (run) => run.number === 9 && (run.phase === "Paused" || ended(run)));
  expect([asks.kind, asks.of, asks.phase, asks.paused?.kind]).toEqual(["Rollback", 8, "Paused", "Failure"]);
  expect(asks.paused?.reason).toHaveCode("TOO_MANY_FAILED", { clusters: [expect.stringMatching(/\/eu-west-1-a$/)] });
  expect(asks.paused?.ask).toHaveCode("ASK_FAILED");
  expect(asks.release.values).toEqual({ version: "v1.4.1" });
  world.argocd.setFault("eu-west-1-a", null);
  bob.comment(world.repository, eighth, "/retry");
  const ninth = await here.until("it is taken back at last", (run) => run.number === 9 && ended(run));
  expect([ninth.phase, here.versions().get("eu-west-1-a"), here.errors]).toEqual(["RolledBack", "v1.4.1", []]);
  expect(onMain(here, RELEASE)).toContain("v1.4.1");
});

test("clusters go back to the generator entry they came from", async () => {
  const here = await startJourney({ files: clustersGenerator });
  journey = here;
  const before = onMain(here, SET);
  const release = await here.release("v1.4.2");
  await here.until("the canary is settled", (run) => run.batches[0]?.phase === "Settled");
  here.world.github.actAs("bob").comment(here.world.repository, release, "/rollback");
  const back = await here.until("it is rolled back", (run) => run.number === 2 && (ended(run) || run.phase === "Paused"));
  expect([back.phase, back.paused?.reason, here.errors]).toEqual(["RolledBack", undefined, []]);
  const names = (text: string) => [...text.matchAll(/values: \[(.*)\]/g)].map(([, list]) => list);
  expect(names(onMain(here, SET))).toEqual(names(before));
  expect(git(here.world.github.repoDirectory(here.world.repository), "show", "main:releases/my-app.yaml")).toContain("v1.4.1");

  // The same release once more, and `/requeue failed`: the one that failed is tried again, with what the run began with.
  const { world } = here;
  const bob = world.github.actAs("bob");
  const canary = back.batches[0]?.targets[0]?.cluster.slice(4) ?? "";
  world.argocd.setFault(canary, { kind: "degraded", revision: "v1.4.2" });
  const again = await releaseAgain(here, "v1.4.2");
  const failed = await here.until("it fails and asks", (run) => run.number === 3 && run.phase === "Paused");
  expect([failed.paused?.kind, failed.paused?.reason]).toEqual([
    "Failure",
    expect.toHaveCode("TOO_MANY_FAILED", { clusters: [expect.stringContaining(canary)] }),
  ]);
  world.argocd.setFault(canary, null);
  bob.comment(world.repository, again, "/requeue failed");
  const third = await here.until("it goes through", (run) => run.number === 3 && ended(run));
  expect([third.phase, third.failedAccepted, third.release, third.spec]).toEqual(["Succeeded", [], failed.release, failed.spec]);
  expect(third.batches.filter((batch) => batch.kind === "CatchUp").map((batch) => batch.targets.map((one) => one.cluster))).toEqual([
    [`hub/${canary}`],
  ]);
  expect(here.errors).toEqual([]);
});

describe("a release merged while a run is in progress", () => {
  test("onNewRelease: Queue and Reject, /retry of what was rejected, and /hotfix out of turn", async () => {
    const approval = "approval: { teams: [sre] }";
    const here = await startJourney({
      github: { app: { permissions: WITH_MEMBERS } },
      files: (files) => {
        short({ spec: "onNewRelease: Queue" })(files);
        const path = "rollouts/my-app.yaml";
        files.set(path, (files.get(path) ?? "").replace("      topologyKey: region", `      topologyKey: region\n      ${approval}`));
        withLedger(
          files,
          `  onNewRelease: Reject\n  stages:\n    - { name: one, clusters: { selector: { matchLabels: { area: emea } } }, maxClusters: 1, ${approval} }\n`,
        );
      },
    });
    journey = here;
    const { world } = here;
    const { repository } = world;
    world.github.team("acme", "sre", ["carol"]);
    const [bob, carol] = [world.github.actAs("bob"), world.github.actAs("carol")];

    const first = await here.release("v1.4.2");
    await here.until("its canary waits for approval", (run) => hasCode(run.batches[0]?.why, "APPROVAL_WANTED"));

    // One batch now, though the canary has not moved.
    bob.comment(repository, first, "/hotfix us-east-1-a customer down");
    const fixed = await here.until("the hotfix is settled", (run) => run.batches[1]?.phase === "Settled");
    expect(fixed.batches.map((batch) => [batch.kind, batch.merged !== undefined])).toEqual([
      ["Planned", false],
      ["Hotfix", true],
    ]);
    expect(here.versions().get("us-east-1-a")).toBe("v1.4.2");

    // Queue: the next one waits until this one has ended.
    const second = await here.release("v1.4.3");
    await world.untilComment(second, "is queued");
    expect(here.run()?.number).toBe(1);

    // Reject: merged anyway, it is recorded, and started by /retry once nothing is in progress.
    await mergeChange(here, "alice", { "releases/ledger.yaml": "version: v1.4.2\n" }, "Release ledger v1.4.2");
    await untilRunOf(here, "ledger", "it waits for approval", (run) => run.batches[0]?.phase === "Open");
    const rejected = await mergeChange(here, "alice", { "releases/ledger.yaml": "version: v1.4.3\n" }, "Release ledger v1.4.3");
    await world.untilComment(rejected, "was rejected");
    carol.comment(repository, rejected, "/retry");
    await world.untilComment(rejected, "#1 is in progress: comment again once it has ended");
    const pull = (await untilRunOf(here, "ledger", "it is there", () => true)).batches[0]?.pull?.number ?? 0;
    carol.comment(repository, pull, "/promote");
    await untilRunOf(here, "ledger", "it succeeds", (run) => run.number === 1 && run.phase === "Succeeded");
    carol.comment(repository, rejected, "/retry");
    const retried = await untilRunOf(here, "ledger", "the rejected one starts", (run) => run.number === 2);
    expect([retried.release.values["version"], retried.trigger.pull]).toEqual(["v1.4.3", rejected]);

    carol.comment(repository, first, "/promote");
    await here.until("the queued one starts", (run) => run.number === 2);
    expect(here.run()?.release.values["version"]).toBe("v1.4.3");
    expect(here.errors).toEqual([]);
  });
});
