import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { said } from "../../../core/reasons/run.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { openLocalWriter } from "../local-writer.ts";
import { openMirror } from "../mirror.ts";
import type { Mirror } from "../port.ts";
import { git, type Workspace, workspace } from "../testing/repositories.ts";
import { confirmed, freshRun, START, withBatch } from "../testing/runs.ts";
import { SEAL } from "../testing/seal.ts";
import { acceptJournal } from "./accept.ts";
import { authorOf } from "./check.ts";
import { JOURNAL_BRANCH, openJournal } from "./journal.ts";
import type { JournalChange } from "./port.ts";

const APP = "stagecoach[bot]";
const REF = `refs/heads/${JOURNAL_BRANCH}`;

let at: Workspace;
let mirror: Mirror;
const opened: Mirror[] = [];

async function replica(name: string): Promise<Mirror> {
  const made = await openMirror({ directory: join(at.directory, name), url: at.origin, allowFile: true });
  opened.push(made);
  return made;
}

beforeEach(async () => {
  at = workspace();
  mirror = await replica("mirror.git");
});

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  at.remove();
});

function change(run: Run, over: Partial<JournalChange> = {}): JournalChange {
  return {
    runs: [run],
    subject: `${run.rollout} #${run.number}: ${sentenceOf(run.why)}`,
    trailers: { "Stagecoach-Event": "test" },
    at: START,
    ...over,
  };
}

/** Commits `files` on the journal as somebody else would, from the checkout. */
function tamper(files: Record<string, string>, author = "Dev <dev@example.com>"): string {
  git(at.checkout, "fetch", "--quiet", "origin", REF);
  git(at.checkout, "checkout", "--quiet", "-B", "journal", "FETCH_HEAD");
  for (const [path, text] of Object.entries(files)) {
    at.writeFile(path, text);
  }
  git(at.checkout, "add", "--all");
  git(at.checkout, "commit", "--quiet", "--allow-empty", `--author=${author}`, "-m", "by hand");
  git(at.checkout, "push", "--quiet", "origin", `HEAD:${REF}`);
  return git(at.checkout, "rev-parse", "HEAD");
}

/** As whoever has the server's key does. */
function accept(time: number): Promise<string> {
  const writer = openLocalWriter({ mirror, author: authorOf(APP) });
  return acceptJournal({ mirror, writer, app: APP, seal: SEAL, by: "ana", at: time });
}

