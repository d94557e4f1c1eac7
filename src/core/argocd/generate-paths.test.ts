import { describe, expect, test } from "vitest";
import { isUnderPaths, pathsMissed, refreshPaths, wholePaths } from "./generate-paths.ts";
import type { SourceView } from "./views.ts";

const REPO = "https://git.example/org/config";
const folder = (path: string, more: Partial<SourceView> = {}): SourceView => ({ repoURL: REPO, path, targetRevision: "main", ...more });
const chart = (valueFiles: string[]): SourceView => ({ repoURL: "https://charts.example", chart: "web", rest: { helm: { valueFiles } } });
const values: SourceView = { repoURL: REPO, ref: "values", targetRevision: "main" };
const isBase = (source: SourceView) => source.repoURL === REPO;

describe("paths are read as Argo CD's AppFilesHaveChanged reads them", () => {
  test.each([
    [".", "apps/eu", "apps/eu/a/b.yaml", true],
    [".", "apps/eu", "apps/europe/a.yaml", false],
    [".", "", "anything/at/all.yaml", true],
    ["/apps/us", "apps/eu", "apps/eu/a.yaml", false],
    ["/apps/us;../eu", "apps/eu", "apps/eu/a.yaml", true],
    [" . ; /base ", "apps/eu", "base/deployment.yaml", true],
    ["/apps/*/values.yaml", "apps/eu", "apps/eu/values.yaml", true],
    ["/apps/*", "apps/eu", "apps/eu/values.yaml", false],
    ["../../../x", "apps/eu", "x/a.yaml", true],
    ["values.yaml", "apps/eu", "apps/eu/values.yaml", true],
    ["/apps/eu/values.yaml", "apps/eu", "apps/eu/values.yaml", true],
    ["/", "apps/eu", "b.yaml", true],
    ["/apps/[", "apps/eu", "apps/[", true],
    ["/apps/[", "apps/eu", "apps/a", false],
    ["./", "apps/eu/", "apps/eu/a.yaml", true],
    [" ; ", "apps/eu", "other.yaml", true],
  ])("%j of a source at %j: %s is covered: %s", (annotation, path, file, covered) => {
    expect(isUnderPaths(refreshPaths(annotation, path), file)).toBe(covered);
  });
});

describe("a batch whose edit Argo CD would not render anew", () => {
  const missed = (annotation: string | undefined, sources: SourceView[], ...files: string[]) =>
    pathsMissed({ annotation, sources, files, isBase });

  test("a base of a kustomization outside of the paths is named, with the annotation that would be right", () => {
    const found = missed(".", [folder("lab/envs/a")], "lab/envs/a/kustomization.yaml", "lab/base/deployment.yaml");
    expect(found).toEqual({ changed: "lab/base/deployment.yaml", paths: ".", right: ".;/lab/base/deployment.yaml" });
    expect(missed(".;../../base", [folder("lab/envs/a")], "lab/base/deployment.yaml")).toBeUndefined();
    expect(missed(undefined, [folder("lab/envs/a")], "lab/base/deployment.yaml")).toBeUndefined();
    expect(missed(" ; ", [folder("lab/envs/a")], "lab/base/deployment.yaml")).toBeUndefined();
  });

  test("a `$ref` values file is judged by the paths of the source that takes it, not of the one that holds it", () => {
    const sources = [chart(["$values/envs/eu/web.yaml"]), values];
    expect(missed("/charts", sources, "envs/eu/web.yaml")).toMatchObject({
      changed: "envs/eu/web.yaml",
      right: "/charts;/envs/eu/web.yaml",
    });
    expect(missed("/envs/eu", sources, "envs/eu/web.yaml")).toBeUndefined();
  });

  test("every source that reads the file must have it under its own paths: `.` of one is not `.` of the other", () => {
    const sources = [folder("apps/eu"), folder("apps/us", { rest: { helm: { valueFiles: ["../eu/values.yaml"] } } })];
    expect(missed(".", sources, "apps/eu/values.yaml")).toMatchObject({ changed: "apps/eu/values.yaml" });
    expect(missed(".;../eu", sources, "apps/eu/values.yaml")).toBeUndefined();
  });

  test("a source that bears a `ref` and has a folder of its own is rendered whatever its paths are: nothing is refused for it", () => {
    const sources = [folder("apps/eu", { ref: "values" }), chart(["$values/apps/eu/web.yaml"])];
    expect(missed("/apps/eu/web.yaml", sources, "apps/eu/web.yaml")).toBeUndefined();
    expect(missed("/charts", [folder("apps/eu", { ref: "values" })], "apps/eu/web.yaml")).toBeUndefined();
  });

  test("a source of another repository has no say", () => {
    expect(missed(".", [{ repoURL: "https://git.example/org/app", path: "deploy" }], "values.yaml")).toBeUndefined();
  });
});

describe("the whole annotation", () => {
  test("names the folder, values files elsewhere, and what the pins edit", () => {
    const sources = [folder("charts/web", { rest: { helm: { valueFiles: ["values.yaml", "/envs/eu.yaml"] } } })];
    expect(wholePaths({ sources, files: ["base/tags.yaml", "charts/web/Chart.yaml"], isBase })).toBe(".;/envs/eu.yaml;/base/tags.yaml");
  });

  test("never says `.` for a chart of a registry, which would be all of the repo", () => {
    const sources = [chart(["$values/envs/eu.yaml"]), values];
    expect(wholePaths({ sources, files: [], isBase })).toBe("/envs/eu.yaml");
  });
});
