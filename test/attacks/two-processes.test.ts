import { afterEach, expect, test } from "vitest";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { POSTGRES, postgres } from "../support/postgres.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** Twelve clusters, one after the other. */
function oneByOne(files: Map<string, string>): void {
  const path = "rollouts/my-app.yaml";
  const [head = ""] = (files.get(path) ?? "").split("  mode: Run");
  files.set(path, `${head}  mode: Run\n  stages:\n    - { name: all, clusters: { selector: {} }, maxUnavailable: 1 }\n`);
}

/** The same kills for the same seed: one in so many requests. */
function seededKills(seed: number, oneIn: number): { kills: () => "before" | "after" | undefined; count(): number } {
  let state = seed;
  let count = 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    count: () => count,
    kills() {
      if (random() * oneIn >= 1) return undefined;
      count += 1;
      return random() < 0.5 ? "before" : "after";
    },
  };
}

test("have a batch merged twice, or its run paused, where two processes that share nothing look after one repo and are killed at random", async () => {
  const { kills, count } = seededKills(7, 10);
  journey = await startJourney({
    ...{ files: oneByOne, replicas: 2, lag: SHORT_LAG, annotationRefresh: true },
    line: { kills, meetsAt: "ProposeBatch" },
  });
  const release = await journey.release();
  const paused: string[] = [];
  const run = await journey.until("it ends", (now) => {
    if (now.paused !== undefined) paused.push(JSON.stringify(now.paused.reason));
    return ended(now) || paused.length > 0;
  });
  expect([paused, run.phase]).toEqual([[], "Succeeded"]);
  await journey.world.untilComment(release, "**Succeeded**");
  await journey.stop();
  const merged = journey.subjects().filter((subject) => subject.startsWith("my-app v1.4.2: "));
  expect([merged.length, new Set(merged).size]).toEqual([12, 12]);
  expect(new Set(journey.versions().values())).toEqual(new Set(["v1.4.2"]));
  const page = githubPage(journey.world);
  const open = ((await page.get("/pulls?state=open")) as { number: number }[]).map(({ number }) => number);
  const markers = (await page.comments(release)).map(({ body }) => body.split("\n")[0]);
  expect([open, markers.length]).toEqual([[], new Set(markers).size]);
  expect(count()).toBeGreaterThan(5);
  expect(journey.errors).toEqual([]);
});

test.skipIf(POSTGRES === undefined)(
  "have a batch merged twice, or a run not end, where two replicas share PostgreSQL and each is killed at one in seven of what it sends",
  async () => {
    const { kills, count } = seededKills(1, 7);
    const shared = (await (await postgres()).database()).url;
    journey = await startJourney({ files: short(), replicas: 2, lag: SHORT_LAG, annotationRefresh: true, shared, line: { kills } });
    const release = await journey.release();
    const run = await journey.until("it ends", (now) => ended(now) || now.paused !== undefined);
    expect([run.paused, run.phase]).toEqual([undefined, "Succeeded"]);
    await journey.world.untilComment(release, "**Succeeded**");
    await journey.stop();
    const merged = journey.subjects().filter((subject) => subject.startsWith("my-app v1.4.2: "));
    expect([merged.length, new Set(merged).size]).toEqual([3, 3]);
    const markers = (await githubPage(journey.world).comments(release)).map(({ body }) => body.split("\n")[0]);
    expect(markers.length).toBe(new Set(markers).size);
    expect(count()).toBeGreaterThan(4);
    // Five owners in a row may have ended in a first round: it is slowed then, which is said and no error.
    expect(journey.errors.filter(({ message }) => !message.endsWith("it is slowed"))).toEqual([]);
  },
);