describe("recording and reading", () => {
  test("an orphan branch begins with the first record, and another replica reads the same run", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    expect(await journal.read()).toMatchObject({ head: undefined });
    const run = withBatch(freshRun(6, 2), "Open", START);
    const cursor = "a".repeat(40);
    const index = new Map([["ledger", { lastRun: 0, lastRelease: { version: "v0" }, attempt: 0, cursor }]]);
    expect(await journal.record(change(run, { index }))).toBe("recorded");
    const other = await openJournal({ mirror: await replica("other.git"), app: APP, seal: SEAL }).read();
    expect(other.runs.get("payments")).toEqual(run);
    expect(other.index.get("payments")).toEqual({ lastRun: 1, lastRelease: { version: "v1.4.2" }, attempt: 0, cursor: "c".repeat(40) });
    expect(other.index.get("ledger")?.cursor).toBe(cursor);
    expect([other.broken.size, other.tampered]).toEqual([0, undefined]);
    expect(git(at.origin, "log", "--format=%P", REF)).toBe("");
  });

  test("a commit says what happened in words, to machines by trailers, and to other CI systems to stay away", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    const run = withBatch(freshRun(6, 2), "Open", START);
    const trailers = { "Stagecoach-Event": "merged", "Stagecoach-Actor": "ana\nStagecoach-App: evil" };
    await journal.record(change(run, { subject: "payments #1: batch 1 of 3\nmerged", trailers }));
    expect(git(at.origin, "log", "-1", "--format=%s|%an|%ae|%at", REF)).toBe(
      `payments #1: batch 1 of 3 merged|${APP}|${APP}@users.noreply.github.com|${START / 1000}`,
    );
    expect(git(at.origin, "log", "-1", "--format=%(trailers:key=Stagecoach-Run,valueonly)", REF).trim()).toBe("payments#1");
    expect(git(at.origin, "log", "-1", "--format=%(trailers:key=Stagecoach-App,valueonly)", REF).trim()).toBe(APP);
    expect(git(at.origin, "log", "-1", "--format=%B", REF)).toMatch(/\[skip ci\]$/);
  });

  test("an unmoved head is read without a fetch and gives the very state of before", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(withBatch(freshRun(6, 2), "Open", START)));
    const fetches: unknown[] = [];
    const watched = openJournal({ mirror: { ...mirror, fetch: async (branches) => void fetches.push(branches) }, app: APP, seal: SEAL });
    const first = await watched.read();
    expect(await watched.read()).toBe(first);
    expect(fetches).toEqual([]);
  });

  test("a record of nothing new makes no commit", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    const run = withBatch(freshRun(6, 2), "Open", START);
    await journal.record(change(run));
    const head = git(at.origin, "rev-parse", REF);
    expect(await journal.record(change(structuredClone(run)))).toBe("recorded");
    expect(git(at.origin, "rev-parse", REF)).toBe(head);
  });

  test("a transition touches only the files that changed", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    const run = withBatch(freshRun(500, 50), "Open", START);
    await journal.record(change(run));
    await journal.record(change(confirmed(run, START + 1000)));
    const changed = git(at.origin, "diff", "--name-only", `${REF}~1`, REF).split("\n");
    expect(changed).toEqual(["runs/payments/1/batches/001.yaml", "runs/payments/1/evidence/001-1.yaml"]);
  });

  test("history and old runs are read from Git alone, also after they were folded away", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL, keep: () => 2 });
    for (const number of [1, 2, 3]) {
      const run = withBatch(freshRun(4, 2, { number }), "Open", START);
      await journal.record({ ...change(run), at: START + number * 60_000 });
      const done = change({ ...confirmed(run, START), phase: "Succeeded", why: said("Done."), endedAt: run.since });
      await journal.record({ ...done, at: START + number * 60_000 + 30_000 });
    }
    expect((await journal.runs("payments")).map(({ number, phase, release }) => [number, phase, release])).toEqual([
      [2, "Succeeded", "v1.4.2"],
      [3, "Succeeded", "v1.4.2"],
    ]);
    expect(await mirror.listFiles((await journal.read()).head ?? "", "runs/payments/1")).toEqual([]);
    expect(await journal.run("payments", 1)).toMatchObject({ number: 1, phase: "Succeeded" });
    expect(await journal.run("payments", 9)).toBeUndefined();
    expect((await journal.log("payments", 2)).map(({ subject }) => subject)).toEqual([
      "payments #2: The release was merged.",
      "payments #2: Done.",
    ]);
    await expect(journal.run("../../etc", 1)).rejects.toMatchObject({ kind: "Invalid" });
    const then = async (seconds: number, number?: number) => {
      const found = await journal.stateAt(START + seconds * 1000, number === undefined ? undefined : { rollout: "payments", number });
      return found && [...found.runs.values()].map((run) => [run.number, run.phase]);
    };
    expect(await then(0)).toBe(undefined);
    expect([await then(60), await then(89), await then(90), await then(125)]).toEqual([
      [[1, "Progressing"]],
      [[1, "Progressing"]],
      [[1, "Succeeded"]],
      [[2, "Progressing"]],
    ]);
    expect([await then(1e6, 3), await then(125, 3), await then(125, 1)]).toEqual([[[3, "Succeeded"]], [], [[1, "Succeeded"]]]);
    expect(await then(1e6, 1)).toEqual([[1, "Succeeded"]]);
    expect((await journal.runsAround(START + 100_000, 1)).map(({ rollout, number, phase }) => [rollout, number, phase])).toEqual([
      ["payments", 1, "Succeeded"],
      ["payments", 2, "Succeeded"],
    ]);
    expect(await journal.runsAround(START + 100_000, 1, "payment")).toEqual([]);
  });

  test("runs that were recorded last by one commit are each told as they are", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    const payments = withBatch(freshRun(4, 2), "Open", START);
    const search = withBatch(
      freshRun(4, 2, { rollout: "search", number: 7, release: { values: { version: "v9" }, attempt: 0 } }),
      "Open",
      START,
    );
    await journal.record({ ...change(payments), runs: [payments, search] });
    const told = (await journal.runsAround(START, 5)).map(({ rollout, number, release }) => [rollout, number, release]);
    expect(told.toSorted()).toEqual([
      ["payments", 1, "v1.4.2"],
      ["search", 7, "v9"],
    ]);
  });

  test("an older run is written again without losing what it had", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    const old = confirmed(withBatch(freshRun(4, 2), "Open", START), START);
    await journal.record(change(old));
    const next = freshRun(4, 2, { number: 2 });
    const fresh = openJournal({ mirror: await replica("other.git"), app: APP, seal: SEAL });
    await fresh.read();
    await fresh.record({ ...change(next), runs: [{ ...old, phase: "Superseded", why: said("Superseded by #2.") }, next] });
    await fresh.record({ ...change(next), runs: [{ ...old, phase: "Superseded", why: said("Superseded for good.") }] });
    expect((await fresh.run("payments", 1))?.batches).toEqual(old.batches);
    expect((await fresh.read()).runs.get("payments")?.number).toBe(2);
  });
});

