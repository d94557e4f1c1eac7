import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { CommitWriter, Mirror, ProposeInput } from "../../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { batchCommitMessage } from "../../../core/report/batch/batch-pull.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { openGuard } from "../guard/guard.ts";
import { type BatchCommits, openBatchCommits } from "./batch-commit.ts";
import { openProposer } from "./propose.ts";

const FILE = "appsets/payments.yaml";
const BEFORE = "us-1: v1.4.1\nus-2: v1.4.1\n";
const AFTER = "us-1: v1.4.2\nus-2: v1.4.2\n";

let place: Workspace;
let mirror: Mirror;
let memory: Parts;
let run: Run;
let batch: Batch;
/** Branch → head, as the forge has PRs for it. */
let pulls: Map<string, string>;
/** Its head, as the round saw it last. */
let journal: string | undefined;

beforeEach(async () => {
  place = workspace({ [FILE]: BEFORE });
  mirror = await openMirror({ directory: join(place.directory, "mirror.git"), url: place.origin, allowFile: true });
  await mirror.fetch();
  memory = partsOf({ mirror }, { base: await mirror.head("main") });
  pulls = new Map();
  journal = undefined;
  const sample = sampleRun();
  run = { ...sample, spec: { ...sample.spec, source: { ...sample.spec.source, kind: "Application" } } };
  const second = run.batches[1];
  if (second === undefined) throw new Error("the sample has two batches");
  const targets = second.targets.map((target) => ({
    ...target,
    edits: target.edits.map((edit) => ({ ...edit, path: target.cluster.slice("hub/".length) })),
  }));
  batch = { ...second, targets };
});

afterEach(async () => {
  await mirror.close();
  place.remove();
});

function contextWith(writer: CommitWriter | undefined): RepoContext {
  const forge = {
    async createPull({ branch }: { branch: string }) {
      const head = await mirror.remoteHead(branch);
      if (head === undefined) throw new Error("no such branch");
      pulls.set(branch, head);
      return { number: 7 };
    },
    async closePull() {
      pulls.delete(batch.branch);
    },
  };
  const author = { name: "stagecoach[bot]", email: "1+stagecoach[bot]@users.noreply.github.com" };
  const clock = { now: () => 0, after: () => () => undefined };
  return {
    mirror,
    forge,
    author,
    clock,
    log: silentLog,
    journalBranch: "stagecoach/journal",
    planes: new Map(),
    repoURL: place.origin,
    ...(writer === undefined ? {} : { writer }),
  } as unknown as RepoContext;
}

/**
 * Makes branch, commit and PR one after the other as GitHub does within one request: each though the one before failed. It breaks off
 * after so many of them.
 */
function gitHubLike(breaksAfter = 3): CommitWriter {
  const author = { name: "stagecoach[bot]", email: "x@example.com" };
  const write: CommitWriter["write"] = async ({ branch, head, from, changes, message, at }) => {
    const commit = await mirror.commit({ parent: head ?? from, changes, message, author, at: at + 1 });
    const pushed = await mirror.push([{ ref: `refs/heads/${branch}`, old: head, new: commit }]);
    return pushed === "ok" ? { kind: "written", commit } : { kind: "stale" };
  };
  return {
    kind: "github",
    write,
    async propose(input: ProposeInput) {
      const { branch, from } = input;
      const done = (steps: number) => {
        if (breaksAfter === steps) throw new Error("killed");
      };
      done(0);
      await mirror.push([{ ref: `refs/heads/${branch}`, old: undefined, new: from }]);
      done(1);
      const written = await write({ ...input, head: from });
      done(2);
      if (pulls.has(branch)) return { kind: "taken", message: "A pull request already exists" };
      const head = (await mirror.remoteHead(branch)) ?? "";
      pulls.set(branch, head);
      if (written.kind === "stale") return { kind: "taken", message: "stale", pull: { number: 7, head } };
      return { kind: "proposed", commit: written.commit, pull: 7 };
    },
  };
}

function propose(writer: CommitWriter | undefined): Promise<boolean> {
  const context = contextWith(writer);
  const proposer = openProposer(context, commitsWith(writer), openGuard(context, memory.commits));
  return proposer({ run, base: memory.remote.last.base ?? "", baseBranch: "main", journalHead: journal }, batch);
}

function commitsWith(writer: CommitWriter | undefined): BatchCommits {
  return openBatchCommits(contextWith(writer), memory.commits, memory.remote);
}

/** Somebody's own commit on the batch's branch. */
function pushed(files: Record<string, string>, message = "work"): string {
  const commit = place.commitFiles(files, message);
  git(place.checkout, "push", "-q", "origin", `HEAD:refs/heads/${batch.branch}`);
  git(place.origin, "update-ref", "refs/heads/main", memory.remote.last.base ?? "");
  return commit;
}

