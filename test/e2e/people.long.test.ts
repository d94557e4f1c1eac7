import { afterEach, describe, expect, test } from "vitest";
import { bakes, ended, type Journey, type JourneyOptions, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const SET = "appsets/my-app-set.yaml";
/** People merge each batch: its PR stays open as long as the test wants. */
const byHand = short({ byHand: true });

async function begin(options: JourneyOptions) {
  journey = await startJourney(options);
  const alice = journey.world.github.actAs("alice");
  const bob = journey.world.github.actAs("bob");
  const { repository } = journey.world;
  const release = await journey.release();
  return { journey, world: journey.world, alice, bob, repository, release };
}

/** Number of the PR of a batch, once it is open. */
async function opened({ until }: Journey, batch: number, attempt = 1): Promise<number> {
  const run = await until(`batch ${batch} is open`, (now) => {
    const one = now.batches[batch - 1];
    return one?.phase === "Open" && one.attempt === attempt;
  });
  return run.batches[batch - 1]?.pull?.number ?? 0;
}

async function setOnMain({ world }: Journey, cluster: string, from: string, to: string): Promise<string> {
  const url = `${world.github.url}/repos/${world.repository}/contents/${SET}?ref=main`;
  const answer = await fetch(url, { headers: { authorization: `token ${world.github.token("alice")}` } });
  const { content } = (await answer.json()) as { content: string };
  const text = Buffer.from(content, "base64").toString("utf8");
  const at = text.indexOf(`- cluster: ${cluster}\n`);
  const edited = text.slice(0, at) + text.slice(at).replace(`targetRevision: ${from}`, `targetRevision: ${to}`);
  return world.github
    .actAs("alice")
    .push(world.repository, { branch: "main", files: { [SET]: edited }, message: `by hand: ${cluster} to ${to}` });
}

describe("what people do beside the bot", () => {
  test("a commit pushed onto a batch's branch is never merged: the run pauses and says so; /resume builds the PR again", async () => {
    const { journey, world, alice, repository, release } = await begin({ files: byHand });
    const pull = await opened(journey, 1);
    const branch = journey.run()?.batches[0]?.branch ?? "";
    await alice.push(repository, { branch, files: { "apps/my-app/extra.yaml": "a: 1\n" }, message: "just one more thing" });
    const paused = await journey.until("it pauses", (run) => run.phase === "Paused");
    expect([paused.paused?.kind, paused.why]).toEqual([
      "HeadMoved",
      { code: "CHANGED_NOT_MERGED", because: expect.objectContaining({ code: "PULL_CHANGED", pull }) },
    ]);
    await world.untilComment(release, "omebody pushed to");
    alice.comment(repository, release, "/resume");
    const again = await opened(journey, 1, 2);
    expect(again).toBeGreaterThan(pull);
    expect(journey.subjects()).not.toContain("just one more thing");
    expect(journey.errors).toEqual([]);
  });

  test("a closed batch PR pauses the run, and /resume opens another attempt that goes on to the end", async () => {
    const { journey, world, alice, repository, release } = await begin({ files: byHand });
    const closed = await opened(journey, 1);
    await alice.closePull(repository, closed);
    const paused = await journey.until("it pauses", (run) => run.phase === "Paused");
    expect([paused.paused?.kind, paused.paused?.by]).toEqual(["PullClosed", "alice"]);
    await world.untilComment(release, "alice closed");
    // On the very PR that was closed.
    alice.comment(repository, closed, "/resume");
    await alice.mergePull(repository, await opened(journey, 1, 2), "squash");
    for (const batch of [2, 3]) await alice.mergePull(repository, await opened(journey, batch), "squash");
    const run = await journey.until("it ends", ended);
    expect([run.phase, run.batches[0]?.attempt, journey.errors]).toEqual(["Succeeded", 2, []]);
  });

  test("a batch PR that somebody merges while the run is paused is in flight, and the run stays paused until it is resumed", async () => {
    const { journey, alice, repository, release } = await begin({ files: byHand });
    const pull = await opened(journey, 1);
    alice.comment(repository, release, "/pause not now");
    await journey.until("it pauses", (run) => run.phase === "Paused");
    await alice.mergePull(repository, pull, "squash");
    const run = await journey.until("its clusters are confirmed", (now) => now.batches[0]?.phase === "Settled");
    expect([run.phase, run.batches.length, run.batches[0]?.merged?.by]).toEqual(["Paused", 1, "alice"]);
    alice.comment(repository, release, "/resume");
    await opened(journey, 2);
    expect(journey.errors).toEqual([]);
  });

  test("a pin edited by hand mid-run pauses it as drift, naming the commit", async () => {
    const { journey, world, alice, repository, release } = await begin({ files: byHand });
    await alice.mergePull(repository, await opened(journey, 1), "squash");
    await opened(journey, 2);
    const commit = await setOnMain(journey, "eu-west-1-a", "v1.4.2", "v1.4.1");
    const paused = await journey.until("it pauses", (run) => run.phase === "Paused");
    expect(paused.paused?.kind).toBe("Drift");
    expect(paused.why).toMatchObject({ code: "PIN_DRIFT", by: { commit } });
    await world.untilComment(release, commit.slice(0, 10));
    expect(journey.errors).toEqual([]);
  });

  test("a branch of our name that somebody made before us never gets a PR, and the run says so", async () => {
    journey = await startJourney({ files: short() });
    const { world } = journey;
    const mallory = world.github.actAs("alice");
    const branch = "stagecoach-run/my-app/1/1-1-1";
    await mallory.push(world.repository, { branch, files: { "apps/my-app/evil.yaml": "a: 1\n" }, message: "first" });
    const release = await journey.release();
    const paused = await journey.until("it pauses", (run) => run.phase === "Paused");
    expect(paused.why).toMatchObject({ code: "BRANCH_TAKEN", branch });
    await world.untilComment(release, branch);
    expect(paused.batches[0]?.pull).toBeUndefined();
    expect([...journey.versions().values()]).not.toContain("v1.4.2");
    await mallory.deleteBranch(world.repository, branch);
    mallory.comment(world.repository, release, "/resume");
    const run = await journey.until("it ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
  });

  test("a newer release merged mid-run supersedes it: its PRs are closed, and every cluster gets the newer one", async () => {
    const { journey, world, release } = await begin({ files: short({ bake: "24h" }) });
    await journey.until("the canary bakes", (run) => run.batches[0]?.phase === "Baking");
    await journey.release("v1.4.3");
    await journey.until("the next run bakes", (run) => run.number === 2 && run.batches[0]?.phase === "Baking");
    await world.untilComment(release, "Superseded");
    expect([journey.versions().get("eu-west-1-a"), journey.versions().get("us-east-1-a")]).toEqual(["v1.4.3", "v1.4.1"]);
    expect(journey.errors).toEqual([]);
  });
});

describe("commands", () => {
  test("/skip leaves a cluster out, /requeue puts one to its stage's end, /promote ends a bake", async () => {
    const { journey, alice, repository, release } = await begin({ files: short({ bake: "24h" }) });
    await journey.until("the canary bakes", bakes(1));
    alice.comment(repository, release, "/skip us-east-1-a\n/requeue us-east-1-b\n/promote");
    // Both clusters of the second batch, which was opened ahead, are gone from it: the third is the next.
    const next = await journey.until("the next batch bakes", (run) => run.batches[2]?.phase === "Baking");
    expect(next.commands.map((command) => command.outcome)).toEqual(["done", "done", "done"]);
    expect([next.batches[1]?.why.code, next.batches[1]?.merged]).toEqual(["ALL_LEFT_OUT", undefined]);
    expect(next.batches[2]?.targets.map((target) => target.cluster)).toEqual(["hub/us-east-1-c", "hub/us-east-1-d"]);
    for (const number of [3, 4]) {
      const now = await journey.until(`batch ${number} bakes, or all is done`, (run) => ended(run) || bakes(number)(run));
      if (ended(now)) break;
      alice.comment(repository, release, "/promote");
      await journey.until(`batch ${number} settles`, (run) => run.batches[number - 1]?.phase === "Settled");
    }
    const run = await journey.until("it ends", ended);
    expect([run.phase, run.batches.at(-1)?.kind, journey.errors]).toEqual(["Succeeded", "CatchUp", []]);
    const versions = journey.versions();
    expect(SHORT_CLUSTERS.map((cluster) => versions.get(cluster))).toEqual(["v1.4.2", "v1.4.2", "v1.4.1", "v1.4.2", "v1.4.2", "v1.4.2"]);
  });

  test("/abort closes the open PR and ends the run; what is updated stays; what is said on its PRs later is answered", async () => {
    const { journey, world, alice, repository, release } = await begin({ files: byHand });
    const first = await opened(journey, 1);
    await alice.mergePull(repository, first, "squash");
    const pull = await opened(journey, 2);
    alice.comment(repository, release, "/abort wrong version");
    const run = await journey.until("it ends", ended);
    expect([run.phase, journey.versions().get("eu-west-1-a"), journey.versions().get("us-east-1-a")]).toEqual([
      "Aborted",
      "v1.4.2",
      "v1.4.1",
    ]);
    const answer = await fetch(`${world.github.url}/repos/${repository}/pulls/${pull}`, {
      headers: { authorization: `token ${world.github.token("alice")}` },
    });
    expect(await answer.json()).toMatchObject({ state: "closed", merged: false });
    await world.untilComment(release, "**Aborted**");
    // Said on a pull request of a run that is over, it is heard all the same, and answered.
    alice.comment(repository, first, "/promote");
    await world.untilComment(first, "un has ended: Aborted");
    expect(journey.errors).toEqual([]);
  });

  test("a reader, a bot, an edited comment and a quote change nothing", async () => {
    const { journey, world, alice, repository, release } = await begin({ files: byHand });
    const harmless = alice.comment(repository, release, "looks good");
    await alice.mergePull(repository, await opened(journey, 1), "squash");
    await opened(journey, 2);
    world.github.collaborator(repository, "renovate[bot]", "admin");
    world.github.collaborator(repository, "mallory", "read");
    alice.editComment(repository, harmless, "/abort");
    world.github.actAs("renovate[bot]").comment(repository, release, "/abort");
    alice.comment(repository, release, "> /abort\n\nshould we?");
    world.github.actAs("mallory").comment(repository, release, "/abort");
    await world.untilComment(release, "needs write permission");
    // Read after all of those: what they could do they have done.
    alice.comment(repository, release, "/pause lunch");
    const run = await journey.until("it pauses", (now) => now.phase === "Paused");
    expect([run.paused?.kind, run.commands.map((command) => `${command.actor} ${command.text}`)]).toEqual([
      "Command",
      ["alice /pause lunch"],
    ]);
    expect(journey.errors).toEqual([]);
  });

  test("a command found more than 15 minutes after it was written changes nothing, and is told so; a late /pause still pauses", async () => {
    const { journey, world, alice, repository, release } = await begin({ files: byHand });
    await opened(journey, 1);
    await journey.stop();
    alice.comment(repository, release, "/skip us-east-1-a");
    alice.comment(repository, release, "/pause late");
    await new Promise<void>((resolve) => world.clock.after(16 * 60_000, resolve));
    await journey.start();
    const run = await journey.until("it pauses", (now) => now.phase === "Paused");
    expect(run.skipped).toEqual([]);
    expect(run.commands.map(({ text, outcome, message }) => `${text}: ${outcome} ${message.code}`)).toEqual([
      "/pause late: done PAUSE_DONE",
      "/skip us-east-1-a: refused COMMAND_TOO_LATE",
    ]);
    expect(journey.errors).toEqual([]);
  });
});
