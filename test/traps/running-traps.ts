import { at, COMMIT, LATER, MERGED } from "../../src/adapters/argocd/testing/application.ts";
import { defined } from "../../src/core/base/defined.ts";
import { following, OLD, read, revision, type Trap } from "./trace.ts";

const operation = (over: Record<string, unknown>) => ({ status: { operationState: over } });
const health = (status: string, since: string, message?: string) => ({
  status: { health: defined({ status, lastTransitionTime: at(since), message }) },
});
/** Something is under way, or what runs is not what it seems. */
export const RUNNING_TRAPS: Trap[] = [
  {
    issues: ["kargo#4673"],
    name: "somebody has asked for another sync, which has not begun: what shows is from before it",
    stops: "operation/requested",
    ends: "pending",
    reads: [read("10:00:24", { operation: { sync: {} } }), read("10:01:00", { operation: { sync: {} } })],
  },
  {
    issues: ["argo-cd#25054", "argo-cd#19422"],
    name: "everything is Synced and Healthy, and the sync still runs: a hook after it may fail yet",
    stops: "operation/running",
    ends: "pending",
    reads: [
      read("10:00:30", operation({ phase: "Running", finishedAt: undefined })),
      read("10:02:00", operation({ phase: "Running", finishedAt: undefined })),
    ],
  },
  {
    issues: ["argo-cd#20428", "argo-cd#22639"],
    name: "the pause between two tries of a failed sync looks like one that has ended",
    stops: "operation/retry",
    ends: "waiting",
    reads: [
      read("10:00:12", operation({ phase: "Running", retryCount: 1, message: "hook failed" })),
      read("10:01:00", operation({ phase: "Running", retryCount: 1, message: "hook failed" }), {
        status: { operationState: { finishedAt: at("10:00:50") }, reconciledAt: at("10:00:52") },
      }),
    ],
  },
  {
    issues: ["kargo#1451"],
    name: "the sync ended with an error, and there is nothing that could be unhealthy",
    stops: "operation/failed",
    ends: "failing",
    reads: [
      read("10:00:12", operation({ phase: "Failed", message: "one or more objects failed to apply" })),
      read("10:00:40", operation({ phase: "Failed", message: "one or more objects failed to apply" })),
      read("10:01:20", operation({ phase: "Failed", message: "one or more objects failed to apply" })),
    ],
  },
  {
    issues: [],
    name: "a hook failed after everything was applied, on a cluster whose clock is behind, so that it seems to have ended before the merge",
    stops: "operation/failed",
    ends: "failing",
    reads: ["10:00:20", "10:00:40", "10:01:40"].map((clock) =>
      read(clock, operation({ phase: "Failed", message: "PostSync hook failed", startedAt: at("09:59:50"), finishedAt: at("09:59:58") })),
    ),
  },
  {
    issues: ["argo-cd#29307", "argo-cd#11817", "argo-cd#26215"],
    name: "a sync is parked by a closed window: it waits, and is neither failed nor done",
    stops: "operation/running",
    ends: "waiting",
    reads: ["10:00:30", "10:40:00"].map((clock) =>
      read(clock, operation({ phase: "Running", finishedAt: undefined, message: "Sync operation blocked by sync window" })),
    ),
  },
  {
    issues: ["argo-cd#4669", "argo-cd#19670", "argo-cd#27861", "iu#829", "iu#172"],
    name: "Succeeded right after apply, and nothing new has started, though new images show already",
    stops: "health/healthy",
    ends: "live",
    reads: [
      read("10:00:14", health("Progressing", "10:00:12"), { status: { summary: { images: ["web:v2"] } } }),
      read("10:00:50", health("Progressing", "10:00:12"), { status: { summary: { images: ["web:v2"] } } }),
      read("10:01:30", health("Healthy", "10:01:15")),
    ],
  },
  {
    issues: ["promoter#1319"],
    name: "a later commit that changes nothing here is seen while the change before it still starts",
    stops: "health/healthy",
    ends: "live",
    reads: [
      read("10:00:14", health("Progressing", "10:00:12")),
      read("10:00:40", health("Progressing", "10:00:12"), { status: { sync: { revision: LATER }, reconciledAt: at("10:00:35") } }),
      read("10:01:20", health("Healthy", "10:01:05"), { status: { sync: { revision: LATER }, reconciledAt: at("10:00:35") } }),
    ],
  },
  {
    issues: ["argo-cd#25054"],
    name: "a Rollout is paused at a canary step: Suspended is in progress",
    stops: "health/notPaused",
    ends: "pending",
    reads: [read("10:00:40", health("Suspended", "10:00:20", "CanaryPauseStep")), read("10:30:00", health("Suspended", "10:00:20"))],
  },
  {
    issues: ["kargo#672", "kargo#5108", "kargo#2216"],
    name: "Progressing, and Degraded for less than the grace, is on the way and no failure",
    ends: "live",
    reads: [
      read("10:00:14", health("Progressing", "10:00:12")),
      read("10:00:30", health("Degraded", "10:00:25")),
      read("10:01:15", health("Degraded", "10:00:25"), { status: { reconciledAt: at("10:01:00") } }),
      read("10:01:22", health("Progressing", "10:01:20"), { status: { reconciledAt: at("10:01:00") } }),
      read("10:02:00", health("Healthy", "10:01:45"), { status: { reconciledAt: at("10:01:00") } }),
    ],
  },
  {
    issues: ["kargo#41", "promoter#427"],
    name: "healthy for a moment, until other controllers begin to act on the new objects",
    stops: "settled/quiet",
    ends: "live",
    pairs: true,
    reads: [
      read("10:00:11", health("Healthy", "08:00:20")),
      read("10:00:13", health("Progressing", "10:00:12")),
      read("10:01:05", health("Healthy", "10:01:00")),
      read("10:01:10", health("Healthy", "10:01:00")),
    ],
  },
  {
    issues: ["kargo#41"],
    name: "the same where the cluster's clock is half a minute behind: by its times all has been quiet for long",
    stops: "settled/held",
    ends: "live",
    reads: [
      // Half a minute is to be added to each of the cluster's times.
      read("10:00:45", health("Healthy", "07:59:50"), {
        status: { operationState: { startedAt: at("10:00:10"), finishedAt: at("10:00:12") }, reconciledAt: at("10:00:14") },
      }),
      read("10:00:50", health("Progressing", "10:00:19"), {
        status: { operationState: { startedAt: at("10:00:10"), finishedAt: at("10:00:12") }, reconciledAt: at("10:00:14") },
      }),
      read("10:01:20", health("Healthy", "10:00:48"), { status: { reconciledAt: at("10:00:14") } }),
      read("10:01:31", health("Healthy", "10:00:48"), { status: { reconciledAt: at("10:00:14") } }),
    ],
  },
  {
    issues: ["promoter#427"],
    name: "two reads long after everything moved, of which the first was not well",
    stops: "confirmed/earlier",
    ends: "live",
    pairs: true,
    // Argo CD before 3.0 writes no lastTransitionTime: a flap leaves no trace but in the reads themselves.
    reads: [
      read("10:01:00", health("Progressing", "10:00:20"), { status: { health: { lastTransitionTime: undefined } } }),
      read("10:01:05", { status: { health: { lastTransitionTime: undefined } } }),
      read("10:01:20", { status: { health: { lastTransitionTime: undefined } } }),
    ],
  },
  {
    issues: ["promoter#814", "promoter#810", "promoter#697", "notifications-engine#90"],
    name: "nothing but ConfigMaps, Healthy all the time: passes once it is Synced, with no operation and no change of health",
    stops: "synced/inSync",
    ends: "live",
    reads: [
      read("10:00:12", OLD, { status: { sync: { status: "OutOfSync", revision: COMMIT }, reconciledAt: at("10:00:10") } }),
      read("10:00:25", OLD, { status: { sync: { status: "OutOfSync", revision: COMMIT }, reconciledAt: at("10:00:10") } }),
      read("10:00:40", OLD, { status: { sync: { revision: COMMIT }, reconciledAt: at("10:00:26") } }),
      read("10:00:51", OLD, { status: { sync: { revision: COMMIT }, reconciledAt: at("10:00:26") } }),
    ],
  },
  {
    issues: ["argo-cd#28934"],
    name: "a comparison in the very second of the merge, of a tag that says nothing of when it was seen",
    stops: "reconciled/merge",
    ends: "pending",
    change: revision("v2"),
    reads: ["10:00:12", "10:00:40"].map((clock) =>
      read(clock, following("v2"), { status: { reconciledAt: MERGED, operationState: undefined } }),
    ),
  },
  {
    issues: ["argo-cd#24750"],
    name: "the stream of changes is open and has dropped the Degraded; asked for by its name the Application would tell",
    stops: "settled/asked",
    ends: "failing",
    given: { kept: {} },
    reads: [
      read("10:00:21"),
      read("10:00:32"),
      { ...read("10:00:33", health("Degraded", "10:00:25", "crash loop")), askedAt: "10:00:33" },
      read("10:01:40", health("Degraded", "10:00:25", "crash loop"), { status: { reconciledAt: at("10:01:05") } }),
    ],
  },
  {
    issues: ["argo-cd#24750"],
    name: "a read by name from before it had settled confirms nothing either",
    stops: "settled/asked",
    ends: "live",
    given: { kept: {} },
    reads: [
      { ...read("10:00:21"), askedAt: "10:00:21" },
      { ...read("10:00:32"), askedAt: "10:00:21" },
      { ...read("10:00:33"), askedAt: "10:00:33" },
    ],
  },
];
