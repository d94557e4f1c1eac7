import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMirror } from "./mirror.ts";
import type { CommitInput, Mirror } from "./port.ts";
import { git, type Workspace, workspace } from "./testing/repositories.ts";

const AUTHOR = { name: "stagecoach[bot]", email: "stagecoach[bot]@users.noreply.github.com" };
const UNKNOWN = `${"0".repeat(39)}1`;
const AT = Date.parse("2026-11-21T05:00:00Z");

let at: Workspace;
let mirror: Mirror;
let first: string;

beforeEach(async () => {
  at = workspace({
    "README.md": "hello\n",
    "apps/a/values.yaml": "image: v1\n",
    "apps/b/values.yaml": "image: v1\r\n",
    "ünï code.txt": "ü\n",
  });
  first = git(at.checkout, "rev-parse", "HEAD");
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
  await mirror.fetch();
});

afterEach(async () => {
  await mirror.close();
  at.remove();
});

function change(changes: Record<string, string | null>, over: Partial<CommitInput> = {}): CommitInput {
  return { parent: first, changes: new Map(Object.entries(changes)), message: "batch 1", author: AUTHOR, at: AT, ...over };
}

describe("reading", () => {
  test("many files come in one answer, byte for byte, and a missing one is null", async () => {
    const files = await mirror.readFiles(first, ["apps/b/values.yaml", "ünï code.txt", "nope.yaml", "apps", "README.md/below"]);
    expect([...files]).toEqual([
      ["apps/b/values.yaml", "image: v1\r\n"],
      ["ünï code.txt", "ü\n"],
      ["nope.yaml", null],
      ["apps", null],
      ["README.md/below", null],
    ]);
  });

  test("the refs below a prefix are asked for in one call, tags as the commits they mean", async () => {
    git(at.checkout, "tag", "v1");
    git(at.checkout, "tag", "-a", "-m", "two", "v2");
    git(at.checkout, "push", "--quiet", "origin", "v1", "v2", "HEAD:refs/heads/queue/main/pr-1");
    const refs = await mirror.remoteBelow(["refs/tags/", "refs/heads/queue/main/"]);
    expect(Object.fromEntries(refs)).toEqual({
      "refs/tags/v1": first,
      "refs/tags/v2": first,
      "refs/heads/queue/main/pr-1": first,
    });
    // Asked for by its full name: nothing longer that ends or begins with it counts.
    const asked = ["refs/tags/v1", "refs/tags/v2", "refs/tags/v", "refs/heads/v1", "refs/heads/queue/main/pr-1"];
    expect(Object.fromEntries(await mirror.remoteCommits(asked))).toEqual(Object.fromEntries(refs));
    await expect(mirror.remoteCommits(["refs/tags/v1 --upload-pack=x"])).rejects.toMatchObject({ kind: "Invalid" });
    await expect(mirror.remoteBelow(["refs/../x"])).rejects.toMatchObject({ kind: "Invalid" });
  });

  test("a symbolic link is refused, as a file and as a directory on the way", async () => {
    at.link("link.yaml", "README.md");
    at.link("linked", "apps");
    const commit = at.commitFiles({});
    await mirror.fetch();
    await expect(mirror.readFiles(commit, ["link.yaml"])).rejects.toMatchObject({ kind: "Symlink" });
    await expect(mirror.readFiles(commit, ["linked/a/values.yaml"])).rejects.toMatchObject({ kind: "Symlink" });
    expect(await mirror.listFiles(commit)).not.toContain("link.yaml");
    expect(await mirror.listFiles(commit, undefined, "link")).toEqual(["link.yaml", "linked"]);
  });

  test("a file over the limit is refused before it is read", async () => {
    await expect(mirror.readFiles(first, ["README.md"], { maxBytes: 5 })).rejects.toMatchObject({ kind: "TooLarge" });
    expect((await mirror.readFiles(first, ["README.md"], { maxBytes: 6 })).get("README.md")).toBe("hello\n");
  });

  test.each(["../etc/passwd", "/etc/passwd", "apps/../../x", ".git/config", "apps/.GIT/x", "a//b", "", "x\ny", "git~1/config"])(
    "the path %j is refused in reading and in writing",
    async (path) => {
      await expect(mirror.readFiles(first, [path])).rejects.toMatchObject({ kind: "Invalid" });
      await expect(mirror.commit(change({ [path]: "x" }))).rejects.toMatchObject({ kind: "Invalid" });
    },
  );

  test.each(["HEAD", "main", "--all", "abc", "main:README.md"])("%j is no commit id", async (commit) => {
    await expect(mirror.readFiles(commit, ["README.md"])).rejects.toMatchObject({ kind: "Invalid" });
    await expect(mirror.listFiles(commit)).rejects.toMatchObject({ kind: "Invalid" });
  });

  test.each(["--upload-pack=touch x", "a..b", "a b", "a\nb", ".hidden", "x.lock", "a/-b", "a@{1}", ""])(
    "the branch name %j is refused",
    async (branch) => {
      await expect(mirror.head(branch)).rejects.toMatchObject({ kind: "Invalid" });
      await expect(mirror.remoteHead(branch)).rejects.toMatchObject({ kind: "Invalid" });
      await expect(async () => await mirror.fetch([branch])).rejects.toMatchObject({ kind: "Invalid" });
    },
  );

  test("files are listed below a prefix, at a commit and in a tree", async () => {
    expect(await mirror.listFiles(first, "apps/")).toEqual(["apps/a/values.yaml", "apps/b/values.yaml"]);
    expect(await mirror.listFiles(first)).toContain("ünï code.txt");
    expect(await mirror.listFiles(first, "ap")).toEqual([]);
    expect(await mirror.listFiles(first, "apps/a/values.yaml")).toEqual(["apps/a/values.yaml"]);
    expect(await mirror.listFiles(first, "apps/a/values.yaml/below")).toEqual([]);
  });

  test("a commit made after the mirror began to read is seen once it is fetched", async () => {
    await mirror.readFiles(first, ["README.md"]);
    const second = at.commitFiles({ "README.md": "changed\n" }, "second\n\nwith a body\n");
    await expect(mirror.readFiles(second, ["README.md"])).rejects.toMatchObject({ kind: "NotFound" });
    expect(await mirror.head("main")).toBe(first);
    expect(await mirror.remoteHead("main")).toBe(second);
    await mirror.fetch(["main"]);
    expect(await mirror.head("main")).toBe(second);
    expect((await mirror.readFiles(second, ["README.md"])).get("README.md")).toBe("changed\n");
    expect(await mirror.commitInfo(second)).toMatchObject({ parents: [first], author: "Dev", subject: "second", body: "with a body" });
    expect(await mirror.changedPaths(first, second)).toEqual(["README.md"]);
  });
});

