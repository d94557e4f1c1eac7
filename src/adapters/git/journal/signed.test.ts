import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { said } from "../../../core/reasons/run.ts";
import { openLocalWriter } from "../local-writer.ts";
import { openMirror } from "../mirror.ts";
import type { CommitWriter, Mirror } from "../port.ts";
import { readSigningKey } from "../signing/ssh-key.ts";
import { git, type Workspace, workspace } from "../testing/repositories.ts";
import { freshRun, START } from "../testing/runs.ts";
import { SEAL, SEAL_SECRET } from "../testing/seal.ts";
import { sshKey } from "../testing/ssh-keys.ts";
import { acceptJournal } from "./accept.ts";
import { authorOf, type MayAccept } from "./check.ts";
import { JOURNAL_BRANCH, openJournal } from "./journal.ts";
import type { Anchor, Anchored, JournalChange, Trace } from "./port.ts";
import { openSeal, type Seal, sealKey } from "./seal.ts";

const APP = "stagecoach[bot]";
const REF = `refs/heads/${JOURNAL_BRANCH}`;
const OTHER = openSeal([sealKey("somebody else's key, which is as long as ours")], "1");

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

interface More {
  seal?: Seal;
  writer?: CommitWriter;
  mayAccept?: MayAccept;
  anchor?: Anchor;
  traces?: () => Promise<Trace | undefined>;
}

function journalOf(place = mirror, more: More = {}) {
  return openJournal({ mirror: place, app: APP, seal: SEAL, writer: signer(place), ...more });
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
  test("is read by whoever has the seal's key, and every commit of it is signed", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    expect(await journal.record(change("two"))).toBe("recorded");
    const other = await replica("other.git");
    const state = await journalOf(other).read();
    expect([state.tampered, state.runs.get("payments")?.why]).toEqual([undefined, expect.toHaveCode("SAID", { text: "two" })]);
    expect(git(at.origin, "cat-file", "-p", REF)).toContain("-----BEGIN SSH SIGNATURE-----");
  });

  test("a commit with our name and our trailer and without our signature stops everything", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const commit = forge();
    expect((await journal.read()).tampered).toEqual({ commit, why: expect.objectContaining({ because: { code: "NOT_SEALED" } }) });
    await expect(journal.record(change("two"))).rejects.toMatchObject({ kind: "Invalid" });
  });

  test("so does one that the signing key has signed and nobody sealed, an acceptance not excepted", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const foreign = forge();
    await acceptJournal({ mirror, writer: signer(), by: "eve", at: START });
    expect((await journal.read()).tampered?.why).toMatchObject({ because: { code: "NOT_SEALED" } });
    await acceptJournal({ mirror, writer: signer(), seal: OTHER, by: "eve", at: START });
    expect((await journal.read()).tampered?.why).toMatchObject({ because: { code: "SEAL_OF_OTHER_KEY" } });
    await acceptJournal({ mirror, writer: signer(), seal: SEAL, by: "ana", at: START });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(git(at.origin, "merge-base", "--is-ancestor", foreign, REF)).toBe("");
  });

  test("a journal of another repository is not ours here", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const elsewhere = journalOf(await replica("elsewhere.git"), { seal: openSeal([sealKey(SEAL_SECRET)], "2") });
    expect((await elsewhere.read()).tampered?.why).toMatchObject({ because: { code: "SEAL_BROKEN" } });
  });

  test("keys may change: the old one holds as long as it is in the list", async () => {
    await journalOf().record(change("one"));
    const [old, fresh] = [sealKey(SEAL_SECRET), sealKey("the key that takes its place, just as long")];
    expect((await journalOf(await replica("a.git"), { seal: openSeal([fresh], "1") }).read()).tampered?.why).toMatchObject({
      because: { code: "SEAL_OF_OTHER_KEY", key: old.id },
    });
    expect(await journalOf(await replica("b.git"), { seal: openSeal([fresh, old], "1") }).record(change("two"))).toBe("recorded");
    expect((await journalOf(await replica("c.git"), { seal: openSeal([fresh], "1") }).read()).tampered).toBeUndefined();
  });

  test("is accepted without a restart, for the head that was looked at and no other", async () => {
    const journal = journalOf();
    await journal.record(change("one"));
    const looked = forge("first");
    const newer = forge("second");
    expect((await journal.read()).tampered?.commit).toBe(newer);
    const accept = (head: string) => acceptJournal({ mirror, writer: signer(), seal: SEAL, by: "ana", at: START, head });
    await expect(accept(looked)).rejects.toThrow(`is not at ${looked}: it is at ${newer}`);
    await expect(accept("none")).rejects.toThrow("is not at none");
    await accept(newer.slice(0, 12));
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("two"))).toBe("recorded");
    const told = git(at.origin, "log", "-1", "--skip=1", "--format=%B", REF);
    expect(told).toContain(`Stagecoach-Accept: ${newer}`);
    expect(told).toContain("Stagecoach-Actor: ana");
  });

  test("a person's acceptance counts where the person has the right, and never for a rewrite", async () => {
    const asked: string[] = [];
    const mayAccept =
      (may: boolean): MayAccept =>
      async ({ sha }) => {
        asked.push(sha);
        return may;
      };
    await journalOf().record(change("one"));
    const genuine = git(at.origin, "rev-parse", REF);
    await journalOf().record(change("two"));
    forge("not to be asked about");
    const person = { name: "ana", email: "ana@example.com" };
    const accept = () => acceptJournal({ mirror, writer: openLocalWriter({ mirror, author: person }), by: "ana", at: START });
    const accepted = await accept();
    expect((await journalOf(await replica("a.git"), { mayAccept: mayAccept(false) }).read()).tampered?.why).toMatchObject({
      because: { author: "ana", email: "ana@example.com" },
    });
    const journal = journalOf(await replica("b.git"), { mayAccept: mayAccept(true) });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(asked).toEqual([accepted, accepted]);
    git(at.origin, "update-ref", REF, genuine);
    forge("another one");
    await accept();
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
  });
});

