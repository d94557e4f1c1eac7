import { describe, expect, test } from "vitest";
import { application, at, COMMIT, input, LATER, MERGED, OLDER, REPO } from "../../../adapters/argocd/testing/application.ts";
import { observationOf } from "./observation.ts";
import type { Change, HydratedFiles, LivenessInput } from "./types.ts";

const revision = (name: string): Change => ({ kind: "revision", revision: name, mergedAt: MERGED });
const ancestry: NonNullable<LivenessInput["ancestry"]> = (seen) => (seen === LATER ? "contains" : "missing");
const digest = `sha256:${"b".repeat(64)}`;

describe("a chart or OCI source", () => {
  test.each([
    ["the version itself is proven", { chart: "web" }, "1.2.3", "1.2.3", "proven"],
    ["with a v it is the same", { chart: "web" }, "v1.2.3", "1.2.3", "proven"],
    ["another version is older", { chart: "web" }, "1.2.4", "1.2.3", "older"],
    ["a version in the range is shown", { chart: "web" }, ">=1.2, <2", "1.9.0", "shown"],
    ["a version outside the range is older", { chart: "web" }, "~1.2.0", "1.3.0", "older"],
    ["a prerelease is not in a range that names none", { chart: "web" }, "^1.2.0", "1.3.0-rc.1", "older"],
    ["no version yet is unresolved", { chart: "web" }, "1.2.3", "", "unresolved"],
    ["a prerelease is in a range that names one", { chart: "web" }, ">=1.2.0-0, <2", "1.3.0-rc.1", "shown"],
    ["one group that names a prerelease says nothing for another", { chart: "web" }, "<1.0.0-0 || ^1.2.0", "1.3.0-rc.1", "older"],
    ["a version that is left out is older", { chart: "web" }, ">=1.2, !=1.3.0", "1.3.0", "older"],
    ["another than the one left out is shown", { chart: "web" }, ">=1.2, != 1.3.0", "1.3.1", "shown"],
    ["one of two ranges is enough", { chart: "web" }, "~1.2 || ^3.0", "3.4.5", "shown"],
    ["any version but one", { chart: "web" }, "!=1.3.0", "1.2.0", "shown"],
    ["a wildcard is a range", { chart: "web" }, "1.x", "1.9.9", "shown"],
    ["what is no version is in no range", { chart: "web" }, "^1.2.0", "latest", "older"],
    ["`1` is one version, as Helm reads it, and no range", { chart: "web" }, "1", "1.2.3", "older"],
    ["and so is `1.10`", { chart: "web" }, "1.10", "1.10.4", "older"],
    ["and so is `v4.5`", { chart: "web" }, "v4.5", "4.5.6", "older"],
    ["`1.10` is looked for by its very text", { chart: "web" }, "1.10", "1.10", "proven"],
    ["build metadata is another package", { chart: "web" }, "1.2.3+a", "1.2.3+b", "older"],
    ["a digest asked for and seen is proven", { repoURL: "oci://r.example.com/web" }, digest, digest, "proven"],
    ["the digest of a tag is shown", { repoURL: "oci://r.example.com/web" }, "1.2.3", digest, "shown"],
    ["another digest is older", { repoURL: "oci://r.example.com/web" }, digest, `sha256:${"c".repeat(64)}`, "older"],
  ])("%s", (_name, source, wanted, seen, state) => {
    const view = application({ spec: { source: { ...source, targetRevision: wanted } }, status: { sync: { revision: seen } } });
    expect(observationOf(view, revision(wanted), input()).state).toBe(state);
  });
});

