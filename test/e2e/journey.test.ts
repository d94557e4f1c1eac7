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
});
