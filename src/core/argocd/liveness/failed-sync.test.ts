import { describe, expect, test } from "vitest";
import { application, at, COMMIT, input, MERGED, NOW, OLDER, REPO } from "../../../adapters/argocd/testing/application.ts";
import { assess } from "./liveness.ts";
import type { Change } from "./types.ts";

const revisionChange = (revision: string, commit?: string): Change => ({
  kind: "revision",
  revision,
  mergedAt: MERGED,
  ...(commit === undefined ? {} : { commit }),
});

describe("a failed sync of the revision that is pinned", () => {
  const CHART = { repoURL: "https://charts.example.com", chart: "payments", path: undefined, targetRevision: "1.4.2" };
  const failedAt = (finishedAt: string, tried: string, source: Record<string, unknown>) =>
    application({
      spec: { source },
      status: {
        sync: { revision: tried, comparedTo: { source } },
        operationState: { phase: "Failed", finishedAt, operation: { sync: { revision: tried } }, syncResult: { revision: tried, source } },
      },
    });
  const tag = (finishedAt: string) => failedAt(finishedAt, OLDER, { targetRevision: "v1" });
  const chart = (finishedAt: string) => failedAt(finishedAt, "1.4.2", CHART);
  const sha = (finishedAt: string) => failedAt(finishedAt, OLDER, { targetRevision: OLDER });
  const commit = (_seen: string, wanted: string) => (wanted === OLDER ? "contains" : "missing");

  test.each([
    ["a chart's version, days before the merge, was before the change", "live", chart("2026-11-19T09:05:00Z"), revisionChange("1.4.2")],
    ["a tag, days before the merge", "live", tag("2026-11-19T09:05:00Z"), revisionChange("v1")],
    ["a tag whose commit is known, days before the merge", "live", tag("2026-11-19T09:05:00Z"), revisionChange("v1", OLDER)],
    ["a commit that is older than the merge itself", "live", sha("2026-11-19T09:05:00Z"), revisionChange(OLDER)],
    ["a chart's version, more than five minutes before", "live", chart(at("09:54:59")), revisionChange("1.4.2")],
    ["a chart's version, as long before as a clock may be off, is pending", "pending", chart(at("09:55:00")), revisionChange("1.4.2")],
    ["a tag, a moment before the merge, is pending", "pending", tag(at("09:59:59")), revisionChange("v1")],
    ["a tag whose commit is known, a moment before", "pending", tag(at("09:59:59")), revisionChange("v1", OLDER)],
    ["a chart's version, after the merge, is failing", "failing", chart(at("10:00:08")), revisionChange("1.4.2")],
    ["a tag, after the merge, is failing", "failing", tag(at("10:00:08")), revisionChange("v1", OLDER)],
  ])("%s", (_name, verdict, view, change) => {
    expect(assess(input({ application: view, change, ancestry: commit, now: NOW + 60_000 })).verdict).toBe(verdict);
  });

  test("counts whenever it ended where it was for a commit of the config repo as well, which the merge made", () => {
    const source = { targetRevision: "main" };
    const both = failedAt(at("09:50:00"), COMMIT, source);
    const given = input({ application: both, change: revisionChange("main"), now: NOW + 60_000 });
    expect(assess({ ...given, also: [{ kind: "commit", commit: COMMIT, repoURL: REPO, mergedAt: MERGED }] }).verdict).toBe("failing");
    expect(assess(given).verdict).toBe("live");
  });
});

describe("what is unwell is told of the change alone", () => {
  const denied = { kind: "Deployment", namespace: "web", name: "api", status: "SyncFailed", message: "no such host" };
  const ill = { kind: "Service", namespace: "web", name: "api", health: { status: "Degraded", message: "no address" } };
  const trying = (tried: string, seen: string, health: readonly unknown[] = []) =>
    application({
      status: {
        ...{ sync: { revision: seen, status: "OutOfSync" }, resources: health },
        operationState: {
          ...{
            phase: "Running",
            retryCount: 3,
            finishedAt: at("10:00:40"),
            message: "one or more objects failed to apply (retried 3 times).",
          },
          ...{ operation: { sync: { revision: tried } }, syncResult: { revision: tried, resources: [denied] } },
        },
      },
    });
  const ancestry = (seen: string) => (seen === OLDER ? ("missing" as const) : ("contains" as const));
  const unwell = (view: ReturnType<typeof trying>, change = input().change) =>
    assess(input({ application: view, change, ancestry })).evidence.fields["unwell"];

  test("a sync that still tries the commit before is no cause of what became of this one", () => {
    // As Argo CD 3.5.1 showed it: compared at the new commit, with the tries of the old one going on.
    expect(unwell(trying(OLDER, COMMIT))).toBeUndefined();
    expect(unwell(trying(COMMIT, COMMIT))).toBe("Deployment web/api: SyncFailed: no such host");
  });

  test("nor one of which nobody knows whether it was of this commit", () => {
    const view = trying("b".repeat(40), COMMIT);
    const told = (answer: "unknown" | "contains") =>
      assess(input({ application: view, ancestry: (seen) => (seen === COMMIT ? "contains" : answer) })).evidence.fields["unwell"];
    expect([told("unknown"), told("contains")]).toEqual([undefined, "Deployment web/api: SyncFailed: no such host"]);
  });

  test("nor what is Degraded while Argo CD has not seen the commit", () => {
    expect(unwell(trying(OLDER, OLDER, [ill]))).toBeUndefined();
    expect(unwell(trying(COMMIT, COMMIT, [ill]))).toBe(
      "Deployment web/api: SyncFailed: no such host; Service web/api: Degraded: no address",
    );
  });
});
