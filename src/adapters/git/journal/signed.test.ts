import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { said } from "../../../core/reasons/run.ts";
import { openLocalWriter, sshJudge } from "../local-writer.ts";
import { openMirror } from "../mirror.ts";
import type { CommitJudge, CommitWriter, Mirror } from "../port.ts";
import { readSigningKey } from "../signing/ssh-key.ts";
import { git, type Workspace, workspace } from "../testing/repositories.ts";
import { freshRun, START } from "../testing/runs.ts";
import { sshKey } from "../testing/ssh-keys.ts";
import { acceptJournal } from "./accept.ts";
import { authorOf } from "./check.ts";
import { JOURNAL_BRANCH, openJournal } from "./journal.ts";
import type { JournalChange, Trace } from "./port.ts";

const APP = "stagecoach[bot]";
const REF = `refs/heads/${JOURNAL_BRANCH}`;

let at: Workspace;
let mirror: Mirror;
let keys: { secret: string; pub: string };
const opened: Mirror[] = [];

async function replica(name: string): Promise<Mirror> {
  const made = await openMirror({ directory: join(at.directory, name), url: at.origin, allowFile: true });
  opened.push(made);
  return made;
}

beforeEach(async () => {
  at = workspace();
  mirror = await replica("mirror.git");
  keys = sshKey();
});

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  at.remove();
});

function signer(place = mirror, secret = keys.secret): CommitWriter {
  return openLocalWriter({ mirror: place, author: authorOf(APP), key: readSigningKey(secret) });
}

function journalOf(place = mirror, more: { judge?: CommitJudge; writer?: CommitWriter; traces?: () => Promise<Trace | undefined> } = {}) {
  return openJournal({ mirror: place, app: APP, writer: signer(place), judge: sshJudge(place, [keys.pub]), ...more });
}

function change(why: string): JournalChange {
  const run = freshRun(4, 2, { why: said(why) });
  return { runs: [run], subject: `payments #1: ${why}`, trailers: { "Stagecoach-Event": "test" }, at: START };
}

/** With our name and our trailer, as anybody can write them. */
function forge(subject = "forged"): string {
  git(at.checkout, "fetch", "--quiet", "origin", REF);
  git(at.checkout, "checkout", "--quiet", "-B", "journal", "FETCH_HEAD");
  const author = `${APP} <${APP}@users.noreply.github.com>`;
  git(at.checkout, "commit", "--quiet", "--allow-empty", `--author=${author}`, "-m", subject, "-m", `Stagecoach-App: ${APP}`);
  git(at.checkout, "push", "--quiet", "origin", `HEAD:${REF}`);
  return git(at.checkout, "rev-parse", "HEAD");
}

