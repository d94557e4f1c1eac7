import { describe, expect, test } from "vitest";
import { COMMIT, MERGED, OLDER, REPO } from "../../../adapters/argocd/testing/application.ts";
import { type ChangeForInput, changeFor } from "./change-for.ts";
import type { Intended } from "./types.ts";

const APPS = "https://github.com/acme/payments";
const destination = { server: "https://eu-1.example.com", namespace: "payments" };
const edit = (to: string, from: string | null = null) => ({ kind: "value" as const, file: "f.yaml", path: "p", from, to });
const git = (targetRevision: string, over = {}) => ({ sources: [{ repoURL: APPS, path: "deploy", targetRevision, ...over }], destination });
const given = (over: Partial<ChangeForInput>): ChangeForInput => ({
  edits: [edit("v2", "v1")],
  commit: COMMIT,
  mergedAt: MERGED,
  repoURL: REPO,
  ...over,
});

describe("how a change must show", () => {
  test("a targetRevision of the rendered spec: that revision, in that source, and the spec itself", () => {
    expect(changeFor(given({ before: git("v1"), after: git("v2") }))).toEqual({
      change: { kind: "revision", revision: "v2", repoURL: APPS, mergedAt: MERGED },
      also: [],
      intended: git("v2"),
      files: [],
    });
  });

  test("a tag that the mirror knows brings its commit", () => {
    const { change } = changeFor(given({ before: git("v1"), after: git("v2"), resolve: () => OLDER }));
    expect(change).toMatchObject({ kind: "revision", commit: OLDER });
  });

  test("a Helm parameter: the intended spec", () => {
    const helm = (tag: string) => git("main", { rest: { helm: { parameters: [{ name: "image.tag", value: tag }] } } });
    expect(changeFor(given({ before: helm("v1"), after: helm("v2") }))).toEqual({
      change: { kind: "generator", mergedAt: MERGED },
      also: [],
      intended: helm("v2"),
      files: [],
    });
  });

  test("a values file in the config repo: the commit", () => {
    const values = {
      sources: [
        { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.0.0" },
        { repoURL: REPO, ref: "v" },
      ],
      destination,
    };
    expect(changeFor(given({ before: values, after: values }))).toEqual({
      change: { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED },
      also: [],
      intended: values,
      files: ["f.yaml"],
    });
  });

  test("a value that was gone from a values file already: the commit, for no spec shows it", () => {
    const values = { sources: [{ repoURL: REPO, path: "charts/web" }], destination };
    const { change, files } = changeFor(given({ edits: [{ ...edit("", ""), removes: true }], after: values }));
    expect([change, files]).toMatchObject([{ kind: "commit", commit: COMMIT }, ["f.yaml"]]);
  });

  test("a chart version in the spec and an image tag in a values file: both", () => {
    const both = (version: string) => ({
      sources: [
        { repoURL: "https://charts.example.com", chart: "web", targetRevision: version },
        { repoURL: REPO, ref: "v" },
      ],
      destination,
    });
    const chosen = changeFor(given({ edits: [edit("2.0.0", "1.0.0"), edit("v2", "v1")], before: both("1.0.0"), after: both("2.0.0") }));
    expect(chosen.change).toMatchObject({ kind: "revision", revision: "2.0.0" });
    expect(chosen.also).toEqual([{ kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED }]);
  });

  test("the same value in the spec and in a values file: both, for what the spec shows may be the other one", () => {
    const both = (version: string, path = "base") => ({
      sources: [
        { repoURL: "https://charts.example.com", chart: "web", targetRevision: version, rest: { helm: { valueFiles: ["$v/eu-1.yaml"] } } },
        { repoURL: REPO, ref: "v", path },
      ],
      destination,
    });
    const commit = { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
    for (const file of ["eu-1.yaml", "base/eu-1.yaml"]) {
      const edits = [edit("v2", "v1"), { ...edit("v2", "v1"), file }];
      const chosen = changeFor(given({ edits, before: both("v1"), after: both("v2") }));
      expect([chosen.change.kind, chosen.also, chosen.files]).toEqual(["revision", [commit], [file]]);
      expect(changeFor(given({ edits, after: both("v2") }))).toMatchObject({ also: [commit], files: [file] });
    }
    // What reads the root of the repo reads the file of the set, too.
    expect(changeFor(given({ before: both("v1", "."), after: both("v2", ".") })).also).toEqual([]);
  });

  test("two sources at one new revision: once each repo", () => {
    const two = (v: string) => ({
      sources: [
        { repoURL: APPS, path: "a", targetRevision: v },
        { repoURL: `${APPS}.git`, path: "b", targetRevision: v },
      ],
      destination,
    });
    expect(changeFor(given({ before: two("v1"), after: two("v2") })).also).toEqual([]);
  });

  test("two branches of one target, moved back: each at its own commit", () => {
    const moved = (path: string, to: string) => ({ kind: "branch" as const, file: "", path, from: COMMIT, to, forced: true as const });
    const { change, also } = changeFor(given({ edits: [moved("env/eu-1", OLDER), moved("values/eu-1", "d".repeat(40))] }));
    expect([change, ...also]).toMatchObject([
      { kind: "commit", commit: OLDER, exact: "env/eu-1" },
      { kind: "commit", commit: "d".repeat(40), exact: "values/eu-1" },
    ]);
  });

  test("a mark moved back beside the branch that it follows says nothing of it; followed by none of its sources, both do", () => {
    const moved = (path: string) => ({ kind: "branch" as const, file: "", path, from: COMMIT, to: OLDER, forced: true as const });
    const edits = [moved("refs/tags/live-eu-1"), moved("env/eu-1")];
    const exactOf = (live: Intended) => {
      const { change, also } = changeFor(given({ edits, live }));
      return [change, ...also].map((one) => one.kind === "commit" && one.exact);
    };
    expect(exactOf(git("env/eu-1"))).toEqual(["env/eu-1"]);
    expect(exactOf(git("main"))).toEqual(["refs/tags/live-eu-1", "env/eu-1"]);
  });

  test("an environment branch: the release commit on it", () => {
    const branch = { kind: "branch" as const, file: "", path: "env/eu-1", from: null, to: OLDER };
    expect(changeFor(given({ edits: [branch] })).change).toEqual({ kind: "commit", commit: OLDER, repoURL: REPO, mergedAt: MERGED });
  });

  test.each([
    ["a live source at the old value: the revision", git("v1"), { kind: "revision", revision: "v2" }],
    ["a live source at the new value: the revision", git("v2"), { kind: "revision", revision: "v2" }],
    ["none of them: the commit", git("main"), { kind: "commit", commit: COMMIT }],
    ["nothing known: the commit", undefined, { kind: "commit", commit: COMMIT }],
  ])("unrendered, %s", (_name, live, change) => {
    expect(changeFor(given({ live })).change).toMatchObject(change);
  });

  const tagged = (tag: string) => git("main", { repoURL: REPO, rest: { helm: { values: `image: { tag: ${tag} }` } } });

  test.each([
    ["the old value", "v1"],
    ["a longer one", "v2.1"],
    ["the new one beside the old", "v2, old: v1"],
  ])("unrendered, edited where only the spec is made from, live with %s: the spec, whatever commit is seen", (_name, tag) => {
    const chosen = changeFor(given({ live: tagged(tag), madeFrom: new Set(["f.yaml"]) }));
    expect(chosen).toEqual({ change: { kind: "generator", mergedAt: MERGED }, also: [], files: [] });
  });

  test("unrendered, edited where only the spec is made from, live with the new value: as it lives", () => {
    const live = tagged("v2");
    const madeFrom = new Set(["f.yaml"]);
    expect(changeFor(given({ live, madeFrom }))).toMatchObject({ change: { kind: "generator" }, intended: live, files: [] });
    const values = { ...edit("v3", "v2"), file: "deploy/values.yaml" };
    const both = changeFor(given({ edits: [edit("v2", "v1"), values], live, madeFrom }));
    expect(both).toMatchObject({ change: { kind: "commit" }, files: ["deploy/values.yaml"] });
    expect(changeFor(given({ live, madeFrom: new Set(["deploy/values.yaml"]), edits: [values] })).change.kind).toBe("commit");
  });

  test("rendered after the merge only: a source at the new value", () => {
    expect(changeFor(given({ after: git("v2") }))).toMatchObject({
      change: { kind: "revision", revision: "v2" },
      also: [],
      intended: git("v2"),
    });
  });
});

describe("a hydrated Application", () => {
  const sync = { repoURL: REPO, path: "eu-1", targetRevision: "env/eu" };
  const dry = (over: Record<string, unknown>) => ({
    sources: [sync],
    destination,
    sourceHydrator: {
      drySource: { repoURL: REPO, path: "overlays/v1", targetRevision: "main", ...over },
      syncSource: { targetBranch: "env/eu", path: "eu-1" },
    },
  });
  const tuned = (value: string) => dry({ helm: { parameters: [{ name: "tag", value }] } });

  test.each([
    ["another dry path", dry({ path: "overlays/v1" }), dry({ path: "overlays/v2" })],
    ["another parameter of the dry source", tuned("v1"), tuned("v2")],
  ])("%s shows in the spec", (_name, before, after) => {
    expect(changeFor(given({ before, after }))).toEqual({
      change: { kind: "generator", mergedAt: MERGED },
      also: [],
      intended: after,
      files: [],
    });
  });

  test("another branch to hydrate to shows in the spec, which no commit of a file does", () => {
    const before = dry({});
    const after = { ...before, sourceHydrator: { ...before.sourceHydrator, hydrateTo: { targetBranch: "env/eu-v2" } } };
    expect(changeFor(given({ before, after })).change.kind).toBe("generator");
  });

  test("another revision of the dry source is that revision, in the dry source's repo", () => {
    const [before, after] = ["v1", "v2"].map((targetRevision) => dry({ repoURL: APPS, targetRevision }));
    const revision = { kind: "revision", revision: "v2", repoURL: APPS, mergedAt: MERGED };
    expect(changeFor(given({ before, after })).change).toEqual(revision);
    expect(changeFor(given({ after })).change).toEqual(revision);
    expect(changeFor(given({ live: before })).change).toEqual(revision);
  });

  test("a file below the dry path is the commit, and a file beside a spec that changes is so, too", () => {
    const commit = { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
    expect(changeFor(given({ before: dry({}), after: dry({}) })).change).toEqual(commit);
    const chosen = changeFor(given({ edits: [edit("v2", "v1"), edit("1.9", "1.8")], before: tuned("v1"), after: tuned("v2") }));
    expect(chosen.also).toEqual([]);
    expect(chosen.change).toEqual(commit);
  });
});

test.each([
  ["the project", { project: "a" }, { project: "v2" }],
  ["what differences are ignored", {}, { ignoreDifferences: [{ kind: "Deployment", jsonPointers: ["/v2"] }] }],
  [
    "a value that turns something off",
    { sources: [{ repoURL: APPS, rest: { helm: { valuesObject: {} } } }] },
    { sources: [{ repoURL: APPS, rest: { helm: { valuesObject: { v2: false } } } }] },
  ],
])("%s shows in the spec", (_name, before, after) => {
  expect(changeFor(given({ before: { ...git("main"), ...before }, after: { ...git("main"), ...after } })).change.kind).toBe("generator");
});
