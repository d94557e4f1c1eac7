import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { said } from "../../../core/reasons/run.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { acceptJournal } from "../../git/journal/accept.ts";
import { JOURNAL_BRANCH, openJournal } from "../../git/journal/journal.ts";
import type { JournalChange } from "../../git/journal/port.ts";
import { openMirror } from "../../git/mirror.ts";
import type { Mirror } from "../../git/port.ts";
import { freshRun, START } from "../../git/testing/runs.ts";
import { SEAL } from "../../git/testing/seal.ts";
import { openGitHubWriter } from "./commit-writer.ts";
import type { OctokitLike } from "./octokit.ts";
import { acceptors } from "./people.ts";
import { type WatchedForge, watchedForge } from "./testing/forge.ts";

const APP = "stagecoach[bot]";
const REF = `heads/${JOURNAL_BRANCH}`;

let github: TestGitHub;
let directory: string;
let watched: WatchedForge;
const opened: Mirror[] = [];
let next = 0;

beforeAll(async () => {
  github = await testGitHub();
  directory = mkdtempSync(join(tmpdir(), "stagecoach-journal-"));
  watched = watchedForge(github);
});
afterAll(async () => {
  for (const mirror of opened) await mirror.close();
  rmSync(directory, { recursive: true, force: true });
  await github.sim.close();
});
beforeEach(async () => {
  await github
    .octokit("mia")
    .rest.git.deleteRef({ ...github.place, ref: REF })
    .catch(() => undefined);
});

/** A machine that never saw the repository. */
async function replica() {
  const { cloneUrl } = await watched.forge.repo();
  const credentials = () => watched.forge.gitCredentials();
  const mirror = await openMirror({ directory: join(directory, `${++next}.git`), url: cloneUrl, credentials });
  opened.push(mirror);
  return { mirror, journal: journalOn(mirror) };
}

function writerOf(mirror: Mirror, octokit: OctokitLike = watched.octokit) {
  const fetch = (branch: string) => mirror.fetch([branch]);
  return openGitHubWriter({ octokit, repository: github.repository, modes: mirror.modes, fetch });
}

function journalOn(mirror: Mirror) {
  const { octokit, forge } = watched;
  const mayAccept = acceptors({ octokit, repository: github.repository, branch: JOURNAL_BRANCH, permission: forge.permission });
  return openJournal({ mirror, app: APP, seal: SEAL, writer: writerOf(mirror), mayAccept });
}

function change(why: string, number = 1): JournalChange {
  const run = freshRun(4, 2, { why: said(why), number });
  return { runs: [run], subject: `payments #${number}: ${why}`, trailers: { "Stagecoach-Event": "test" }, at: START };
}

describe("a journal that GitHub signs", () => {
  it("is Verified from its first commit on, one request a commit, and another machine believes it", async () => {
    const { journal, mirror } = await replica();
    expect(await journal.record(change("one"))).toBe("recorded");
    watched.asked.length = 0;
    expect(await journal.record(change("two"))).toBe("recorded");
    expect(watched.asked).toEqual(["POST /graphql"]);
    const { data } = await github.octokit("rob").rest.repos.listCommits({ ...github.place, sha: JOURNAL_BRANCH });
    expect(data.map(({ commit, author }) => [commit.message.split("\n")[0], commit.verification?.verified, author?.login])).toEqual([
      ["payments #1: two", true, APP],
      ["payments #1: one", true, APP],
    ]);
    const other = await replica();
    const state = await other.journal.read();
    expect([state.tampered, state.runs.get("payments")?.why]).toEqual([undefined, expect.toHaveCode("SAID", { text: "two" })]);
    expect(await mirror.remoteHead(JOURNAL_BRANCH)).toBe(state.head);
  });

  it("of two machines that record at once one loses, and nothing of its change is there", async () => {
    const [one, two] = [await replica(), await replica()];
    await one.journal.record(change("begin"));
    await one.journal.read();
    await two.journal.read();
    const outcomes = await Promise.all([one.journal.record(change("left")), two.journal.record(change("right"))]);
    expect(outcomes.toSorted()).toEqual(["lost", "recorded"]);
    const [a, b] = [await one.journal.read(), await two.journal.read()];
    expect(a.runs.get("payments")?.why).toEqual(said(outcomes[0] === "recorded" ? "left" : "right"));
    expect(b.head).toBe(a.head);
  });

  it("an answer that was lost leaves a commit of ours, which the next look finds", async () => {
    const { journal } = await replica();
    await journal.record(change("one"));
    github.sim.faults.request = ({ path }) => (path === "/graphql" ? { status: 502, afterwards: true } : undefined);
    await expect(journal.record(change("two"))).rejects.toMatchObject({ kind: "Unavailable" });
    delete github.sim.faults.request;
    const state = await journal.read();
    expect([state.tampered, state.runs.get("payments")?.why]).toEqual([undefined, expect.toHaveCode("SAID", { text: "two" })]);
    expect(await journal.record(change("three"))).toBe("recorded");
  });

  it("a push by hand under our name is not ours; an acceptance with the server's key puts it right without a restart", async () => {
    const { journal, mirror } = await replica();
    await journal.record(change("one"));
    await github.sim
      .actAs("wim")
      .push(github.repository, { branch: JOURNAL_BRANCH, files: { note: "x" }, message: `x\n\nStagecoach-App: ${APP}` });
    const { tampered } = await journal.read();
    expect(tampered?.why).toMatchObject({ because: { code: "COMMIT_AUTHOR", author: "wim" } });
    await acceptJournal({ mirror, writer: writerOf(mirror), seal: SEAL, by: "ana", at: START, head: tampered?.commit ?? "" });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("two"))).toBe("recorded");
  });

  it.each([
    { login: "wim", counts: false },
    { login: "mia", counts: true },
  ])("an acceptance by $login with a token of their own counts: $counts", async ({ login, counts }) => {
    const { journal, mirror } = await replica();
    await journal.record(change("one"));
    await github.sim.actAs("wim").push(github.repository, { branch: JOURNAL_BRANCH, files: { note: "x" }, message: "x" });
    const person = github.octokit(login) as unknown as OctokitLike;
    await acceptJournal({ mirror, writer: writerOf(mirror, person), by: login, at: START });
    expect((await journal.read()).tampered === undefined).toBe(counts);
    expect((await (await replica()).journal.read()).tampered === undefined).toBe(counts);
  });

  it("begins anew by the App where somebody deleted it", async () => {
    const { journal, mirror } = await replica();
    await journal.record(change("one"));
    await github.octokit("mia").rest.git.deleteRef({ ...github.place, ref: REF });
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_GONE" });
    await acceptJournal({ mirror, writer: writerOf(mirror), app: APP, seal: SEAL, by: "ana", at: START, head: "none" });
    const state = await journal.read();
    expect([state.tampered, state.runs.size]).toEqual([undefined, 0]);
    expect((await (await replica()).journal.read()).tampered).toBeUndefined();
  });
});
