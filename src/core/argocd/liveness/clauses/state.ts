import { defined } from "../../../base/defined.ts";
import { livenessReason as reason } from "../../../reasons/liveness.ts";
import type { Verdict } from "../../../run/state/run.ts";
import { BAD_CONDITIONS } from "../../decode/status.ts";
import type { SyncWindowsView } from "../../views.ts";
import { at, boundRevision, dayOf, firstLine, inUtc, second, timeOf } from "../moment.ts";
import { afterGrace } from "../skew.ts";
import type { Clause, Context, Finding, Parts } from "../types.ts";
import { isInFlight } from "./operation.ts";

/** 8. A cluster that cannot be reached keeps the health it had. Not observable: left out, and the evidence says so. */
const reachable: Clause = ({ input, now }) => {
  const connection = input.cluster?.connection;
  if (connection?.status !== "Failed") return undefined;
  const seen = { name: input.cluster?.name ?? "", triedAt: inUtc(connection.attemptedAt), message: firstLine(connection.message) };
  return { verdict: "lost", because: reason("CLUSTER_UNREACHABLE", { ...seen, day: dayOf(now) }) };
};

/**
 * 8. Argo CD goes on comparing from memory: where its cluster was asked for a sign of life in between, it must have given one. One that is
 * missing may be a moment's trouble: it is asked for again, and what has been missing for the grace is missing.
 */
const answers: Clause = ({ app, input, now }) => {
  const { at: asked, failed, since } = app.clusterAnswer ?? {};
  if (failed === undefined || asked === undefined) return undefined;
  const last = at(asked) ?? now;
  const again = last + ASK_CLUSTER_AGAIN_MS;
  const isLost = last - (at(since) ?? last) >= Math.max(input.graceMs, 1);
  const because = reason("CLUSTER_UNREACHABLE", {
    name: input.cluster?.name ?? "",
    triedAt: inUtc(asked),
    againAt: isLost ? undefined : timeOf(again),
    message: firstLine(failed),
    day: dayOf(now),
  });
  return { verdict: isLost ? "lost" : "pending", because, wantsRead: now >= again, lookAgainAt: again };
};

const ASK_CLUSTER_AGAIN_MS = 30_000;

export const cluster: Parts = { reachable, answers };

/** 3. Desired and live are the same. */
const inSync: Clause = (context) => {
  const { app, firstSeenAt, now, input, shows } = context;
  const status = app.status.sync.status;
  if (status === "Synced") return undefined;
  if (status !== "OutOfSync") return { verdict: "pending", because: reason("SYNC_STATUS", { status }) };
  // Before the change is seen nobody needs to do anything, which has a limit of its own; nor while somebody has asked for a sync.
  const underWay = app.operationRequested || isInFlight(app.status.operation);
  if (!app.spec.automated && shows && !underWay) return { verdict: "waiting", because: reason("SYNC_BY_HAND") };
  const idle = !app.operationRequested && shows;
  if (idle && input.windows?.open === false) return windowClosed(input.windows);
  const long = idle && firstSeenAt !== undefined && now - firstSeenAt > 120_000;
  const seen = input.windows === undefined ? "unseen" : "open";
  return { verdict: "pending", because: reason("OUT_OF_SYNC", { idle: long ? seen : undefined }) };
};

function windowClosed({ opensAt, windows }: SyncWindowsView): Finding {
  const manual = windows.length > 0 && windows.every((window) => window.manualSync);
  return { verdict: "waiting", because: reason("SYNC_WINDOW_CLOSED", { opensAt, manual }), lookAgainAt: at(opensAt) };
}

export const synced: Parts = { inSync };

/** 4. What Argo CD itself calls wrong with it. */
const bad: Clause = (context) => {
  let worst: Finding | undefined;
  for (const condition of context.app.status.conditions) {
    if (!BAD_CONDITIONS.has(condition.type)) continue;
    if (condition.type === "ComparisonError" && isUnreachable(context, condition.message)) return outOfReach(condition.message);
    const since = at(condition.lastTransitionTime);
    if (condition.type === "SyncError" && isFromBefore(context, since)) continue;
    const start = graceStart(context, condition.type, since);
    const spent = condition.type === "SyncError" && context.app.spec.automated;
    const because = reason("CONDITION_BAD", { type: condition.type, message: firstLine(condition.message), spent });
    // An invalid spec keeps Argo CD from comparing at all: nothing comes after it.
    const alone = condition.type === "InvalidSpecError";
    const finding: Finding = start === undefined ? { verdict: "pending", because } : afterGrace(context, { because, start, since, alone });
    if (worst !== undefined && finding.verdict !== "failing") continue;
    worst = finding;
    if (finding.verdict === "failing") break;
  }
  return worst;
};

export const conditions: Parts = { bad };

/** Argo CD takes a SyncError away only where a sync is allowed: one of an earlier try stays for as long as a window is closed. */
function isFromBefore({ shows, mergedAt }: Context, since: number | undefined): boolean {
  return shows && since !== undefined && second(since) < second(mergedAt);
}

