import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openGitHubJournal } from "../../../adapters/forge/github/testing/journal.ts";
import { authorOf } from "../../../adapters/git/journal/check.ts";
import { openJournal } from "../../../adapters/git/journal/journal.ts";
import { openLocalWriter } from "../../../adapters/git/local-writer.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { readSigningKey } from "../../../adapters/git/signing/ssh-key.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { freshRun, START } from "../../../adapters/git/testing/runs.ts";
import { SEAL, SEAL_SECRET } from "../../../adapters/git/testing/seal.ts";
import { sshKey } from "../../../adapters/git/testing/ssh-keys.ts";
import { said } from "../../../core/reasons/run.ts";
import { testGitHub } from "../../../sim/github/testing/setup.ts";
import { run as journal } from "./journal.ts";

const APP = "stagecoach[bot]";
const REF = "refs/heads/stagecoach/journal";

let at: Workspace;
let mirror: Mirror;
let text = "";

beforeEach(async () => {
  text = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  at = workspace();
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await mirror.close();
  at.remove();
});

function change(why: string) {
  return { runs: [freshRun(4, 2, { why: said(why) })], subject: `payments #1: ${why}`, trailers: {}, at: START };
}

/** A commit of somebody's on the journal. */
function tamper(): string {
  git(at.checkout, "fetch", "--quiet", "origin", REF);
  git(at.checkout, "checkout", "--quiet", "-B", "tampered", "FETCH_HEAD");
  git(at.checkout, "commit", "--quiet", "--allow-empty", "-m", "by\u001b[31m hand");
  git(at.checkout, "push", "--quiet", "origin", `HEAD:${REF}`);
  return git(at.checkout, "rev-parse", "HEAD");
}

async function failure(...argv: string[]): Promise<{ exitCode: number; message: string }> {
  const error = await journal([...argv, "--repo", at.checkout]).catch((problem: unknown) => problem);
  return error as { exitCode: number; message: string };
}

/** The options that give the server's key. */
function keyed(): string[] {
  const file = join(at.directory, "seal.key");
  writeFileSync(file, SEAL_SECRET, { mode: 0o600 });
  return ["--seal-key", file, "--repository-id", "1"];
}

describe("a journal that is not signed", () => {
  test("is shown as the bot left it, or with the commit that is not the bot's and what to do", async () => {
    await openJournal({ mirror, app: APP, seal: SEAL }).record(change("one"));
    expect(await journal(["show", "--repo", at.checkout, "--fetch"])).toBe(0);
    expect(text).toMatch(/Owner: +stagecoach\[bot\]\nCommits: +1, of 1 rollout\nSeals: +not checked.*\nState: +says of itself/);
    text = "";
    expect(await journal(["show", "--repo", at.checkout, ...keyed()])).toBe(0);
    expect(text).toMatch(/Seals: +checked\nState: +as the bot left it/);
    const foreign = tamper();
    text = "";
    expect(await journal(["show", "--repo", at.checkout, "--fetch"])).toBe(1);
    expect(text).toContain(`commit ${foreign.slice(0, 10)} ("by [31m hand") is by Dev <dev@example.com>, not by ${APP}`);
    expect(text).toContain(`stagecoach journal accept ${foreign.slice(0, 12)}`);
    text = "";
    await journal(["show", "--repo", at.checkout, "-o", "json"]);
    expect(JSON.parse(text)).toMatchObject({ app: APP, commits: 2, suspicion: { commit: foreign }, accepted: null });
  });

  test("is accepted for the head that was looked at, with who did it, and a running bot goes on", async () => {
    const running = openJournal({ mirror, app: APP, seal: SEAL });
    await running.record(change("one"));
    const foreign = tamper();
    expect((await running.read()).tampered?.commit).toBe(foreign);
    expect(await failure("accept", "0123456789ab")).toMatchObject({ exitCode: 1, message: expect.stringContaining(`it is at ${foreign}`) });
    expect(await journal(["accept", foreign.slice(0, 12), "--repo", at.checkout, "--by", "ana", ...keyed()])).toBe(0);
    expect((await running.read()).tampered).toBeUndefined();
    expect(await running.record(change("two"))).toBe("recorded");
    text = "";
    expect(await journal(["show", "--repo", at.checkout, "--fetch"])).toBe(0);
    expect(text).toMatch(/Accepted: +\w{12} by ana/);
  });

  test("is not vouched for by an acceptance that anybody may have written, where the key is at hand", async () => {
    await openJournal({ mirror, app: APP, seal: SEAL }).record(change("one"));
    const foreign = tamper();
    git(at.checkout, "commit", "--quiet", "--allow-empty", "-m", `Accept\n\nStagecoach-Accept: ${foreign}\nStagecoach-Actor: ana\n`);
    git(at.checkout, "push", "--quiet", "origin", `HEAD:${REF}`);
    expect(await journal(["show", "--repo", at.checkout, "--fetch", ...keyed()])).toBe(1);
  });

  test("that is gone is begun anew, once it is said whose it is", async () => {
    const running = openJournal({ mirror, app: APP, seal: SEAL });
    await running.record(change("one"));
    git(at.origin, "update-ref", "-d", REF);
    expect((await running.read()).tampered?.why).toMatchObject({ code: "JOURNAL_GONE" });
    expect(await failure("accept", "none", ...keyed())).toMatchObject({ exitCode: 2, message: expect.stringContaining("--app") });
    expect(await failure("accept", "none", "--app", APP)).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("has to be sealed"),
    });
    expect(await journal(["accept", "none", "--repo", at.checkout, "--app", APP, "--by", "ana", ...keyed()])).toBe(0);
    expect((await running.read()).tampered).toBeUndefined();
  });

  test.each([
    [["nonsense"], "no part"],
    [["accept", "HEAD"], "is no commit"],
    [["accept", "0123456789", "--github", "acme"], "not OWNER/REPO"],
    [["accept", "0123456789", "--github", "acme/config"], "--app-id"],
    [["accept", "0123456789", "--app", APP, "--signing-key", "/no/such/key"], "--signing-key /no/such/key cannot be read: ENOENT"],
  ])("%j is wrong usage", async (argv, message) => {
    expect(await failure(...argv)).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
  });
});

