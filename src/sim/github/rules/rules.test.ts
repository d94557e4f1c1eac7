import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Rule, Ruleset } from "../model/model.ts";
import { refusal, type TestGitHub, testGitHub } from "../testing/setup.ts";

let github: TestGitHub;
let next = 0;
beforeEach(async () => {
  github = await testGitHub();
});
afterEach(() => github.sim.close());

const REVIEWS = {
  required_approving_review_count: 0,
  dismiss_stale_reviews_on_push: false,
  require_code_owner_review: false,
  require_last_push_approval: false,
  required_review_thread_resolution: false,
};

async function open(files?: Record<string, string>): Promise<{ number: number; head: string; branch: string }> {
  const branch = `topic-${++next}`;
  const head = await github.branch(branch, files ?? { [`${branch}.txt`]: "x\n" });
  const number = await github.sim.actAs("wim").openPull(github.repository, { head: branch, title: branch });
  return { number, head, branch };
}

const merge = (number: number, more: object = {}) =>
  github.appOctokit().rest.pulls.merge({ ...github.place, pull_number: number, ...more });
const byPerson = (number: number, login = "mia") => github.octokit(login).rest.pulls.merge({ ...github.place, pull_number: number });

function violation(...paragraphs: string[]) {
  return { status: 405, message: `Repository rule violations found\n\n${paragraphs.join("\n\n")}\n\n` };
}

describe("a ruleset", () => {
  const pullRule = (change: Partial<typeof REVIEWS> & { allowed_merge_methods?: ("merge" | "squash" | "rebase")[] }): Rule => ({
    type: "pull_request",
    parameters: { ...REVIEWS, ...change },
  });
  const checks = (strict: boolean, ...contexts: string[]): Rule => ({
    type: "required_status_checks",
    parameters: {
      strict_required_status_checks_policy: strict,
      required_status_checks: contexts.map((context) => ({ context })),
    },
  });

  it.each<{ rules: Rule[]; words: string[] }>([
    { rules: [checks(false, "build")], words: ['Required status check "build" is expected.'] },
    { rules: [checks(false, "build", "test")], words: ["2 of 2 required status checks are expected."] },
    {
      rules: [pullRule({ required_approving_review_count: 2 })],
      words: ["At least 2 approving reviews are required by reviewers with write access."],
    },
    {
      rules: [pullRule({ require_last_push_approval: true })],
      words: ["New changes require approval from someone other than wim because they were the last pusher."],
    },
    { rules: [pullRule({ allowed_merge_methods: ["squash"] })], words: ["Merge commits are not allowed on this repository."] },
    { rules: [{ type: "required_signatures" }], words: ["Commits must have verified signatures."] },
    { rules: [{ type: "required_linear_history" }], words: ["This branch must not contain merge commits."] },
    { rules: [{ type: "update" }], words: ["Cannot update this protected ref."] },
    {
      rules: [checks(false, "build"), pullRule({ required_approving_review_count: 1 })],
      words: ['Required status check "build" is expected.', "At least 1 approving review is required by reviewers with write access."],
    },
  ])("refuses a merge with $words.0", async ({ rules, words }) => {
    github.sim.ruleset(github.repository, { rules });
    const { number } = await open();
    expect(await refusal(merge(number))).toMatchObject(violation(...words));
  });

  it.each<{ mode: Ruleset["bypass"][number]["mode"]; merges: boolean; moves: boolean }>([
    { mode: "always", merges: true, moves: true },
    { mode: "pull_request", merges: true, moves: false },
    { mode: "exempt", merges: true, moves: true },
  ])("lets the App pass that bypasses it: $mode", async ({ mode, merges, moves }) => {
    const bypass = [{ type: "Integration" as const, id: github.sim.app.id, mode }];
    github.sim.ruleset(github.repository, { rules: [pullRule({ required_approving_review_count: 1 })], bypass });
    const { number, head } = await open();
    expect((await refusal(byPerson(number))).status).toBe(405);
    const move = github.appOctokit().rest.git.updateRef({ ...github.place, ref: "heads/main", sha: head });
    if (moves) expect((await move).status).toBe(200);
    else expect(await refusal(move)).toMatchObject({ status: 422, message: /Changes must be made through a pull request\./ });
    if (!moves && merges) expect((await merge(number)).status).toBe(200);
  });

  it("holds only the branches it names, is listed for a branch that is not there yet, and not while it is disabled", async () => {
    const include = ["refs/heads/release-*"];
    github.sim.ruleset(github.repository, { name: "releases", rules: [{ type: "update" }], include });
    github.sim.ruleset(github.repository, { rules: [{ type: "deletion" }], include: ["~ALL"], enforcement: "disabled" });
    const rules = async (branch: string) => (await github.octokit("rob").rest.repos.getBranchRules({ ...github.place, branch })).data;
    expect(await rules("release-1")).toMatchObject([{ type: "update", ruleset_source_type: "Repository", ruleset_source: "acme/config" }]);
    expect(await rules("main")).toEqual([]);
  });

  it("takes only the check of the App it names", async () => {
    const other = github.sim.createApp({ slug: "ci" });
    const required_status_checks = [{ context: "build", integration_id: other.id }];
    const parameters = { strict_required_status_checks_policy: false, required_status_checks };
    github.sim.ruleset(github.repository, { rules: [{ type: "required_status_checks", parameters }] });
    const { number, head } = await open();
    const check = { ...github.place, name: "build", head_sha: head, conclusion: "success" } as const;
    await github.appOctokit().rest.checks.create(check);
    expect((await refusal(merge(number))).message).toMatch(/"build" is expected/);
    const installation = github.sim.install("acme", undefined, other.id);
    const octokit = github.withToken(github.sim.installationToken(installation));
    await octokit.rest.checks.create(check);
    expect((await merge(number)).status).toBe(200);
  });

  it("says behind where the head only has to be brought up to date, which can be done", async () => {
    github.sim.ruleset(github.repository, { rules: [checks(true)] });
    const { number } = await open();
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "other.txt": "1\n" }, message: "Other" });
    expect(await refusal(merge(number))).toMatchObject(violation("Head branch is out of date. Review and try the merge again."));
    const read = async () => (await github.appOctokit().rest.pulls.get({ ...github.place, pull_number: number })).data;
    await read();
    expect((await read()).mergeable_state).toBe("behind");
    expect((await github.appOctokit().rest.pulls.updateBranch({ ...github.place, pull_number: number })).status).toBe(202);
    expect((await merge(number)).status).toBe(200);
  });
});

