import { expect, test } from "vitest";
import { findApplicationSet, setsDeclaredIn } from "./appset-in-git.ts";
import { manifestsAmong } from "./set-files.ts";
import { openSnapshot } from "./snapshot.ts";

const REF = { name: "shop", namespace: "argocd" };
const set = (spec: object = { generators: [], template: {} }) =>
  JSON.stringify({ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", metadata: { name: "shop" }, spec }, null, "\t");

function repo(texts: Record<string, string>) {
  const asked: string[] = [];
  const files = {
    paths: () => Object.keys(texts).sort(),
    read(path: string) {
      asked.push(path);
      return texts[path] ?? null;
    },
  };
  return { files, asked };
}

function snapshotOf(files: ReturnType<typeof repo>["files"]) {
  const readFiles = async (_: string, paths: readonly string[]) => new Map(paths.map((path) => [path, files.read(path)]));
  return openSnapshot({ readFiles, listFiles: async () => files.paths() } as unknown as Parameters<typeof openSnapshot>[0], "c");
}

test("a set is found in JSON, indented by tabs, too", async () => {
  const { files } = repo({ "sets/shop.json": set(), "README.md": "x" });
  expect(setsDeclaredIn(files, REF)).toMatchObject([{ file: "sets/shop.json" }]);
  expect(await findApplicationSet(snapshotOf(files), REF, [])).toMatchObject({ file: "sets/shop.json" });
});

test("a patch is taken for the set only where nothing declares it whole", async () => {
  const patch = { "a.yaml": set({ template: {} }) };
  for (const whole of ["b.yaml", "b.json"])
    expect(await findApplicationSet(snapshotOf(repo({ ...patch, [whole]: set() }).files), REF, [])).toMatchObject({ file: whole });
  expect(await findApplicationSet(snapshotOf(repo(patch).files), REF, [])).toMatchObject({ file: "a.yaml" });
});

test("no JSON is read for a set that YAML declares, but for one of which YAML has no more than a patch", () => {
  const whole = repo({ "a.json": set(), "b.yaml": set() });
  expect(setsDeclaredIn(whole.files, REF)).toMatchObject([{ file: "b.yaml" }]);
  expect(whole.asked).toEqual(["b.yaml"]);
  expect(setsDeclaredIn(repo({ "a.json": set(), "b.yaml": set({ template: {} }) }).files, REF)).toMatchObject([{ file: "a.json" }]);
});

test("of too many files of JSON a folder of thousands hides no set in another", () => {
  const dashboards = Array.from({ length: 3000 }, (_, n) => [`dashboards/${n}.json`, "{}"]);
  const { files, asked } = repo({ ...Object.fromEntries(dashboards), "sets/shop.json": set() });
  expect(setsDeclaredIn(files, REF)).toMatchObject([{ file: "sets/shop.json" }]);
  expect(new Set(asked).size).toBe(1000);
});

test("of what a pull request touches JSON is looked into as well, after YAML", () => {
  const many = Array.from({ length: 400 }, (_, n) => `dashboards/${n}.json`);
  expect(manifestsAmong(["apps/shop.json", "README.md"])).toEqual(["apps/shop.json"]);
  expect(manifestsAmong([...many, "set.yaml"])[0]).toBe("set.yaml");
});
