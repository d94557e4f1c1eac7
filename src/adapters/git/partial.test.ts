import { randomBytes } from "node:crypto";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMirror } from "./mirror.ts";
import type { Mirror } from "./port.ts";
import { type GitServer, serveGit } from "./testing/http-server.ts";
import { git, type Workspace, workspace } from "./testing/repositories.ts";

const KIB = 1024;
const AUTHOR = { name: "stagecoach[bot]", email: "b@example.com" };

let at: Workspace;
let server: GitServer;
let mirror: Mirror;
let asked: number;

beforeEach(async () => {
  at = workspace();
  asked = 0;
  const onRequest = () => {
    asked += 1;
  };
  server = await serveGit(at.directory, { onRequest });
  mirror = await openMirror({ directory: directory(), url: `${server.url}/origin.git` });
});

afterEach(async () => {
  await mirror.close();
  await server.close();
  at.remove();
});

const directory = () => join(at.directory, "mirror.git");
/** A hundred lines, as a file has. */
const lines = (word: string) => Array.from({ length: 100 }, (_, n) => `${word} ${n}\n`).join("");

function bytes(): number {
  const files = readdirSync(directory(), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

async function requests(work: () => Promise<unknown>): Promise<number> {
  const before = asked;
  await work();
  return asked - before;
}

describe("a mirror without the contents of files", () => {
  test("has none of them after a fetch, and brings those that are read in one go, once", async () => {
    const names = Array.from({ length: 600 }, (_, n) => `clusters/${n}.yaml`);
    for (let n = 0; n < 5; n++) at.commitFiles({ "old.bin": randomBytes(200 * KIB).toString("hex") });
    const head = at.commitFiles({ ...Object.fromEntries(names.map((name) => [name, lines(name)])), "old.bin": null });
    await mirror.fetch(["main"]);
    expect(bytes()).toBeLessThan(100 * KIB);
    expect(await requests(() => mirror.bring?.(head, names) ?? Promise.reject())).toBe(2);
    let texts = new Map<string, string | null>();
    expect(
      await requests(async () => {
        texts = await mirror.readFiles(head, names);
      }),
    ).toBe(0);
    expect(names.filter((name) => texts.get(name) !== lines(name))).toEqual([]);
    expect(await requests(() => mirror.readFiles(head, ["README.md", "nowhere", ...names]))).toBe(1);
    expect(await requests(() => mirror.readFiles(head, ["README.md"]))).toBe(0);
  });

  test("gets what is new with its files, and those that are large when they are read", async () => {
    await mirror.fetch(["main"]);
    const head = at.commitFiles({ "a.yaml": lines("a"), "large.txt": randomBytes(1100 * KIB).toString("hex") });
    await mirror.fetch(["main"]);
    expect(bytes()).toBeLessThan(100 * KIB);
    expect(await requests(() => mirror.readFiles(head, ["a.yaml"]))).toBe(0);
    const [text] = (await mirror.readFiles(head, ["large.txt"])).values();
    expect(text?.length).toBe(2 * 1100 * KIB);
  });

  test("gets what is new where it comes as a change of a file that is not here", async () => {
    const noise = Array.from({ length: 400 }, () => randomBytes(30).toString("hex")).join("\n");
    at.commitFiles({ "a.txt": noise, "b.txt": lines("b") });
    await mirror.fetch(["main"]);
    const head = at.commitFiles({ "a.txt": `${noise}\nmore` });
    await mirror.fetch(["main"]);
    expect((await mirror.readFiles(head, ["a.txt"])).get("a.txt")).toBe(`${noise}\nmore`);
  });

  test("brings what a merge takes, where both sides have changed a file or one has moved it, in a few requests", async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`many/${n}.yaml`, lines(`${n}`)]));
    at.commitFiles({ ...many, "moved.yaml": lines("moved") });
    git(at.checkout, "checkout", "--quiet", "-b", "side");
    const ours = Object.fromEntries(Object.entries(many).map(([name, text]) => [name, text.replace(/ 3\n/, " three\n")]));
    const side = at.commitFiles({ ...ours, "moved.yaml": null, "to/moved.yaml": `${lines("moved")}more\n` });
    git(at.checkout, "checkout", "--quiet", "main");
    const theirs = Object.fromEntries(Object.entries(many).map(([name, text]) => [name, text.replace(/ 97\n/, " last\n")]));
    const head = at.commitFiles({ ...theirs, "moved.yaml": lines("moved").replace(/ 50\n/, " fifty\n") });
    await mirror.fetch(["main", "side"]);
    let tree = "";
    const took = await requests(async () => {
      const merged = await mirror.mergeTree(head, side);
      tree = "tree" in merged ? merged.tree : "";
    });
    expect(took).toBeLessThan(6);
    const texts = await mirror.readFiles(tree, ["many/7.yaml", "to/moved.yaml"]);
    expect(texts.get("many/7.yaml")).toBe(lines("7").replace(/ 3\n/, " three\n").replace(/ 97\n/, " last\n"));
    expect(texts.get("to/moved.yaml")).toBe(`${lines("moved").replace(/ 50\n/, " fifty\n")}more\n`);
  });

  test("brings what a merged fork has of the base, and never what the fork's head left out", async () => {
    const base = at.commitFiles({ "a.yaml": lines("a"), "b.yaml": lines("b"), "c.yaml": lines("c") });
    const large = randomBytes(600 * KIB).toString("hex");
    at.writeFile("a.yaml", lines("a").replace(/ 3\n/, " three\n"));
    at.writeFile("large.txt", large);
    git(at.checkout, "mv", "c.yaml", "d.yaml");
    git(at.checkout, "add", "--all");
    git(at.checkout, "commit", "--quiet", "-m", "pull 7");
    git(at.checkout, "push", "--quiet", "origin", "HEAD:refs/pull/7/head");
    const head = git(at.checkout, "rev-parse", "HEAD");
    git(at.checkout, "reset", "--quiet", "--hard", base);
    const now = at.commitFiles({ "a.yaml": lines("a").replace(/ 97\n/, " last\n") });
    await mirror.fetch(["main"]);
    await mirror.fetchFork(7);
    const merged = await mirror.mergeTree(now, head);
    const tree = "tree" in merged ? merged.tree : "";
    const texts = await mirror.readFiles(tree, ["a.yaml", "b.yaml", "d.yaml"]);
    expect(texts.get("a.yaml")).toBe(lines("a").replace(/ 3\n/, " three\n").replace(/ 97\n/, " last\n"));
    expect([texts.get("b.yaml"), texts.get("d.yaml")]).toEqual([lines("b"), lines("c")]);
    const before = bytes();
    for (const commit of [tree, head]) {
      const read = await mirror.readFiles(commit, ["large.txt"]).catch((error) => error.kind);
      expect(String(read).slice(0, 20)).toBe("TooLarge");
    }
    expect(bytes() - before).toBeLessThan(10 * KIB);
  });

  test("copies a directory whose files were never here, and pushes it", async () => {
    const base = at.commitFiles({ "from/a.yaml": lines("a"), "from/b/c.yaml": lines("c") });
    await mirror.fetch(["main"]);
    const folder = JSON.parse((await mirror.readFiles(base, ["from/"])).get("from/") ?? "{}") as { id: string; fault?: unknown };
    expect(folder.fault).toBeUndefined();
    await mirror.close();
    mirror = await openMirror({ directory: `${directory()}2`, url: `${server.url}/origin.git` });
    await mirror.fetch(["main"]);
    const changes = new Map([["to", { mode: "40000", id: folder.id }]]);
    const commit = await mirror.commit({ parent: base, changes, message: "m", author: AUTHOR, at: 0 });
    expect(await mirror.push([{ ref: "refs/heads/copy", old: undefined, new: commit }])).toBe("ok");
    expect(git(at.origin, "show", "copy:to/b/c.yaml")).toBe(lines("c").trim());
  });

  test("is kept house of by git, and reads on", async () => {
    let head = at.commitFiles({ "a.yaml": lines("a") });
    await mirror.fetch(["main"]);
    for (let n = 0; n < 52; n++) {
      head = at.commitFiles({ "a.yaml": `${lines("a")}${n}\n` });
      await mirror.fetch(["main"]);
    }
    const packs = () => readdirSync(join(directory(), "objects", "pack")).filter((name) => name.endsWith(".pack")).length;
    expect(packs()).toBeGreaterThan(50);
    // All branches are git's own to fetch.
    await mirror.fetch();
    expect(packs()).toBeLessThan(10);
    expect((await mirror.readFiles(head, ["a.yaml", "README.md"])).get("a.yaml")).toContain("51");
  });

  test.each(["at first", "later"])("is whole where old flaws are in the history, which git pardons only so, %s", async (when) => {
    if (when === "later") await mirror.fetch(["main"]);
    const before = git(at.origin, "rev-parse", "main");
    const file = git(at.origin, "rev-parse", "main:README.md");
    const folder = Buffer.concat([Buffer.from("040000 folder\0"), Buffer.from(git(at.origin, "rev-parse", "main^{tree}"), "hex")]);
    writeFileSync(join(at.directory, "tree"), Buffer.concat([Buffer.from("100644 README.md\0"), Buffer.from(file, "hex"), folder]));
    const tree = git(at.origin, "hash-object", "-t", "tree", "-w", "--literally", join(at.directory, "tree"));
    git(at.origin, "update-ref", "refs/heads/main", git(at.origin, "commit-tree", tree, "-p", before, "-m", "old tool"));
    await mirror.fetch(["main"]);
    const head = (await mirror.head("main")) ?? "";
    expect(head).not.toBe(before);
    expect((await mirror.readFiles(head, ["folder/README.md"])).get("folder/README.md")).toBe("hello\n");
  });

  test("is whole where the remote leaves nothing out", async () => {
    git(at.origin, "config", "uploadpack.allowFilter", "false");
    await mirror.fetch(["main"]);
    const head = at.commitFiles({ "a.yaml": lines("a") });
    await mirror.fetch(["main"]);
    expect(await requests(() => mirror.readFiles(head, ["README.md", "a.yaml"]))).toBe(0);
  });
});