describe("two replicas", () => {
  test("of many records at the same time none is lost and none doubled", async () => {
    const journals = [
      openJournal({ mirror, app: APP, seal: SEAL }),
      openJournal({ mirror: await replica("other.git"), app: APP, seal: SEAL }),
    ];
    await journals[0]?.record(change(freshRun(4, 2)));
    const count = 15;
    const race = async (journal: (typeof journals)[number], name: string): Promise<number> => {
      let lost = 0;
      for (let done = 0; done < count; ) {
        const run = (await journal.read()).runs.get("payments");
        if (run === undefined) throw new Error("the run is gone");
        const skipped = [...run.skipped, { cluster: `${name}${done}`, why: said("race"), at: run.since }];
        if ((await journal.record(change({ ...run, skipped }))) === "recorded") done += 1;
        else lost += 1;
      }
      return lost;
    };
    await Promise.all(journals.map((journal, n) => race(journal, `replica${n}-`)));
    const clusters = (await journals[0]?.read())?.runs.get("payments")?.skipped.map(({ cluster }) => cluster) ?? [];
    expect(clusters).toHaveLength(2 * count);
    expect(new Set(clusters).size).toBe(2 * count);
    expect(git(at.origin, "rev-list", "--count", REF)).toBe(String(2 * count + 1));
    const last = await openJournal({ mirror: await replica("third.git"), app: APP, seal: SEAL }).read();
    expect(last.runs.get("payments")?.skipped.map(({ cluster }) => cluster)).toEqual(clusters);
  });

  test("the same record at the same time is recorded once", async () => {
    const journals = [
      openJournal({ mirror, app: APP, seal: SEAL }),
      openJournal({ mirror: await replica("other.git"), app: APP, seal: SEAL }),
    ];
    for (const journal of journals) await journal.read();
    const results = await Promise.all(journals.map((journal) => journal.record(change(freshRun(4, 2)))));
    expect(results.sort()).toEqual(["lost", "recorded"]);
  });

  test("a crash between building the commit and pushing it leaves nothing, one after the push is found", async () => {
    const run = freshRun(4, 2);
    const crash = async (): Promise<"ok"> => {
      throw new Error("killed");
    };
    await expect(openJournal({ mirror: { ...mirror, push: crash }, app: APP, seal: SEAL }).record(change(run))).rejects.toThrow("killed");
    expect((await openJournal({ mirror, app: APP, seal: SEAL }).read()).head).toBeUndefined();
    const late: Mirror["push"] = async (updates) => {
      await mirror.push(updates);
      return await crash();
    };
    const journal = openJournal({ mirror: { ...mirror, push: late }, app: APP, seal: SEAL });
    await expect(journal.record(change(run))).rejects.toThrow("killed");
    expect((await journal.read()).runs.get("payments")).toEqual(run);
    expect((await openJournal({ mirror: await replica("other.git"), app: APP, seal: SEAL }).read()).runs.get("payments")).toEqual(run);
  });
});

