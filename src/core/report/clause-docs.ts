import type { ClauseName } from "../argocd/liveness/types.ts";

/** What a clause is for: docs/liveness.md has these rows, and a test keeps them the same. */
interface ClauseDoc {
  /** When it is met, in words. */
  holds: string;
  /** What would pass wrongly without it. */
  protects: string;
  /** Public reports of others who were bitten; each has its scenario in test/traps/. */
  bitten: readonly string[];
}

export const CLAUSE_DOCS: Readonly<Record<ClauseName, ClauseDoc>> = {
  exists: {
    holds: "the Application is there and is not being deleted, and neither is the ApplicationSet that owns it",
    protects: "taking the last words of a dying Application for an answer",
    bitten: ["argo-cd#18780", "argo-cd#16721", "appset#560"],
  },
  cluster: {
    holds:
      "Argo CD's connection to the cluster is not Failed (left out, and said so, where it cannot be seen), and the cluster answers where it can be asked",
    protects: "an unreachable cluster, whose Applications keep the health they had",
    bitten: ["argo-cd#8860"],
  },
  readable: {
    holds: "whatever of it a decision uses is of the type that Argo CD writes, neither too long nor too much, and may be read",
    protects: "taking what could not be read for absent: an operation, a condition, a path that differs",
    bitten: [],
  },
  spec: {
    holds:
      "source(s), destination, project, `ignoreDifferences` and the whole `sourceHydrator` are the intended ones; a pinned revision is in the spec",
    protects: "an ApplicationSet that has not followed Git yet, or by its policy never does; edits by hand",
    bitten: ["argo-cd#26685", "argo-cd#29142"],
  },
  compared: {
    holds: "`status.sync.comparedTo` is the spec",
    protects: "Synced and Healthy of the spec before, right after it changed",
    bitten: ["argo-cd#29410", "argo-cd#26899", "kargo#1411"],
  },
  reconciled: {
    holds:
      "`reconciledAt` is later than the merge and than the end of the operation; where the change comes by a `$ref` source, it is not the first comparison that shows it, by the cluster's own clock",
    protects:
      "a status computed before either: a controller that is behind, health from before the sync; values that were looked up beside the revision that is shown",
    bitten: ["argo-cd#22558", "argo-cd#29347", "kargo#2196", "argo-cd#28934"],
  },
  revision: {
    holds:
      "what Argo CD has seen is the revision, or contains the commit with the pin still as it was set, in every source that carries the change; of a hydrated one, what the synced path was made from contains it; `manifest-generate-paths`, where there is one, covers every edited file",
    protects:
      "going on before the commit was noticed; a name shown instead of a revision; the wrong one of several sources; equality that a shared branch breaks; a change taken back in between; a hydration that failed, is only compared yet, or was another Application's; a revision that Argo CD gave to manifests of an older one",
    bitten: [
      "argo-cd#12325",
      "argo-cd#29575",
      "argo-cd#4558",
      "argo-cd#29716",
      "kargo#6357",
      "kargo#807",
      "promoter#1428",
      "promoter#1541",
      "argo-cd#25150",
    ],
  },
  operation: {
    holds: "nothing is asked for, running or waiting for a retry; none failed for the change, and the last was not given local manifests",
    protects:
      "a failed sync with nothing there to be unhealthy; comparisons with what somebody has on their own machine; a hook that may fail yet; the phase Running that is really a pause between two tries",
    bitten: ["kargo#1451", "argo-cd#20428", "argo-cd#25054", "argo-cd#29307"],
  },
  conditions: {
    holds: "none of ComparisonError, InvalidSpecError, SyncError, UnknownError, DeletionError",
    protects: "Healthy while manifests cannot be made",
    bitten: ["argo-cd#10088", "kargo#1817", "argo-cd#29575"],
  },
  synced: {
    holds: "sync status Synced",
    protects: "Healthy and OutOfSync: the new objects are not there yet; drift; a cluster that does not answer",
    bitten: ["argo-cd#23995", "argo-cd#29240", "argo-cd#8860", "promoter#814"],
  },
  health: {
    holds:
      "Healthy, as is every Application that it makes on its hub (each judged by itself, for this change), and where Argo CD tells the images of the pods, an image that was pinned is among them",
    protects:
      "Progressing, Missing, Degraded; a Rollout paused at a canary step (Suspended); pods that are all of the version before; an app of apps, whose children Argo CD leaves out",
    bitten: ["argo-cd#3781", "argo-cd#4669", "promoter#1319", "argo-cd#25054"],
  },
  content: {
    holds:
      "where Argo CD's API is read, or `proof: content` wants it: the live objects hold what the pins were set to, or the revision renders to something else than the one before",
    protects: "a revision that is shown and was not rendered; a pin that nothing uses; live objects that the comparison ignores",
    bitten: [],
  },
  settled: {
    holds:
      "all of it still holds `settle` (10 s) after the last transition, end of operation and first sight, by the cluster's times and by our own clock, in a read by name",
    protects:
      "health that is green for the moment before controllers begin to act; a cluster whose clock is behind; a stream that has dropped what came after",
    bitten: ["kargo#41", "promoter#427", "argo-cd#24750"],
  },
  confirmed: {
    holds: "an earlier read, where one is given, is of the same object and met every clause too",
    protects: "a flap between two reads",
    bitten: ["promoter#427"],
  },
};
