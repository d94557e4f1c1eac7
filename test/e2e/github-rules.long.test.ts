import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { causesOf, hasCode } from "../../src/core/base/reason.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import type { CommitSigning } from "../../src/surfaces/server/commits.ts";
import { type GitHubPage, githubPage } from "../support/github-page.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

/** One world, one release after the other, each batch under another rule of GitHub's. */
let journey: Journey;
let page: GitHubPage;
let signing: CommitSigning = { kind: "github" };

const SET = "appsets/my-app-set.yaml";
const CI = "ci/test";

beforeAll(async () => {
  const files = short();
  journey = await startJourney({
    files(all) {
      files(all);
      all.set(".github/CODEOWNERS", `${SET} @carol\n`);
    },
    signing: () => signing,
  });
  page = githubPage(journey.world);
  journey.world.github.settings(journey.world.repository, { deleteBranchOnMerge: true });
});

afterAll(() => journey.close());

type RulesetInput = Parameters<Journey["world"]["github"]["ruleset"]>[1];

const CI_IS_REQUIRED = {
  type: "required_status_checks" as const,
  parameters: { strict_required_status_checks_policy: false, required_status_checks: [{ context: CI }] },
};

function ruleset(rules: RulesetInput["rules"], bypass: NonNullable<RulesetInput["bypass"]> = []): () => void {
  const { github, repository } = journey.world;
  const id = github.ruleset(repository, { rules, bypass });
  return () => void github.removeRuleset(repository, id);
}

/** A batch of a run, as soon as this holds of it. */
async function batchOf(run: number, batch: number, what: string, holds: (one: Run["batches"][number], run: Run) => boolean) {
  const now = await journey.until(`batch ${batch} of run ${run} ${what}`, (one) => {
    const found = one.batches[batch - 1];
    return one.number === run && found !== undefined && holds(found, one);
  });
  const found = now.batches[batch - 1];
  if (found?.pull === undefined) throw new Error("the batch has no PR");
  return { ...found, pull: found.pull, run: now };
}

const isOpen = (attempt: number) => (one: Run["batches"][number]) =>
  one.phase === "Open" && one.attempt === attempt && one.pull !== undefined;
const waitsFor = (code: string) => (one: Run["batches"][number]) => one.pull !== undefined && hasCode(one.why, code);
const needs = (kind: string) => (one: Run["batches"][number]) =>
  one.pull !== undefined && causesOf(one.why).some((reason) => JSON.stringify(reason["needs"] ?? []).includes(`"${kind}"`));
const isMerged = (one: Run["batches"][number]) => one.merged !== undefined;

