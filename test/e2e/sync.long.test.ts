import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { hasCode } from "../../src/core/base/reason.ts";
import { asApplication } from "../../src/sim/argocd/types.ts";
import { byHand, switchAutoSyncOff, syncsOf } from "../support/by-hand.ts";
import { ended, type Journey, SHORT_CLUSTERS, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

describe("Applications without automated sync", () => {
  test("sync: Request: Argo CD is asked once for each, for the release's very commit, batch by batch", async () => {
    journey = await startJourney(byHand("Request"));
    const { world } = journey;
    await switchAutoSyncOff(world);
    await journey.release();
    const first = await journey.until("the first batch is healthy", (run) => run.batches[0]?.phase === "Settled");
    const { revisions } = syncsOf(world);
    const expected = first.batches[0]?.targets.map(({ application }) => application).sort();
    expect([...revisions.keys()].sort()).toEqual(expected);
    const done = await journey.until("it ends", ended);
    expect([done.phase, journey.errors]).toEqual(["Succeeded", []]);
    const all = syncsOf(world);
    const tag = git(world.github.repoDirectory(world.repository), "rev-parse", "v1.4.2^{commit}");
    expect([all.asked, [...new Set(all.revisions.values())]]).toEqual([SHORT_CLUSTERS.length, [tag]]);
    expect(done.batches.flatMap(({ targets }) => targets.map(({ syncAsked }) => syncAsked?.revisions))).toEqual(
      SHORT_CLUSTERS.map(() => [tag]),
    );
  });

  test("bots killed before and after each ask come to the same end: each Application is synced once, to the release's commit", async () => {
    const kills: string[] = [];
    const killed = (when: string) => {
      kills.push(when);
      return new Promise<never>(() => undefined);
    };
    const synced = new Map<string, string[]>();
    journey = await startJourney({
      ...byHand("Request"),
      line: {},
      // One ask is not sent, the next is done and its answer never read, and so on.
      seenAs: (plane, kill) => ({
        ...plane,
        async sync(...asked) {
          const isBefore = kills.length % 2 === 0;
          if (plane.sync === undefined || (isBefore && kill())) return await killed("before");
          const outcome = await plane.sync(...asked);
          return !isBefore && kill() ? await killed("after") : outcome;
        },
      }),
    });
    const { world } = journey;
    await switchAutoSyncOff(world);
    world.kubernetes.store.subscribe("applications", () => {
      for (const object of world.kubernetes.store.list("applications")) {
        const { metadata, operation } = asApplication(object);
        if (operation?.initiatedBy?.username !== "bot" || synced.get(metadata.name)?.at(-1) === operation.sync?.revision) continue;
        synced.set(metadata.name, [...(synced.get(metadata.name) ?? []), operation.sync?.revision ?? ""]);
      }
    });
    await journey.release();
    const done = await journey.until("it ends", ended);
    expect([done.phase, journey.errors]).toEqual(["Succeeded", []]);
    expect(kills.length).toBeGreaterThan(3);
    const tag = git(world.github.repoDirectory(world.repository), "rev-parse", "v1.4.2^{commit}");
    const applications = done.batches.flatMap(({ targets }) => targets.map(({ application }) => application));
    expect(Object.fromEntries(synced)).toEqual(Object.fromEntries(applications.map((name) => [name, [tag]])));
    expect([syncsOf(world).asked, done.batches.length]).toEqual([SHORT_CLUSTERS.length, 3]);
  });

  test("sync: Wait: it says what a person has to press, and goes on once somebody has", async () => {
    journey = await startJourney(byHand("Wait"));
    const { world } = journey;
    await switchAutoSyncOff(world);
    const release = await journey.release();
    const waits = await journey.until("it waits for a person", (run) => hasCode(run.batches[0]?.targets[0]?.why, "SYNC_BY_HAND"));
    expect(await world.untilComment(release, "press Sync")).toContain("press Sync");
    expect(syncsOf(world).asked).toBe(0);
    for (const { application } of waits.batches[0]?.targets ?? [])
      world.kubernetes.store.change("applications", "argocd", application, (object) => ({ ...object, operation: { sync: {} } }));
    const settled = await journey.until("the batch is healthy", (run) => run.batches[0]?.phase === "Settled");
    expect([settled.batches[0]?.targets.map(({ phase }) => phase), journey.errors]).toEqual([["Baked", "Baked"], []]);
  });
});
