import { describe, expect, test } from "vitest";
import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import type { CommitInfo, Mirror } from "../../adapters/git/port.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import { partsOf } from "../testing/parts.ts";
import { isBatchMerge } from "./releases.ts";
import { isNewer, newestTag, versionOfTag } from "./releases-tags.ts";

const FILE = "rollouts/my-app.yaml";

function declared(release: string): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, name: my-app-set }
  release: ${release}
  pins:
    - { file: 'clusters/{{ cluster.name }}.yaml', path: version }
  stages: [ { name: all, clusters: { selector: {} } } ]
`;
}

interface Commit {
  touches: string[];
  body?: string;
  release?: string;
}

/** A straight line of commits, their ids c0, c1, …; the rollout's release stands as it was last changed. */
function repoOf(release: string, commits: Commit[], tags: Record<string, string> = {}) {
  const number = (sha: string) => Number(sha.slice(1));
  const info = (sha: string): CommitInfo => {
    const parents = number(sha) === 0 ? [] : [`c${number(sha) - 1}`];
    return { sha, parents, author: "ana", authorEmail: "a", at: 0, subject: "s", body: commits[number(sha)]?.body ?? "" };
  };
  const releaseText = (sha: string) =>
    declared(
      commits
        .slice(0, number(sha) + 1)
        .map((one) => one.release)
        .findLast((one) => one !== undefined) ?? release,
    );
  const mirror: Partial<Mirror> = {
    listFiles: async (_commit: string, _below?: string, kind?: string) => (kind === "link" ? [] : [FILE]),
    readFiles: async (commit, paths) => new Map(paths.map((path) => [path, path === FILE ? releaseText(commit) : null])),
    changedPaths: async (from, to) => commits.slice(number(from) + 1, number(to) + 1).flatMap((one) => one.touches),
    commitInfo: async (sha) => info(sha),
    isAncestor: async (a, b) => number(a) <= number(b),
    async firstParentLog(from, to) {
      const first = from === undefined ? 0 : number(from) + 1;
      return Array.from({ length: number(to) + 1 - first }, (_, index) => info(`c${first + index}`));
    },
    remoteBelow: async () => new Map(Object.entries(tags).map(([name, sha]) => [`refs/tags/${name}`, sha])),
  };
  const memory = partsOf({ mirror: mirror as Mirror });
  const head = `c${commits.length - 1}`;
  const find = async (entry: Partial<IndexEntry> = {}, base = head) => {
    const [rollout] = parseRollouts(releaseText(base), FILE).rollouts;
    if (rollout === undefined) throw new Error("the rollout of this test has an error");
    const whole: IndexEntry = { lastRun: 0, lastRelease: { version: "c0" }, attempt: 1, cursor: "c0", ...entry };
    const found = await memory.releases.find(rollout, whole, base);
    return found.map((one) => `${one.release.values["version"]}/${one.release.attempt} by ${one.commit.sha}`);
  };
  return { find, at: (base: string) => memory.releases.at("my-app", base) };
}

const PATHS = '{ commit: { paths: ["apps/my-app/**", "!**/*.md"] } }';

describe("the release is a merge commit", () => {
  const app = { touches: ["apps/my-app/a.yaml"] };
  const other = { touches: ["docs/x.md"] };

  test("every commit that touches the paths is one, and no other", async () => {
    const { find } = repoOf(PATHS, [other, app, other, { touches: ["apps/my-app/README.md"] }, app]);
    expect(await find()).toEqual(["c1/1 by c1", "c4/1 by c4"]);
    expect(await find({ cursor: "c2" }, "c3")).toEqual([]);
  });

  test("a batch's own merge is none, whatever it touches", async () => {
    const batch = { ...app, body: "batch 1 of 3\n\nStagecoach-Run: other/7\nStagecoach-Batch: 1" };
    expect(await repoOf(PATHS, [other, batch]).find()).toEqual([]);
    expect(isBatchMerge({ subject: "Merge pull request #9 from acme/stagecoach-run/payments/3/1-1-1", body: "" })).toBe(true);
    expect(isBatchMerge({ subject: "payments v2", body: "see Stagecoach-Run: in the docs" })).toBe(false);
  });

  test("a raised attempt releases the same commit again", async () => {
    const again = { touches: [FILE], release: '{ commit: { paths: ["apps/my-app/**"] }, attempt: 2 }' };
    const { find } = repoOf('{ commit: { paths: ["apps/my-app/**"] } }', [other, app, again]);
    expect(await find({ cursor: "c1", lastRelease: { version: "c1" } })).toEqual(["c1/2 by c2"]);
  });

  test("at first sight the newest of them is what is there already, or else the base", async () => {
    expect((await repoOf(PATHS, [other, app, other]).at("c2"))?.values).toEqual({ version: "c1" });
    expect((await repoOf(PATHS, [other, other]).at("c1"))?.values).toEqual({ version: "c1" });
  });

  test("a rollout that turns to commits starts nothing by that", async () => {
    const { find } = repoOf("{ version: v1 }", [other, { touches: [FILE], release: PATHS }]);
    expect(await find({ lastRelease: { version: "v1" } })).toEqual([]);
  });
});

describe("the release is a tag", () => {
  const tags = { "v1.4.1": "c1", "v1.5.0": "c2", "v2.0.0": "c2", "v1.6.0-rc.1": "c2", "payments-1.9.0": "c2", nightly: "c2", "v1.5": "c2" };

  test("the newest in the range is one, until it is the last", async () => {
    const { find } = repoOf('{ tag: "^1.4" }', [{ touches: [] }, { touches: [] }, { touches: [] }], tags);
    expect(await find({ lastRelease: { version: "v1.4.1" } })).toEqual(["v1.5.0/1 by c2"]);
    expect(await find({ lastRelease: { version: "v1.5.0" } })).toEqual([]);
    expect(await find({ lastRelease: {} })).toEqual(["v1.5.0/1 by c2"]);
  });

  test("deleting the last one starts no way back, and a raised attempt releases it again", async () => {
    const { find } = repoOf('{ tag: "^1.4", attempt: 2 }', [{ touches: [] }, { touches: [] }, { touches: [] }], { "v1.4.1": "c1" });
    expect(await find({ lastRelease: { version: "v1.5.0" } })).toEqual([]);
    expect(await find({ lastRelease: { version: "v1.4.1" } })).toEqual(["v1.4.1/2 by c1"]);
  });

  test.each([
    ["v1.2.3", undefined, "1.2.3"],
    ["1.2.3", undefined, "1.2.3"],
    ["v1.2.3-rc.1", undefined, "1.2.3-rc.1"],
    ["payments-1.2.3", "payments-", "1.2.3"],
    ["payments-v1.2.3", "payments-", "1.2.3"],
    ["payments-1.2.3", undefined, undefined],
    ["v1.2", undefined, undefined],
    ["nightly", undefined, undefined],
    ["v1.2.3.4", undefined, undefined],
  ])("the version of %s with prefix %s is %s", (name, prefix, version) => {
    expect(versionOfTag(name, prefix)).toBe(version);
  });

  test("prereleases count only where the range names one, and a range that was narrowed may go back", () => {
    const map = new Map(Object.entries(tags));
    expect(newestTag(map, { range: ">=1.6.0-0 <2" })?.name).toBe("v1.6.0-rc.1");
    expect(newestTag(map, { range: ">=1 <2", prefix: "payments-" })?.name).toBe("payments-1.9.0");
    expect(newestTag(map, { range: "^9" })).toBeUndefined();
    const older = { name: "v1.4.1", version: "1.4.1", commit: "c1" };
    expect(isNewer(older, "v1.5.0", { range: "^1.4" })).toBe(false);
    expect(isNewer(older, "v1.5.0", { range: "~1.4" })).toBe(true);
  });
});
