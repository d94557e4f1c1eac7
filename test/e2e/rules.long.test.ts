import { afterEach, describe, expect, test } from "vitest";
import { causesOf, hasCode } from "../../src/core/base/reason.ts";
import { epoch } from "../../src/core/base/time.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { type GitHubPage, githubPage, normalised } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const GATE = "stagecoach/gate";
const CI = "ci/test";

function ruleset(checks: string[], approvals: number) {
  const pull = {
    required_approving_review_count: approvals,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
  };
  return {
    rules: [
      { type: "pull_request" as const, parameters: pull },
      {
        type: "required_status_checks" as const,
        parameters: { strict_required_status_checks_policy: false, required_status_checks: checks.map((context) => ({ context })) },
      },
    ],
  };
}

async function opened({ until }: Journey, batch: number, attempt = 1): Promise<{ number: number; head: string }> {
  const run = await until(`batch ${batch} is open`, (now) => {
    const one = now.batches[batch - 1];
    return one?.phase === "Open" && one.attempt === attempt && one.pull !== undefined;
  });
  const pull = run.batches[batch - 1]?.pull;
  if (pull === undefined) throw new Error("an open batch has a PR");
  return pull;
}

/** As soon as the check says this; asked again whenever the run was looked at. */
async function untilCheck(now: Journey, page: GitHubPage, sha: string, holds: (said: string) => boolean): Promise<string> {
  for (let n = 0; n < 600; n++) {
    const said = await page.check(sha, GATE);
    if (said !== undefined && holds(said)) return said;
    await new Promise<void>((resolve) => now.world.clock.after(2000, resolve));
  }
  throw new Error(`the gate says ${await page.check(sha, GATE)}`);
}

/** Reports CI's success on every head and merge group there is. */
async function ci(page: GitHubPage, run: Run | undefined, green: Set<string>): Promise<void> {
  const groups = (await page.get("/git/matching-refs/heads/gh-readonly-queue/")) as { object: { sha: string } }[];
  const heads = run?.batches.flatMap((batch) => (batch.phase === "Open" && batch.pull !== undefined ? [batch.pull.head] : [])) ?? [];
  for (const sha of [...groups.map(({ object }) => object.sha), ...heads]) {
    if (green.has(sha)) continue;
    green.add(sha);
    await page.status(sha, CI, "success");
  }
}

const whyHolds =
  (code: string, text = "") =>
  (run: Run) =>
    run.batches.some((batch) => causesOf(batch.why).some((one) => one.code === code && JSON.stringify(one).includes(text)));