describe("a journal that somebody else touched", () => {
  test("a foreign commit stops everything until it is accepted, and what it wrote stands then", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(freshRun(4, 2)));
    const commit = tamper({ note: "x" });
    const state = await journal.read();
    expect(state.tampered).toMatchObject({ commit, why: { because: { code: "COMMIT_AUTHOR", email: "dev@example.com" } } });
    await expect(journal.record(change(freshRun(4, 2, { why: said("later") })))).rejects.toMatchObject({ kind: "Invalid" });
    expect((await openJournal({ mirror: await replica("other.git"), app: APP, seal: SEAL }).read()).tampered?.commit).toBe(commit);
    await accept(START);
    expect((await journal.read()).tampered).toBeUndefined();
    expect(await journal.record(change(freshRun(4, 2, { why: said("later") })))).toBe("recorded");
    expect((await openJournal({ mirror: await replica("third.git"), app: APP, seal: SEAL }).read()).tampered).toBeUndefined();
  });

  test("a commit under our name without our trailer is foreign too", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(freshRun(4, 2)));
    tamper({}, `${APP} <${APP}@users.noreply.github.com>`);
    expect((await journal.read()).tampered?.why).toMatchObject({ because: { code: "COMMIT_NO_TRAILER" } });
  });

  test("a rewritten branch is found, and no acceptance covers it; put back it is ours again", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(freshRun(4, 2)));
    const first = git(at.origin, "rev-parse", REF);
    await journal.record(change(freshRun(4, 2, { why: said("later") })));
    const last = git(at.origin, "rev-parse", REF);
    git(at.origin, "update-ref", REF, first);
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
    expect((await journal.read()).tampered?.commit).toBe(first);
    await accept(START + 5000);
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
    git(at.origin, "update-ref", REF, last);
    expect((await journal.read()).tampered).toBeUndefined();
    expect((await journal.read()).runs.get("payments")?.why).toHaveCode("SAID", { text: "later" });
  });

  test("a rewrite back to before an older acceptance is not covered by it", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(freshRun(4, 2)));
    await accept(START);
    await journal.read();
    const accepted = git(at.origin, "rev-parse", REF);
    await journal.record(change(freshRun(4, 2, { why: said("later") })));
    git(at.origin, "update-ref", REF, accepted);
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_REWRITTEN" });
  });

  test("a branch that is gone is found, by a restarted process too", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(freshRun(4, 2)));
    git(at.origin, "update-ref", "-d", REF);
    expect((await openJournal({ mirror, app: APP, seal: SEAL }).read()).tampered?.why).toMatchObject({ code: "JOURNAL_GONE" });
    expect((await journal.read()).tampered?.why).toMatchObject({ code: "JOURNAL_GONE" });
    await accept(START);
    const state = await journal.read();
    expect([state.tampered, state.runs.size]).toEqual([undefined, 0]);
  });

  test("another App's journal is not ours to go on with", async () => {
    await openJournal({ mirror, app: "other[bot]", seal: SEAL }).record(change(freshRun(4, 2)));
    expect((await openJournal({ mirror, app: APP, seal: SEAL }).read()).tampered).toBeDefined();
  });

  test("one broken run stops alone, once what broke it was accepted", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    const ledger = freshRun(4, 2, { rollout: "ledger" });
    await journal.record({ ...change(freshRun(4, 2)), runs: [freshRun(4, 2), ledger] });
    tamper({ "runs/payments/1/run.yaml": "format: 9\n" });
    await accept(START);
    const state = await journal.read();
    expect(state.broken.get("payments")).toMatchObject({
      run: 1,
      file: "runs/payments/1/run.yaml",
      why: { code: "JOURNAL_FORMAT", has: "9" },
    });
    expect([...state.runs.keys()]).toEqual(["ledger"]);
    expect(await journal.record(change({ ...ledger, why: said("goes on") }))).toBe("recorded");
    await expect(journal.record(change(freshRun(4, 2)))).rejects.toThrow(/cannot be written over/);
    expect(await journal.runs("payments")).toMatchObject([{ number: 1, phase: "Unreadable" }]);
  });

  test("a symbolic link in the journal is never followed", async () => {
    const journal = openJournal({ mirror, app: APP, seal: SEAL });
    await journal.record(change(freshRun(4, 2)));
    git(at.checkout, "fetch", "--quiet", "origin", REF);
    git(at.checkout, "checkout", "--quiet", "-B", "journal", "FETCH_HEAD");
    git(at.checkout, "rm", "--quiet", "runs/payments/1/run.yaml");
    at.link("runs/payments/1/run.yaml", "/etc/hostname");
    tamper({});
    expect((await journal.read()).tampered).toBeDefined();
  });
});
