import { at, COMMIT, LATER, MERGED, OLDER, REPO } from "../../src/adapters/argocd/testing/application.ts";
import { commit, OLD, read, type Trap } from "./trace.ts";

/** The revision that Argo CD has seen is older, another line, none at all, or not that of the source that changed. */
export const REVISION_TRAPS: Trap[] = [
  {
    issues: ["argo-cd#12325", "kargo#6357", "sky#157"],
    name: "Argo CD has looked after the merge and has not seen the commit yet: its repository cache is older",
    stops: "revision/older",
    ends: "live",
    reads: [
      read("10:00:32", OLD, { status: { reconciledAt: at("10:00:30") } }),
      read("10:00:50", OLD, { status: { reconciledAt: at("10:00:30") } }),
      read("10:03:02", OLD, { status: { reconciledAt: at("10:03:00"), sync: { status: "OutOfSync", revision: COMMIT } } }),
      read("10:03:40", {
        status: {
          operationState: { startedAt: at("10:03:02"), finishedAt: at("10:03:05") },
          reconciledAt: at("10:03:07"),
          health: { lastTransitionTime: at("10:03:20") },
        },
      }),
    ],
  },
  {
    issues: ["argo-cd#28306"],
    name: "a refresh that was asked for during a comparison got lost: it is asked for again, and nothing passes on it",
    stops: "revision/older",
    ends: "pending",
    reads: [
      read("10:00:05", OLD, {
        metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } },
        status: { reconciledAt: at("10:00:03") },
      }),
      read("10:00:40", OLD, { status: { reconciledAt: at("10:00:03") } }),
    ],
  },
  {
    issues: ["argo-cd#4558", "argo-cd#23748", "argo-cd#29575", "argo-cd#16601"],
    name: "the manifests could not be made: the seen revision is the branch's name, or nothing, and health is Healthy",
    stops: "revision/unresolved",
    ends: "pending",
    reads: [
      read("10:00:15", { status: { sync: { revision: "main" }, operationState: undefined } }),
      read("10:00:40", { status: { sync: { revision: "main" }, operationState: undefined } }),
      read("10:01:10", { status: { sync: { revision: undefined }, operationState: undefined } }),
    ],
  },
  {
    issues: ["kargo#807", "promoter#697", "argo-cd#12459", "argo-cd#12202", "argo-cd#19535", "argo-cd#20576"],
    name: "a shared branch moves on while the change is under way: the change is live all the same, and nothing is stuck",
    ends: "live",
    reads: [
      read("10:00:11", { status: { sync: { revision: LATER }, operationState: undefined } }),
      read("10:00:40", {
        status: { sync: { revision: LATER }, operationState: undefined, health: { lastTransitionTime: at("10:00:20") } },
      }),
    ],
  },
  {
    issues: ["kargo#807"],
    name: "the branch has moved on to a commit that our mirror does not have: it may well be another line",
    stops: "revision/unknown",
    ends: "pending",
    change: commit,
    reads: [
      read("10:00:11", { status: { sync: { revision: "e".repeat(40) }, operationState: undefined } }),
      read("10:00:40", { status: { sync: { revision: "e".repeat(40) }, operationState: undefined } }),
    ],
  },
  {
    issues: ["promoter#1428"],
    name: "the seen commit contains the change, but somebody has put the pin back in between",
    stops: "revision/changed",
    ends: "waiting",
    given: { seenPinDiffers: () => ({ commit: LATER }) },
    reads: [
      read("10:00:11", { status: { sync: { revision: LATER }, operationState: undefined } }),
      read("10:00:40", { status: { sync: { revision: LATER }, operationState: undefined } }),
    ],
  },
  {
    issues: [],
    name: "an Application that does not read the config repo at all is green, and the change can never show in it",
    stops: "revision/absent",
    ends: "pending",
    change: { kind: "commit", commit: COMMIT, repoURL: "https://github.com/acme/other", mergedAt: MERGED },
    reads: [read("10:00:15"), read("10:01:00")],
  },
  {
    issues: ["argo-cd#29716", "argo-cd#29728", "argo-cd#23547", "kargo#3910"],
    name: "of several sources the one that carries the change is at a stale revision, another one shows the commit",
    stops: "revision/older",
    ends: "pending",
    reads: ["10:00:20", "10:01:00"].map((clock) => {
      const sources = [
        { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.2.3" },
        { repoURL: REPO, ref: "values", targetRevision: "main" },
      ];
      return read(clock, {
        spec: { source: undefined, sources },
        status: {
          sync: { revision: undefined, revisions: [COMMIT, OLDER], comparedTo: { source: undefined, sources } },
          operationState: undefined,
        },
      });
    }),
  },
];
