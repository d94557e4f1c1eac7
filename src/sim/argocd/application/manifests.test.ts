import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitSource, normalRepoURL, openGitSource } from "../git/git-source.ts";
import { type Push, pushConcerns } from "../git/push.ts";
import { anyVersion, createRepositories, RepoError } from "../git/repositories.ts";
import { type TestRepo, testRepo } from "../testing/world.ts";
import type { Application, ApplicationSource } from "../types.ts";
import { createManifests, type Desired, type Manifests } from "./manifests.ts";

const FILES = {
  "plain/deployment.yaml": "image: v1\n",
  "base/kustomization.yaml": "resources: [deployment.yaml]\n",
  "base/deployment.yaml": "image: v1\n",
  "overlays/eu/kustomization.yaml": "resources: [../../base]\nimages: [{ name: app, newTag: v1 }]\n",
  "chart/Chart.yaml": "name: chart\n",
  "values/eu.yaml": "tag: v1\n",
};

let repo: TestRepo;
let git: GitSource;
let manifests: Manifests;
beforeEach(async () => {
  repo = await testRepo(FILES);
  git = await openGitSource({ url: repo.url, aliases: ["https://github.com/acme/config"] });
  manifests = createManifests(createRepositories([git], anyVersion, { now: Date.now, ttl: 120_000 }));
});
afterEach(async () => {
  await git.close();
  await repo.remove();
});

async function desired(sources: Partial<ApplicationSource>[], texts: string[] = []): Promise<Omit<Desired, "objects">> {
  const all = sources.map((source) => ({ repoURL: "https://github.com/acme/config.git", targetRevision: "main", ...source }));
  const { objects: _, ...made } = await manifests.desired({
    spec: { project: "default", sources: all, destination: {} },
    force: true,
    texts,
  });
  return made;
}

describe("what an Application is made from", () => {
  it.each([
    { name: "a file of a plain directory", source: { path: "plain" }, file: "plain/deployment.yaml", counts: true },
    { name: "a file that is no manifest", source: { path: "plain" }, file: "plain/README.md", counts: false },
    { name: "a folder below a plain directory", source: { path: "plain" }, file: "plain/more/x.yaml", counts: false },
    { name: "the same with recurse", source: { path: "plain", directory: { recurse: true } }, file: "plain/more/x.yaml", counts: true },
    { name: "another path", source: { path: "plain" }, file: "base/deployment.yaml", counts: false },
    { name: "the base of an overlay", source: { path: "overlays/eu" }, file: "base/deployment.yaml", counts: true },
    {
      name: "a values file beside the chart",
      source: { path: "chart", helm: { valueFiles: ["../values/eu.yaml"] } },
      file: "values/eu.yaml",
      counts: true,
    },
    {
      name: "a values file from the root",
      source: { path: "chart", helm: { valueFiles: ["/values/eu.yaml"] } },
      file: "values/eu.yaml",
      counts: true,
    },
    { name: "a values file that is not named", source: { path: "chart", helm: {} }, file: "values/eu.yaml", counts: false },
  ])("$name: $counts", async ({ source, file, counts }) => {
    const before = await desired([source]);
    const head = await repo.commit({ [file]: "image: v2\n" });
    const after = await desired([source]);
    expect(after.revisions).toEqual([head]);
    expect(after.content !== before.content).toBe(counts);
  });

  it("another parameter in the spec counts, another name for the same commit does not", async () => {
    await repo.git("tag", "v1.0.0", "main");
    await repo.git("tag", "-a", "-m", "two", "v1.1.0", "main");
    const head = await repo.git("rev-parse", "main");
    const main = await desired([{ path: "plain" }]);
    for (const targetRevision of ["v1.0.0", "v1.1.0", "1.x", "^v1.0.0", "HEAD", "refs/heads/main", head, head.slice(0, 8)]) {
      const { revisions, content, mentions } = await desired([{ path: "plain", targetRevision }]);
      expect({ revisions, content, mentions }).toEqual({ revisions: main.revisions, content: main.content, mentions: main.mentions });
    }
    expect((await desired([{ path: "plain", kustomize: { images: ["app:v2"] } }])).content).not.toBe(main.content);
  });

  it("values of another source count at that source's revision", async () => {
    const sources = [
      { repoURL: "https://charts.example.com", chart: "app", targetRevision: "1.0.0", helm: { valueFiles: ["$v/values/eu.yaml"] } },
      { ref: "v" },
    ];
    const before = await desired(sources);
    await repo.commit({ "values/eu.yaml": "tag: v2\n" });
    expect((await desired(sources)).content).not.toBe(before.content);
  });

  it("knows whether a text stands in a version", async () => {
    expect([...(await desired([{ path: "plain" }], ["image: v1", "image: v9", "plain"])).mentions]).toEqual(["image: v1", "plain"]);
  });

  it.each([
    { name: "a revision", source: { path: "plain", targetRevision: "v9" }, words: 'failed to resolve revision "v9"' },
    { name: "a path", source: { path: "nowhere" }, words: "nowhere: app path does not exist" },
    { name: "a values file", source: { path: "chart", helm: { valueFiles: ["x.yaml"] } }, words: "chart/x.yaml: no such file" },
    { name: "a chart version", source: { chart: "app", targetRevision: "latest" }, words: "has no such version" },
  ])("says that $name is not there", async ({ source, words }) => {
    const asked = desired([source]);
    await expect(asked).rejects.toBeInstanceOf(RepoError);
    await expect(asked).rejects.toThrow(words);
  });

  it.each([
    ["https://github.com/Acme/Config.git", "github.com/acme/config"],
    ["git@github.com:acme/config.git", "github.com/acme/config"],
    ["ssh://git@github.com/acme/config", "github.com/acme/config"],
    ["http://x:y@127.0.0.1:3000/acme/config.git/", "127.0.0.1:3000/acme/config"],
  ])("takes %s for %s", (url, normal) => {
    expect(normalRepoURL(url)).toBe(normal);
  });
});

