import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { steppedClock } from "../../../sim/github/testing/setup.ts";
import { idleMirror } from "./idle-mirror.ts";
import { MirrorRoom, type RoomLimits } from "./mirror-room.ts";

const KIB = 1024;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

let at: Workspace;
let root: string;
let clock: ReturnType<typeof steppedClock>;
const mirrors: Mirror[] = [];

beforeEach(() => {
  at = workspace();
  root = join(at.directory, "mirrors");
  mkdirSync(root);
  clock = steppedClock();
});

afterEach(async () => {
  await Promise.all(mirrors.splice(0).map((mirror) => mirror.close()));
  at.remove();
});

const open = (limits: RoomLimits) => new MirrorRoom(root, limits, { clock, log });
const directory = (name: string) => join(root, `acme__${name}.git`);

/** Opened as the server does; its fetches are counted. */
function served(name: string, room: MirrorRoom): { mirror: Mirror; fetches: () => number } {
  let fetches = 0;
  const opened = async () => {
    const mirror = await openMirror({ directory: directory(name), url: at.origin, allowFile: true });
    const fetch: Mirror["fetch"] = (...given) => {
      fetches += 1;
      return mirror.fetch(...given);
    };
    return { ...mirror, fetch };
  };
  const mirror = idleMirror(opened, clock, { directory: directory(name), room });
  mirrors.push(mirror);
  return { mirror, fetches: () => fetches };
}