describe("reviews", () => {
  it("of code owners are asked for by themselves and waited for; others do not do", async () => {
    github.sim.team("acme", "sre", ["mia"]);
    const text = "* @rob\n/apps/ @acme/sre\n";
    await github.sim.actAs("acme").push(github.repository, { branch: "main", files: { ".github/CODEOWNERS": text }, message: "Owners" });
    github.sim.protect(github.repository, "main", { codeOwners: true });
    const { number } = await open({ "apps/b.yaml": "version: v9\n" });
    const { data } = await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number });
    expect([data.requested_teams?.map((team) => team.slug), data.requested_reviewers?.length]).toEqual([["sre"], 0]);
    await github.sim.actAs("acme").review(github.repository, number, "APPROVE");
    expect(await refusal(merge(number))).toMatchObject({ status: 405, message: "Waiting on code owner review from acme/sre." });
    await github.sim.actAs("mia").review(github.repository, number, "APPROVE");
    expect((await merge(number)).status).toBe(200);
  });

  it("of an App are stored and never count; those of before a push are dismissed where a rule says so", async () => {
    github.sim.protect(github.repository, "main", { approvals: 1, dismissStale: true });
    const { number, branch } = await open();
    await github.appOctokit().rest.pulls.createReview({ ...github.place, pull_number: number, event: "APPROVE" });
    expect((await refusal(merge(number))).message).toMatch(/At least 1 approving review/);
    await github.sim.actAs("mia").review(github.repository, number, "APPROVE");
    await github.branch(branch, { [`${branch}.txt`]: "y\n" });
    expect((await refusal(merge(number))).message).toMatch(/At least 1 approving review/);
    const reviews = (await github.octokit("rob").rest.pulls.listReviews({ ...github.place, pull_number: number })).data;
    expect(reviews.map((review) => [review.user?.login, review.state])).toEqual([
      ["stagecoach[bot]", "DISMISSED"],
      ["mia", "DISMISSED"],
    ]);
  });
});

