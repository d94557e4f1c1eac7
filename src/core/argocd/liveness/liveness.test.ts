import { describe, expect, test } from "vitest";
import { application, at, COMMIT, input, LATER, MERGED, NOW, OLDER, pinned, REPO } from "../../../adapters/argocd/testing/application.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import { assess } from "./liveness.ts";
import type { LivenessInput } from "./types.ts";

type Case = [name: string, verdict: string, clause: string, input: LivenessInput];

const intended = (revision: string) => ({
  sources: [{ repoURL: REPO, path: "apps/payments", targetRevision: revision }],
  destination: { server: "https://eu-1.example.com", namespace: "payments" },
});
const status = (over: Record<string, unknown>) => application({ status: over });
const revisionChange = (revision: string, commit?: string): LivenessInput["change"] => ({
  kind: "revision",
  revision,
  mergedAt: MERGED,
  ...(commit === undefined ? {} : { commit }),
});
const cluster = (state: "Successful" | "Failed" | "Unknown") => ({
  name: "eu-1",
  server: "https://eu-1.example.com",
  labels: {},
  registered: true,
  connection: { status: state, message: "dial tcp: timeout" },
});

const CASES: Record<string, Case[]> = {
  "exists, and where": [
    ["an Application that is not there is lost", "lost", "exists", input({ application: undefined })],
    [
      "one being deleted is lost however well it looks",
      "lost",
      "exists",
      input({ application: application({ metadata: { deletionTimestamp: at("10:00:30") } }) }),
    ],
    ["a cluster that cannot be reached is lost", "lost", "cluster", input({ cluster: cluster("Failed") })],
    ["a connection nobody knows is left out", "live", "all", input({ cluster: cluster("Unknown") })],
    ["no cluster given is left out", "live", "all", input()],
  ],
  "spec is the intended one": [
    ["an ApplicationSet that lags is pending", "pending", "spec", input({ intended: intended("v2") })],
    ["the intended spec in place is live", "live", "all", input({ intended: intended("main") })],
    [
      "another destination is pending",
      "pending",
      "spec",
      input({ intended: { ...intended("main"), destination: { server: "https://eu-2.example.com", namespace: "payments" } } }),
    ],
    [
      "a generator change without a rendered spec is never live",
      "pending",
      "spec",
      input({ change: { kind: "generator", mergedAt: MERGED } }),
    ],
    [
      "a generator change needs no revision",
      "live",
      "all",
      input({
        change: { kind: "generator", mergedAt: MERGED },
        intended: intended("main"),
        application: status({ sync: { revision: OLDER } }),
      }),
    ],
    ["a revision the spec does not name yet is pending", "pending", "spec", input({ change: revisionChange("v2") })],
  ],
  "status is about this spec": [
    [
      "comparedTo an older source is stale",
      "pending",
      "compared",
      input({ application: status({ sync: { comparedTo: { source: { targetRevision: "old" } } } }) }),
    ],
    ["no comparedTo is stale", "pending", "compared", input({ application: status({ sync: { comparedTo: undefined } }) })],
    [
      "comparedTo other ignoreDifferences is stale",
      "pending",
      "compared",
      input({ application: application({ spec: { ignoreDifferences: [{ kind: "Deployment", jsonPointers: ["/spec/replicas"] }] } }) }),
    ],
  ],
  "seen revision": [
    [
      "an older commit is pending",
      "pending",
      "revision",
      input({ application: status({ sync: { revision: OLDER } }), ancestry: () => "missing" }),
    ],
    [
      "a later commit that contains it is live",
      "live",
      "all",
      input({ application: status({ sync: { revision: LATER } }), ancestry: () => "contains" }),
    ],
    ["a later commit nobody can place is pending", "pending", "revision", input({ application: status({ sync: { revision: LATER } }) })],
    [
      "a pin changed since waits for a person and names the commit",
      "waiting",
      "revision",
      input({
        application: status({ sync: { revision: LATER } }),
        ancestry: () => "contains",
        seenPinDiffers: () => ({ commit: LATER }),
      }),
    ],
    ["a branch name is no revision", "pending", "revision", input({ application: status({ sync: { revision: "main" } }) })],
    [
      "no source of the config repo is pending",
      "pending",
      "revision",
      input({ change: { kind: "commit", commit: COMMIT, repoURL: "https://github.com/acme/other", mergedAt: MERGED } }),
    ],
    [
      "the repo counts however its URL is spelled",
      "live",
      "all",
      input({ change: { kind: "commit", commit: COMMIT, repoURL: "git@GitHub.com:acme/config", mergedAt: MERGED } }),
    ],
    [
      "a tag whose commit nobody knows counts by comparedTo",
      "live",
      "all",
      input({ application: pinned("v2"), change: revisionChange("v2") }),
    ],
    [
      "a tag the mirror knows must be at its commit",
      "pending",
      "revision",
      input({ application: pinned("v2"), change: revisionChange("v2", OLDER), ancestry: () => "missing" }),
    ],
    [
      "a tag shown as a name is pending",
      "pending",
      "revision",
      input({ application: pinned("v2", { status: { sync: { revision: "v2" } } }), change: revisionChange("v2") }),
    ],
    ["a pinned SHA seen is live", "live", "all", input({ application: pinned(COMMIT), change: revisionChange(COMMIT) })],
    ["a pinned SHA not seen is pending", "pending", "revision", input({ application: pinned(LATER), change: revisionChange(LATER) })],
  ],
  times: [
    [
      "compared before the merge is stale",
      "pending",
      "reconciled",
      input({ application: status({ reconciledAt: at("09:59:59"), operationState: undefined }) }),
    ],
    ["never compared is stale", "pending", "reconciled", input({ application: status({ reconciledAt: undefined }) })],
    [
      "the same second is enough where the revision proves it",
      "live",
      "all",
      input({ application: status({ reconciledAt: at("10:00:00"), operationState: undefined }) }),
    ],
    [
      "the same second is not enough for a tag",
      "pending",
      "reconciled",
      input({
        application: pinned("v2", { status: { reconciledAt: at("10:00:00"), operationState: undefined } }),
        change: revisionChange("v2"),
      }),
    ],
    [
      "compared in the second the operation ended is stale",
      "pending",
      "reconciled",
      input({ application: status({ reconciledAt: at("10:00:08") }) }),
    ],
    [
      "compared before the operation ended is stale",
      "pending",
      "reconciled",
      input({ application: status({ reconciledAt: at("10:00:06") }) }),
    ],
  ],
  operation: [
    ["none at all is fine", "live", "all", input({ application: status({ operationState: undefined }) })],
    ["one asked for is pending", "pending", "operation", input({ application: application({ operation: { sync: {} } }) })],
    [
      "one running is pending",
      "pending",
      "operation",
      input({ application: status({ operationState: { phase: "Running", finishedAt: undefined } }) }),
    ],
    [
      "one waiting for its retry is waiting",
      "waiting",
      "operation",
      input({ application: status({ operationState: { phase: "Running", retryCount: 1 } }) }),
    ],
    [
      "one held by a sync window is waiting",
      "waiting",
      "operation",
      input({
        application: status({
          operationState: { phase: "Running", finishedAt: undefined, message: "Sync operation blocked by sync window" },
        }),
      }),
    ],
    [
      "one that failed within the grace is pending",
      "pending",
      "operation",
      input({ application: status({ operationState: { phase: "Failed" } }) }),
    ],
    [
      "one that failed is failing after the grace",
      "failing",
      "operation",
      input({ application: status({ operationState: { phase: "Failed" } }), now: NOW + 60_000 }),
    ],
    [
      "one that failed before the merge never counts",
      "live",
      "all",
      input({
        application: status({
          operationState: { phase: "Failed", startedAt: at("09:59:00"), finishedAt: at("09:59:10"), syncResult: { revision: OLDER } },
        }),
        ancestry: () => "missing",
      }),
    ],
    [
      "one that failed for the commit itself counts, before the merge though it ended by a clock that is behind",
      "failing",
      "operation",
      input({
        application: status({ operationState: { phase: "Failed", startedAt: at("09:55:50"), finishedAt: at("09:56:00") } }),
        now: NOW + 60_000,
      }),
    ],
    [
      "and so does one for a later commit that contains it",
      "failing",
      "operation",
      input({
        application: status({
          sync: { revision: LATER },
          operationState: { phase: "Failed", startedAt: at("09:55:50"), finishedAt: at("09:56:00"), syncResult: { revision: LATER } },
        }),
        ancestry: () => "contains",
        now: NOW + 60_000,
      }),
    ],
    [
      "one for a commit nobody can place is pending where clocks that are off would explain it",
      "pending",
      "operation",
      input({
        application: status({
          operationState: { phase: "Failed", startedAt: at("09:54:50"), finishedAt: at("09:55:00"), syncResult: { revision: LATER } },
        }),
        now: NOW + 600_000,
      }),
    ],
    [
      "and where they would not it never counts",
      "live",
      "all",
      input({
        application: status({
          operationState: { phase: "Failed", startedAt: at("09:54:50"), finishedAt: at("09:54:59"), syncResult: { revision: LATER } },
        }),
      }),
    ],
    [
      "one that failed for another spec never counts",
      "live",
      "all",
      input({
        change: { kind: "generator", mergedAt: MERGED },
        intended: intended("main"),
        application: status({ operationState: { phase: "Failed", syncResult: { source: { targetRevision: "v1" } } } }),
      }),
    ],
    [
      "one that failed for the spec that is there counts for what the ApplicationSet changed",
      "failing",
      "operation",
      input({
        change: { kind: "generator", mergedAt: MERGED },
        intended: intended("main"),
        application: status({ operationState: { phase: "Failed" } }),
        now: NOW + 60_000,
      }),
    ],
    [
      "but not where it ended long before the merge",
      "live",
      "all",
      input({
        change: { kind: "generator", mergedAt: MERGED },
        intended: intended("main"),
        application: status({ operationState: { phase: "Failed", startedAt: at("09:50:00"), finishedAt: at("09:50:10") } }),
      }),
    ],
    [
      "one that failed for a commit without the change never counts",
      "live",
      "all",
      input({
        application: status({
          operationState: { phase: "Failed", syncResult: { revision: OLDER }, operation: { sync: { revision: OLDER } } },
        }),
        ancestry: () => "missing",
        now: NOW + 120_000,
      }),
    ],
  ],
  conditions: [
    [
      "information is fine",
      "live",
      "all",
      input({ application: status({ conditions: [{ type: "OrphanedResourceWarning", message: "x" }] }) }),
    ],
    [
      "a bad one within the grace is pending",
      "pending",
      "conditions",
      input({ application: status({ conditions: [{ type: "SyncError", message: "x", lastTransitionTime: at("10:00:30") }] }) }),
    ],
    [
      "a bad one after the grace is pending while one comparison alone says so",
      "pending",
      "conditions",
      input({
        application: status({ conditions: [{ type: "SyncError", message: "x", lastTransitionTime: at("10:00:30") }] }),
        now: NOW + 30_000,
      }),
    ],
    [
      "a bad one after the grace is failing",
      "failing",
      "conditions",
      input({
        application: status({
          reconciledAt: at("10:01:05"),
          conditions: [{ type: "SyncError", message: "x", lastTransitionTime: at("10:00:30") }],
        }),
        firstSeenAt: at("10:00:10"),
        now: NOW + 30_000,
      }),
    ],
    [
      "an error that hides the revision is failing, too",
      "failing",
      "conditions",
      input({
        application: status({
          sync: { status: "Unknown", revision: "main" },
          reconciledAt: at("10:00:40"),
          conditions: [{ type: "ComparisonError", message: "helm template failed", lastTransitionTime: at("10:00:10") }],
        }),
        now: NOW + 60_000,
      }),
    ],
    [
      "a spec error newer than the change is failing though the status is stale",
      "failing",
      "conditions",
      input({
        application: status({
          sync: { comparedTo: { source: { targetRevision: "old" } } },
          conditions: [{ type: "InvalidSpecError", message: "no such cluster", lastTransitionTime: at("10:00:05") }],
        }),
        now: NOW + 60_000,
      }),
    ],
    [
      "a spec error older than the change is not",
      "pending",
      "compared",
      input({
        application: status({
          sync: { comparedTo: { source: { targetRevision: "old" } } },
          conditions: [{ type: "InvalidSpecError", message: "no such cluster", lastTransitionTime: at("09:59:05") }],
        }),
        now: NOW + 600_000,
      }),
    ],
  ],
  "sync and health": [
    ["OutOfSync with auto-sync is pending", "pending", "synced", input({ application: status({ sync: { status: "OutOfSync" } }) })],
    [
      "OutOfSync without auto-sync waits for a person",
      "waiting",
      "synced",
      input({ application: application({ spec: { syncPolicy: undefined }, status: { sync: { status: "OutOfSync" } } }) }),
    ],
    [
      "auto-sync switched off by enabled: false waits for a person",
      "waiting",
      "synced",
      input({
        application: application({ spec: { syncPolicy: { automated: { enabled: false } } }, status: { sync: { status: "OutOfSync" } } }),
      }),
    ],
    ["Unknown sync is pending", "pending", "synced", input({ application: status({ sync: { status: "Unknown" } }) })],
    ["Progressing is pending", "pending", "health", input({ application: status({ health: { status: "Progressing" } }) })],
    ["no health is pending", "pending", "health", input({ application: status({ health: undefined }) })],
    ["Suspended is in progress", "pending", "health", input({ application: status({ health: { status: "Suspended" } }) })],
    [
      "Suspended is accepted where that is asked for",
      "live",
      "all",
      input({ application: status({ health: { status: "Suspended" } }), suspended: "Accept" }),
    ],
    ["Degraded within the grace is pending", "pending", "health", input({ application: status({ health: { status: "Degraded" } }) })],
    [
      "Degraded after the grace is failing",
      "failing",
      "health",
      input({ application: status({ health: { status: "Degraded" }, reconciledAt: at("10:00:50") }), now: NOW + 50_000 }),
    ],
    [
      "Degraded by a status from before the merge is pending",
      "pending",
      "reconciled",
      input({
        application: status({ health: { status: "Degraded", lastTransitionTime: at("09:00:00") }, reconciledAt: at("09:59:00") }),
        now: NOW + 600_000,
      }),
    ],
    [
      "Degraded at the commit before is pending",
      "pending",
      "revision",
      input({
        application: status({ health: { status: "Degraded", lastTransitionTime: at("09:00:00") }, sync: { revision: OLDER } }),
        ancestry: () => "missing",
        now: NOW + 600_000,
      }),
    ],
  ],
  "settled and confirmed": [
    ["a read before T0 and settle is pending", "pending", "settled", input({ now: Date.parse(at("10:00:29")) })],
    ["a read at T0 and settle is live", "live", "all", input({ now: Date.parse(at("10:00:30")) })],
    ["the first sight counts, too", "pending", "settled", input({ firstSeenAt: at("10:00:55") })],
    ["an earlier read that holds confirms", "live", "all", input({ previous: application({ metadata: { resourceVersion: "199" } }) })],
    [
      "an earlier read that did not hold does not",
      "pending",
      "confirmed",
      input({ previous: application({ metadata: { resourceVersion: "199" }, status: { health: { status: "Progressing" } } }) }),
    ],
    [
      "one of another uid confirms nothing",
      "pending",
      "confirmed",
      input({ previous: application({ metadata: { resourceVersion: "199", uid: "x" } }) }),
    ],
    ["the same resourceVersion confirms nothing", "pending", "confirmed", input({ previous: application() })],
  ],
};