describe("a revision of a Git source", () => {
  test.each([
    ["a shortened id that the seen one begins with is proven", COMMIT.slice(0, 8), COMMIT, "proven"],
    ["a shortened id that stays short in the status is shown", COMMIT.slice(0, 8), COMMIT.slice(0, 8), "shown"],
    ["letters of another case are the same id", COMMIT.toUpperCase(), COMMIT, "proven"],
    ["a name is shown where it was resolved", "release-1.4", COMMIT, "shown"],
    ["a name is unresolved where it was not", "release-1.4", "release-1.4", "unresolved"],
    ["another id is older", LATER, COMMIT, "older"],
    ["a shortened id that the seen one does not begin with is older", "abc1234f", COMMIT, "older"],
    ["digits alone may be a tag's name", "20261121", COMMIT, "shown"],
    ["a date with a letter may be, too", "20261121a", COMMIT, "shown"],
    ["and one with the time of day", "20261121fa0930", COMMIT, "shown"],
    ["a date that the seen one begins with is an id all the same", "20261121a", `20261121a${"c".repeat(31)}`, "proven"],
    ["what is no day of any month is an id", "20261321a", COMMIT, "older"],
    ["nor is one of another century", "19991121a", COMMIT, "older"],
    ["six of them may be, too", "abcdef", COMMIT, "shown"],
    ["HEAD is what a source without a revision follows", undefined, COMMIT, "shown"],
  ])("%s", (_name, wanted, seen, state) => {
    const view = application({ spec: { source: { targetRevision: wanted } }, status: { sync: { revision: seen } } });
    expect(observationOf(view, revision(wanted ?? "HEAD"), input()).state).toBe(state);
  });

  test("one that looks like a shortened id is told so, as it may be a name for which nothing else helps", () => {
    const view = application({ spec: { source: { targetRevision: "abc1234f" } } });
    expect(observationOf(view, revision("abc1234f"), input()).because).toMatchObject({ code: "OTHER_REVISION_SEEN", shortened: true });
  });

  test("a shortened name whose commit is known is a tag's", () => {
    const view = application({ spec: { source: { targetRevision: "abc1234f" } } });
    expect(observationOf(view, { ...revision("abc1234f"), commit: COMMIT } as Change, input()).state).toBe("proven");
  });

  test("of the config repo, too, is not held to the pin: a tag is older than the commit that names it", () => {
    const source = { targetRevision: "v2" };
    const view = application({ spec: { source }, status: { sync: { revision: OLDER } } });
    const change: Change = { kind: "revision", revision: "v2", commit: OLDER, mergedAt: MERGED };
    expect(observationOf(view, change, input({ seenPinDiffers: () => ({ commit: LATER }) })).state).toBe("proven");
  });
});