describe("a journal that is signed", () => {
  test("is read by whoever has the public key, and every commit of it is signed", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    expect(await journal.record(change("two"))).toBe("recorded");
    const other = await replica("other.git");
    const state = await journalOf(other).read();
    expect([state.tampered, state.runs.get("payments")?.why]).toEqual([undefined, expect.toSay("two")]);
    expect(git(at.origin, "cat-file", "-p", REF)).toContain("-----BEGIN SSH SIGNATURE-----");
  });

  test("a commit with our name and our trailer and without our signature stops everything", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const commit = forge();
    expect((await journal.read()).tampered).toEqual({ commit, why: expect.objectContaining({ because: { code: "NOT_SIGNED" } }) });
    await expect(journal.record(change("two"))).rejects.toMatchObject({ kind: "Invalid" });
  });

  test("so does one that another key has signed, an acceptance not excepted", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const thief = sshKey();
    const foreign = forge();
    await acceptJournal({ mirror, writer: signer(mirror, thief.secret), by: "eve", at: START });
    expect((await journal.read()).tampered?.why).toMatchObject({ because: { fault: "OtherKey" } });
    await acceptJournal({ mirror, writer: signer(), by: "ana", at: START });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(git(at.origin, "merge-base", "--is-ancestor", foreign, REF)).toBe("");
  });

  test("is accepted without a restart, for the head that was looked at and no other", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const looked = forge("first");
    const newer = forge("second");
    expect((await journal.read()).tampered?.commit).toBe(newer);
    const accept = (head: string) => acceptJournal({ mirror, writer: signer(), by: "ana", at: START, head });
    await expect(accept(looked)).rejects.toThrow(`is not at ${looked}: it is at ${newer}`);
    await expect(accept("none")).rejects.toThrow("is not at none");
    await accept(newer.slice(0, 12));
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("two"))).toBe("recorded");
    const told = git(at.origin, "log", "-1", "--skip=1", "--format=%B", REF);
    expect(told).toContain(`Stagecoach-Accept: ${newer}`);
    expect(told).toContain("Stagecoach-Actor: ana");
  });

  test("a person's acceptance counts where whoever judges commits knows the person", async () => {
    const asked: string[] = [];
    const judge = (may: boolean): CommitJudge => ({
      foreign: async () => new Map(),
      mayAccept: async ({ author }) => {
        asked.push(author);
        return may;
      },
    });
    await journalOf().record(change("one"));
    forge("not to be asked about");
    const person = { name: "ana", email: "ana@example.com" };
    await acceptJournal({ mirror, writer: openLocalWriter({ mirror, author: person }), by: "ana", at: START });
    expect((await journalOf(await replica("a.git"), { judge: judge(false) }).read()).tampered?.why).toMatchObject({
      because: { author: "ana", email: "ana@example.com" },
    });
    expect((await journalOf(await replica("b.git"), { judge: judge(true) }).read()).tampered).toBeUndefined();
    expect(asked).toEqual(["ana", "ana"]);
  });
});

describe("what a process leaves for the next one", () => {
  test("commits found to be ours are not judged again", async () => {
    const judged: number[] = [];
    const judge: CommitJudge = {
      async foreign(commits) {
        judged.push(commits.length);
        return new Map();
      },
    };
    const journal = journalOf(mirror, { judge });
    for (const why of ["one", "two", "three"]) await journal.record(change(why));
    await journalOf(mirror, { judge }).read();
    expect(judged.filter((count) => count > 0)).toEqual([]);
    await journalOf(await replica("fresh.git"), { judge }).read();
    expect(judged.filter((count) => count > 0)).toEqual([3]);
  });

  test("a branch put back to an older commit while nothing ran is found", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const first = git(at.origin, "rev-parse", REF);
    await journal.record(change("two"));
    git(at.origin, "update-ref", REF, first);
    expect((await journalOf().read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
    await mirror.fetch([JOURNAL_BRANCH]);
    expect((await journalOf().read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
  });

  test("a foreign commit stays found though the mirror has it by now", async () => {
    await journalOf().record(change("one"));
    forge();
    await journalOf().read();
    expect((await journalOf().read()).tampered?.why).toMatchObject({ because: { code: "NOT_SIGNED" } });
  });
});

describe("no journal, on a machine that never saw one", () => {
  test("is a new repository where nothing speaks of an older one", async () => {
    expect((await journalOf(mirror, { traces: async () => undefined }).read()).tampered).toBeUndefined();
  });

  test("is one that somebody took away where pull requests of ours are there, until that is accepted", async () => {
    const journal = journalOf(mirror, { traces: async () => ({ pull: 7, rollout: "payments", run: 3 }) });
    expect((await journal.read()).tampered).toEqual({
      commit: "none",
      why: { code: "JOURNAL_TAKEN_AWAY", pull: 7, rollout: "payments", run: 3 },
    });
    await expect(journal.record(change("one"))).rejects.toMatchObject({ kind: "Invalid" });
    await acceptJournal({ mirror, writer: signer(), app: APP, by: "ana", at: START, head: "none" });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("one"))).toBe("recorded");
  });

  test("cannot be accepted without saying whose it will be", async () => {
    await expect(acceptJournal({ mirror, writer: signer(), by: "ana", at: START, head: "none" })).rejects.toThrow("whose journal");
  });
});
