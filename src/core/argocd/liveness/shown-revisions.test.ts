import { describe, expect, test } from "vitest";
import { COMMIT, input, MERGED, pinned } from "../../../adapters/argocd/testing/application.ts";
import { assess } from "./liveness.ts";
import { revisionsNamed } from "./shown-revisions.ts";

const GIT = "https://git.example/acme/app.git";
const edit = (from: string | null, to: string) => [{ kind: "value" as const, from, to }];
const named = (source: object, ...edits: { kind: "value"; from: string | null; to: string }[]) =>
  revisionsNamed({ sources: [{ repoURL: GIT, ...source }] }, edits).map(({ repoURL, revision }) => `${revision} of ${repoURL}`);

describe("what a pin names in Git", () => {
  test.each([
    ["the tag that a source follows", { targetRevision: "v1" }, ["v2 of git.example/acme/app"]],
    ["the same, where it is there already", { targetRevision: "v2" }, ["v2 of git.example/acme/app"]],
    ["the version of a chart is none", { targetRevision: "v1", chart: "web" }, []],
    ["nor that of an image in a registry", { targetRevision: "v1", repoURL: "oci://registry.example/web" }, []],
    ["nor what a source does not follow", { targetRevision: "main" }, []],
  ])("%s", (_, source, found) => {
    expect(named(source, ...edit("v1", "v2"))).toEqual(found);
  });

  test("an id of a commit cannot be moved", () => {
    expect(named({ targetRevision: "v1" }, ...edit("v1", COMMIT))).toEqual([]);
    expect(named({ targetRevision: "v1" }, ...edit("v1", COMMIT.slice(0, 9)))).toEqual([]);
  });
});

describe("what an Application shows for it", () => {
  const shown = (source: object, revision: string) => {
    const followed = { repoURL: GIT, ...source };
    const view = pinned("v2", {
      spec: { source: followed },
      status: { sync: { revision, comparedTo: { source: followed } } },
    });
    return assess(input({ application: view, change: { kind: "revision", revision: "v2", mergedAt: MERGED } })).shows;
  };

  test("is the commit that it was compared with", () => {
    expect(shown({}, COMMIT)).toEqual([{ repoURL: "git.example/acme/app", revision: "v2", commit: COMMIT }]);
  });

  test("is nothing where it shows a name, or the version of a chart", () => {
    expect(shown({}, "v2")).toBeUndefined();
    expect(shown({ chart: "web" }, COMMIT)).toBeUndefined();
  });
});
