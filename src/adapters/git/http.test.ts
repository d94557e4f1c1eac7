import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { type Breakers, openBreakers } from "../outbound/breaker.ts";
import { openJournal } from "./journal/journal.ts";
import { lsRefs } from "./ls-refs.ts";
import { openMirror } from "./mirror.ts";
import type { Mirror } from "./port.ts";
import { type GitServer, serveGit } from "./testing/http-server.ts";
import { git, type Workspace, workspace } from "./testing/repositories.ts";
import { freshRun, START, withBatch } from "./testing/runs.ts";
import { SEAL } from "./testing/seal.ts";

const PASSWORD = "ghs_1234_very-secret-token";
const AUTHOR = { name: "stagecoach[bot]", email: "b@example.com" };

let at: Workspace;
let server: GitServer | undefined;
let mirror: Mirror | undefined;
const path = process.env["PATH"] ?? "";

beforeEach(() => {
  at = workspace();
});

afterEach(async () => {
  process.env["PATH"] = path;
  await mirror?.close();
  await server?.close();
  at.remove();
});

async function open(password: string | undefined, url: string, breakers?: Breakers): Promise<Mirror> {
  const credentials = password === undefined ? {} : { credentials: async () => ({ username: "x-access-token", password }) };
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: `${url}/origin.git`, breakers, ...credentials });
  return mirror;
}

/** Puts a git before the real one that notes every command line it is given. */
function recordingGit(): () => string {
  const bin = join(at.directory, "bin");
  const log = join(at.directory, "argv.log");
  const real = path
    .split(delimiter)
    .map((part) => join(part, "git"))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\nexec '${real}' "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  process.env["PATH"] = `${bin}${delimiter}${path}`;
  return () => readFileSync(log, "utf8");
}

/** Of every process on the machine, as any user can read them while git talks to the remote. Only Linux shows them so. */
function commandLines(): string[] {
  if (process.platform !== "linux") return [];
  const lines: string[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      lines.push(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      // It ended between the two looks.
    }
  }
  return lines;
}

