import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { openGitHubForge } from "./index.ts";
import { type WatchedForge, watchedForge } from "./testing/forge.ts";

const PERMISSIONS = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "read",
  members: "read",
  merge_queues: "write",
} as const;
const QUEUE = {
  check_response_timeout_minutes: 60,
  grouping_strategy: "ALLGREEN",
  max_entries_to_build: 5,
  max_entries_to_merge: 5,
  merge_method: "SQUASH",
  min_entries_to_merge: 1,
  min_entries_to_merge_wait_minutes: 0,
} as const;

let github: TestGitHub;
let watched: WatchedForge;
let next = 0;

beforeAll(async () => {
  github = await testGitHub({ app: { permissions: PERMISSIONS } });
  github.sim.team("acme", "sre", ["wim"]);
  github.sim.collaborator(github.repository, "mia", "maintain");
});
afterAll(() => github.sim.close());
beforeEach(() => {
  watched = watchedForge(github);
});

async function openPull() {
  const branch = `stagecoach-run/payments/1/1-${++next}-1`;
  const head = await github.branch(branch, { [`file-${next}.txt`]: "x\n" });
  const pull = await watched.forge.createPull({ branch, base: "main", title: "A batch", body: "x", labels: [] });
  return { number: pull.number, head, branch };
}

async function withPermissions<T>(permissions: Record<string, "read" | "write">, work: () => Promise<T>): Promise<T> {
  github.sim.setPermissions(github.installationId, permissions);
  await watched.forge.gitCredentials({ renew: true });
  try {
    return await work();
  } finally {
    github.sim.setPermissions(github.installationId, PERMISSIONS);
  }
}

describe("teams", () => {
  it("are asked for who is in them now", async () => {
    const { forge } = watched;
    expect(await Promise.all([forge.inTeam("sre", "wim"), forge.inTeam("acme/sre", "wim"), forge.inTeam("sre", "rob")])).toEqual([
      true,
      true,
      false,
    ]);
    github.sim.team("acme", "sre", ["wim", "rob"]);
    expect(await forge.inTeam("sre", "rob")).toBe(true);
  });

  it("one that is not there, or may not be seen, is not known: never a no", async () => {
    expect(await watched.forge.inTeam("nowhere", "wim")).toBeUndefined();
    const { members: _members, ...without } = PERMISSIONS;
    expect(await withPermissions(without, () => watched.forge.inTeam("sre", "rob"))).toBeUndefined();
  });

  it("a GitHub in trouble is no answer", async () => {
    const person = openGitHubForge({ octokit: github.octokit("wim"), repository: github.repository });
    github.sim.faults.request = () => ({ status: 502 });
    const failure = await person.inTeam("sre", "wim").catch((error: unknown) => error);
    delete github.sim.faults.request;
    expect(failure).toMatchObject({ kind: "Unavailable" });
  });
});

describe("who made a pull request", () => {
  it("is whom GitHub links its commits to and who pushed them, whatever name the commits bear; theirs are known to be nobody's", async () => {
    const { repository } = github;
    const [mia, wim] = [github.sim.actAs("mia"), github.sim.actAs("wim")];
    github.sim.collaborator(repository, "zoe", "write");
    const push = (as: typeof mia, n: number, author?: { name: string; email: string }) =>
      as.push(repository, { branch: "release-people", files: { [`people-${n}`]: "1\n" }, message: "x", ...(author && { author }) });
    await push(mia, 1);
    const number = await mia.openPull(repository, { head: "release-people", title: "Release" });
    const typed = await push(wim, 2, { name: "Nobody", email: "nobody@example.com" });
    const spoofed = await push(github.sim.actAs("zoe"), 3, { name: "mia", email: "1+mia@users.noreply.github.com" });
    const pull = await watched.forge.pull(number);
    if (pull === null) throw new Error("no pull request");
    const people = await watched.forge.pullPeople?.(pull);
    expect({ ...people, pushers: people?.pushers?.sort() }).toEqual({ linked: ["mia"], unlinked: [typed], pushers: ["mia", "wim", "zoe"] });
    // Where GitHub does not say who pushed, a commit that is not signed may be anybody's.
    const untold = await watched.forge.pullPeople?.({ ...pull, headRepository: null });
    expect(untold).toEqual({ linked: ["mia"], unlinked: expect.arrayContaining([typed, spoofed]) });
    expect(untold?.unlinked).toHaveLength(3);
  });
});