describe("history", () => {
  test("ancestry is yes, no, or unknown", async () => {
    const second = at.commitFiles({ x: "1" });
    await mirror.fetch();
    expect(await mirror.isAncestor(first, second)).toBe(true);
    expect(await mirror.isAncestor(second, first)).toBe(false);
    expect(await mirror.isAncestor(UNKNOWN, second)).toBeUndefined();
    expect(await mirror.commitInfo(UNKNOWN)).toBeUndefined();
  });

  test("the first-parent log has merges but not what they brought, oldest first", async () => {
    git(at.checkout, "switch", "--quiet", "-c", "side");
    at.commitFiles({ side: "1" }, "on the side");
    git(at.checkout, "switch", "--quiet", "main");
    const second = at.commitFiles({ main: "1" }, "on main");
    git(at.checkout, "merge", "--quiet", "--no-ff", "-m", "merged", "side");
    const merged = at.commitFiles({ after: "1" }, "after");
    await mirror.fetch();
    expect((await mirror.firstParentLog(first, merged)).map((commit) => commit.subject)).toEqual(["on main", "merged", "after"]);
    expect((await mirror.firstParentLog(first, merged, 1)).map((commit) => commit.sha)).toEqual([second]);
    expect((await mirror.firstParentLog(undefined, merged, 2)).map((commit) => commit.subject)).toEqual(["merged", "after"]);
    expect(await mirror.firstParentLog(merged, merged)).toEqual([]);
  });

  test("a branch deleted at the remote is gone after a fetch of all and of that one", async () => {
    git(at.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/one", "HEAD:refs/heads/two");
    await mirror.fetch();
    git(at.checkout, "push", "--quiet", "origin", ":refs/heads/one", ":refs/heads/two");
    await mirror.fetch(["one", "main"]);
    expect([await mirror.head("one"), await mirror.head("two"), await mirror.head("main")]).toEqual([undefined, first, first]);
    await mirror.fetch();
    expect(await mirror.head("two")).toBeUndefined();
  });

  test("trees that hold one another again and again are refused, not walked for ever", async () => {
    let tree = git(at.origin, "rev-parse", "main^{tree}");
    for (let depth = 0; depth < 12; depth++) {
      const id = Buffer.from(tree, "hex");
      const bytes = Buffer.concat([..."0123456789"].flatMap((name) => [Buffer.from(`40000 ${name}\0`), id]));
      writeFileSync(join(at.directory, "tree"), bytes);
      tree = git(at.origin, "hash-object", "-t", "tree", "-w", join(at.directory, "tree"));
    }
    const head = git(at.origin, "commit-tree", tree, "-p", first, "-m", "bomb");
    git(at.origin, "update-ref", "refs/heads/bomb", head);
    await mirror.fetch(["bomb"]);
    await expect(mirror.changedPaths(first, head)).rejects.toMatchObject({ name: "GitError", kind: "TooLarge" });
    await expect(mirror.listFiles(head)).rejects.toMatchObject({ name: "GitError", kind: "TooLarge" });
  });

  test("of a commit with an endless message no more is held than is read of it, and a folder that takes long to read is refused", async () => {
    const [tree, object] = [git(at.origin, "rev-parse", "main^{tree}"), join(at.directory, "object")];
    writeFileSync(object, `Carry on\n\n${"x".repeat(5 * 1024 * 1024)}`);
    const head = git(at.origin, "commit-tree", tree, "-p", first, "-F", object);
    const entry = (n: number) => Buffer.concat([Buffer.from(`100644 f${String(n).padStart(6, "0")}\0`), Buffer.alloc(20, 7)]);
    writeFileSync(object, Buffer.concat(Array.from({ length: 130_000 }, (_, n) => entry(n))));
    const large = git(at.origin, "hash-object", "-t", "tree", "-w", object);
    git(at.origin, "update-ref", "refs/heads/long", head);
    await mirror.fetch(["long"]);
    expect(await mirror.commitInfo(head)).toMatchObject({ sha: head, subject: "Carry on", parents: [first], body: "" });
    expect((await mirror.commitObject(head))?.length).toBe(2 * 1024 * 1024);
    expect(await mirror.head("long")).toBe(head);
    cpSync(join(at.origin, "objects"), join(at.directory, "mirror.git", "objects"), { recursive: true });
    await expect(mirror.tree(large)).rejects.toMatchObject({ kind: "TooLarge" });
  });

  test("a merge gives its tree, or the paths that conflict", async () => {
    const ours = await mirror.commit(change({ "apps/a/values.yaml": "image: v2\n" }));
    const theirs = await mirror.commit(change({ "README.md": "bye\n" }));
    const clash = await mirror.commit(change({ "apps/a/values.yaml": "image: v3\n" }));
    const clean = await mirror.mergeTree(ours, theirs);
    if (!("tree" in clean)) throw new Error("expected no conflict");
    const files = await mirror.readFiles(clean.tree, ["apps/a/values.yaml", "README.md"]);
    expect([...files.values()]).toEqual(["image: v2\n", "bye\n"]);
    expect(await mirror.listFiles(clean.tree, "apps")).toHaveLength(2);
    expect(await mirror.mergeTree(ours, clash)).toEqual({ conflicts: ["apps/a/values.yaml"] });
  });
});

describe("writing", () => {
  test("a commit changes what it is told and nothing else, keeps modes, and has the same id when made again", async () => {
    chmodSync(join(at.checkout, "README.md"), 0o755);
    const parent = at.commitFiles({});
    await mirror.fetch();
    const input = change(
      { "README.md": "new\n", 'odd "name" \\ x.txt': "y", "apps/a/values.yaml": null, "apps/c/d.yaml": "z: 1\n" },
      { parent },
    );
    const made = await mirror.commit(input);
    expect(await mirror.commit(input)).toBe(made);
    expect(git(join(at.directory, "mirror.git"), "ls-tree", "-r", made)).toContain("100755");
    expect((await mirror.changedPaths(parent, made)).sort()).toEqual([
      "README.md",
      "apps/a/values.yaml",
      "apps/c/d.yaml",
      'odd "name" \\ x.txt',
    ]);
    expect(await mirror.commitInfo(made)).toMatchObject({ author: AUTHOR.name, authorEmail: AUTHOR.email, at: AT, parents: [parent] });
    expect(git(join(at.directory, "mirror.git"), "for-each-ref", "refs/stagecoach")).toBe("");
    const promised = ["-c", "remote.origin.promisor=true"];
    expect(git(join(at.directory, "mirror.git"), ...promised, "fsck", "--strict", "--no-dangling")).toBe("");
  });

  test("an orphan has no parent and only its own files", async () => {
    const orphan = await mirror.commit(change({ "index.yaml": "format: 1\n" }, { parent: undefined }));
    expect(await mirror.commitInfo(orphan)).toMatchObject({ parents: [] });
    expect(await mirror.listFiles(orphan)).toEqual(["index.yaml"]);
  });

  test("a symbolic link, a directory, and a file in the way are never overwritten", async () => {
    at.link("link.yaml", "README.md");
    at.link("linked", "apps");
    const parent = at.commitFiles({});
    await mirror.fetch();
    const refused = (changes: Record<string, string | null>) => mirror.commit(change(changes, { parent }));
    await expect(refused({ "link.yaml": "x" })).rejects.toMatchObject({ kind: "Symlink" });
    await expect(refused({ "linked/new.yaml": "x" })).rejects.toMatchObject({ kind: "Symlink" });
    await expect(refused({ apps: null })).rejects.toMatchObject({ kind: "Invalid" });
    await expect(refused({ "README.md/x": "x" })).rejects.toMatchObject({ kind: "Invalid" });
    await expect(refused({ n: "x", "n/m": "x" })).rejects.toMatchObject({ kind: "Invalid" });
  });

  test("a push moves several refs or none, and says stale exactly when one was elsewhere", async () => {
    const next = await mirror.commit(change({ "README.md": "2\n" }));
    const ref = "refs/heads/main";
    const other = "refs/heads/stagecoach-run/x/1/1-1-1";
    expect(
      await mirror.push([
        { ref: other, old: first, new: next },
        { ref, old: first, new: next },
      ]),
    ).toBe("stale");
    expect(git(at.origin, "rev-parse", "main")).toBe(first);
    expect(
      await mirror.push([
        { ref: other, old: undefined, new: next },
        { ref, old: first, new: next },
      ]),
    ).toBe("ok");
    expect(git(at.origin, "rev-parse", "main", other)).toBe(`${next}\n${next}`);
    expect(await mirror.head("main")).toBe(next);
    expect(await mirror.push([{ ref: other, old: undefined, new: next }])).toBe("stale");
    expect(await mirror.push([{ ref, old: first, new: next }])).toBe("stale");
    expect(await mirror.push([{ ref: other, old: next, new: undefined }])).toBe("ok");
    expect(await mirror.remoteHead("stagecoach-run/x/1/1-1-1")).toBeUndefined();
  });

  test("a hook's refusal is told in its own words", async () => {
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(at.origin, "hooks", "pre-receive"), "#!/bin/sh\necho 'GH013: Repository rule violations found' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const next = await mirror.commit(change({ "README.md": "2\n" }));
    const push = mirror.push([{ ref: "refs/heads/main", old: first, new: next }]);
    await expect(push).rejects.toMatchObject({ kind: "Invalid", message: expect.stringContaining("GH013: Repository rule violations") });
  });

  test("of many pushes at the same time from two mirrors one wins each ref", async () => {
    const second = await openMirror({ directory: join(at.directory, "mirror2.git"), url: at.origin, allowFile: true });
    await second.fetch();
    const one = await mirror.commit(change({ x: "1" }));
    const two = await second.commit(change({ x: "2" }));
    const results = await Promise.all(
      [0, 1, 2, 3].flatMap((n) => [
        mirror.push([{ ref: `refs/heads/r${n}`, old: undefined, new: one }]),
        second.push([{ ref: `refs/heads/r${n}`, old: undefined, new: two }]),
      ]),
    );
    await second.close();
    expect(results.filter((result) => result === "ok")).toHaveLength(4);
    expect(results.filter((result) => result === "stale")).toHaveLength(4);
  });
});

describe("the mirror on disk", () => {
  test("reads go on after the reading process was killed", async () => {
    await mirror.readFiles(first, ["README.md"]);
    const pids = readChildren();
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    expect((await mirror.readFiles(first, ["README.md"])).get("README.md")).toBe("hello\n");
  });

  test("opening it again finds what was fetched, without the remote", async () => {
    await mirror.close();
    mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
    expect(await mirror.head("main")).toBe(first);
    expect(existsSync(join(at.directory, "mirror.git", "hooks"))).toBe(false);
  });

  test("a remote that is not there, a local path unasked for and a password in the URL are refused with a reason", async () => {
    const directory = join(at.directory, "other.git");
    await expect(openMirror({ directory, url: at.origin })).rejects.toMatchObject({ kind: "Invalid" });
    await expect(openMirror({ directory, url: "ssh://git@example.com/x" })).rejects.toMatchObject({ kind: "Invalid" });
    await expect(openMirror({ directory, url: "https://u:secret@example.com/x" })).rejects.not.toThrow(/secret/);
    const gone = await openMirror({ directory, url: "http://127.0.0.1:9/x.git" });
    await expect(gone.fetch()).rejects.toMatchObject({ kind: "Unavailable" });
    await gone.close();
  });
});

/** Our `cat-file` children, by /proc. Elsewhere the test has nothing to kill and fails, which says so. */
function readChildren(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim();
  return children
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cat-file"));
}