function everyFile(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;

describe("over HTTP", () => {
  test("fetch, read, commit, push and the journal work behind a password, which is in no command line and in no file", async () => {
    const argv = recordingGit();
    const running: string[] = [];
    server = await serveGit(at.directory, { password: PASSWORD, onRequest: () => running.push(...commandLines()) });
    const made = await open(PASSWORD, server.url);
    await made.fetch();
    const head = (await made.head("main")) ?? "";
    expect((await made.readFiles(head, ["README.md"])).get("README.md")).toBe("hello\n");
    const commit = await made.commit({ parent: head, changes: new Map([["a", "b"]]), message: "m", author: AUTHOR, at: START });
    expect(await made.push([{ ref: "refs/heads/main", old: head, new: commit }])).toBe("ok");
    expect(await made.push([{ ref: "refs/heads/main", old: head, new: commit }])).toBe("stale");
    expect(git(at.origin, "rev-parse", "main")).toBe(commit);
    const journal = openJournal({ mirror: made, app: "stagecoach[bot]", seal: SEAL });
    const run = withBatch(freshRun(4, 2), "Open", START);
    expect(await journal.record({ runs: [run], subject: "begun", trailers: {}, at: START })).toBe("recorded");
    expect((await journal.read()).runs.get("payments")).toEqual(run);

    const seen = [argv(), ...running].join("\n");
    expect(seen).toMatch(/^fetch /m);
    expect(seen).toMatch(/^push /m);
    if (process.platform === "linux") expect(seen).toMatch(/git-remote-http|remote-http/);
    for (const secret of [PASSWORD, Buffer.from(`x-access-token:${PASSWORD}`).toString("base64"), "Authorization"]) {
      expect(seen).not.toContain(secret);
      for (const text of everyFile(join(at.directory, "mirror.git"))) expect(text.includes(secret)).toBe(false);
    }
  });

  test("refs are asked for without a process, those asked for and no others, behind a password too", async () => {
    git(at.origin, "branch", "main-2", "main");
    git(at.origin, "-c", "user.name=a", "-c", "user.email=a@example.com", "tag", "-a", "-m", "m", "v1", "main");
    const head = git(at.origin, "rev-parse", "main");
    const argv = recordingGit();
    server = await serveGit(at.directory, { password: PASSWORD });
    const made = await open(PASSWORD, server.url);
    expect(await made.remoteHead("main")).toBe(head);
    expect(await made.remoteHeads(["main", "nowhere"])).toEqual(new Map([["main", head]]));
    expect(await made.remoteBelow(["refs/tags/"])).toEqual(new Map([["refs/tags/v1", head]]));
    expect(await made.remoteCommits(["refs/tags/v1", "refs/heads/v1"])).toEqual(new Map([["refs/tags/v1", head]]));
    expect(argv()).not.toContain("ls-remote");
    expect(server.authorizations).toHaveLength(4);
  });

  test.each([
    ["knows no such question", `${packet("ERR unknown command")}0000`],
    ["does not end its answer", packet(`${"a".repeat(40)} refs/heads/main\n`)],
    ["says something else in between", `${packet("hey\n")}${packet(`${"a".repeat(40)} refs/heads/main\n`)}0000`],
    ["says nothing", ""],
  ])("a remote that %s is asked by git", async (_, listing) => {
    const head = git(at.origin, "rev-parse", "main");
    const argv = recordingGit();
    server = await serveGit(at.directory, { listing });
    const made = await open(undefined, server.url);
    expect(await made.remoteHead("main")).toBe(head);
    expect(argv()).toContain("ls-remote");
  });

  test("a host that no connection is got to is left to git for a while, and one that redirects is not", async () => {
    server = await serveGit(at.directory, { status: 301, location: "https://elsewhere.example" });
    const fetched = vi.spyOn(globalThis, "fetch");
    const ask = (url: string) => lsRefs({ url, credentials: undefined, prefixes: ["refs/heads/"], closing: new AbortController().signal });
    for (const url of [server.url, server.url, "http://127.0.0.1:1/a.git", "http://127.0.0.1:1/b.git"])
      expect(await ask(url)).toBeUndefined();
    expect(fetched).toHaveBeenCalledTimes(3);
    fetched.mockRestore();
  });

  test("a remote whose listing is too long is left to git for a while, and others of its host are not", async () => {
    server = await serveGit(at.directory, { listing: "0".repeat(33 * 1024 * 1024) });
    const fetched = vi.spyOn(globalThis, "fetch");
    const ask = (url: string) => lsRefs({ url, credentials: undefined, prefixes: ["refs/heads/"], closing: new AbortController().signal });
    for (const url of [`${server.url}/a`, `${server.url}/a`, `${server.url}/b`]) expect(await ask(url)).toBeUndefined();
    expect(fetched).toHaveBeenCalledTimes(2);
    fetched.mockRestore();
  });

  test("a remote that wants to be asked less is not asked by git as well", async () => {
    server = await serveGit(at.directory, { status: 429 });
    const argv = recordingGit();
    const made = await open(undefined, server.url);
    await expect(made.remoteHead("main")).rejects.toMatchObject({ kind: "Unavailable" });
    expect(argv()).not.toContain("ls-remote");
  });

  test("what a remote tells besides what it was asked for is left out", async () => {
    const listing = `${packet(`${"a".repeat(40)} refs/heads/main\n`)}${packet(`${"b".repeat(40)} refs/tags/v1\n`)}0000`;
    server = await serveGit(at.directory, { listing });
    const made = await open(undefined, server.url);
    expect(await made.remoteBelow(["refs/tags/"])).toEqual(new Map([["refs/tags/v1", "b".repeat(40)]]));
    expect(await made.remoteHeads(["other"])).toEqual(new Map());
  });

  test("what is new of branches comes without git's fetch, and what a remote has no more goes", async () => {
    server = await serveGit(at.directory, { password: PASSWORD });
    const made = await open(PASSWORD, server.url);
    git(at.origin, "branch", "gone", "main");
    await made.fetch(["main", "gone"]);
    const argv = recordingGit();
    git(at.origin, "branch", "-D", "gone");
    const next = at.commitFiles({ "a.txt": "a", "b/c.txt": "c" });
    await made.fetch(["main", "gone"]);
    await made.fetch(["main"]);
    expect([await made.head("main"), await made.head("gone")]).toEqual([next, undefined]);
    expect((await made.readFiles(next, ["b/c.txt"])).get("b/c.txt")).toBe("c");
    expect(argv()).not.toMatch(/^fetch /m);
    expect(argv().match(/^index-pack /gm)).toHaveLength(1);
  });

  test("a commit that is built again costs no process, as long as it is there", async () => {
    server = await serveGit(at.directory);
    const made = await open(undefined, server.url);
    await made.fetch(["main"]);
    const argv = recordingGit();
    const input = { parent: await made.head("main"), changes: new Map([["a", "b"]]), message: "m", author: AUTHOR, at: START };
    const first = await made.commit(input);
    expect([await made.commit(input), (await made.commitInfo(first))?.subject]).toEqual([first, "m"]);
    expect(await made.commit({ ...input, message: "n" })).not.toBe(first);
    expect(argv().match(/^fast-import /gm)).toHaveLength(2);
  });

  test("a remote that answers a fetch otherwise is fetched from by git", async () => {
    const options: Parameters<typeof serveGit>[1] = {};
    server = await serveGit(at.directory, options);
    const made = await open(undefined, server.url);
    await made.fetch(["main"]);
    const next = at.commitFiles({ "a.txt": "a" });
    const argv = recordingGit();
    for (const listing of [`${packet(`${next} refs/heads/main\n`)}0000`, `${packet(`${next} refs/heads/main\n`)}`]) {
      Object.assign(options, { listing });
      await made.fetch(["main"]);
      expect(await made.head("main")).toBe(next);
    }
    expect(argv()).toMatch(/^fetch /m);
  });

  test("an object that git's checks refuse is refused without git's fetch too, and moves no branch", async () => {
    server = await serveGit(at.directory);
    const made = await open(undefined, server.url);
    await made.fetch(["main"]);
    const before = git(at.origin, "rev-parse", "main");
    const file = git(at.origin, "rev-parse", "main:README.md");
    const entry = Buffer.concat([Buffer.from("100644 .git\0"), Buffer.from(file, "hex")]);
    writeFileSync(join(at.directory, "tree"), entry);
    const tree = git(at.origin, "hash-object", "-t", "tree", "-w", "--literally", join(at.directory, "tree"));
    git(at.origin, "update-ref", "refs/heads/main", git(at.origin, "commit-tree", tree, "-p", before, "-m", "hostile"));
    await expect(made.fetch(["main"])).rejects.toThrow(/hasDotgit|\.git/);
    expect(await made.head("main")).toBe(before);
  });

  test("what git's checks refuse only once it has been written is not taken because it lies here by then", async () => {
    server = await serveGit(at.directory);
    const made = await open(undefined, server.url);
    await made.fetch(["main"]);
    const before = git(at.origin, "rev-parse", "main");
    at.commitFiles({ ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = -uevil\n' });
    for (let turn = 0; turn < 2; turn++) {
      await expect(made.fetch(["main"])).rejects.toThrow(/gitmodules/);
      expect(await made.head("main")).toBe(before);
    }
  });

  test("the password is sent with the first request, so that none is made twice", async () => {
    server = await serveGit(at.directory, { password: PASSWORD });
    await (await open(PASSWORD, server.url)).fetch();
    expect(server.authorizations).not.toContain(undefined);
  });

  test.each([
    ["a wrong password", "wrong"],
    ["no password", undefined],
  ])("%s is Unauthorized, and the message does not repeat it", async (_, password) => {
    server = await serveGit(at.directory, { password: PASSWORD });
    const error = await (await open(password, server.url)).fetch().catch((problem) => problem);
    expect(error).toMatchObject({ kind: "Unauthorized" });
    expect(String(error)).not.toContain("wrong");
  });

  test.each([
    [403, "Unauthorized"],
    [404, "NotFound"],
    [500, "Unavailable"],
    [503, "Unavailable"],
    [429, "Unavailable"],
  ])("an answer of %i is %s", async (status, kind) => {
    server = await serveGit(at.directory, { status });
    await expect((await open(PASSWORD, server.url)).fetch()).rejects.toMatchObject({ kind });
  });

  test("that is down is left alone, whoever waits for it, and asked again once it may be back", async () => {
    let asked = 0;
    const onRequest = () => {
      asked += 1;
    };
    server = await serveGit(at.directory, { status: 503, onRequest });
    const clock = manualClock(0);
    const down = await open(PASSWORD, server.url, openBreakers(clock));
    for (let n = 0; n < 12; n++) await expect(down.remoteHead("main")).rejects.toMatchObject({ kind: "Unavailable" });
    expect(asked).toBe(5);
    clock.advance(1000);
    await expect(down.remoteHead("main")).rejects.toMatchObject({ kind: "Unavailable" });
    expect(asked).toBe(6);
  });

  test("a redirect to another host is not followed, and that host never sees the password", async () => {
    const other = await serveGit(at.directory);
    server = await serveGit(at.directory, { status: 301, location: other.url });
    await expect((await open(PASSWORD, server.url)).fetch()).rejects.toMatchObject({ kind: "NotFound" });
    expect(other.authorizations).toEqual([]);
    await other.close();
  });

  test("a token is asked for anew before each command to the remote", async () => {
    server = await serveGit(at.directory, { password: PASSWORD });
    let password = "expired";
    mirror = await openMirror({
      directory: join(at.directory, "mirror.git"),
      url: `${server.url}/origin.git`,
      credentials: async () => ({ username: "x-access-token", password }),
    });
    await expect(mirror.fetch()).rejects.toMatchObject({ kind: "Unauthorized" });
    password = PASSWORD;
    await mirror.fetch();
    expect(await mirror.head("main")).toBe(git(at.origin, "rev-parse", "main"));
  });
});
