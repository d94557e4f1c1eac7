import { describe, expect, test } from "vitest";
import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import type { CommitInfo, Mirror } from "../../adapters/git/port.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { partsOf } from "../testing/parts.ts";

const FILE = "rollouts/my-app.yaml";

function declared(version: string): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, name: my-app-set }
  release: { version: ${version} }
  pins:
    - { file: 'apps/{{ cluster.name }}.yaml', path: version }
  stages: [ { name: all, clusters: { selector: {} } } ]
`;
}

/** A straight line of commits, each given by the version it declares; their ids are c0, c1, … */
function baseOf(versions: string[]) {
  const reads: string[] = [];
  const number = (sha: string) => Number(sha.slice(1));
  const info = (sha: string): CommitInfo => ({ sha, parents: [], author: "a", authorEmail: "a", at: 0, subject: "", body: "" });
  const mirror: Partial<Mirror> = {
    listFiles: async (_commit: string, _below?: string, kind?: string) => (kind === "link" ? [] : [FILE]),
    async readFiles(commit, paths) {
      reads.push(commit);
      return new Map(paths.map((path) => [path, path === FILE ? declared(versions[number(commit)] ?? "") : null]));
    },
    changedPaths: async (from, to) => (versions[number(from)] === versions[number(to)] ? ["README.md"] : [FILE]),
    commitInfo: async (sha) => info(sha),
    isAncestor: async (a, b) => number(a) <= number(b),
    async firstParentLog(from = "c0", to, limit) {
      const shas = Array.from({ length: Math.max(0, number(to) - number(from)) }, (_, index) => `c${number(from) + 1 + index}`);
      return shas.slice(0, limit).map(info);
    },
  };
  const memory = partsOf({ mirror: mirror as Mirror });
  const [rollout] = parseRollouts(declared("v1"), FILE).rollouts;
  if (rollout === undefined) throw new Error("the rollout of this test has an error");
  const entry: IndexEntry = { lastRun: 0, lastRelease: { version: "v1" }, attempt: 1, cursor: "c0" };
  const find = async (base: string, over: Partial<IndexEntry> = {}) => {
    reads.length = 0;
    const found = await memory.releases.find(rollout, { ...entry, ...over }, base);
    return { found: found.map((one) => `${one.release.values["version"]} ${one.commit.sha}`), read: new Set(reads).size };
  };
  return { find };
}

const line = (length: number, version: (index: number) => string) => Array.from({ length }, (_, index) => version(index));

describe("looking for releases", () => {
  test("each commit is looked at once, however many rounds a release waits", async () => {
    const { find } = baseOf(line(41, (index) => (index < 3 ? "v1" : index < 40 ? "v2" : "v3")));
    expect(await find("c30")).toEqual({ found: ["v2 c3"], read: 30 });
    expect(await find("c30")).toEqual({ found: ["v2 c3"], read: 0 });
    expect(await find("c31")).toEqual({ found: ["v2 c3"], read: 1 });
    expect(await find("c40")).toEqual({ found: ["v2 c3", "v3 c40"], read: 9 });
  });

  test("once the cursor has moved, and where the base was set back, what was found counts no more", async () => {
    const { find } = baseOf(line(20, (index) => (index < 3 ? "v1" : index < 10 ? "v2" : "v3")));
    expect((await find("c15")).found).toEqual(["v2 c3", "v3 c10"]);
    expect((await find("c8")).found).toEqual(["v2 c3"]);
    expect((await find("c15", { cursor: "c8", lastRelease: { version: "v2" } })).found).toEqual(["v3 c10"]);
  });

  test("what the newest commit asks for is found after any number of commits", async () => {
    const { find } = baseOf(line(700, (index) => (index < 600 ? "v1" : "v2")));
    expect(await find("c699")).toEqual({ found: ["v2 c699"], read: 501 });
  });
});