async function expectProposed(): Promise<void> {
  const head = pulls.get(batch.branch);
  expect(head).toBe(await mirror.remoteHead(batch.branch));
  expect(await commitsWith(undefined).isOurs(run, batch, head ?? "")).toBe(true);
  expect((await mirror.readFiles(head ?? "", [FILE])).get(FILE)).toBe(AFTER);
}

const WRITERS: [string, () => CommitWriter | undefined][] = [
  ["GitHub's", () => gitHubLike()],
  ["none, which pushes from the mirror", () => undefined],
];

describe.each(WRITERS)("with the writer: %s", (_name, writer) => {
  test("a batch is proposed, and proposing it again changes nothing", async () => {
    expect(await propose(writer())).toBe(true);
    await expectProposed();
    const head = await mirror.remoteHead(batch.branch);
    pulls.clear();
    expect(await propose(writer())).toBe(true);
    expect(await mirror.remoteHead(batch.branch)).toBe(head);
    await expectProposed();
  });

  test("a branch of our name that somebody else made gets no PR and stays as it is", async () => {
    const foreign = pushed({ "evil.sh": "x\n" });
    expect(await propose(writer())).toBe(false);
    expect([pulls.size, await mirror.remoteHead(batch.branch)]).toEqual([0, foreign]);
  });

  test("our bytes and our words on top of somebody's commit are not ours", async () => {
    pushed({ "evil.sh": "x\n" });
    const foreign = pushed({ [FILE]: AFTER }, batchCommitMessage(run, batch));
    expect(await propose(writer())).toBe(false);
    expect([pulls.size, await mirror.remoteHead(batch.branch)]).toEqual([0, foreign]);
  });
});

describe("a try that broke off", () => {
  test.each([
    ["before anything", 0],
    ["after the branch", 1],
    ["after the commit", 2],
  ])("%s is mended by the next one", async (_name, steps) => {
    await expect(propose(gitHubLike(steps))).rejects.toThrow("killed");
    expect(pulls.size).toBe(0);
    expect(await propose(gitHubLike())).toBe(true);
    await expectProposed();
  });

  test("after the branch, while the base moves on, is mended on the older base", async () => {
    await expect(propose(gitHubLike(1))).rejects.toThrow("killed");
    place.commitFiles({ other: "x\n" });
    await mirror.fetch();
    memory = partsOf({ mirror }, { base: await mirror.head("main") });
    expect(await propose(gitHubLike())).toBe(true);
    await expectProposed();
  });

  test("leaves a branch that is taken for nobody's, where nobody writes so for somebody's", async () => {
    await expect(propose(gitHubLike(1))).rejects.toThrow("killed");
    const head = (await mirror.remoteHead(batch.branch)) ?? "";
    expect(await commitsWith(gitHubLike()).judgeBranch(run, batch, head)).toBe("bare");
    expect(await commitsWith(undefined).judgeBranch(run, batch, head)).toBe("foreign");
    expect(await commitsWith(gitHubLike()).judgeBranch(run, batch, pushed({ "evil.sh": "x\n" }))).toBe("foreign");
  });

  test("somebody who makes the branch between our look and our writing wins it, and gets no PR", async () => {
    const honest = gitHubLike();
    let foreign = "";
    const raced: CommitWriter = {
      ...honest,
      propose: async (input) => {
        foreign = pushed({ "evil.sh": "x\n" });
        return (await honest.propose?.(input)) ?? { kind: "taken", message: "" };
      },
    };
    expect(await propose(raced)).toBe(false);
    expect([pulls.size, await mirror.remoteHead(batch.branch)]).toEqual([0, foreign]);
  });
});

describe("two processes of ours that propose one batch at the same moment", () => {
  const raced = (meanwhile: (honest: CommitWriter, input: ProposeInput) => Promise<unknown>): CommitWriter => {
    const honest = gitHubLike();
    return {
      ...honest,
      propose: async (input) => {
        await meanwhile(honest, input);
        return (await honest.propose?.(input)) ?? { kind: "taken", message: "" };
      },
    };
  };

  test("never close each other's pull request: what one made on the other's commit is the batch's", async () => {
    const other = raced((honest, { from, ...input }) => honest.write({ ...input, head: undefined, from }));
    expect(await propose(other)).toBe(true);
    await expectProposed();
  });

  test("open one: who comes second finds it", async () => {
    expect(await propose(raced(async (honest, input) => honest.propose?.(input)))).toBe(true);
    await expectProposed();
  });

  test("open none where the other has gone on since the round began", async () => {
    journal = "a".repeat(40);
    expect(await propose(gitHubLike())).toBe(true);
    expect([pulls.size, await mirror.remoteHead(batch.branch)]).toEqual([0, undefined]);
  });
});
