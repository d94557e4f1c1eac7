import { at, COMMIT, LATER, MERGED, OLDER, REPO } from "../../src/adapters/argocd/testing/application.ts";
import type { Change } from "../../src/core/argocd/liveness/types.ts";
import { read, type Trap } from "./trace.ts";

const operation = (over: Record<string, unknown>) => ({ status: { operationState: over } });
const HYDRATED = "e".repeat(40);
const HYDRATOR = {
  drySource: { repoURL: REPO, targetRevision: "main", path: "apps" },
  syncSource: { targetBranch: "env/eu", path: "apps" },
};
const dry = {
  spec: { source: undefined, sourceHydrator: HYDRATOR },
  status: {
    operationState: undefined,
    sync: { comparedTo: { source: { path: "apps", targetRevision: "env/eu", repoURL: REPO } } },
  },
};

const TAG_V2: Change = { kind: "revision", revision: "v2", commit: COMMIT, repoURL: REPO, mergedAt: MERGED };
const TAGGED = { ...HYDRATOR, drySource: { ...HYDRATOR.drySource, targetRevision: "v2" } };
const SOURCES = [
  { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.2.3", helm: { valueFiles: ["$values/web.yaml"] } },
  { repoURL: REPO, ref: "values", targetRevision: "main" },
];
/** A chart of elsewhere, with its values in the config repo. */
const REFERRING = {
  spec: { source: undefined, sources: SOURCES },
  status: {
    sync: { revision: undefined, revisions: ["1.2.3", COMMIT], comparedTo: { source: undefined, sources: SOURCES } },
    operationState: undefined,
  },
};

/** What is compared is not what runs: hydrated by another, rendered from other files, or not from Git at all. */
export const COMPARED_TRAPS: Trap[] = [
  {
    issues: ["iu#829", "argo-cd#27861"],
    name: "everything is green at the commit, and no pod has the image that it wrote; once one has, old pods beside it do not matter",
    stops: "health/images",
    ends: "live",
    given: { images: ["ghcr.io/acme/web:v2"] },
    reads: [
      read("10:00:21", { status: { summary: { images: ["ghcr.io/acme/web:v1", "envoy:v2"] } } }),
      read("10:00:40", { status: { summary: { images: ["ghcr.io/acme/web:v1", "envoy:v2"] } } }),
      read("10:00:50", { status: { summary: { images: ["ghcr.io/acme/web:v1", "ghcr.io/acme/web:v2"] } } }),
    ],
  },
  {
    issues: ["argo-cd#19670"],
    name: "pods of a finished Job, of a mirror, or none at all tell nothing of the image: nothing waits for them",
    ends: "live",
    given: { images: ["ghcr.io/acme/web:v2"] },
    reads: [
      read("10:00:21", {
        status: { summary: { images: ["ghcr.io/acme/web:v1"] }, resources: [{ group: "batch", kind: "CronJob", name: "web" }] },
      }),
      read("10:00:26", { status: { summary: { images: ["mirror.example.com/acme/web:v1"] } } }),
      read("10:00:32", { status: { summary: {} } }),
    ],
  },
  {
    issues: ["argo-cd#8860"],
    name: "the cluster is gone, Argo CD goes on comparing from memory and calls the connection good: asked for an object it does not answer",
    stops: "cluster/answers",
    ends: "lost",
    given: { kept: {} },
    reads: ["10:00:31", "10:01:05", "10:01:31"].map((clock) => ({
      ...read(clock),
      askedAt: clock,
      answer: { at: at(clock), failed: "dial tcp: i/o timeout", since: at("10:00:31") },
    })),
  },
  {
    issues: [],
    name: "Argo CD's API is out of breath for one answer, and gives the next",
    ends: "live",
    given: { kept: {} },
    reads: [
      { ...read("10:00:31"), askedAt: "10:00:31", answer: { at: at("10:00:31"), failed: "dial tcp: i/o timeout", since: at("10:00:31") } },
      { ...read("10:01:02"), askedAt: "10:01:02", answer: { at: at("10:01:02") } },
    ],
  },
  {
    issues: [],
    name: "the object that is asked for is of a kind that is gone: that tells nothing of the cluster",
    ends: "live",
    given: { kept: {} },
    reads: ["10:00:31", "10:01:05"].map((clock) => ({
      ...read(clock),
      askedAt: clock,
      answer: { at: at(clock), unclear: "error getting resource: the server could not find the requested resource", of: "acme/Gone//web" },
    })),
  },
  {
    issues: ["promoter#1541"],
    name: "the dry commit is compared and noted before anything is hydrated: Synced, Healthy and Hydrated are of the commit before",
    stops: "revision/older",
    ends: "live",
    given: { hydrated: (_, seen) => ({ drySHA: seen === LATER ? COMMIT : OLDER }) },
    reads: [
      read("10:00:12", dry, hydrator({ phase: "Hydrated", drySHA: OLDER, hydratedSHA: HYDRATED }, COMMIT), {
        status: { reconciledAt: at("10:00:10") },
      }),
      read("10:00:40", dry, hydrator({ phase: "Hydrated", drySHA: OLDER, hydratedSHA: HYDRATED }, COMMIT), {
        status: { reconciledAt: at("10:00:10") },
      }),
      read("10:00:45", dry, hydrator({ phase: "Hydrating" }, COMMIT), { status: { reconciledAt: at("10:00:10") } }),
      read("10:01:00", dry, hydrated(COMMIT, LATER), {
        status: { reconciledAt: at("10:00:55"), health: { lastTransitionTime: at("10:00:57") } },
      }),
    ],
  },
  {
    issues: ["argo-cd#25150"],
    name: "of two Applications of one hydrated branch the second is called hydrated with the commit that the first has pushed, which left its path alone",
    stops: "revision/older",
    ends: "pending",
    change: TAG_V2,
    given: { hydrated: () => ({ drySHA: OLDER }) },
    reads: ["10:00:12", "10:00:40"].map((clock) =>
      read(clock, { ...dry, spec: { source: undefined, sourceHydrator: TAGGED } }, hydrated(COMMIT, LATER, TAGGED)),
    ),
  },
  {
    issues: ["argo-cd#25150"],
    name: "the same where the branch cannot be read: what the status says may be of the other Application",
    stops: "revision/unproven",
    ends: "pending",
    change: TAG_V2,
    given: { hydrated: () => "unreadable", sharesBranch: "payments-eu-2" },
    reads: ["10:00:12", "10:00:40"].map((clock) =>
      read(clock, { ...dry, spec: { source: undefined, sourceHydrator: TAGGED } }, hydrated(COMMIT, LATER, TAGGED)),
    ),
  },
  {
    issues: [],
    name: "what was hydrated comes to the synced branch by somebody's merge commit: what stands beside the manifests tells all the same",
    ends: "live",
    given: { hydrated: () => ({ drySHA: COMMIT }) },
    reads: [
      read("10:00:12", dry, hydrated(COMMIT, HYDRATED), { status: { sync: { revision: LATER } } }),
      read("10:00:25", dry, hydrated(COMMIT, HYDRATED), { status: { sync: { revision: LATER } } }),
    ],
  },
  {
    issues: [],
    name: "somebody syncs from files of their own, and Argo CD compares with these at the commit that contains the change",
    stops: "operation/local",
    ends: "waiting",
    reads: ["10:00:24", "10:00:50"].map((clock) => read(clock, operation({ operation: { sync: { manifests: ["kind: ConfigMap"] } } }))),
  },
  {
    issues: [],
    name: "values that a chart reads by $ref are looked up beside the call that shows their revision: the first comparison was made with the old ones",
    stops: "reconciled/reference",
    ends: "live",
    reads: [
      read("10:00:12", REFERRING, { status: { reconciledAt: at("10:00:10") } }),
      read("10:00:40", REFERRING, { status: { reconciledAt: at("10:00:10") } }),
      read("10:00:45", REFERRING, { status: { sync: { status: "OutOfSync" }, reconciledAt: at("10:00:42") } }),
      read("10:01:10", REFERRING, {
        status: { reconciledAt: at("10:00:50"), health: { lastTransitionTime: at("10:00:58") } },
      }),
    ],
  },
  {
    issues: [],
    name: "a SyncError of before the merge stays while a window is closed: what came by hand meanwhile is live",
    ends: "live",
    reads: ["10:00:25", "10:00:40"].map((clock) =>
      read(clock, { status: { conditions: [{ type: "SyncError", message: "x", lastTransitionTime: at("09:40:00") }] } }),
    ),
  },
  {
    issues: [],
    name: "a sync that failed is asked for anew: nothing has failed until that has, too",
    ends: "pending",
    reads: ["10:00:40", "10:02:00"].map((clock) =>
      read(clock, operation({ phase: "Failed", message: "one or more objects failed to apply" }), { operation: { sync: {} } }),
    ),
  },
  {
    issues: ["promoter#967"],
    name: "hydrating the change failed, and the Application is green at what was hydrated before",
    stops: "revision/hydration",
    ends: "failing",
    reads: ["10:00:40", "10:01:45"].map((clock) =>
      read(clock, dry, hydrator({ phase: "Failed", drySHA: COMMIT, message: "kustomize: not found", finishedAt: at("10:00:10") }, OLDER)),
    ),
  },
];

/** What a hydration leaves in the status that ended well. */
function hydrated(drySHA: string, seen: string, sourceHydrator: unknown = HYDRATOR): Record<string, unknown> {
  const done = { drySHA, hydratedSHA: seen, sourceHydrator };
  const currentOperation = { ...done, phase: "Hydrated", finishedAt: at("10:00:08") };
  return {
    status: {
      sync: { revision: seen },
      sourceHydrator: { currentOperation, lastSuccessfulOperation: done, lastComparedDryRevision: drySHA },
    },
  };
}

function hydrator(current: Record<string, unknown>, compared: string): Record<string, unknown> {
  const last = { drySHA: OLDER, hydratedSHA: HYDRATED, sourceHydrator: HYDRATOR };
  const currentOperation = { ...current, sourceHydrator: HYDRATOR };
  return {
    status: {
      sync: { revision: HYDRATED },
      sourceHydrator: { currentOperation, lastSuccessfulOperation: last, lastComparedDryRevision: compared },
    },
  };
}
