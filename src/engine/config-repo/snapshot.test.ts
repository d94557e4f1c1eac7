import { describe, expect, test } from "vitest";
import type { Mirror } from "../../adapters/git/port.ts";
import { readOrNull } from "../../core/base/repo-files.ts";
import { openSnapshot, snapshotCache } from "./snapshot.ts";

function mirrorOf(files: Record<string, string>): { mirror: Pick<Mirror, "readFiles" | "listFiles">; reads: string[][] } {
  const reads: string[][] = [];
  return {
    reads,
    mirror: {
      async readFiles(_commit, paths) {
        reads.push([...paths]);
        return new Map(paths.map((path) => [path, files[path] ?? null]));
      },
      listFiles: async (_commit: string, _below?: string, kind?: string) => (kind === "link" ? [] : Object.keys(files)),
    },
  };
}

describe("reading files for a synchronous function", () => {
  test("all files asked for in one pass come in one read", async () => {
    const { mirror, reads } = mirrorOf({ a: "1", b: "2" });
    const sum = await openSnapshot(mirror as Mirror, "c").with((files) => Number(files.read("a")) + Number(files.read("b")));
    expect([sum, reads]).toEqual([3, [["a", "b"]]]);
  });

  test("a file named by another is fetched in a second pass, and nothing twice", async () => {
    const { mirror, reads } = mirrorOf({ a: "b", b: "end" });
    const snapshot = openSnapshot(mirror as Mirror, "c");
    const follow = () => snapshot.with((files) => files.read(files.read("a") ?? "a"));
    expect([await follow(), await follow()]).toEqual(["end", "end"]);
    expect(reads).toEqual([["a"], ["b"]]);
  });

  test("a missing file is null", async () => {
    const { mirror } = mirrorOf({});
    expect(await openSnapshot(mirror as Mirror, "c").with((files) => files.read("nowhere"))).toBeNull();
  });

  test("files that name each other for ever are an error", async () => {
    const { mirror } = mirrorOf({});
    let n = 0;
    await expect(openSnapshot(mirror as Mirror, "c").with((files) => files.read(`f${n++}`))).rejects.toThrow("is there a cycle?");
  });

  test("files that are too large together are not read, and those before them are", async () => {
    const MIB = 1024 * 1024;
    const names = Array.from({ length: 200 }, (_, n) => `f${n}`);
    const { mirror, reads } = mirrorOf(Object.fromEntries(names.map((name) => [name, "x".repeat(MIB)])));
    const snapshot = openSnapshot(mirror as Mirror, "c");
    const read = (name: string) =>
      snapshot.read(name).then(
        (text) => text?.length,
        (error: Error) => error.message,
      );
    await snapshot.with((files) => names.map((name) => files.read(name))).catch(() => undefined);
    expect(await read("f63")).toBe(MIB);
    expect(await read("f64")).toBe("files of more than 64 MiB are read of one commit");
    expect(await read("f199")).toBe("files of more than 64 MiB are read of one commit");
    expect(reads.flat().length).toBe(96);
  });

  test("JSON that is looked through in vain leaves room for what a rollout needs", async () => {
    const big = "x".repeat(1024 * 1024);
    const names = Array.from({ length: 100 }, (_, n) => `dashboards/${n}.json`);
    const { mirror, reads } = mirrorOf({ ...Object.fromEntries(names.map((name) => [name, big])), "values.yaml": "tag: v1" });
    const snapshot = openSnapshot(mirror as Mirror, "c");
    await snapshot.with((files) => names.map((name) => readOrNull(files, name)));
    expect(await snapshot.read("values.yaml")).toBe("tag: v1");
    await expect(snapshot.read("dashboards/99.json")).rejects.toThrow("64 MiB");
    expect(reads.flat().length).toBeLessThan(70);
  });

  test("snapshots of a mirror keep no more together than one may, but for the newest", async () => {
    const { mirror, reads } = mirrorOf({ a: "x".repeat(40 * 1024 * 1024) });
    const open = snapshotCache(mirror as Mirror);
    for (const id of ["one", "two", "two", "three"]) await open(id).read("a");
    expect(reads).toHaveLength(3);
    // The newest but one is still there, the oldest is read again.
    await open("two").read("a");
    expect(reads).toHaveLength(3);
    await open("one").read("a");
    expect(reads).toHaveLength(4);
  });
});