describe("merge: Manual on a branch with required checks and a required review", () => {
  test("a person's journey through it: what each batch waits for is said, and only what the rules allow is merged", async () => {
    const delivery = "delivery: { merge: Manual, labels: [rollout], reviewers: { users: [bob], teams: [ghosts] } }";
    journey = await startJourney({ files: short({ spec: delivery }) });
    const { world } = journey;
    const { github, repository } = world;
    const page = githubPage(world);
    const [alice, bob] = [github.actAs("alice"), github.actAs("bob")];
    const release = await journey.release();
    github.ruleset(repository, ruleset([GATE, CI], 1));

    // Batch 1: its gate is green, and it is a person's turn.
    const first = await opened(journey, 1);
    await untilCheck(journey, page, first.head, (said) => said.startsWith("success"));
    await world.untilComment(release, "no team ghosts");
    const dressed = await page.pull(first.number);
    expect([dressed.labels.map(({ name }) => name), dressed.requested_reviewers.map(({ login }) => login)]).toEqual([["rollout"], ["bob"]]);
    expect(normalised(dressed.body)).toMatchSnapshot("body of a batch's PR");

    // /promote merges it once GitHub allows it: a check that nobody reports is named, and after 10 minutes what to do.
    alice.comment(repository, first.number, "/promote");
    await journey.until("the silent check is named", whyHolds("GITHUB_WANTS", CI));
    const silent = await journey.until("it says what to do", (run) => hasCode(run.batches[0]?.next?.what, "NEXT_CHECK_REPORTS"));
    expect(silent.batches[0]?.phase).toBe("Open");
    await page.status(first.head, CI, "success");
    await journey.until("the review is named", whyHolds("GITHUB_WANTS", '"reviews"'));
    await bob.review(repository, first.number, "APPROVE");
    await journey.until("it is merged", (run) => run.batches[0]?.merged !== undefined);
    expect((await page.pull(first.number)).merged_by?.login).toBe(github.app.login);

    // Batch 2: fenced while paused, by a check that nobody may merge past; then a person merges it.
    const second = await opened(journey, 2);
    await page.status(second.head, CI, "success");
    await bob.review(repository, second.number, "APPROVE");
    await untilCheck(journey, page, second.head, (said) => said.startsWith("success"));
    alice.comment(repository, release, "/pause lunch");
    const fenced = await untilCheck(journey, page, second.head, (said) => said.startsWith("failure"));
    expect(fenced).toBe("failure: must not be merged now: @alice paused the run: lunch");
    await expect(alice.mergePull(repository, second.number, "squash")).rejects.toThrow(GATE);
    alice.comment(repository, release, "/resume");
    await untilCheck(journey, page, second.head, (said) => said.startsWith("success"));
    await alice.mergePull(repository, second.number, "squash");

    // Batch 3: closed by a person, opened again by another: closed again, and only /resume brings a new one.
    const third = await opened(journey, 3);
    await alice.closePull(repository, third.number);
    await journey.until("it pauses", (run) => run.paused?.kind === "PullClosed");
    await world.untilComment(release, "waits for a person");
    await bob.reopenPull(repository, third.number);
    await untilCheck(journey, page, third.head, (said) =>
      said.includes("must not be merged: it belongs to run my-app #1, which is paused"),
    );
    for (let n = 0; (await page.pull(third.number)).state === "open" && n < 100; n++)
      await new Promise<void>((resolve) => world.clock.after(2000, resolve));
    expect((await page.pull(third.number)).state).toBe("closed");
    alice.comment(repository, release, "/resume");
    const again = await opened(journey, 3, 2);
    await page.status(again.head, CI, "success");
    await bob.review(repository, again.number, "APPROVE");
    await untilCheck(journey, page, again.head, (said) => said.startsWith("success"));
    await bob.mergePull(repository, again.number, "squash");
    const run = await journey.until("it ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    const summary = await world.untilComment(release, "Who did what");
    expect(normalised(summary)).toMatchSnapshot("closing summary");
    expect(normalised(await world.untilComment(release, "**Succeeded**"))).toMatchSnapshot("live page at the end");
    expect((await page.comments(release)).filter(({ body }) => body.includes("waits for a person")).length).toBe(1);

    // Somebody's own PR has nothing to wait for.
    await alice.push(repository, { branch: "docs", files: { "README.md": "hello\n" }, message: "docs" });
    const own = await alice.openPull(repository, { head: "docs", title: "Docs" });
    const { sha } = (await page.pull(own)).head;
    expect(await untilCheck(journey, page, sha, (said) => said.startsWith("success"))).toBe("success: no batch of a run");
  });
});

describe("a branch that merges through its queue", () => {
  test("every batch goes through it; the gate is judged on its merge group; /pause takes a PR out", async () => {
    journey = await startJourney({ files: short() });
    const { world } = journey;
    const { github, repository } = world;
    const page = githubPage(world);
    const alice = github.actAs("alice");
    const release = await journey.release();
    const queue = {
      check_response_timeout_minutes: 360,
      grouping_strategy: "ALLGREEN" as const,
      max_entries_to_build: 5,
      max_entries_to_merge: 5,
      merge_method: "SQUASH" as const,
      min_entries_to_merge: 1,
      min_entries_to_merge_wait_minutes: 0,
    };
    const { rules } = ruleset([GATE, CI], 0);
    github.ruleset(repository, { rules: [...rules.slice(1), { type: "merge_queue", parameters: queue }] });

    const first = await opened(journey, 1);
    await page.status(first.head, CI, "success");
    await journey.until("it is in the queue", whyHolds("PULL_QUEUED"));
    alice.comment(repository, release, "/pause not now");
    await journey.until("it is out of the queue", (run) => run.phase === "Paused" && run.batches[0]?.intention === undefined);
    expect((await page.pull(first.number)).merged).toBe(false);
    // From now on CI says yes to every head and every merge group.
    const green = new Set<string>();
    journey.bot.onChange(() => void ci(page, journey?.run(), green).catch(() => undefined));
    alice.comment(repository, release, "/resume");
    const run = await journey.until("it ends", ended);
    expect([run.phase, run.batches.map(({ attempt }) => attempt), journey.errors]).toEqual(["Succeeded", [1, 1, 1], []]);
  });
});

describe("a branch that requires the gate, whose pull requests GitHub calls blocked for long after it is green", () => {
  test("every batch merges as soon as its gate is green, not when GitHub says that it may be", async () => {
    journey = await startJourney({ files: short() });
    const { github, repository } = journey.world;
    await journey.release();
    github.ruleset(repository, { rules: ruleset([GATE], 0).rules.slice(1) });
    github.faults.stateLateMs = 11.5 * 60_000;
    const run = await journey.until("it ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    const waits = run.batches.map(({ merged, pull }) => epoch(merged?.at ?? "") - epoch(pull?.openedAt ?? ""));
    // The first is opened when its turn comes; the others ahead of theirs.
    expect(waits[0]).toBeLessThan(60_000);
  });
});