describe("several sources", () => {
  const sources = [
    { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.2.3" },
    { repoURL: REPO, ref: "values", targetRevision: "main" },
    { repoURL: REPO, path: "extra", targetRevision: "main" },
  ];
  const several = (revisions: string[]) =>
    application({ spec: { source: undefined, sources }, status: { sync: { revision: undefined, revisions } } });
  const commit: Change = { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };

  test.each([
    ["all of the repo have it", ["1.2.3", COMMIT, LATER], "proven"],
    ["one of the repo lacks it", ["1.2.3", COMMIT, OLDER], "older"],
    ["the chart alone never has it", [COMMIT, OLDER, OLDER], "older"],
    ["a missing position is unresolved", ["1.2.3", COMMIT], "unresolved"],
  ])("%s", (_name, revisions, state) => {
    expect(observationOf(several(revisions), commit, input({ ancestry }))).toMatchObject({ state, sources: [1, 2] });
  });

  test("a chart version is looked for at its own position", () => {
    expect(observationOf(several(["1.2.3", OLDER, OLDER]), revision("1.2.3"), input())).toMatchObject({ state: "proven", sources: [0] });
  });
});

describe("the source hydrator", () => {
  const HYDRATED = "e".repeat(40);
  const commit: Change = { kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
  const SPEC = {
    drySource: { repoURL: REPO, targetRevision: "main", path: "apps" },
    syncSource: { targetBranch: "env/eu", path: "apps" },
  };
  type Raw = Record<string, unknown>;
  /** Each hydration was by the `by` sourceHydrator. */
  const hydrated = (status: Raw, seen: string, { spec = SPEC, by = spec }: { spec?: Raw; by?: Raw } = {}) => {
    const sourceHydrator = Object.fromEntries(
      Object.entries(status).map(([key, value]) => [key, typeof value === "object" ? { sourceHydrator: by, ...value } : value]),
    );
    return application({ spec: { source: undefined, sourceHydrator: spec }, status: { sync: { revision: seen }, sourceHydrator } });
  };
  const failed = { phase: "Failed", drySHA: COMMIT, message: "kustomize: not found", finishedAt: at("10:00:10") };

  test.each([
    [
      "dry commit hydrated and compared is proven",
      { lastSuccessfulOperation: { drySHA: COMMIT, hydratedSHA: HYDRATED } },
      HYDRATED,
      "proven",
    ],
    ["a later dry commit counts as well", { lastSuccessfulOperation: { drySHA: LATER, hydratedSHA: HYDRATED } }, HYDRATED, "proven"],
    ["hydrated and not compared yet is older", { lastSuccessfulOperation: { drySHA: COMMIT, hydratedSHA: HYDRATED } }, OLDER, "older"],
    ["the dry SHA itself proves nothing", { lastSuccessfulOperation: { drySHA: OLDER, hydratedSHA: OLDER } }, COMMIT, "older"],
    ["a failed hydration of it is failed", { currentOperation: failed }, OLDER, "failed"],
    ["one that failed before the merge is not", { currentOperation: { ...failed, finishedAt: at("09:00:00") } }, OLDER, "older"],
    ["one of another commit is not", { currentOperation: { ...failed, drySHA: OLDER } }, OLDER, "older"],
  ])("%s", (_name, status, seen, state) => {
    expect(observationOf(hydrated(status, seen), commit, input({ ancestry })).state).toBe(state);
  });

  const done = { currentOperation: { phase: "Hydrated", drySHA: COMMIT, hydratedSHA: HYDRATED, finishedAt: at("10:00:05") } };
  const both = { ...done, lastSuccessfulOperation: { drySHA: COMMIT, hydratedSHA: HYDRATED } };
  const noop = {
    currentOperation: { phase: "Hydrated", drySHA: OLDER, hydratedSHA: HYDRATED },
    lastSuccessfulOperation: { drySHA: OLDER, hydratedSHA: HYDRATED },
    lastComparedDryRevision: COMMIT,
  };
  const generator: Change = { kind: "generator", mergedAt: MERGED };
  const OTHER = { ...SPEC, drySource: { ...SPEC.drySource, path: "apps/v1" } };
  const tuned = (value: string) => ({ ...SPEC, drySource: { ...SPEC.drySource, helm: { parameters: [{ name: "tag", value }] } } });

  test.each<[string, string, Raw, { spec?: Raw; by?: Raw }, Change]>([
    ["another dry path is older, for a commit", "older", both, { by: OTHER }, commit],
    ["another dry path is older, where nothing but the comparison moved", "older", noop, { by: OTHER }, commit],
    ["another dry path is older, for a spec that changed", "older", both, { by: OTHER }, generator],
    ["another parameter is older", "older", both, { spec: tuned("v2"), by: tuned("v1") }, generator],
    ["another branch to hydrate to is older", "older", both, { by: { ...SPEC, hydrateTo: { targetBranch: "env/next" } } }, generator],
    ["this very spec is shown", "shown", both, {}, generator],
    [
      "a URL spelled otherwise is this spec",
      "shown",
      both,
      { by: { ...SPEC, drySource: { ...SPEC.drySource, repoURL: `${REPO}/` } } },
      generator,
    ],
    ["this very spec that failed is failed", "failed", { currentOperation: failed }, {}, generator],
    ["another dry path that failed is older", "older", { currentOperation: failed }, { by: OTHER }, commit],
    [
      "another dry path that failed before any dry commit was known is older",
      "older",
      { currentOperation: { ...failed, drySHA: undefined } },
      { by: OTHER },
      commit,
    ],
    ["nothing at all is older", "older", {}, {}, generator],
  ])("hydrated by %s", (_name, state, status, specs, change) => {
    expect(observationOf(hydrated(status, HYDRATED, specs), change, input({ ancestry })).state).toBe(state);
  });

  test("hydrated by nobody knows which spec is older", () => {
    const unknown = application({
      spec: { source: undefined, sourceHydrator: SPEC },
      status: { sync: { revision: HYDRATED }, sourceHydrator: both },
    });
    expect(observationOf(unknown, generator, input()).state).toBe("older");
  });

  const tagged = { ...SPEC, drySource: { ...SPEC.drySource, targetRevision: "v2" } };
  const tag = (finishedAt: string) => ({
    currentOperation: { ...done.currentOperation, drySHA: OLDER, finishedAt },
    lastSuccessfulOperation: { drySHA: OLDER, hydratedSHA: HYDRATED },
  });

  test.each<[string, string, Raw, Raw, Change]>([
    ["the tag in place and its commit hydrated is proven", "proven", both, tagged, { ...revision("v2"), commit: COMMIT } as Change],
    ["the tag in place and another commit hydrated is older", "older", both, tagged, { ...revision("v2"), commit: OLDER } as Change],
    ["another tag in place is absent", "absent", both, tagged, revision("v3")],
    ["an id hydrated is proven", "proven", both, { ...SPEC, drySource: { ...SPEC.drySource, targetRevision: COMMIT } }, revision(COMMIT)],
    ["a tag that nobody resolved, hydrated after the merge, is shown", "shown", tag(at("10:00:01")), tagged, revision("v2")],
    ["a tag that nobody resolved, hydrated in the second of the merge, is older", "older", tag(at("10:00:00")), tagged, revision("v2")],
  ])("a pin on the dry source: %s", (_name, state, status, spec, change) => {
    expect(observationOf(hydrated(status, HYDRATED, { spec }), change, input({ ancestry })).state).toBe(state);
  });

  test.each<[string, string, HydratedFiles, Raw, Partial<LivenessInput>]>([
    [
      "the change is proven, whatever the status calls hydrated",
      "proven",
      { drySHA: COMMIT },
      { ...both, lastSuccessfulOperation: noop.lastSuccessfulOperation },
      {},
    ],
    ["a commit before it is older, whatever the status calls hydrated", "older", { drySHA: OLDER }, both, {}],
    ["nothing is older", "older", { drySHA: undefined }, both, {}],
    [
      "a later commit, in which somebody has changed the pin, is changed",
      "changed",
      { drySHA: LATER },
      both,
      { seenPinDiffers: () => ({ commit: LATER }) },
    ],
    [
      "a commit before it, with the very values already, is shown where it changed nothing",
      "shown",
      { drySHA: OLDER },
      both,
      { unchanged: true, seenPinDiffers: () => undefined },
    ],
    [
      "a commit before it, with other values, is older though it changed nothing",
      "older",
      { drySHA: OLDER },
      both,
      { unchanged: true, seenPinDiffers: () => ({ commit: LATER }) },
    ],
    [
      "a commit before it, of which the values cannot be read, is older though it changed nothing",
      "older",
      { drySHA: OLDER },
      both,
      { unchanged: true, seenPinDiffers: () => "unknown" },
    ],
    [
      "what is no whole revision is older though it changed nothing",
      "older",
      { drySHA: "main" },
      both,
      { unchanged: true, seenPinDiffers: () => undefined },
    ],
    ["what is not known yet is unknown", "unknown", "unknown", both, {}],
    ["what cannot be read is told by the status", "proven", "unreadable", both, {}],
    ["what cannot be read, on a branch with another one, is unproven", "unproven", "unreadable", both, { sharesBranch: "payments-eu-2" }],
  ])("beside the manifests stands %s", (_name, state, files, status, more) => {
    const seen = input({ ancestry: (revision) => (revision === LATER ? "contains" : "missing"), hydrated: () => files, ...more });
    expect(observationOf(hydrated(status, HYDRATED), commit, seen).state).toBe(state);
  });

  test("hydrated by a promotion's merge commit is told by ancestry where the branch cannot be read", () => {
    const ancestry = (seen: string, part: string) => (seen === LATER && part === HYDRATED ? "contains" : "missing");
    expect(observationOf(hydrated(both, LATER), commit, input({ ancestry })).state).toBe("proven");
    expect(observationOf(hydrated(both, OLDER), commit, input({ ancestry })).state).toBe("older");
  });

  test("another dry repo can never show it", () => {
    expect(observationOf(hydrated({}, COMMIT), { ...commit, repoURL: "https://github.com/acme/other" }, input()).state).toBe("absent");
  });
});
