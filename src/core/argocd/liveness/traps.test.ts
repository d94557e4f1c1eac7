import { describe, expect, test } from "vitest";
import {
  application,
  at,
  COMMIT,
  input,
  LATER,
  MERGED,
  merged,
  NOW,
  OLDER,
  pinned,
  REPO,
} from "../../../adapters/argocd/testing/application.ts";
import { assess } from "./liveness.ts";
import { CLAUSE_NAMES, type ClauseName, type LivenessInput } from "./types.ts";

const status = (over: Record<string, unknown>) => application({ status: over });
const intended = (revision: string) => ({
  sources: [{ repoURL: REPO, path: "apps/payments", targetRevision: revision }],
  destination: { server: "https://eu-1.example.com", namespace: "payments" },
});

/** One read for each clause which looks live in every other respect. */
const ONLY: Record<ClauseName, LivenessInput> = {
  exists: input({ application: application({ metadata: { deletionTimestamp: at("10:00:30") } }) }),
  cluster: input({
    cluster: { name: "eu-1", server: "", labels: {}, registered: true, connection: { status: "Failed", message: "no route" } },
  }),
  readable: input({ application: status({ operationState: "Running" }) }),
  spec: input({ change: { kind: "generator", mergedAt: MERGED }, intended: intended("v2") }),
  compared: input({ application: status({ sync: { comparedTo: { source: { path: "apps/old" } } } }) }),
  reconciled: input({ application: status({ reconciledAt: at("10:00:07") }) }),
  revision: input({ application: status({ sync: { revision: OLDER } }), ancestry: () => "missing" }),
  operation: input({ application: status({ operationState: { phase: "Running", retryCount: 1 } }) }),
  conditions: input({ application: status({ conditions: [{ type: "ComparisonError", message: "x" }] }) }),
  synced: input({ application: status({ sync: { status: "OutOfSync" } }) }),
  health: input({ application: status({ health: { status: "Progressing" } }) }),
  content: input({ content: { required: false, see: () => ({ proof: "notLive" }) } }),
  settled: input({ now: Date.parse(at("10:00:25")) }),
  confirmed: input({ previous: application({ metadata: { resourceVersion: "199" }, status: { health: { status: "Missing" } } }) }),
};

describe("each clause alone stands between a read and a wrong pass", () => {
  test.each(CLAUSE_NAMES)("%s", (name) => {
    const held = assess(ONLY[name]);
    expect([held.verdict === "live", held.clause]).toEqual([false, name]);
    expect(assess(ONLY[name], { without: name }).verdict).toBe("live");
  });
});

describe("what else others met", () => {
  test("kargo#807: a shared branch moves on and the change stays live", () => {
    const moved = status({ sync: { revision: LATER }, operationState: { syncResult: { revision: OLDER } } });
    expect(assess(input({ application: moved, ancestry: () => "contains" })).verdict).toBe("live");
  });

  test("promoter#697: a commit that changes nothing here needs no new operation", () => {
    const untouched = status({
      operationState: { startedAt: at("08:00:00"), finishedAt: at("08:00:03"), syncResult: { revision: OLDER } },
    });
    expect(assess(input({ application: untouched })).verdict).toBe("live");
  });

  test("promoter#814: an Application of ConfigMaps alone is Healthy throughout and passes when it is Synced", () => {
    const since = { health: { status: "Healthy", lastTransitionTime: at("01:00:00") } };
    expect(assess(input({ application: status(since) })).verdict).toBe("live");
    expect(assess(input({ application: status({ ...since, sync: { status: "OutOfSync" } }) })).clause).toBe("synced");
  });

  test("argo-cd#29307: a sync parked by a window is waiting, not failing, however long", () => {
    const parked = status({
      operationState: { phase: "Running", finishedAt: undefined, message: "Sync operation blocked by sync window" },
    });
    expect(assess(input({ application: parked, now: NOW + 86_400_000 })).verdict).toBe("waiting");
  });

  test("argo-cd#20428: a retry is waited for and says which one and when", () => {
    const retrying = status({ operationState: { phase: "Running", retryCount: 2, finishedAt: at("10:00:58"), message: "hook failed" } });
    const assessment = assess(input({ application: retrying }));
    expect(assessment).toMatchObject({ verdict: "waiting", lookAgainAt: "2026-11-21T10:01:18.000Z" });
    expect(assessment.sentence).toMatchObject({ code: "SYNC_RETRIES", retry: 2, at: "2026-11-21T10:01:18.000Z", overdue: false });
  });

  test("the cluster's clock ahead of ours only delays, and is said", () => {
    const ahead = status({ reconciledAt: at("10:01:30") });
    const assessment = assess(input({ application: ahead }));
    expect(assessment).toMatchObject({ verdict: "pending", clause: "settled", lookAgainAt: "2026-11-21T10:01:40.000Z" });
    expect(assessment.sentence).toMatchObject({ code: "CLOCK_AHEAD", seconds: 30, broken: false });
    expect(assessment.evidence.fields["clockAheadSeconds"]).toBe(30);
  });

  test("a refresh is wanted where it helps and is not asked for already", () => {
    const stale = { status: { reconciledAt: at("09:00:00") } };
    const asked = { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } };
    expect(assess(input({ application: application(stale) })).wantsRefresh).toBe(true);
    expect(assess(input({ application: application(merged(stale, asked)) })).wantsRefresh).toBe(false);
    expect(assess(input({ application: application(stale), intended: intended("v2") })).wantsRefresh).toBe(false);
    expect(assess(input()).wantsRefresh).toBe(false);
  });

  test("the first sight is kept over later comparisons", () => {
    const first = assess(input({ now: Date.parse(at("10:00:12")) }));
    expect(first.firstSeenAt).toBe("2026-11-21T10:00:10.000Z");
    const again = status({ reconciledAt: at("10:00:58") });
    const { firstSeenAt = "" } = first;
    expect(assess(input({ application: again })).verdict).toBe("pending");
    expect(assess(input({ application: again, firstSeenAt })).verdict).toBe("live");
  });

  test("two changes of one commit must both show", () => {
    const also = [{ kind: "commit" as const, commit: LATER, repoURL: REPO, mergedAt: MERGED }];
    const change = { kind: "revision" as const, revision: COMMIT, mergedAt: MERGED };
    expect(assess(input({ application: pinned(COMMIT), change })).verdict).toBe("live");
    expect(assess(input({ application: pinned(COMMIT), change, also, ancestry: () => "missing" })).clause).toBe("revision");
  });
});