function bytes(path: string): number {
  if (!existsSync(path)) return 0;
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

/** As much as a mirror without contents does not hold by itself. */
async function fill(mirror: Mirror): Promise<string> {
  await mirror.fetch(["main"]);
  const head = (await mirror.head("main")) ?? "";
  await mirror.readFiles(head, ["large.txt"]);
  return head;
}

test("mirrors that are too large together: those not used for the longest go, and are there again when they are needed", async () => {
  at.commitFiles({ "large.txt": randomBytes(100 * KIB).toString("hex") });
  const room = open({ most: 300 * KIB, each: 1024 * KIB });
  const [a, b, c] = ["a", "b", "c"].map((name) => served(name, room));
  const head = await fill((a as typeof b & object).mirror);
  if (a === undefined || b === undefined || c === undefined) throw new Error("none");
  await a.mirror.note("killed", head);
  clock.step(1000);
  await fill(b.mirror);
  clock.step(1000);
  await fill(c.mirror);
  await b.mirror.readFiles(head, ["README.md"]);
  clock.step(61_000);
  await room.settled();
  expect(["a", "b", "c"].map((name) => bytes(directory(name)) > 50 * KIB)).toEqual([false, true, true]);
  // Who only asks the remote, or for what is known, needs nothing of it.
  expect(await a.mirror.remoteHead("main")).toBe(head);
  expect([await a.mirror.head("main"), await a.mirror.noted("killed")]).toEqual([head, head]);
  expect(a.fetches()).toBe(1);
  expect((await a.mirror.readFiles(head, ["README.md"])).get("README.md")).toBe("hello\n");
  expect(a.fetches()).toBe(2);
  expect(await a.mirror.head("main")).toBe(head);
});

test("heads of pull requests and forks are there again, too, and what is gone at the remote is not asked for", async () => {
  const base = git(at.checkout, "rev-parse", "HEAD");
  const head = at.commitFiles({ "a.yaml": "a: 1\n" });
  for (const ref of ["refs/pull/7/head", "refs/pull/8/head", "refs/heads/batch"]) git(at.origin, "update-ref", ref, head);
  const room = open({ most: 1, each: 1024 * KIB });
  const { mirror, fetches } = served("a", room);
  await mirror.fetch(["main", "batch", "refs/pull/7/head"]);
  await mirror.fetchFork(8);
  git(at.origin, "update-ref", "-d", "refs/heads/batch");
  clock.step(61_000);
  await room.settled();
  expect(bytes(directory("a"))).toBe(0);
  expect(await mirror.changedPaths(base, head)).toEqual(["a.yaml"]);
  expect([await mirror.resolve("refs/pull/7/head"), fetches()]).toEqual([head, 2]);
  expect(bytes(join(directory("a"), "forks", "8"))).toBeGreaterThan(0);
  // Whoever it was fetched for, it is as large as before.
  clock.step(61_000);
  await room.settled();
  expect(bytes(directory("a"))).toBe(0);
});

test("what was used when there was no room goes a minute later, though it has not grown since", async () => {
  const room = open({ most: 1, each: 1024 * KIB });
  const gate = Promise.withResolvers<undefined>();
  const mirror = idleMirror(
    async () => ({ ...(await openMirror({ directory: directory("a"), url: at.origin, allowFile: true })), resolve: () => gate.promise }),
    clock,
    { directory: directory("a"), room },
  );
  mirrors.push(mirror);
  await mirror.fetch(["main"]);
  const reading = mirror.resolve("other");
  const left: boolean[] = [];
  for (let n = 0; n < 2; n++) {
    clock.step(61_000);
    await room.settled();
    left.push(bytes(directory("a")) > 0);
    gate.resolve(undefined);
    await reading;
  }
  expect(left).toEqual([true, false]);
});

test("what is used just now stays; what nobody serves any more goes first", async () => {
  at.commitFiles({ "large.txt": randomBytes(100 * KIB).toString("hex") });
  mkdirSync(directory("old"));
  writeFileSync(join(directory("old"), "HEAD"), "x".repeat(200 * KIB));
  utimesSync(directory("old"), 0, 0);
  const room = open({ most: 300 * KIB, each: 1024 * KIB });
  const { mirror } = served("a", room);
  await fill(mirror);
  clock.step(61_000);
  await room.settled();
  expect([bytes(directory("old")), bytes(directory("a")) > 50 * KIB]).toEqual([0, true]);

  const busy = open({ most: 1, each: 1 });
  const gate = Promise.withResolvers<void>();
  const slow = idleMirror(
    async () => ({ ...(await openMirror({ directory: directory("slow"), url: at.origin, allowFile: true })), deepen: () => gate.promise }),
    clock,
    { directory: directory("slow"), room: busy },
  );
  mirrors.push(slow);
  const deepening = slow.deepen("main");
  await slow.fetch(["main"]);
  clock.step(61_000);
  await busy.settled();
  expect(bytes(directory("slow"))).toBeGreaterThan(1 * KIB);
  gate.resolve();
  await deepening;
});

test("one that is served anew stays while it is used, though whoever served it before is closed only then", async () => {
  const room = open({ most: 1, each: 1 });
  const before = served("a", room);
  const gate = Promise.withResolvers<void>();
  const now = idleMirror(
    async () => ({ ...(await openMirror({ directory: directory("a"), url: at.origin, allowFile: true })), deepen: () => gate.promise }),
    clock,
    { directory: directory("a"), room },
  );
  mirrors.push(now);
  await before.mirror.close();
  const deepening = now.deepen("main");
  await now.fetch(["main"]);
  clock.step(61_000);
  await room.settled();
  expect(bytes(directory("a"))).toBeGreaterThan(1 * KIB);
  gate.resolve();
  await deepening;
});

test("one that is served while it is being thrown away is begun once it is gone", async () => {
  mkdirSync(join(directory("old"), "refs", "heads"), { recursive: true });
  for (let n = 0; n < 6000; n++) writeFileSync(join(directory("old"), "refs", "heads", `x${n}`), "");
  writeFileSync(join(directory("old"), "HEAD"), "x".repeat(KIB));
  const room = open({ most: 1, each: 1024 * KIB });
  room.grown(directory("other"));
  while (existsSync(join(directory("old"), "HEAD"))) await new Promise(setImmediate);
  const { mirror } = served("old", room);
  await mirror.fetch(["main"]);
  await room.settled();
  expect(await mirror.head("main")).toBe(git(at.origin, "rev-parse", "main"));
});

test("one that has grown past its own bound is begun anew, once a day", async () => {
  const room = open({ most: 10_000 * KIB, each: 100 * KIB });
  const { mirror, fetches } = served("a", room);
  at.commitFiles({ "large.txt": randomBytes(100 * KIB).toString("hex") });
  for (let n = 0; n < 2; n++) {
    const head = await fill(mirror);
    clock.step(61_000);
    await room.settled();
    expect(bytes(directory("a")) > 100 * KIB).toBe(n === 1);
    await mirror.readFiles(head, ["README.md"]);
  }
  expect(fetches()).toBe(3);
});

test("once it is closed nothing waits for its next look any more, which would keep the process", async () => {
  let waiting = 0;
  const after = (ms: number, wake: () => void) => {
    const disarm = clock.after(ms, wake);
    waiting += 1;
    return () => {
      waiting -= 1;
      disarm();
    };
  };
  const room = new MirrorRoom(root, { most: 1, each: 1 }, { clock: { now: clock.now, after }, log });
  room.grown(directory("a"));
  await room.settled();
  room.grown(directory("a"));
  expect(waiting).toBe(1);
  await room.close();
  room.grown(directory("a"));
  expect(waiting).toBe(0);
});

test("one whose folder somebody has deleted holds no other up", async () => {
  const room = open({ most: 250 * KIB, each: 1024 * KIB });
  const grow = async (name: string) => {
    mkdirSync(join(directory(name), "objects"), { recursive: true });
    writeFileSync(join(directory(name), "objects", "large"), randomBytes(100 * KIB));
    clock.step(61_000);
    room.grown(directory(name));
    await room.settled();
  };
  await grow("a");
  await grow("b");
  rmSync(directory("a"), { recursive: true });
  for (const name of ["c", "d"]) await grow(name);
  expect(["b", "c", "d"].map((name) => bytes(directory(name)) > 0)).toEqual([false, true, true]);
});

test("once it is closed it throws nothing more away, so that who stops waits for one mirror at the most", async () => {
  const room = open({ most: 1, each: 1024 * KIB });
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  const empty = async () => {
    asked += 1;
    begun.resolve();
    await gate.promise;
    return true;
  };
  for (const name of ["a", "b"]) {
    mkdirSync(directory(name));
    writeFileSync(join(directory(name), "large"), randomBytes(KIB));
    await room.serve(directory(name), { empty });
  }
  room.grown(directory("a"));
  await begun.promise;
  const closed = room.close();
  gate.resolve();
  await closed;
  expect(asked).toBe(1);
});
