import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { batchCommitMessage } from "../../../core/report/batch/batch-pull.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import type { RepoContext } from "../context.ts";
import { type BatchCommits, openBatchCommits } from "./batch-commit.ts";

const FILE = "appsets/payments.yaml";
const BEFORE = "us-1: v1.4.1\nus-2: v1.4.1\n";
const AFTER = "us-1: v1.4.2\nus-2: v1.4.2\n";

let place: Workspace;
let mirror: Mirror;
let memory: Parts;
let commits: BatchCommits;
let run: Run;
let batch: Batch;

beforeEach(async () => {
  place = workspace({ [FILE]: BEFORE });
  mirror = await openMirror({ directory: join(place.directory, "mirror.git"), url: place.origin, allowFile: true });
  await mirror.fetch();
  memory = partsOf({ mirror }, { base: await mirror.head("main") });
  const author = { name: "stagecoach[bot]", email: "1+stagecoach[bot]@users.noreply.github.com" };
  commits = openBatchCommits({ mirror, author } as unknown as RepoContext, memory.commits, memory.remote);
  run = sampleRun();
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

/** Somebody's own commit of these files on the batch's branch, with our words in its message. */
async function pushed(files: Record<string, string>, message = "work"): Promise<string> {
  const commit = place.commitFiles(files, message);
  git(place.checkout, "push", "-q", "origin", `HEAD:refs/heads/${batch.branch}`);
  git(place.origin, "update-ref", "refs/heads/main", memory.remote.last.base ?? "");
  await mirror.fetch([batch.branch]);
  return commit;
}

describe("recognising the commit of a batch", () => {
  test("the one we build is ours, and building it again gives the same", async () => {
    const base = memory.remote.last.base ?? "";
    const commit = await commits.build(run, batch, base);
    expect(await commits.build(run, batch, base)).toBe(commit);
    expect(await commits.isOurs(run, batch, commit ?? "")).toBe(true);
  });

  test("somebody's commit below one with our bytes and our words is not ours: the PR would bring both", async () => {
    await pushed({ "evil.sh": "rm -rf /\n" });
    const head = await pushed({ [FILE]: AFTER }, batchCommitMessage(run, batch));
    expect(await commits.isOurs(run, batch, head)).toBe(false);
  });

  test("our words on other bytes are not ours", async () => {
    const head = await pushed({ [FILE]: "us-1: v9\nus-2: v9\n" }, batchCommitMessage(run, batch));
    expect(await commits.isOurs(run, batch, head)).toBe(false);
  });

  test("our bytes beside a file more are not ours", async () => {
    const head = await pushed({ [FILE]: AFTER, "evil.sh": "x\n" }, batchCommitMessage(run, batch));
    expect(await commits.isOurs(run, batch, head)).toBe(false);
  });

  test("our bytes without our words are not ours", async () => {
    const head = await pushed({ [FILE]: AFTER }, "looks harmless");
    expect(await commits.isOurs(run, batch, head)).toBe(false);
  });
});
