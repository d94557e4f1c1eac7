import { afterAll, describe, expect, test } from "vitest";
import type { Cell } from "../../adapters/cell/port.ts";
import { counted } from "../../adapters/cell/testing/counted.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import { readYamlDocuments } from "../../core/base/yaml-read.ts";
import { openServerCell } from "../../surfaces/server/cell/open.ts";
import { proposeApart } from "../onboarding/propose-tried.ts";
import { kustomizationsIn } from "./kustomize.ts";
import { readProject } from "./project.ts";
import { renderApart } from "./render-set.ts";
import { noting, openSnapshot } from "./snapshot.ts";

const [shared, slow] = [openServerCell(), openServerCell({ cpuMs: 50 })];
afterAll(() => {
  shared.close();
  slow.close();
});

function mirrorWith(files: Readonly<Record<string, string>>): Mirror {
  return {
    readFiles: async (_: string, paths: string[]) => new Map(paths.map((path) => [path, files[path] ?? null])),
    listFiles: async (_: string, __: string, kind?: string) => (kind === "link" ? [] : Object.keys(files)),
  } as unknown as Mirror;
}

const large = (items: number) => `items:\n${"  - {cluster: c-1, version: v1}\n".repeat(items)}`;
const set = (template: string, generator: object) => ({
  file: "a.yaml",
  object: {
    metadata: { name: "a" },
    spec: { goTemplate: true, generators: [generator], template: { metadata: { name: "{{ .name }}" }, spec: { project: template } } },
  },
});
const LIST = { list: { elements: [{ name: "one" }, { name: "two" }] } };
const GIT = { git: { repoURL: "https://github.com/acme/config", revision: "HEAD", files: [{ path: "clusters/*.yaml" }] } };
const REPO = "https://github.com/acme/config";

describe("what is merged and takes long to read", () => {
  test("is read in the cell, with what an ordinary text brings at once", async () => {
    const cell = counted(shared);
    const snapshot = openSnapshot(mirrorWith({ "a.yaml": large(5000), "b.yaml": large(2) }), "c", cell);
    const count = (path: string) => snapshot.with((files) => readYamlDocuments(files.read(path) ?? "")[0]?.value);
    expect(await count("b.yaml")).toEqual({ items: Array(2).fill({ cluster: "c-1", version: "v1" }) });
    expect(cell.jobs).toEqual([]);
    expect(await count("a.yaml")).toHaveProperty("items.length", 5000);
    expect(await count("a.yaml")).toHaveProperty("items.length", 5000);
    expect(cell.jobs).toEqual(["done"]);
  });

  test("is many small texts together, too", async () => {
    const cell = counted(shared);
    const names = Array.from({ length: 60 }, (_, n) => `${n}.yaml`);
    const snapshot = openSnapshot(mirrorWith(Object.fromEntries(names.map((name, n) => [name, large(400 + n)]))), "c", cell);
    const read = await snapshot.with((files) => names.map((name) => readYamlDocuments(files.read(name) ?? "")));
    expect(read.map(([document]) => JSON.stringify(document?.value).split("c-1").length - 1)).toEqual(names.map((_, n) => 400 + n));
    expect(cell.jobs.length).toBeGreaterThan(0);
  });

  test("is refused where it takes too long there, and tried twice at most", async () => {
    const cell = counted(slow);
    const mirror = mirrorWith({ "rollouts/a.yaml": `[${",".repeat(50_000)}]`, "rollouts/b.yaml": "[]" });
    for (let commit = 0; commit < 4; commit++) {
      const { problems } = await readProject(openSnapshot(mirror, `c${commit}`, cell));
      expect(problems).toMatchObject([
        { code: "TOO_LARGE", kind: "Slow", file: "rollouts/a.yaml" },
        { code: "NOT_A_ROLLOUT", file: "rollouts/b.yaml" },
      ]);
    }
    expect(cell.jobs).toEqual(["killed", "killed"]);
  });
});

