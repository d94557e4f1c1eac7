import { at, COMMIT, MERGED, REPO } from "../../src/adapters/argocd/testing/application.ts";
import type { ChildSeen } from "../../src/core/argocd/liveness/types.ts";
import { following, OLD, read, revision, type Trap } from "./trace.ts";

const NEW_OPERATION = { startedAt: at("10:00:26"), finishedAt: at("10:00:28") };
const intended = (targetRevision: string) => ({
  sources: [{ repoURL: REPO, path: "apps/payments", targetRevision }],
  destination: { server: "https://eu-1.example.com", namespace: "payments" },
});

const erring = (type: string, compared: string) => ({
  status: { conditions: [{ type, message: "x", lastTransitionTime: at("10:00:30") }], reconciledAt: at(compared) },
});

const SAID = { code: "SAID", text: "x" } as const;
const BEHIND: ChildSeen = { name: "argocd/api", verdict: "pending", because: SAID };

/** The status is of another spec, another time, or nobody's. */
export const STATUS_TRAPS: Trap[] = [
  {
    issues: ["argo-cd#29410", "argo-cd#26899", "kargo#1411"],
    name: "the spec has changed, and Synced and Healthy are those of the spec before",
    stops: "compared/comparedTo",
    ends: "live",
    change: revision("v2"),
    reads: [
      // A comparison that began before the ApplicationSet had changed the spec ends after it.
      read("10:00:04", OLD, following("v2", "v1"), { status: { reconciledAt: at("10:00:01") } }),
      read("10:00:20", OLD, following("v2", "v1"), { status: { reconciledAt: at("10:00:01") } }),
      read("10:00:27", OLD, following("v2"), {
        status: { reconciledAt: at("10:00:25"), sync: { status: "OutOfSync", revision: COMMIT } },
      }),
      read("10:00:30", following("v2"), { status: { operationState: NEW_OPERATION, health: { status: "Progressing" } } }),
      read("10:01:10", following("v2"), {
        status: {
          operationState: NEW_OPERATION,
          reconciledAt: at("10:00:30"),
          health: { status: "Healthy", lastTransitionTime: at("10:01:00") },
        },
      }),
    ],
  },
  {
    issues: [],
    name: "what says that a sync runs is not written as Argo CD writes it, so it looks as if there were none",
    stops: "readable/whole",
    ends: "pending",
    reads: [read("10:00:30", { status: { operationState: "Running" } }), read("10:02:00", { status: { operationState: "Running" } })],
  },
  {
    issues: ["argo-cd#22558", "argo-cd#29347", "argo-cd#22852", "argo-cd#14946", "argo-cd#19565", "sky#147"],
    name: "the controller of a far cluster has not looked since before the merge, and what it wrote then is green",
    stops: "reconciled/merge",
    ends: "pending",
    change: revision("v2"),
    // It was at v2 by hand already; its controller went away at 09:58 and its workload crashed after.
    reads: [read("10:00:10", following("v2"), OLD), read("10:00:40", following("v2"), OLD), read("10:05:00", following("v2"), OLD)],
  },
  {
    issues: ["argo-cd#28934", "argo-cd#28965"],
    name: "a new Application has a status and no reconciledAt: nothing says when any of it was so",
    stops: "reconciled/ever",
    ends: "pending",
    reads: [
      read("10:00:10", { status: { reconciledAt: undefined, operationState: undefined } }),
      read("10:01:00", { status: { reconciledAt: undefined, operationState: undefined } }),
    ],
  },
  {
    issues: ["kargo#2196", "kargo#5347", "kargo#5636", "kargo#5832", "kargo#5995", "kargo#4673", "kargo#4674"],
    name: "the operation has ended, and health and sync are from the comparison before it, in the same second",
    stops: "reconciled/operation",
    ends: "live",
    reads: [
      read("10:00:09", { status: { reconciledAt: at("10:00:08"), health: { lastTransitionTime: at("08:00:20") } } }),
      read("10:00:30", { status: { reconciledAt: at("10:00:08"), health: { lastTransitionTime: at("08:00:20") } } }),
      read("10:00:40", { status: { reconciledAt: at("10:00:38"), health: { status: "Progressing", lastTransitionTime: at("10:00:38") } } }),
      read("10:01:20", { status: { reconciledAt: at("10:00:38"), health: { lastTransitionTime: at("10:01:05") } } }),
    ],
  },
  {
    issues: ["argo-cd#10088", "kargo#1817", "argo-cd#29575"],
    name: "Healthy and Synced, with an error that only a condition tells",
    stops: "conditions/bad",
    ends: "failing",
    reads: [read("10:00:35", erring("ComparisonError", "10:00:30")), read("10:01:40", erring("ComparisonError", "10:01:05"))],
  },
  {
    issues: ["argo-cd#29575"],
    name: "one refresh while the Git server does not answer leaves Unknown and an error that stays until somebody asks again: nothing has failed",
    ends: "live",
    reads: [
      read("10:00:25"),
      ...["10:00:50", "10:04:00"].map((clock) =>
        read(clock, erring("ComparisonError", "10:00:30"), { status: { sync: { status: "Unknown", revision: "main" } } }),
      ),
      read("10:04:10", { status: { reconciledAt: at("10:04:05") } }),
    ],
  },
  ...["InvalidSpecError", "SyncError", "UnknownError", "DeletionError"].map(
    (type): Trap => ({
      issues: [],
      name: `the same of ${type}, which alone stands there`,
      stops: "conditions/bad",
      ends: "failing",
      reads: [read("10:00:35", erring(type, "10:00:30")), read("10:01:40", erring(type, "10:01:05"))],
    }),
  ),
  {
    issues: ["argo-cd#23995"],
    name: "Healthy and OutOfSync: the new Deployment is not there, so it cannot be unhealthy",
    stops: "synced/inSync",
    ends: "live",
    reads: [
      read("10:00:12", { status: { sync: { status: "OutOfSync" }, operationState: undefined } }),
      read("10:00:40", { status: { sync: { status: "OutOfSync" }, operationState: undefined } }),
      read("10:01:10", {
        status: {
          operationState: { startedAt: at("10:00:42"), finishedAt: at("10:00:44") },
          reconciledAt: at("10:00:46"),
          health: { lastTransitionTime: at("10:00:58") },
        },
      }),
    ],
  },
  {
    issues: ["argo-cd#29240", "argo-cd#14687", "argo-cd#25444", "argo-cd#4414", "argo-cd#3465"],
    name: "it was Healthy once and drifts: what a controller recorded then is not what is so now",
    stops: "synced/inSync",
    ends: "pending",
    reads: [
      read("10:00:24", { status: { health: { lastTransitionTime: at("10:00:20") } } }),
      read("10:00:31", { status: { sync: { status: "OutOfSync" }, reconciledAt: at("10:00:29") } }),
      read("10:03:00", { status: { sync: { status: "OutOfSync" }, reconciledAt: at("10:02:40") } }),
    ],
  },
  {
    issues: ["argo-cd#8860"],
    name: "the cluster is gone, and its Applications keep the health they had; sync is Unknown",
    stops: "synced/inSync",
    ends: "pending",
    reads: [
      read("10:00:15", { status: { sync: { status: "Unknown" }, operationState: undefined } }),
      read("10:01:00", { status: { sync: { status: "Unknown" }, operationState: undefined } }),
    ],
  },
  {
    issues: ["argo-cd#8860"],
    name: "the cluster is gone right after the last comparison, and only Argo CD's connection to it tells",
    stops: "cluster/reachable",
    ends: "lost",
    given: {
      cluster: { name: "eu-1", server: "", labels: {}, registered: true, connection: { status: "Failed", message: "no route to host" } },
    },
    reads: [read("10:00:15"), read("10:01:00")],
  },
  {
    issues: ["argo-cd#18780", "argo-cd#16721", "appset#560"],
    name: "an element was dropped from the generator: the Application is being deleted, and green until its workloads are gone",
    stops: "exists/deleted",
    ends: "lost",
    reads: [
      read("10:00:25", { metadata: { deletionTimestamp: at("10:00:22") } }),
      read("10:01:00", { metadata: { deletionTimestamp: at("10:00:22") } }),
      { at: "10:01:20", raw: null },
    ],
  },
  {
    issues: [],
    name: "the ApplicationSet is deleted in the middle of the run: its Applications are green orphans until they go too",
    stops: "exists/owner",
    ends: "lost",
    given: { owner: { name: "payments", state: "gone" } },
    reads: [read("10:00:25"), read("10:01:00")],
  },
  {
    issues: ["argo-cd#26685", "argo-cd#29142"],
    name: "a generated change that the ApplicationSet has not written, or by its policy never does",
    stops: "spec/intended",
    ends: "pending",
    change: { kind: "generator", mergedAt: MERGED },
    given: { intended: intended("v2") },
    reads: [
      read("10:00:30", OLD, { status: { reconciledAt: at("10:00:20") } }),
      read("10:04:00", OLD, { status: { reconciledAt: at("10:03:20") } }),
    ],
  },
  {
    issues: ["argo-cd#3781"],
    name: "an app of apps is Synced and Healthy at the commit, and an Application that it makes is not at it",
    stops: "health/children",
    ends: "live",
    reads: [
      { ...read("10:00:40"), given: { children: [{ name: "argocd/web", verdict: "live", because: SAID }, BEHIND] } },
      { ...read("10:02:00"), given: { children: [BEHIND] } },
      { ...read("10:03:00"), given: { children: [{ ...BEHIND, verdict: "live" }] } },
    ],
  },
];
