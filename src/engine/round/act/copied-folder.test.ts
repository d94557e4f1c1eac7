import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { EMPTY_TREE } from "../../../core/base/folder.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { outsideReader } from "../../lint/outside-readers.ts";
import { readPin } from "../../resolve/pin-values.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import type { RepoContext } from "../context.ts";
import { type BatchCommits, openBatchCommits } from "./batch-commit.ts";

const BYTES = Buffer.from([0, 255, 254, 10, 128]);

let place: Workspace;
let mirror: Mirror;
let memory: Parts;
let commits: BatchCommits;
let run: Run;

beforeEach(async () => {
  place = workspace({
    "env/staging/a.yaml": "a: 2\n",
    "env/staging/sub/b.yaml": "b: 1\n",
    "env/prod/a.yaml": "a: 1\n",
    "env/prod/old": "x\n",
  });
  const staging = join(place.checkout, "env/staging");
  writeFileSync(join(staging, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(staging, "run.sh"), 0o755);
  mkdirSync(join(staging, "charts"));
  writeFileSync(join(staging, "charts/web.tgz"), BYTES);
  place.link("env/staging/link.yaml", "sub/b.yaml");
  place.commitFiles({ "other.yaml": "x\n" });
  mirror = await openMirror({ directory: join(place.directory, "mirror.git"), url: place.origin, allowFile: true });
  await mirror.fetch();
  memory = partsOf({ mirror }, { base: await mirror.head("main") });
  const author = { name: "stagecoach[bot]", email: "1+stagecoach[bot]@users.noreply.github.com" };
  commits = openBatchCommits({ mirror, author } as unknown as RepoContext, memory.commits, memory.remote);
  run = sampleRun();
});

afterEach(async () => {
  await mirror.close();
  place.remove();
});

const treeAt = (commit: string, path: string) => git(mirrorDirectory(), "rev-parse", `${commit}:${path}`);
const mirrorDirectory = () => join(place.directory, "mirror.git");
const copyOf = (to: string, from: string | null, file = "env/prod"): Edit => ({ kind: "copy", file, path: "env/staging", from, to });

function batchOf(edit: Edit): Batch {
  const [, second] = run.batches;
  if (second === undefined) throw new Error("the sample has two batches");
  return { ...second, targets: second.targets.map((target) => ({ ...target, edits: [edit] })) };
}

async function built(edit: Edit, base = memory.remote.last.base ?? ""): Promise<string> {
  const commit = await commits.build(run, batchOf(edit), base);
  if (commit === undefined) throw new Error("it cannot be built");
  return commit;
}

describe("the commit of a batch that copies a directory", () => {
  test("has the directory as it is, with modes, links, bytes and what is removed, and nothing else", async () => {
    const base = memory.remote.last.base ?? "";
    const staging = treeAt(base, "env/staging");
    const commit = await built(copyOf(staging, treeAt(base, "env/prod")));
    expect(treeAt(commit, "env/prod")).toBe(staging);
    expect(git(mirrorDirectory(), "diff-tree", "-r", "--no-commit-id", "--name-status", commit).split("\n")).toEqual([
      "M\tenv/prod/a.yaml",
      "A\tenv/prod/charts/web.tgz",
      "A\tenv/prod/link.yaml",
      "D\tenv/prod/old",
      "A\tenv/prod/run.sh",
      "A\tenv/prod/sub/b.yaml",
    ]);
    expect(git(mirrorDirectory(), "ls-tree", commit, "env/prod/run.sh", "env/prod/link.yaml")).toMatch(/^120000 .*\n100755 /);
    expect(await commits.isOurs(run, batchOf(copyOf(staging, null)), commit)).toBe(true);
  });

  test("put back, the directory is what it was; one that was not there is gone again", async () => {
    const base = memory.remote.last.base ?? "";
    const [staging, prod] = [treeAt(base, "env/staging"), treeAt(base, "env/prod")];
    const moved = await built(copyOf(staging, prod));
    expect(treeAt(await built(copyOf(prod, staging), moved), "env/prod")).toBe(prod);
    const made = await built(copyOf(staging, EMPTY_TREE, "env/new"));
    expect(treeAt(made, "env/new")).toBe(staging);
    const gone = await built(copyOf(EMPTY_TREE, staging, "env/new"), made);
    expect(treeAt(gone, "env")).toBe(treeAt(base, "env"));
  });

  test("one byte, one mode or one file more is not ours", async () => {
    const base = memory.remote.last.base ?? "";
    const staging = treeAt(base, "env/staging");
    const batch = batchOf(copyOf(staging, null));
    const message = git(mirrorDirectory(), "log", "-1", "--format=%B", await built(copyOf(staging, null)));
    for (const spoil of [
      () => place.writeFile("env/prod/a.yaml", "a: 3\n"),
      () => chmodSync(join(place.checkout, "env/prod/sub/b.yaml"), 0o755),
      () => place.writeFile("env/prod/more.yaml", "x\n"),
      () => place.writeFile("other.yaml", "y\n"),
    ]) {
      git(place.checkout, "reset", "--hard", "--quiet", base);
      git(place.checkout, "rm", "-r", "--quiet", "env/prod");
      git(place.checkout, "read-tree", "--prefix=env/prod", "-u", staging);
      spoil();
      git(place.checkout, "add", "--all");
      git(place.checkout, "commit", "--quiet", "-m", message);
      git(place.checkout, "push", "--quiet", "--force", "origin", `HEAD:refs/heads/${batch.branch}`);
      await mirror.fetch([batch.branch]);
      expect(await commits.isOurs(run, batch, git(place.checkout, "rev-parse", "HEAD"))).toBe(false);
    }
  });
});

test("what stands in a directory is its tree: absent it is empty where that was meant, and else it has left", async () => {
  const base = memory.remote.last.base ?? "";
  const prod = treeAt(base, "env/prod");
  const valueAt = (edit: Edit) => memory.commits.snapshot(base).with((files) => readPin(files, edit));
  expect(await valueAt(copyOf("x", null))).toBe(prod);
  expect(await valueAt(copyOf("x", EMPTY_TREE, "env/none"))).toBe(EMPTY_TREE);
  expect(await valueAt(copyOf("x", prod, "env/none"))).toBeNull();
});

test("who touched a directory last is found by any file of it", async () => {
  const base = memory.remote.last.base ?? "";
  const touched = place.commitFiles({ "env/prod/sub/deep/x.yaml": "x\n" }, "Hotfix");
  await mirror.fetch();
  expect(await memory.commits.lastTouchAfter(base, touched, "env/prod/")).toMatchObject({ sha: touched, subject: "Hotfix" });
  expect(await memory.commits.lastTouchAfter(base, touched, "env/staging/")).toBeUndefined();
});

describe("who reads the directory besides", () => {
  const URL = "https://example.com/acme/fleet.git";

  /** What the guard says of a batch that copies staging over prod, beside an Application with this source. */
  async function readBy(path: string, base = memory.remote.last.base ?? "") {
    const source = { repoURL: URL, path, targetRevision: "main" };
    const view = decodeApplication({ metadata: { name: "other", namespace: "argocd" }, spec: { source } }, 0);
    const plane = {
      name: "hub",
      state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
      applicationSet: () => undefined,
      applications: () => (view === undefined ? [] : [view]),
      application: () => undefined,
      clusters: () => [],
    } as unknown as ControlPlane;
    const batch = batchOf(copyOf(treeAt(base, "env/staging"), treeAt(base, "env/prod")));
    const context = { planes: new Map([["hub", plane]]), repoURL: URL };
    return (await outsideReader(context, memory.commits.snapshot(base), run, batch, { baseBranch: "main", judge: async () => "noParent" }))
      ?.why;
  }

  test("an Application outside of the batch that reads any file of it refuses the batch, whether that file changes or not", async () => {
    expect(await readBy("env/prod")).toHaveCode("GUARD_READ_OUTSIDE", { application: "other", plane: "hub" });
    place.commitFiles({ "env/prod/shared/x.yaml": "x: 1\n", "env/staging/shared/x.yaml": "x: 1\n" });
    await mirror.fetch();
    expect(await readBy("env/prod/shared", await mirror.head("main"))).toHaveCode("GUARD_READ_OUTSIDE", {
      changed: "env/prod/shared/x.yaml",
    });
  });

  test("what reads another directory, or the one that is copied, does not", async () => {
    expect(await readBy("env/staging")).toBeUndefined();
    expect(await readBy("env/production")).toBeUndefined();
  });
});