describe("what people wrote", () => {
  it("is known to be edited, also within the second in which it was written, and whoever did it", async () => {
    const { number } = await openPull();
    const [mia, wim] = [github.sim.actAs("mia"), github.sim.actAs("wim")];
    const ids = ["Looks fine", "/pause", "/abort"].map((text) => mia.comment(github.repository, number, text));
    const reviews = [
      await mia.review(github.repository, number, "COMMENT", "Looks fine"),
      await mia.review(github.repository, number, "COMMENT", "/pause"),
    ];
    wim.editComment(github.repository, ids[0] ?? 0, "/promote");
    wim.editReview(github.repository, number, reviews[0] ?? 0, "/promote");
    const { forge } = watched;
    const all = [...(await forge.comments(number)), ...((await forge.reviewBodies?.(number)) ?? [])];
    expect(all.filter(({ review }) => review !== true).map(({ createdAt, updatedAt }) => createdAt === updatedAt)).toEqual([
      true,
      true,
      true,
    ]);
    mia.deleteComment(github.repository, ids[2] ?? 0);
    // Whether it is gone or not there yet nobody can tell: it is asked for again for as long as it is listed.
    await expect(forge.unedited(all)).rejects.toMatchObject({ kind: "NotFound" });
    const there = all.filter(({ id }) => id !== ids[2]);
    expect((await forge.unedited(there)).map(({ id }) => id)).toEqual([ids[1], reviews[1]]);
    // As it was read before somebody edited it.
    wim.editComment(github.repository, ids[1] ?? 0, "/abort");
    expect(await forge.unedited(all.filter(({ id }) => id === ids[1]))).toEqual([]);
    expect(await forge.unedited([])).toEqual([]);
  });
});

describe("what the base branch asks", () => {
  it("is nothing where there are no rules", async () => {
    expect(await watched.forge.branchRules("main")).toEqual({
      requiredChecks: [],
      strict: false,
      approvals: 0,
      codeOwners: false,
      lastPushApproval: false,
      mergeQueue: false,
      signatures: false,
    });
    expect(await watched.forge.branchRules("not-there-yet")).toMatchObject({ requiredChecks: [] });
  });

  it("is the sum of all active rulesets", async () => {
    const pull = { dismiss_stale_reviews_on_push: false, required_review_thread_resolution: false };
    const rulesets = [
      github.sim.ruleset(github.repository, {
        rules: [
          {
            type: "required_status_checks",
            parameters: {
              strict_required_status_checks_policy: true,
              required_status_checks: [{ context: "ci", integration_id: 42 }, { context: "lint" }],
            },
          },
          {
            type: "pull_request",
            parameters: {
              ...pull,
              required_approving_review_count: 1,
              require_code_owner_review: true,
              require_last_push_approval: false,
              allowed_merge_methods: ["squash", "merge"],
            },
          },
          { type: "required_signatures" },
        ],
      }),
      github.sim.ruleset(github.repository, {
        source: "Organization",
        rules: [
          {
            type: "pull_request",
            parameters: { ...pull, required_approving_review_count: 2, require_code_owner_review: false, require_last_push_approval: true },
          },
          { type: "required_linear_history" },
          { type: "merge_queue", parameters: QUEUE },
        ],
      }),
      github.sim.ruleset(github.repository, {
        enforcement: "evaluate",
        rules: [
          {
            type: "pull_request",
            parameters: {
              ...pull,
              required_approving_review_count: 6,
              require_code_owner_review: false,
              require_last_push_approval: false,
            },
          },
        ],
      }),
    ];
    const rules = await watched.forge.branchRules("main");
    for (const id of rulesets) github.sim.removeRuleset(github.repository, id);
    expect(rules).toEqual({
      requiredChecks: [{ context: "ci", app: 42 }, { context: "lint" }],
      strict: true,
      approvals: 2,
      codeOwners: true,
      lastPushApproval: true,
      mergeQueue: true,
      signatures: true,
      methods: ["squash"],
    });
  });

  it("shows classic protection, too, without administering the repository", async () => {
    github.sim.protect(github.repository, "main", { requiredChecks: ["build"], approvals: 1, codeOwners: true, signatures: true });
    const rules = await watched.forge.branchRules("main");
    github.sim.protect(github.repository, "main", {});
    expect(rules).toMatchObject({ requiredChecks: [{ context: "build" }], approvals: 1, codeOwners: true, signatures: true });
  });

  it("is narrowed by the merge methods that the repository allows", async () => {
    github.sim.settings(github.repository, { allowMerge: false });
    const rules = await watched.forge.branchRules("main");
    github.sim.settings(github.repository, { allowMerge: true });
    expect(rules.methods).toEqual(["squash", "rebase"]);
  });
});

