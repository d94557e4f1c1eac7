import { afterEach, describe, expect, test } from "vitest";
import { type AppCall, isAnchor, isContent, isJournalCommit, isWrite, noteCalls, permit } from "../support/app-calls.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney, WITH_MEMBERS } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** What is asked on behalf of a batch: not for the repository, the release's start and end, a stage's deployment, or the journal. */
function ofBatches(calls: readonly AppCall[], release: number): AppCall[] {
  const from = calls.findIndex(({ document }) => document === "ProposeBatch");
  const once = new Set<string>();
  return calls.slice(from).filter((call) => {
    const path = call.path.replace(/^\/repos\/[^/]+\/[^/]+/, "");
    if (isJournalCommit(call) || isAnchor(call)) return false;
    if (/^\/(app|installation)/.test(call.path) || path.startsWith("/deployments")) return false;
    // A resync's, the comments that open and close the run, and whether it was steered from an issue that is to be closed.
    if (
      path === "/pulls" ||
      (call.method === "GET" && /\/comments$/.test(path)) ||
      [`/issues/${release}/comments`, `/issues/${release}`].includes(path)
    )
      return false;
    // Labels are made, and ids of the repository, people and teams asked for, once.
    if (path === "" || /^\/(labels|users|orgs)\b/.test(path)) return once.size === once.add(`${call.method} ${path} ${call.name}`).size;
    return true;
  });
}

/** Labels, people and a team on every batch's PR. */
const DRESS = "delivery: { labels: [rollout, staged], reviewers: { teams: [sre], users: [carol] } }";

describe("a batch's cost", () => {
  test("over a whole journey: at most 6 calls a batch that bakes change something, 4 of them content, 5 reads, two commits in the journal, and a few calls a stage", async () => {
    const calls: AppCall[] = [];
    journey = await startJourney({
      files: short({ bake: "1m", spec: DRESS }),
      github: { onExchange: noteCalls(calls, () => journey?.world.clock.now() ?? 0) },
    });
    const { world } = journey;
    const page = githubPage(world);
    world.github.team("acme", "sre", ["bob"]);
    await permit(world, { ...WITH_MEMBERS, statuses: "read", deployments: "write" });
    // A process that has just begun records more: it may be killed in a moment.
    await new Promise<void>((resolve) => world.clock.after(60_000, resolve));
    const pull = await journey.release();
    const run = await journey.until("it ends", ended);
    await world.untilComment(pull, "**Succeeded**");
    const batches = run.batches.length;
    const mine = ofBatches(calls, pull);
    const edits = mine.filter(({ path }) => path.includes("/issues/comments/"));
    // The first and the last edit of the page are the run's, not a batch's; neither are those five minutes after another, which time makes due.
    const slow = edits.filter((call, index) => call.at - (edits[index - 1]?.at ?? call.at) >= 290_000);
    const counted = mine.filter((call) => call !== edits[0] && call !== edits.at(-1) && !slow.includes(call));
    const told = counted.map(({ method, path, document }) => document || `${method} ${path.replace(/^\/repos\/[^/]+\/[^/]+/, "")}`);
    const writes = counted.filter(isWrite);
    const journal = calls.filter(isJournalCommit).length;
    console.log(
      `${batches} batches: ${writes.length} writes, ${writes.filter(isContent).length} of them content; ${counted.length - writes.length} reads; ${journal} commits in the journal`,
    );
    expect(run.phase).toBe("Succeeded");
    // Made, merged, its gate passed and then told of the merge; the page is edited for the merge and for the bake, that people can end.
    // On a busy machine a gate is seen waiting, and edited, once more.
    expect(writes.length, told.join("\n")).toBeLessThanOrEqual(6 * batches + 2);
    expect(counted.length - writes.length, told.join("\n")).toBeLessThanOrEqual(5 * batches);
    expect(counted.filter(isContent).length, told.join("\n")).toBeLessThanOrEqual(4 * batches);
    // One with each merge, one where what a restart would begin anew was seen, and the run's adoption, start and end.
    expect(journal).toBeLessThanOrEqual(2 * batches + 3);
    expect([
      counted.filter((call) => call.document === "ProposeBatch").length,
      told.filter((one) => one.endsWith("/merge")).length,
    ]).toEqual([batches, batches]);
    const deployments = calls.filter(({ path }) => path.includes("/deployments")).length;
    expect(deployments).toBeGreaterThan(0);
    expect(deployments).toBeLessThanOrEqual(4 * run.plan.stages.length);
    const deployed = (await page.get("/deployments")) as { environment: string; task: string }[];
    expect(deployed.map(({ environment, task }) => `${environment} ${task}`).sort()).toEqual([
      "my-app/canary my-app #1",
      "my-app/us-east-1 my-app #1",
    ]);
    // What merges by itself is gone before anybody could look: nobody is asked, and its gate was passed.
    for (const { pull: one } of run.batches) {
      const { labels, requested_teams: teams } = await page.pull(one?.number ?? 0);
      expect([labels, teams]).toEqual([[], []]);
    }
    const branches = async () => (await page.get("/git/matching-refs/heads/stagecoach-run/")) as unknown[];
    await askUntil(journey.world.clock, "branches of merged batches are gone", branches, (left) => left.length === 0);
    for (const { pull: one } of run.batches) expect(await page.check(one?.head ?? "", "stagecoach/gate")).toMatch(/^success: was merged/);
  });
});
