import { afterEach, describe, expect, test } from "vitest";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type AppCall, isJournalCommit, isWrite, noteCalls } from "../support/app-calls.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { POSTGRES, postgres } from "../support/postgres.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

describe.skipIf(POSTGRES === undefined)("two replicas that share one PostgreSQL", () => {
  test.each([
    ["one alone", 1, false],
    ["two", 2, true],
  ] as const)("%s: a run costs as many commits of the journal and edits of comments", async (_what, count, isShared) => {
    const calls: AppCall[] = [];
    const shared = isShared ? { shared: (await (await postgres()).database()).url } : {};
    const onExchange = noteCalls(calls, () => journey?.world.clock.now() ?? 0);
    journey = await startJourney({
      ...{ files: short({ bake: "10m" }), replicas: count, lag: SHORT_LAG, annotationRefresh: true, github: { onExchange } },
      ...shared,
    });
    const pull = await journey.release();
    expect((await journey.until("it ends", ended)).phase).toBe("Succeeded");
    await journey.stop();
    const commits = calls.filter(isJournalCommit);
    // How often somebody looks while nothing moves depends on how much of the world's time passes before each is through.
    const looks = commits.filter(({ headline }) => / run 1: (?:waiting for |.* have been healthy since )/.test(headline)).length;
    const edits = calls.filter(({ method, path }) => method === "PATCH" && path.includes("/comments/")).length;
    // With two that knew nothing of each other it was 85 writes, 24 of them edits.
    const [moves, writes] = [commits.length - looks, calls.filter(isWrite).length - looks];
    expect([moves <= 13, looks <= 12, edits <= 13, writes <= 51]).toEqual([true, true, true, true]);
    const markers = (await githubPage(journey.world).comments(pull)).map(({ body }) => body.split("\n")[0]);
    expect(new Set(markers).size).toBe(markers.length);
    expect(journey.errors).toEqual([]);
  });
});
