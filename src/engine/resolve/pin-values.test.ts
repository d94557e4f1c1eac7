import { expect, test } from "vitest";
import type { CommitInfo, Mirror } from "../../adapters/git/port.ts";
import type { BatchTarget } from "../../core/run/state/run.ts";
import { partsOf } from "../testing/parts.ts";
import { readPins } from "./pin-values.ts";

/** A straight line of commits c0, c1, …, each given by the file it changes. */
function baseOf(files: string[]) {
  let diffs = 0;
  const number = (sha: string) => Number(sha.slice(1));
  const info = (n: number): CommitInfo => ({
    sha: `c${n}`,
    parents: [],
    author: "ann",
    authorEmail: "",
    at: 0,
    subject: `change ${n}`,
    body: "",
  });
  const mirror: Partial<Mirror> = {
    async changedPaths(from, to) {
      diffs += 1;
      return files.slice(number(from) + 1, number(to) + 1);
    },
    isAncestor: async (a, b) => number(a) <= number(b),
    firstParentLog: async (from = "c0", to, limit) =>
      Array.from({ length: number(to) - number(from) }, (_, index) => info(number(from) + 1 + index)).slice(0, limit),
  };
  const memory = partsOf({ mirror: mirror as Mirror });
  const drift = async (base: string, file: string) => {
    const target = { edits: [{ kind: "value", file, path: "version", from: "v1", to: "v2" }] } as unknown as BatchTarget;
    return (await memory.pins.driftOf(base, target, ["v1"], "c0"))?.commit;
  };
  return { drift, diffs: () => diffs };
}

test("drift names the newest commit that touched the pin's file, and compares each commit once for all targets and rounds", async () => {
  const { drift, diffs } = baseOf(["merge", "a", "b", "a", "readme", "b", "a"]);
  expect([await drift("c4", "a"), await drift("c4", "b"), await drift("c4", "c")]).toEqual(["c3", "c2", undefined]);
  expect([await drift("c4", "a"), diffs()]).toEqual(["c3", 4]);
  expect([await drift("c6", "a"), await drift("c6", "b"), diffs()]).toEqual(["c6", "c5", 6]);
});

test("a base set back is looked at anew", async () => {
  const { drift } = baseOf(["merge", "a", "b", "a"]);
  expect([await drift("c3", "a"), await drift("c2", "a")]).toEqual(["c3", "c1"]);
});

test("what is to go is empty once it is gone, has its value where it can go, and none where somebody has changed it since", async () => {
  const texts: Record<string, string> = {
    "there.yaml": "a: 1\nimages:\n  - name: web\n    newTag: v2\n",
    "gone.yaml": "a: 1\n",
    "other.yaml": "a: 1\nimages:\n  - name: web\n    newTag: v3\n",
    "changed.yaml": "a: 1\nimages:\n  - name: web\n    newName: mirror\n    newTag: v2\n",
  };
  const files = { read: (path: string) => texts[path] ?? null, paths: () => Object.keys(texts) };
  const edit = { kind: "value", path: "images[name=web].newTag", from: "v2", to: "", made: 3, removes: true } as const;
  const targets = Object.keys(texts).map((file) => ({ key: file, application: file, cluster: file, edits: [{ ...edit, file }] }));
  expect([...readPins(files, { branch: "b", targets })]).toEqual([
    ["there.yaml", ["v2"]],
    ["gone.yaml", [""]],
    ["other.yaml", ["v3"]],
    ["changed.yaml", [null]],
  ]);
});
