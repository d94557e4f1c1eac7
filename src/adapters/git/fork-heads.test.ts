import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMirror } from "./mirror.ts";
import type { Mirror } from "./port.ts";
import { git, type Workspace, workspace } from "./testing/repositories.ts";

const KIB = 1024;
const LIMITS = { repository: 4096 * KIB, forkHead: 512 * KIB, forkFile: 64 * KIB };

let at: Workspace;
let mirror: Mirror;
let base: string;

beforeEach(async () => {
  at = workspace({ "a.yaml": "a: 1\n", "b.yaml": "b: 1\n" });
  git(at.origin, "config", "uploadpack.allowFilter", "true");
  base = git(at.checkout, "rev-parse", "HEAD");
  await open();
});

afterEach(async () => {
  await mirror.close();
  at.remove();
});

async function open(limits = LIMITS): Promise<void> {
  mirror = await openMirror({ directory: directory(), url: at.origin, allowFile: true, limits });
  await mirror.fetch(["main"]);
}

const directory = () => join(at.directory, "mirror.git");

function bytesBelow(path: string): number {
  if (!existsSync(path)) return 0;
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

/** The head of a PR with these files, as a fork's. */
function pull(number: number, files: Record<string, string | Buffer>): string {
  git(at.checkout, "checkout", "--quiet", "--detach", base);
  for (const [path, text] of Object.entries(files)) at.writeFile(path, text.toString("latin1"));
  git(at.checkout, "add", "--all");
  git(at.checkout, "commit", "--quiet", "-m", `pull ${number}`);
  git(at.checkout, "push", "--quiet", "origin", `HEAD:refs/pull/${number}/head`);
  return git(at.checkout, "rev-parse", "HEAD");
}

describe("the head of a pull request from a fork", () => {
  test("is read and merged as any other, without its large files", async () => {
    const head = pull(7, { "a.yaml": "a: 2\n", "large.bin": randomBytes(200 * KIB) });
    expect(await mirror.fetchFork(7)).toMatchObject({ kind: "fetched" });
    expect((await mirror.commitInfo(head))?.subject).toBe("pull 7");
    const merged = await mirror.mergeTree(base, head);
    const tree = "tree" in merged ? merged.tree : "";
    expect((await mirror.readFiles(tree, ["a.yaml", "b.yaml"])).get("a.yaml")).toBe("a: 2\n");
    expect(await mirror.changedPaths(base, tree)).toEqual(["a.yaml", "large.bin"]);
    expect(await mirror.listFiles(tree)).toEqual(["a.yaml", "b.yaml", "large.bin"]);
    await expect(mirror.readFiles(tree, ["large.bin"])).rejects.toMatchObject({ kind: "TooLarge" });
    expect(bytesBelow(directory())).toBeLessThan(150 * KIB);
  });

  test("that has more bytes than a head may leaves none of them behind", async () => {
    const head = pull(7, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.bin`, randomBytes(32 * KIB)])));
    expect(await mirror.fetchFork(7)).toMatchObject({ kind: "tooLarge" });
    expect(await mirror.commitInfo(head)).toBeUndefined();
    expect(bytesBelow(directory())).toBeLessThan(100 * KIB);
  });

  test("is gone once its pull request is closed, and what others brought stays", async () => {
    const [gone, kept] = [pull(7, { "seven.bin": randomBytes(30 * KIB) }), pull(8, { "eight.bin": randomBytes(30 * KIB) })];
    await mirror.fetchFork(7);
    await mirror.fetchFork(8);
    await mirror.mergeTree(base, gone);
    const before = bytesBelow(directory());
    await mirror.keepPulls(new Set([8]));
    expect(await mirror.commitInfo(gone)).toBeUndefined();
    expect((await mirror.commitInfo(kept))?.subject).toBe("pull 8");
    expect(before - bytesBelow(directory())).toBeGreaterThan(30 * KIB);
  });

  test("is not fetched where those of all open pull requests would take more than half of the quota", async () => {
    await mirror.close();
    await open({ ...LIMITS, repository: 600 * KIB });
    const forks = join(directory(), "forks");
    const kinds: string[] = [];
    for (let number = 1; number <= 10; number++) {
      pull(number, { [`${number}.bin`]: randomBytes(40 * KIB) });
      kinds.push((await mirror.fetchFork(number)).kind);
      expect(bytesBelow(forks)).toBeLessThanOrEqual(300 * KIB);
    }
    expect([kinds[0], kinds.at(-1)]).toEqual(["fetched", "full"]);
    // It is theirs that is used up: the repository itself has the other half.
    expect(bytesBelow(directory()) - bytesBelow(forks)).toBeLessThan(200 * KIB);
    expect((await mirror.room()).left).toBeGreaterThan(100 * KIB);
  });

  test("is not fetched where the repository's quota is used up, by what a process before has fetched, too; branches are", async () => {
    // So large that half of the quota would have room for both heads.
    base = at.commitFiles({ "ours.txt": randomBytes(150 * KIB).toString("hex") }, "ours");
    await mirror.fetch(["main"]);
    pull(7, { "seven.bin": randomBytes(30 * KIB) });
    const head = pull(8, { "eight.bin": randomBytes(30 * KIB) });
    await mirror.fetchFork(7);
    await mirror.close();
    await open({ ...LIMITS, repository: bytesBelow(directory()) + 20 * KIB });
    expect(await mirror.fetchFork(8)).toMatchObject({ kind: "full" });
    expect(await mirror.commitInfo(head)).toBeUndefined();
    git(at.checkout, "push", "--quiet", "origin", `${head}:refs/heads/ours`);
    await mirror.fetch(["ours"]);
    expect(await mirror.head("ours")).toBe(head);
    await mirror.readFiles(head, ["eight.bin"]);
    expect((await mirror.room()).left).toBeLessThan(0);
    await mirror.keepPulls(new Set());
    expect((await mirror.room()).left).toBeGreaterThan(0);
  });
});

describe("a mirror without history", () => {
  test("holds the newest commit alone, follows the branch, and has all of it once it is deepened", async () => {
    await mirror.close();
    for (let n = 0; n < 20; n++) base = at.commitFiles({ "big.yaml": randomBytes(20 * KIB).toString("hex") }, `change ${n}`);
    mirror = await openMirror({ directory: `${directory()}2`, url: `file://${at.origin}`, allowFile: true });
    await mirror.fetch(["main"], { shallow: true });
    expect([await mirror.isShallow(), (await mirror.firstParentLog(undefined, base)).length]).toEqual([true, 1]);
    const next = at.commitFiles({ "a.yaml": "a: 3\n" }, "next");
    await mirror.fetch(["main"], { shallow: true });
    expect(await mirror.changedPaths(base, next)).toEqual(["a.yaml"]);
    expect(bytesBelow(`${directory()}2`)).toBeLessThan(150 * KIB);
    await mirror.deepen("main");
    expect([await mirror.isShallow(), (await mirror.firstParentLog(undefined, next)).length]).toEqual([false, 22]);
    expect(await mirror.isAncestor(base, next)).toBe(true);
    await mirror.fetch(["main"], { shallow: true });
    expect(await mirror.isShallow()).toBe(false);
  });
});