for (const [clause, cases] of Object.entries(CASES)) {
  describe(clause, () => {
    test.each(cases)("%s", (_name, verdict, unmet, given) => {
      const assessment = assess(given);
      expect([assessment.verdict, assessment.clause]).toEqual([verdict, unmet]);
      expect(sentenceOf(assessment.sentence)).toMatch(/^[^\n]+\.$/);
      expect(assessment.evidence).toMatchObject({ verdict, clause: unmet, sentence: assessment.sentence });
    });
  });
}

describe("a failed sync of a hydrated Application", () => {
  const HYDRATED = "e".repeat(40);
  const sourceHydrator = {
    drySource: { repoURL: REPO, targetRevision: "main", path: "dry" },
    syncSource: { targetBranch: "main", path: "apps/payments" },
  };
  const done = { phase: "Hydrated", drySHA: COMMIT, hydratedSHA: HYDRATED, sourceHydrator };
  const failedAt = (finishedAt: string, tried: string) =>
    application({
      spec: { source: undefined, sourceHydrator },
      status: {
        sync: { revision: HYDRATED },
        sourceHydrator: { currentOperation: done, lastSuccessfulOperation: done },
        operationState: { phase: "Failed", finishedAt, syncResult: { revision: tried } },
      },
    });

  test.each([
    ["at the hydrated commit of the change is failing", "10:00:08", HYDRATED, "failing"],
    ["at it, and before the merge by a clock that may be behind, is pending", "09:56:00", HYDRATED, "pending"],
    ["at it long before the merge was of the same manifests before the change", "09:50:00", HYDRATED, "live"],
    ["at another hydrated commit, of which nobody tells what is in it, is pending", "10:00:08", LATER, "pending"],
    ["at another one long before the merge never counts", "09:50:00", LATER, "live"],
  ])("%s", (_name, finishedAt, tried, verdict) => {
    const given = input({ application: failedAt(at(finishedAt), tried), ancestry: () => "missing", now: NOW + 60_000 });
    expect(assess(given).verdict).toBe(verdict);
  });
});
