import { describe, expect, test } from "vitest";
import type { Mirror } from "../../adapters/git/port.ts";
import { openSnapshot } from "./snapshot.ts";

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
});
