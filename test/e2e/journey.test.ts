import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** The versions on the base branch, as Git has them. */
function versions({ world }: Journey): string[] {
  const text = git(world.github.repoDirectory(world.repository), "show", "main:appsets/my-app-set.yaml");
  return [...text.matchAll(/targetRevision: (v\S+)/g)].map(([, version]) => version ?? "");
}

describe("merge a release PR, and every cluster is updated batch by batch", () => {
  test("the plan is on the PR; after the merge every cluster moves, the drained one once it is back", async () => {
    journey = await startJourney();
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    const plan = await world.untilComment(pull, "Plan:");
    expect(plan).toContain("**12 clusters**");
    expect(plan).toContain("`eu-west-1-c`");
    await alice.mergePull(world.repository, pull, "squash");
    await journey.until("the run waits for the drained cluster", (run) => run.requeued.some((item) => item.attempts > 0));
    expect(versions(journey)).toContain("v1.4.1");
    world.undrain();
    const run = await journey.until("the run ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    expect(new Set(versions(journey))).toEqual(new Set(["v1.4.2"]));
    for (const application of world.clusters.map((cluster) => `my-app-${cluster}`))
      expect(world.argocd.liveHealth(application)).toBe("Healthy");
    await world.untilComment(pull, "**Succeeded**");
  });

  test("a batch that turns out Degraded pauses the run, and no further cluster is touched", async () => {
    journey = await startJourney({
      faults: [
        { cluster: "eu-west-1-a", kind: "degraded" },
        { cluster: "eu-central-1-a", kind: "degraded" },
      ],
    });
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await alice.mergePull(world.repository, pull, "squash");
    const paused = await journey.until("the run pauses", (run) => run.phase === "Paused");
    expect(paused.paused?.kind).toBe("Failure");
    expect(versions(journey).filter((version) => version === "v1.4.2")).toHaveLength(2);
    const comment = await world.untilComment(pull, "**Paused**");
    expect(comment).toContain("/retry");
  });

  test("/pause holds the next merge, /resume lets it go; a reader and a quote change nothing", async () => {
    journey = await startJourney();
    const { world } = journey;
    world.github.collaborator(world.repository, "mallory", "read");
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await alice.mergePull(world.repository, pull, "squash");
    await journey.until("the canary is merged", (run) => run.batches[0]?.merged !== undefined);
    world.github.actAs("mallory").comment(world.repository, pull, "/abort");
    alice.comment(world.repository, pull, "> /abort\n\nshould we?");
    alice.comment(world.repository, pull, "/pause traffic looks odd");
    const paused = await journey.until("the run is paused", (run) => run.phase === "Paused");
    expect([paused.paused?.kind, paused.commands.map((command) => command.actor)]).toEqual(["Command", ["alice"]]);
    await journey.until("the canary is settled", (run) => run.batches[0]?.phase === "Settled" || run.batches[0]?.phase === "Baking");
    expect(journey.run()?.batches.filter((batch) => batch.merged !== undefined)).toHaveLength(1);
    alice.comment(world.repository, pull, "/resume");
    await journey.until("the next batch is merged", (run) => run.batches.filter((batch) => batch.merged !== undefined).length > 1);
    expect(journey.run()?.phase).toBe("Progressing");
    await world.untilComment(pull, "needs write permission");
  });
});