/** Where connections cannot be seen, as through Kubernetes, a comparison made for the change tells of a cluster that is down. */
function isUnreachable({ input, stale }: Context, message: string): boolean {
  const connection = input.cluster?.connection?.status ?? "Unknown";
  return connection === "Unknown" && !stale && /failed to get cluster (info|version) for/i.test(message);
}

function outOfReach(message: string): Finding {
  return { verdict: "lost", because: reason("CLUSTER_UNREACHED", { message: firstLine(message) }) };
}

/** From when a bad condition counts; undefined: not yet, since it may well be about what was there before the change. */
function graceStart(context: Context, type: string, since: number | undefined): number | undefined {
  const newer = since !== undefined && second(since) > second(context.mergedAt);
  // It is what keeps the status stale: waiting for a fresher one would be waiting for ever.
  if (type === "InvalidSpecError" && newer) return Math.max(since, context.firstSeenAt ?? since);
  if (context.stale) return undefined;
  // An error can hide the revision it is about; then its own time, newer than the merge, must do.
  const hidden = context.specDiffers === undefined && context.observations.some((observation) => observation.state === "unresolved");
  if (!context.shows && !hidden) return undefined;
  if (context.firstSeenAt !== undefined) return Math.max(since ?? context.firstSeenAt, context.firstSeenAt);
  return newer ? since : undefined;
}

/** 7. Healthy. */
const healthy: Clause = (context) => {
  const { status, lastTransitionTime, ...health } = context.app.status.health;
  if (status === "Healthy" || status === "Suspended") return undefined;
  const message = health.message && firstLine(health.message);
  if (status !== "Degraded") return { verdict: "pending", because: reason("HEALTH", { status, message }) };
  if (!context.shows || context.firstSeenAt === undefined) return { verdict: "pending", because: reason("DEGRADED_BEFORE", { message }) };
  const since = at(lastTransitionTime);
  const times = { since: since === undefined ? undefined : timeOf(since), seenAt: timeOf(context.firstSeenAt) };
  const because = reason("DEGRADED", { ...times, message, day: dayOf(context.now) });
  // What it was before the change showed is not held against the change.
  return afterGrace(context, { because, start: Math.max(since ?? context.firstSeenAt, context.firstSeenAt), since });
};

/** 7. Something in it is paused, such as a Rollout at a canary step: in progress, and no deadline runs meanwhile. */
const notPaused: Clause = (context) => {
  const { status, message } = context.app.status.health;
  if (status !== "Suspended" || context.input.suspended === "Accept") return undefined;
  const because = reason("SUSPENDED", { message: message && firstLine(message) });
  return { verdict: "pending", because, clockStopped: context.shows };
};

/**
 * 7. Where Argo CD tells the images of its pods, the new one is among them. Old pods are told of as well, so no more may be asked; and where
 * none of that repository is told, such as for one scaled to nothing or drawn from a mirror, nothing.
 */
const images: Clause = ({ app, input, shows }) => {
  const told = app.status.images;
  if (told === undefined || !shows) return undefined;
  for (const wanted of input.images ?? []) {
    const same = told.filter((image) => repositoryOf(image) === repositoryOf(wanted));
    if (same.length === 0 || same.some((image) => image === wanted || image.startsWith(`${wanted}@`) || isDigest(image, wanted))) continue;
    return {
      verdict: "pending",
      because: reason("IMAGE_NOT_SHOWN", { wanted: boundRevision(wanted), shown: same.slice(0, 3).map(boundRevision) }),
    };
  }
  return undefined;
};

/** `host:5000/name:tag@sha256:…` → `host:5000/name`. */
function repositoryOf(image: string): string {
  return image.replace(/@.*$/s, "").replace(/:[^:/]*$/, "");
}

function isDigest(image: string, wanted: string): boolean {
  const digest = /@(sha256:[0-9a-f]{64})$/.exec(wanted)?.[1];
  return digest !== undefined && image.endsWith(`@${digest}`);
}

const WORST: Record<Verdict, number> = { lost: 0, failing: 1, waiting: 2, pending: 3, live: 4 };

/** 7. Since 1.8 Argo CD leaves the health of Applications out of that of the one that makes them. */
const children: Clause = ({ input, now }) => {
  const all = (input.children ?? []).filter(({ verdict }) => verdict !== "live");
  const [worst] = [...all].sort((a, b) => WORST[a.verdict] - WORST[b.verdict]);
  if (worst === undefined || worst.verdict === "live") return undefined;
  const { name: child, verdict, because, clockStopped } = worst;
  const again = all.flatMap(({ lookAgainAt = 0 }) => (lookAgainAt > now ? lookAgainAt : []));
  const lookAgainAt = again.length === 0 ? undefined : Math.min(...again);
  return { verdict, because: reason("CHILD_NOT_LIVE", { child, because }), ...defined({ lookAgainAt, clockStopped }) };
};

export const health: Parts = { healthy, notPaused, images, children };
