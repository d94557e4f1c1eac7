import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { type AppCall, isJournalCommit, isWrite, noteCalls } from "../support/app-calls.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { POSTGRES, postgres } from "../support/postgres.ts";
import { type Replica, startReplica } from "../support/replica.ts";

let world: EmbeddedWorld | undefined;
let folder = "";
let journey: Journey | undefined;
const replicas: Replica[] = [];

afterEach(async () => {
  for (const { process } of replicas.splice(0)) {
    process.child.kill("SIGKILL");
    await process.ended;
  }
  await journey?.close();
  journey = undefined;
  await world?.close();
  world = undefined;
  if (folder !== "") await rm(folder, { recursive: true, force: true });
});

async function started(around: EmbeddedWorld, url: string): Promise<Replica> {
  const replica = await startReplica(around, url, folder);
  replicas.push(replica);
  return replica;
}

describe.skipIf(POSTGRES === undefined)("two replicas that share one PostgreSQL", () => {
  test("as processes: what the one that is killed looked after the other takes up, told by deliveries that were kept", async () => {
    folder = await mkdtemp(join(tmpdir(), "stagecoach-replicas-"));
    world = await startWorld({ lag: SHORT_LAG, files: short() });
    const { url, name } = await (await postgres()).database();
    const first = await started(world, url);
    const second = await started(world, url);
    // The one behind the load balancer is not the one that looks after the repository.
    world.deliverTo(second.hook);
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await world.untilComment(pull, "Plan:");
    first.process.child.kill("SIGKILL");
    await first.process.ended;
    await alice.mergePull(world.repository, pull, "squash");
    await second.process.until(/"a replica is gone: what it looked after is free"/);
    await world.untilComment(pull, "**Progressing**");
    const server = await postgres();
    const [kept] = await server.query(
      "select count(*) as all, count(*) filter (where set_aside_at is not null) as aside from stagecoach.deliveries",
      name,
    );
    expect([Number(kept?.["all"]) > 1, kept?.["aside"]]).toEqual([true, "0"]);
    second.process.child.kill("SIGTERM");
    expect(await second.process.ended).toBe(0);
    expect(await server.query("select id from stagecoach.replicas where id in (select owner from stagecoach.repositories)", name)).toEqual(
      [],
    );
  });

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
    const commits = calls.filter(isJournalCommit).length;
    const edits = calls.filter(({ method, path }) => method === "PATCH" && path.includes("/comments/")).length;
    // With two that knew nothing of each other it was 85 writes, 24 of them edits.
    expect([commits <= 18, edits <= 13, calls.filter(isWrite).length <= 56]).toEqual([true, true, true]);
    const markers = (await githubPage(journey.world).comments(pull)).map(({ body }) => body.split("\n")[0]);
    expect(new Set(markers).size).toBe(markers.length);
    expect(journey.errors).toEqual([]);
  });
});