/** By carol, over GraphQL: the REST API has no route for it. */
async function draft(pull: number, change: "convertPullRequestToDraft" | "markPullRequestReadyForReview"): Promise<void> {
  const { github } = journey.world;
  const { node_id: id } = (await page.get(`/pulls/${pull}`)) as { node_id: string };
  const query = `mutation { ${change}(input: { pullRequestId: ${JSON.stringify(id)} }) { clientMutationId } }`;
  const answer = await fetch(`${github.url}/graphql`, {
    method: "POST",
    headers: { authorization: `token ${github.token("carol")}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  expect(((await answer.json()) as { errors?: unknown }).errors).toBeUndefined();
}

describe("what a branch's rules ask of a batch", () => {
  test("code owners, the last push, signed commits, and a branch closed to all but those who may bypass it", async () => {
    const { world } = journey;
    const { github, repository } = world;
    const [alice, bob, carol] = ["alice", "bob", "carol"].map((login) => github.actAs(login));
    if (alice === undefined || bob === undefined || carol === undefined) throw new Error("nobody is there");
    const pull = await journey.release();
    const noReviews = ruleset([
      {
        type: "pull_request",
        parameters: {
          required_approving_review_count: 0,
          dismiss_stale_reviews_on_push: false,
          require_code_owner_review: true,
          require_last_push_approval: true,
          required_review_thread_resolution: false,
        },
      },
    ]);
    const first = await batchOf(1, 1, "waits for the last push", needs("lastPush"));
    await bob.review(repository, first.pull.number, "APPROVE");
    await batchOf(1, 1, "waits for a code owner", needs("codeOwners"));
    await carol.review(repository, first.pull.number, "APPROVE");
    await batchOf(1, 1, "is merged", isMerged);
    noReviews();

    // Our commits are Verified, so that a rule that wants them signed lets them through; the merged branch deletes itself.
    const signed = ruleset([{ type: "required_signatures" }]);
    const second = await batchOf(1, 2, "is merged", isMerged);
    const { commit } = (await page.get(`/commits/${second.pull.head}`)) as { commit: { verification: { verified: boolean } } };
    expect(commit.verification.verified).toBe(true);
    await expect(page.get(`/git/ref/heads/${second.branch}`)).rejects.toThrow("404");
    signed();

    // Nobody may update the branch: a person has to change that, and /resume goes on.
    const shut = ruleset([{ type: "update" }]);
    const third = await batchOf(1, 3, "is refused", (one, run) => one.pull !== undefined && run.phase === "Paused");
    expect(third.run.why).toMatchObject({ code: "GITHUB_REFUSES", message: expect.stringContaining("Cannot update this protected ref") });
    expect(third.run.next?.what).toMatchObject({ code: "ASK_GITHUB_CHANGE", change: "ruleset" });
    await world.untilComment(pull, "make the App a bypass actor");
    shut();
    const open = ruleset([{ type: "update" }], [{ type: "Integration", id: github.app.id, mode: "pull_request" }]);
    alice.comment(repository, pull, "/resume");
    const run = await journey.until("it ends", (one) => one.number === 1 && ended(one));
    expect([run.phase, run.batches.map(({ attempt }) => attempt), journey.errors]).toEqual(["Succeeded", [1, 1, 1], []]);
    open();
  });

  test("a base that must be up to date: built again when it moves; and archived for a while the run only stands still", async () => {
    const { github, repository } = journey.world;
    await journey.release("v1.4.3");
    const strict = { strict_required_status_checks_policy: true, required_status_checks: [{ context: CI }] };
    const lift = ruleset([{ type: "required_status_checks", parameters: strict }]);
    const first = await batchOf(2, 1, "is open", isOpen(1));
    await github.actAs("alice").push(repository, { branch: "main", files: { "docs/note.md": "moved again\n" }, message: "a note" });
    await page.status(first.pull.head, CI, "success");
    const again = await batchOf(2, 1, "is built again", isOpen(2));
    const old = await page.pull(first.pull.number);
    expect([old.state, old.merged, old.head.ref]).toEqual(["closed", false, first.branch]);
    // The newer attempt's branch is there, the older one's is not.
    await expect(page.get(`/git/ref/heads/${again.branch}`)).resolves.toBeDefined();
    await expect(page.get(`/git/ref/heads/${first.branch}`)).rejects.toThrow("404");
    github.settings(repository, { archived: true });
    lift();
    // Its run stands still, or the repository is not served at all, whichever is noticed first.
    const still = () => journey.run() === undefined || /archived/i.test(JSON.stringify(journey.run()?.why));
    for (let n = 0; !still() && n < 300; n++) await new Promise<void>((resolve) => journey.world.clock.after(2000, resolve));
    expect([still(), (await page.pull(again.pull.number)).merged]).toEqual([true, false]);
    github.settings(repository, { archived: false });
    const run = await journey.until("it ends", (one) => one.number === 2 && ended(one));
    expect(run.phase).toBe("Succeeded");
    // A comment may be refused before anybody knows why.
    expect(journey.errors.filter((one) => !/archived|a round failed/.test(JSON.stringify(one)))).toEqual([]);
    journey.errors.length = 0;
  });

  test("a draft, a base that moved, a conflict, and somebody who merges what is halted", async () => {
    const { github, repository } = journey.world;
    const [alice, bob] = [github.actAs("alice"), github.actAs("bob")];
    const release = await journey.release("v1.4.4");
    const checked = ruleset([CI_IS_REQUIRED]);
    const first = await batchOf(3, 1, "is open", isOpen(1));
    await draft(first.pull.number, "convertPullRequestToDraft");
    await page.status(first.pull.head, CI, "success");
    await batchOf(3, 1, "waits as a draft", waitsFor("PULL_DRAFT"));
    await draft(first.pull.number, "markPullRequestReadyForReview");
    await batchOf(3, 1, "is merged", isMerged);

    // A base that only moved is no reason to build it again; one that conflicts is.
    const second = await batchOf(3, 2, "is open", isOpen(1));
    await alice.push(repository, { branch: "main", files: { "docs/note.md": "moved\n" }, message: "a note" });
    const text = Buffer.from(((await page.get(`/contents/${SET}?ref=main`)) as { content: string }).content, "base64").toString();
    const at = text.indexOf("\n", text.indexOf("targetRevision", text.indexOf("- cluster: us-east-1-a")));
    const noted = `${text.slice(0, at)}\n            # on its way${text.slice(at)}`;
    await page.status(second.pull.head, "other", "success");
    expect((await batchOf(3, 2, "is as it was", isOpen(1))).pull.number).toBe(second.pull.number);
    await alice.push(repository, { branch: "main", files: { [SET]: noted }, message: "a remark where the batch writes" });
    const again = await batchOf(3, 2, "is built again", isOpen(2));
    expect((await page.pull(second.pull.number)).state).toBe("closed");
    await page.status(again.pull.head, CI, "success");
    await batchOf(3, 2, "is merged", isMerged);
    expect([...journey.versions()].filter(([, version]) => version === "v1.4.4").length).toBe(4);

    // Last of all, since a halt outlives its run. Halted, the gate is not passed; without the rule nothing but that stands against merging it by hand.
    const third = await batchOf(3, 3, "is open", isOpen(1));
    bob.comment(repository, release, "/halt cluster=us-east-1-c cluster=us-east-1-d a power cut");
    await batchOf(3, 3, "is halted", waitsFor("CLUSTERS_HALTED"));
    checked();
    await alice.mergePull(repository, third.pull.number, "squash");
    const early = await batchOf(3, 3, "was merged by alice", (one, run) => one.merged?.by === "alice" && run.phase === "Paused");
    expect(early.run.why).toMatchObject({ code: "MERGED_EARLY", by: "alice", because: { code: "CLUSTERS_HALTED" } });
    alice.comment(repository, release, "/resume");
    const run = await journey.until("it ends", (one) => one.number === 3 && ended(one));
    expect([run.phase, run.batches.map(({ attempt }) => attempt), journey.errors]).toEqual(["Succeeded", [1, 2, 1], []]);
  });

  test("commits that nobody signed are refused where the branch wants them signed, and the run says what to change", async () => {
    const { github, repository } = journey.world;
    await journey.stop();
    signing = { kind: "none" };
    await journey.start();
    const pull = await journey.release("v1.4.5");
    ruleset([{ type: "required_signatures" }]);
    const refused = await batchOf(4, 1, "is refused", (one, run) => one.pull !== undefined && run.phase === "Paused");
    expect(refused.run.why).toMatchObject({ code: "GITHUB_REFUSES", message: expect.stringContaining("verified signatures") });
    expect(refused.run.next?.what).toMatchObject({ code: "ASK_GITHUB_CHANGE", change: "signatures" });
    expect((await page.pull(refused.pull.number)).merged).toBe(false);
    github.actAs("alice").comment(repository, pull, "/abort");
    await journey.until("it ends", (one) => one.number === 4 && ended(one));
    expect(journey.errors).toEqual([]);
  });
});