describe("reviews and checks", () => {
  it("reviews come oldest first, with the head they were given for, bots marked", async () => {
    const { number, head } = await openPull();
    await github.sim.actAs("wim").review(github.repository, number, "REQUEST_CHANGES", "no");
    github.clock.step(1000);
    await github.sim.actAs("wim").review(github.repository, number, "APPROVE");
    await github.octokit("mia").rest.pulls.createReview({ ...github.place, pull_number: number, body: "still being written" });
    expect(await watched.forge.reviews(number)).toEqual([
      { author: "wim", authorIsBot: false, state: "CHANGES_REQUESTED", head, at: "2026-11-21T10:00:00.000Z" },
      { author: "wim", authorIsBot: false, state: "APPROVED", head, at: "2026-11-21T10:00:01.000Z" },
    ]);
  });

  it("checks and statuses are one list, the newest of each name", async () => {
    const { head } = await openPull();
    const { forge } = watched;
    await forge.putCheck({ name: "stagecoach/gate", head, status: "queued", title: "x", summary: "x" });
    const wim = github.octokit("wim");
    for (const state of ["pending", "failure"] as const)
      await wim.rest.repos.createCommitStatus({ ...github.place, sha: head, state, context: "ci/old", target_url: "https://ci.example/1" });
    const seen = await forge.checksOf(head);
    expect(seen.map(({ name, state, detail, url }) => ({ name, state, detail, url: url?.replace(/^http:.*/, "here") }))).toEqual([
      { name: "stagecoach/gate", state: "pending", detail: "queued", url: "here" },
      { name: "ci/old", state: "failure", detail: "failure", url: "https://ci.example/1" },
    ]);
  });

  it("where statuses may not be read, the checks are", async () => {
    const { head } = await openPull();
    await watched.forge.putCheck({ name: "stagecoach/gate", head, status: "completed", conclusion: "neutral", title: "x", summary: "x" });
    const { statuses: _statuses, ...without } = PERMISSIONS;
    const seen = await withPermissions(without, () => watched.forge.checksOf(head));
    expect(seen.map(({ name, state }) => [name, state])).toEqual([["stagecoach/gate", "neutral"]]);
  });
});

describe("the merge queue", () => {
  it("takes a PR once, shows it, and lets it go", async () => {
    const id = github.sim.ruleset(github.repository, {
      rules: [
        { type: "merge_queue", parameters: QUEUE },
        {
          type: "required_status_checks",
          parameters: { strict_required_status_checks_policy: false, required_status_checks: [{ context: "ci" }] },
        },
      ],
    });
    const { number, head } = await openPull();
    const merge = { number, head, base: "main", method: "squash", title: "t", message: "m" } as const;
    await github.octokit("wim").rest.repos.createCommitStatus({ ...github.place, sha: head, state: "success", context: "ci" });
    expect(await watched.forge.mergePull(merge)).toMatchObject({ kind: "queueOnly" });
    expect(await watched.forge.enqueuePull(number, "0".repeat(40), "main")).toMatchObject({ kind: "headMoved" });
    expect(await watched.forge.enqueuePull(number, head, "main")).toMatchObject({ kind: "queued" });
    expect(await watched.forge.enqueuePull(number, head, "main")).toMatchObject({ kind: "queued" });
    expect(await watched.forge.mergeQueue?.("main")).toMatchObject([{ pull: number, position: 1 }]);
    await watched.forge.dequeuePull(number);
    await watched.forge.dequeuePull(number);
    expect(await watched.forge.mergeQueue?.("main")).toEqual([]);
    github.sim.removeRuleset(github.repository, id);
  });

  it("an answer that was lost is found out, not asked for again", async () => {
    const id = github.sim.ruleset(github.repository, {
      rules: [
        { type: "merge_queue", parameters: QUEUE },
        {
          type: "required_status_checks",
          parameters: { strict_required_status_checks_policy: false, required_status_checks: [{ context: "ci" }] },
        },
      ],
    });
    const { number, head } = await openPull();
    await github.octokit("wim").rest.repos.createCommitStatus({ ...github.place, sha: head, state: "success", context: "ci" });
    let lost = 1;
    github.sim.faults.request = ({ path }) => (path === "/graphql" && lost-- > 0 ? { status: 502, afterwards: true } : undefined);
    expect(await watched.forge.enqueuePull(number, head, "main")).toMatchObject({ kind: "queued" });
    delete github.sim.faults.request;
    expect(watched.writes().slice(-2)).toEqual(["POST /graphql", "POST /graphql"]);
    await watched.forge.dequeuePull(number);
    github.sim.removeRuleset(github.repository, id);
  });

  it("a branch without one has none, and nothing has to be taken out", async () => {
    const { number, head } = await openPull();
    expect(await watched.forge.mergeQueue?.("main")).toEqual([]);
    await watched.forge.dequeuePull(number);
    await expect(watched.forge.dequeuePull(99_999)).rejects.toMatchObject({ kind: "NotFound" });
    expect((await watched.forge.enqueuePull(number, head, "main")).kind).not.toBe("queued");
  });
});