describe("a push by git", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stagecoach-rules-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const options = () => {
    const who = github.sim.app.login;
    const config = { "user.name": who, "user.email": `1+${who}@users.noreply.github.com`, "gpg.format": "ssh" };
    const all = { ...config, "user.signingkey": join(folder, "key") };
    return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  };
  const git = (...args: string[]) => runGit(join(folder, "work"), [...options(), ...args]);
  const push = (branch: string) => git("push", "-q", address(), `HEAD:${branch}`);

  function address(): string {
    const token = github.sim.installationToken(github.installationId);
    return `${github.sim.gitUrl.replace("//", `//x-access-token:${token}@`)}/acme/config.git`;
  }

  it("is refused by a ruleset in GitHub's words, and nothing moves", async () => {
    github.sim.ruleset(github.repository, { rules: [{ type: "pull_request", parameters: REVIEWS }] });
    await runGit(folder, ["clone", "-q", address(), "work"]);
    await git("commit", "-q", "--allow-empty", "-m", "x");
    await expect(push("main")).rejects.toThrow(/GH013[\s\S]*Changes must be made through a pull request[\s\S]*rule violations/);
    expect((await github.octokit("rob").rest.git.getRef({ ...github.place, ref: "heads/main" })).data.object.sha).toBe(github.head);
    await push("elsewhere");
  });

  it("has to be signed by a registered key where signatures are required", async (test) => {
    await run("ssh-keygen", folder, ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "key")]).catch(() =>
      test.skip("ssh-keygen is not there to sign with"),
    );
    github.sim.ruleset(github.repository, { rules: [{ type: "required_signatures" }], include: ["refs/heads/signed"] });
    await runGit(folder, ["clone", "-q", address(), "work"]);
    await git("commit", "-q", "--allow-empty", "-S", "-m", "signed");
    await expect(push("signed")).rejects.toThrow(/verified signatures/);
    github.sim.addSigningKey(github.sim.app.login, readFileSync(join(folder, "key.pub"), "utf8"));
    await push("signed");
    const { data } = await github.octokit("rob").rest.repos.getCommit({ ...github.place, ref: "signed" });
    expect(data.commit.verification).toMatchObject({ verified: true, reason: "valid" });
    await git("commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "not signed");
    await expect(push("signed")).rejects.toThrow(/verified signatures/);
  });

  it("of an App may not touch workflows without the permission", async () => {
    const files = { ".github/workflows/ci.yaml": "on: push\n" };
    await github.sim.actAs("acme").push(github.repository, { branch: "main", files, message: "CI" });
    await runGit(folder, ["clone", "-q", address(), "work"]);
    writeFileSync(join(folder, "work/.github/workflows/ci.yaml"), "on: never\n");
    await git("commit", "-q", "-a", "-m", "x");
    const words =
      /refusing to allow a GitHub App to create or update workflow `.github\/workflows\/ci.yaml` without `workflows` permission/;
    await expect(push("sneaky")).rejects.toThrow(words);
    const { number } = await open({ ".github/workflows/ci.yaml": "on: always\n" });
    expect(await refusal(merge(number))).toMatchObject({ status: 403, message: words });
  });
});

/** git speaks to this very process: it must not be waited for in place. */
function runGit(cwd: string, args: string[]): Promise<void> {
  return run("git", cwd, args);
}

function run(program: string, cwd: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" };
    execFile(program, args, { cwd, env }, (error, _out, err) => (error === null ? resolve() : reject(new Error(err))));
  });
}
