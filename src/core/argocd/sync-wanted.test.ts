import { expect, test } from "vitest";
import { application, COMMIT, LATER, MERGED, OLDER, pinned, REPO } from "../../adapters/argocd/testing/application.ts";
import type { Change } from "./liveness/types.ts";
import { syncWanted } from "./sync-wanted.ts";

const commit: Change = { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
const revision: Change = { kind: "revision", revision: "v1.4.2", commit: LATER, mergedAt: MERGED };
const common = { parent: OLDER, sourcesBefore: undefined };

test("a commit is asked for as it was merged, though a later one is seen; before it its parent is deployed", () => {
  const later = application({ status: { sync: { revision: LATER } } });
  expect(syncWanted({ ...common, application: later, changes: [commit] })).toEqual({
    uid: "uid-1",
    sources: later.spec.sources,
    revisions: [COMMIT],
    before: { sources: later.spec.sources, revisions: [OLDER] },
  });
});

test("a revision is asked for as the commit that it stands for; before it the spec of before is deployed", () => {
  const view = pinned("v1.4.2", { status: { sync: { revision: LATER } } });
  const sourcesBefore = pinned("v1.4.1").spec.sources;
  expect(syncWanted({ ...common, application: view, changes: [revision], sourcesBefore })).toMatchObject({
    revisions: [LATER],
    before: { sources: sourcesBefore, revisions: [null] },
  });
});

test.each([
  ["a hydrated one", { spec: { sourceHydrator: {} } }, commit, "Hydrated"],
  ["a name instead of a revision", { status: { sync: { revision: "main" } } }, commit, "NoRevision"],
  ["no revision", { status: { sync: { revision: undefined } } }, commit, "NoRevision"],
  ["a spec that nobody can tell from before", {}, { kind: "generator", mergedAt: MERGED } as Change, "NoBefore"],
])("%s is left to a person", (_, over, change, kind) => {
  expect(syncWanted({ ...common, application: application(over), changes: [change] })).toEqual({ cannot: { code: "SYNC_UNSAFE", kind } });
});

test("a tag that was moved, or a merge whose parent is not known, is left to a person", () => {
  const moved = pinned("v1.4.2", { status: { sync: { revision: OLDER } } });
  const sourcesBefore = pinned("v1.4.1").spec.sources;
  expect(syncWanted({ ...common, application: moved, changes: [revision], sourcesBefore })).toMatchObject({
    cannot: { kind: "NoRevision" },
  });
  expect(syncWanted({ ...common, parent: undefined, application: application(), changes: [commit] })).toMatchObject({
    cannot: { kind: "NoBefore" },
  });
});