test("a signed journal is shown by its public key, and accepted by the key of its seal", async () => {
  const keys = sshKey();
  writeFileSync(join(at.directory, "key"), keys.secret, { mode: 0o600 });
  writeFileSync(join(at.directory, "key.pub"), `${keys.pub}\n`);
  const writer = openLocalWriter({ mirror, author: authorOf(APP), key: readSigningKey(keys.secret) });
  const running = openJournal({ mirror, app: APP, seal: SEAL, writer });
  await running.record(change("one"));
  expect(await journal(["show", "--repo", at.checkout, "--fetch", "--public-key", join(at.directory, "key.pub")])).toBe(0);
  const foreign = tamper();
  expect((await running.read()).tampered).toBeDefined();
  const signing = ["--signing-key", join(at.directory, "key")];
  await journal(["accept", foreign, "--repo", at.checkout, "--by", "eve", ...signing]);
  expect((await running.read()).tampered?.why).toMatchObject({ because: { code: "NOT_SEALED" } });
  const head = git(at.origin, "rev-parse", REF);
  expect(await journal(["accept", head, "--repo", at.checkout, "--by", "ana", ...signing, ...keyed()])).toBe(0);
  expect((await running.read()).tampered).toBeUndefined();
});

test("on GitHub it is accepted by a person of the repo with their own token, or by the App", async () => {
  const github = await testGitHub();
  const { sim, repository } = github;
  const { journal: running, close } = await openGitHubJournal(github, join(at.directory, "github.git"));
  const clone = join(at.directory, "clone");
  await running.record(change("one"));
  const url = `${sim.gitUrl}/${repository}.git`.replace("://", `://mia:${sim.token("mia")}@`);
  await promisify(execFile)("git", ["clone", "--quiet", url, clone]);
  const tampered = async () => {
    await sim.actAs("wim").push(repository, { branch: "stagecoach/journal", files: { note: String(Math.random()) }, message: "x" });
    return (await running.read()).tampered?.commit ?? "";
  };
  writeFileSync(join(at.directory, "token"), `${sim.token("mia")}\n`);
  writeFileSync(join(at.directory, "app.pem"), sim.app.privateKey);
  const common = ["--repo", clone, "--github", repository, "--api-url", sim.url, "--by", "mia"];
  expect(await journal(["accept", await tampered(), ...common, "--token-file", join(at.directory, "token")])).toBe(0);
  const app = ["--app-id", String(sim.app.id), "--app-key", join(at.directory, "app.pem")];
  expect(await journal(["accept", await tampered(), ...common, ...app])).toBe(0);
  expect((await running.read()).tampered).toBeUndefined();
  await close();
  await github.sim.close();
});