describe("manifest-generate-paths that leave a file out", () => {
  const source = { repoURL: "https://github.com/acme/config.git", targetRevision: "main", path: "overlays/eu" };
  const spec = { project: "default", sources: [source], destination: {} };
  const asked = (annotation: string, synced: string[], hard = false) =>
    manifests.desired({ spec, force: true, texts: [], naming: { app: "argocd/a", annotation, hydrated: false, synced, hard } });

  it("the manifests of before bear the new revision, and go on doing so until something under the paths changes", async () => {
    const v1 = await asked(".", []);
    await repo.commit({ "base/deployment.yaml": "image: v2\n" });
    const v2 = await asked(".", v1.revisions);
    expect([v2.revisions[0] === v1.revisions[0], v2.content === v1.content]).toEqual([false, true]);
    const again = await asked(".;../../base", v2.revisions);
    expect(again.content).toBe(v1.content);
    await repo.commit({ "base/deployment.yaml": "image: v3\n" });
    const v3 = await asked(".;../../base", v2.revisions);
    expect(v3.content).not.toBe(v1.content);
  });

  it("a hard refresh renders, and so does another name of the same revision that nobody has kept", async () => {
    const v1 = await asked(".", []);
    await repo.commit({ "base/deployment.yaml": "image: v2\n" });
    expect((await asked(".", v1.revisions, true)).content).not.toBe(v1.content);
    expect((await asked("", v1.revisions)).content).not.toBe(v1.content);
  });
});

describe("whom a push concerns", () => {
  const push: Push = {
    repoURLs: ["https://github.com/acme/config"],
    ref: "refs/heads/main",
    defaultBranch: "main",
    changed: ["apps/eu/values.yaml"],
  };

  function app(targetRevision: string, paths?: string): Application {
    const metadata = { name: "a", annotations: paths === undefined ? {} : { "argocd.argoproj.io/manifest-generate-paths": paths } };
    const source = { repoURL: "git@github.com:acme/config.git", targetRevision, path: "apps/eu" };
    return { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata, spec: { project: "default", source, destination: {} } };
  }

  it.each([
    ["main", undefined, true],
    ["HEAD", undefined, true],
    ["release", undefined, false],
    ["main", ".", true],
    ["main", "/apps/us", false],
    ["main", "/apps/us;../eu", true],
    ["main", "/apps/*/values.yaml", true],
  ])("targetRevision %s with paths %s: %s", (revision, paths, expected) => {
    expect(pushConcerns(app(revision, paths), push)).toBe(expected);
  });
});

it("an image in a registry is shown by its digest, and one that is named by it stays", () => {
  const source = { repoURL: "oci://ghcr.io/acme/charts/shop", path: "." };
  const digest = anyVersion(source, "1.0.0") ?? "";
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect([anyVersion(source, digest), anyVersion(source, "1.0.1") === digest]).toEqual([digest, false]);
});