describe("what a process leaves for the next one", () => {
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
    expect((await journalOf().read()).tampered?.why).toMatchObject({ because: { code: "NOT_SEALED" } });
  });
});

/** Of a test: what is anchored stands in it. */
function anchorIn(at: { anchored?: Anchored | undefined }): Anchor {
  return {
    read: async () => at.anchored,
    async write(anchored) {
      at.anchored = anchored;
    },
  };
}

describe("what is anchored", () => {
  test("a branch put back, deleted or taken from elsewhere is found by a machine that never saw it", async () => {
    const place: { anchored?: Anchored } = {};
    const journal = journalOf(mirror, { anchor: anchorIn(place) });
    await journal.record(change("one"));
    const first = git(at.origin, "rev-parse", REF);
    await journal.record(change("two"));
    const second = git(at.origin, "rev-parse", REF);
    await journal.anchor();
    expect(place.anchored).toEqual({ sequence: 2, head: second });
    git(at.origin, "update-ref", REF, first);
    const why = async (name: string) => (await journalOf(await replica(name), { anchor: anchorIn(place) }).read()).tampered?.why;
    expect(await why("a.git")).toMatchObject({ code: "JOURNAL_REWRITTEN", commit: second });
    git(at.origin, "update-ref", "-d", REF);
    expect(await why("b.git")).toMatchObject({ code: "JOURNAL_GONE", commit: second });
    git(at.origin, "update-ref", REF, second);
    expect(await why("c.git")).toBeUndefined();
  });

  test("what was written since is no rewind, and a process that never saw it learns it before it merges", async () => {
    const place: { anchored?: Anchored } = {};
    const [one, other] = [journalOf(mirror, { anchor: anchorIn(place) }), journalOf(await replica("b.git"), { anchor: anchorIn(place) })];
    await one.record(change("one"));
    await one.anchor();
    await one.record(change("two"));
    const second = git(at.origin, "rev-parse", REF);
    expect(await one.isAnchored()).toBe(true);
    expect((await other.read()).tampered).toBeUndefined();
    await one.record(change("halted"));
    await one.anchor();
    git(at.origin, "update-ref", REF, second);
    // To the other one nothing has changed.
    expect((await other.read()).tampered).toBeUndefined();
    expect(await other.isAnchored()).toBe(false);
    expect((await other.read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
  });

  test("a journal begun anew with the key stands above the one before, which does not come back", async () => {
    const place: { anchored?: Anchored } = {};
    const journal = journalOf(mirror, { anchor: anchorIn(place) });
    await journal.record(change("one"));
    await journal.anchor();
    const old = git(at.origin, "rev-parse", REF);
    git(at.origin, "update-ref", "-d", REF);
    await acceptJournal({ mirror, writer: signer(), app: APP, seal: SEAL, by: "ana", at: START, head: "none" });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("two"))).toBe("recorded");
    await journal.anchor();
    git(at.origin, "update-ref", REF, old);
    expect((await journalOf(await replica("b.git"), { anchor: anchorIn(place) }).read()).tampered?.why).toMatchObject({
      code: "JOURNAL_REWRITTEN",
    });
  });
});

describe("a journal begun anew, by a process that goes on", () => {
  test("is not put back to its beginning, though what it recorded since was made by GitHub and is not here", async () => {
    // GitHub makes the commits: they are on the branch, and in no mirror until somebody reads them.
    const elsewhere = await replica("github.git");
    const { write, ...github } = signer(elsewhere);
    const fetched = (what: Parameters<typeof write>[0]) => elsewhere.fetch([JOURNAL_BRANCH]).then(() => write(what));
    const journal = journalOf(mirror, { writer: { ...github, write: fetched } });
    await acceptJournal({ mirror, writer: signer(), app: APP, seal: SEAL, by: "ana", at: START, head: "none" });
    const first = git(at.origin, "rev-parse", REF);
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("halted"))).toBe("recorded");
    expect(await mirror.commitObject(git(at.origin, "rev-parse", REF))).toBeUndefined();
    git(at.origin, "update-ref", REF, first);
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
    // Nor by a process that only knows which head it was.
    expect((await journalOf().read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
    // Begun anew once more it stands, for who saw the one before.
    git(at.origin, "update-ref", "-d", REF);
    await acceptJournal({ mirror, writer: signer(), app: APP, seal: SEAL, by: "ana", at: START + 60_000, head: "none" });
    expect((await journal.read()).tampered).toBeUndefined();
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
    await acceptJournal({ mirror, writer: signer(), app: APP, seal: SEAL, by: "ana", at: START, head: "none" });
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change("one"))).toBe("recorded");
  });

  test("cannot be accepted without saying whose it will be", async () => {
    await expect(acceptJournal({ mirror, writer: signer(), by: "ana", at: START, head: "none" })).rejects.toThrow("whose journal");
  });
});