test("of files that fill the server's memory together only so many are read for a cell", async () => {
  const cell = counted(shared);
  const text = "a: 1\n".repeat(200_000);
  let read = 0;
  const readFiles = async (_: string, paths: string[]) => {
    read += paths.length;
    return new Map(paths.map((path) => [path, text]));
  };
  const listed = Array.from({ length: 400 }, (_, n) => `a/${n}.yaml`);
  const mirror = {
    ...mirrorWith({}),
    readFiles,
    listFiles: async (_: string, __: string, kind?: string) => (kind === "link" ? [] : listed),
  };
  const input = { clusters: [], registered: [], applications: [], repoURL: REPO, baseBranch: "main" };
  const proposed = await openSnapshot(mirror, "c", cell).with((files) => proposeApart(input, files, () => []));
  expect(proposed).toMatchObject({ proposal: { rollouts: [] } });
  expect(cell.jobs).toEqual(["done"]);
  expect(read).toBeLessThan(200);
});

describe("what stands in for what is read elsewhere", () => {
  test("is kept by nobody: kustomizations beyond a pass's allowance name what they name, here and in another snapshot", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => {
        const patches = Array.from(
          { length: 30 },
          (__, k) => `  - {path: patch-${n}-${k}.yaml, target: {kind: Deployment, name: "a-${k}"}}\n`,
        );
        return [`apps/${n}/kustomization.yaml`, `resources: [one-${n}.yaml]\npatches:\n${patches.join("")}`];
      }),
    );
    const jobs = counted(shared);
    const named = await openSnapshot(mirrorWith(files), "k1", jobs).with((all) => kustomizationsIn(all));
    const again = kustomizationsIn({ paths: () => Object.keys(files), read: (path) => files[path] ?? null } as RepoFiles);
    for (const found of [named, again]) expect([...found.values()].filter(({ resources }) => resources.length !== 1)).toEqual([]);
    expect(jobs.jobs.length).toBeGreaterThan(0);
  });

  test("is tried again where a cell was killed once for nobody's fault", async () => {
    let runs = 0;
    const killed: Cell = { run: async (job) => (++runs === 1 ? { kind: "killed", by: "memory" } : await shared.run(job)) };
    const snapshot = openSnapshot(mirrorWith({ "a.yaml": large(5001) }), "c", killed);
    expect(await snapshot.with((files) => readYamlDocuments(files.read("a.yaml") ?? "")[0]?.value)).toHaveProperty("items.length", 5001);
    expect(runs).toBe(2);
  });
});

describe("a template of what is merged", () => {
  test("that is ordinary is rendered at once", async () => {
    const cell = counted(shared);
    const snapshot = openSnapshot(mirrorWith({}), "c", cell);
    const result = await snapshot.with((files) => renderApart(set("{{ .name | upper }}", LIST), [], files, REPO, "main"));
    expect(result.applications.map(({ spec }) => spec["project"])).toEqual(["ONE", "TWO"]);
    expect(cell.jobs).toEqual([]);
  });

  test("that takes long is rendered in the cell, from the files of the commit", async () => {
    const cell = counted(shared);
    const mirror = mirrorWith({ "clusters/one.yaml": "name: one\n", "clusters/two.yaml": "name: two\n", "README.md": "" });
    const snapshot = openSnapshot(mirror, "c", cell);
    const read = new Set<string>();
    const loop = `${"{{ range until 90000 }}{{ if false }}{{ end }}{{ end }}".repeat(3)}{{ .name }}`;
    const result = await snapshot.with((files) => renderApart(set(loop, GIT), [], noting(files, read), REPO, "main"));
    expect(result.applications.map(({ spec }) => spec["project"])).toEqual(["one", "two"]);
    expect([...read]).toEqual(["clusters/one.yaml", "clusters/two.yaml"]);
    expect(cell.jobs).toEqual(["done"]);
  });

  test("that never ends is ended there, and said", async () => {
    const cell = counted(slow);
    const elements = Array.from({ length: 2000 }, (_, n) => ({ name: `c-${n}` }));
    const loops = set("{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}", { list: { elements } });
    const result = await openSnapshot(mirrorWith({}), "c", cell).with((files) => renderApart(loops, [], files, REPO, "main"));
    expect(result).toMatchObject({ ok: false, applications: [], problems: [{ code: "TEMPLATE_ERROR", because: { code: "GO_ENDLESS" } }] });
    expect(cell.jobs).toEqual(["killed", "killed"]);
  });
});
