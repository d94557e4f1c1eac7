import { expect, test } from "vitest";
import { application, at, input, merged, NOW, REPO } from "../../../adapters/argocd/testing/application.ts";
import { intendedOf } from "../../argocd/decode/source.ts";
import { assess } from "../../argocd/liveness/liveness.ts";
import type { LivenessInput } from "../../argocd/liveness/types.ts";
import { sentenceOf } from "./say.ts";

type Raw = Record<string, unknown>;
const status = (over: Raw, more: Raw = {}) => application(merged({ status: over }, more));
const outOfSync = { sync: { status: "OutOfSync" }, operationState: undefined };
const HYDRATOR = {
  drySource: { repoURL: REPO, path: "apps/payments", targetRevision: "main" },
  syncSource: { targetBranch: "main", path: "apps/payments" },
};
const closed = { open: false, windows: [] };
const manual = { kind: "deny", schedule: "0 22 * * *", duration: "8h", manualSync: true } as const;

/** What people read while a target is waited for: why, since when, until when, and what they can do. */
const MESSAGES: [name: string, input: LivenessInput, verdict: string, sentence: string][] = [
  [
    "a person, where auto-sync is off",
    input({ application: status(outOfSync, { spec: { syncPolicy: undefined } }) }),
    "waiting",
    "It is OutOfSync and auto-sync is off: a person who may sync it must press Sync in Argo CD.",
  ],
  [
    "a sync window, and when it opens",
    input({ application: status(outOfSync), windows: { ...closed, opensAt: "2026-11-21T22:00:00Z" } }),
    "waiting",
    "It is OutOfSync and waits for a sync window: it opens at 2026-11-21 22:00:00 UTC.",
  ],
  [
    "a sync window that lets people through",
    input({ application: status(outOfSync), windows: { ...closed, windows: [manual] } }),
    "waiting",
    "It is OutOfSync and waits for a sync window: nobody can tell when it opens next; a sync by hand is allowed meanwhile.",
  ],
  [
    "a sync that a window holds up",
    input({
      application: status({ operationState: { phase: "Running", finishedAt: undefined, message: "blocked by sync window" } }),
      windows: { ...closed, opensAt: "2026-11-21T22:00:00Z" },
    }),
    "waiting",
    "Its sync waits for a sync window to open: blocked by sync window; it opens at 2026-11-21 22:00:00 UTC.",
  ],
  [
    "nothing that anybody could name, for long",
    input({ application: status(outOfSync), now: NOW + 180_000 }),
    "pending",
    "It is OutOfSync, and nothing syncs it: is a sync window of its project closed?",
  ],
  [
    "the same, where windows can be seen and are open",
    input({ application: status(outOfSync), now: NOW + 180_000, windows: { open: true, windows: [] } }),
    "pending",
    "It is OutOfSync, and nothing syncs it, though no sync window is closed.",
  ],
  [
    "a cluster that is down, by the last comparison where its connection cannot be seen",
    input({
      application: status({
        sync: { status: "Unknown" },
        conditions: [
          {
            type: "ComparisonError",
            message:
              'Failed to load live state: failed to get cluster info for "https://eu-1": error synchronizing cache state: dial tcp: i/o timeout',
            lastTransitionTime: at("10:00:12"),
          },
        ],
      }),
    }),
    "lost",
    'Argo CD could not reach its cluster when it last compared: Failed to load live state: failed to get cluster info for "https://eu-1": error synchronizing cache state: dial tcp: i/o timeout.',
  ],
  [
    "a retry, which one of how many, and when",
    input({
      application: status({
        operationState: {
          phase: "Running",
          retryCount: 2,
          finishedAt: at("10:00:50"),
          message: "hook failed",
          operation: { retry: { limit: 3, backoff: { duration: "20s", factor: 3, maxDuration: "2m" } } },
        },
      }),
    }),
    "waiting",
    "Its sync failed at 10:00:50 UTC and waits for retry 2 of 3, at about 10:02:50 UTC: hook failed.",
  ],
  [
    "an attempt that is used up, and what helps",
    input({ application: status({ operationState: { phase: "Failed", message: "hook failed (retried 5 times)." } }), now: NOW + 60_000 }),
    "failing",
    "Its sync ended Failed: hook failed (retried 5 times). Argo CD does not try this revision again by itself: push a new commit, or sync it by hand.",
  ],
  ["an Application that is gone", input({ application: undefined }), "lost", "Argo CD has no such Application."],
  [
    "a cluster that is down, and since when that is known",
    input({
      cluster: {
        name: "eu-1",
        server: "",
        labels: {},
        registered: true,
        connection: { status: "Failed", message: "dial tcp: i/o timeout\nmore", attemptedAt: at("10:00:40") },
      },
    }),
    "lost",
    "Argo CD cannot reach cluster eu-1 (tried at 10:00:40 UTC): dial tcp: i/o timeout.",
  ],
  [
    "a status that is stale, since when, with a refresh asked for",
    input({
      application: status({ reconciledAt: at("09:58:00") }, { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } }),
      change: { kind: "revision", revision: "main", mergedAt: at("10:00:00") },
    }),
    "pending",
    "Argo CD's status is out of date: Argo CD last compared it at 09:58:00 UTC, and the change was merged at 10:00:00 UTC; Stagecoach has asked for a refresh.",
  ],
  [
    "a status of another day, which is said with it",
    input({ application: status({ reconciledAt: "2026-11-20T23:50:00Z" }) }),
    "pending",
    "Argo CD's status is out of date: Argo CD last compared it at 2026-11-20 23:50:00 UTC, and the change was merged at 10:00:00 UTC.",
  ],
  [
    "settling that ends on another day",
    input({ settleMs: 86_400_000 }),
    "pending",
    "Synced and Healthy since 10:00:20 UTC; it counts as healthy if that still holds at 2026-11-22 10:00:20 UTC.",
  ],
  [
    "a retry that is due and has not begun, for as long as Argo CD may be busy",
    input({ application: status({ operationState: { phase: "Running", retryCount: 1, message: "hook failed" } }), now: NOW + 240_000 }),
    "waiting",
    "Its sync failed at 10:00:08 UTC and waits for retry 1, at about 10:00:18 UTC: hook failed.",
  ],
  [
    "a retry that nobody begins",
    input({
      application: status({ operationState: { phase: "Running", retryCount: 1, message: "hook failed" } }),
      now: NOW + 3 * 86_400_000,
    }),
    "pending",
    "Its sync failed at 2026-11-21 10:00:08 UTC and retry 1 was due at about 2026-11-21 10:00:18 UTC, and nothing has begun: hook failed. Does Argo CD's application controller run?",
  ],
  [
    "another hydration than the one by the spec that is there",
    input({
      application: application({
        spec: { source: undefined, sourceHydrator: HYDRATOR },
        status: { sourceHydrator: { currentOperation: { phase: "Hydrated", sourceHydrator: { ...HYDRATOR, syncSource: {} } } } },
      }),
    }),
    "pending",
    "Argo CD hydrated it by an older sourceHydrator than its spec has now.",
  ],
  [
    "the dry source, where the ApplicationSet has not followed",
    input({
      application: application({ spec: { source: undefined, sourceHydrator: HYDRATOR } }),
      intended: {
        ...intendedOf({ sourceHydrator: { ...HYDRATOR, drySource: { ...HYDRATOR.drySource, targetRevision: "v2" } } }),
        destination: { server: "https://eu-1.example.com", namespace: "payments" },
      },
    }),
    "pending",
    "The change is not in the Application yet: its dry source asks for main, not yet for v2.",
  ],
  [
    "an Application that Argo CD is told to leave alone",
    input({
      application: status({ reconciledAt: at("09:00:00") }, { metadata: { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } } }),
    }),
    "pending",
    "Argo CD's status is out of date: Argo CD last compared it at 09:00:00 UTC, and the change was merged at 10:00:00 UTC; its annotation argocd.argoproj.io/skip-reconcile keeps Argo CD from looking.",
  ],
  [
    "a cluster's clock that seems to be behind",
    input({ application: status({ reconciledAt: at("09:59:30"), operationState: undefined }) }),
    "pending",
    "Argo CD's status is out of date: Argo CD last compared it at 09:59:30 UTC, and the change was merged at 10:00:00 UTC; Argo CD has seen the merge, so its clock may be 30s behind.",
  ],
  [
    "a clock that is hours ahead",
    input({ application: status({ reconciledAt: at("12:00:00") }) }),
    "pending",
    "Synced and Healthy since 12:00:00 UTC; it counts as healthy if that still holds at 12:00:10 UTC. Its cluster's clock is at least 1h59m ahead of Stagecoach's. That is too far to allow for: set that clock (NTP).",
  ],
];

test.each(MESSAGES)("waiting for %s", (_name, given, verdict, sentence) => {
  const assessment = assess(given);
  expect([assessment.verdict, sentenceOf(assessment.sentence)]).toEqual([verdict, sentence]);
});

test("a change that is live says at what, since when, and how many sources more there are", () => {
  const seen = ["d".repeat(40), "v1.4.2"];
  const times = { since: "2026-11-20T10:00:20.000Z", comparedAt: "2026-11-21T10:00:10.000Z", day: "2026-11-21" };
  expect(sentenceOf({ code: "CHANGE_LIVE", seen, more: 87, health: "Healthy", ...times })).toBe(
    "Synced and Healthy at ddddddd, v1.4.2 and 87 more since 2026-11-20 10:00:20 UTC; Argo CD compared it at 10:00:10 UTC.",
  );
});
