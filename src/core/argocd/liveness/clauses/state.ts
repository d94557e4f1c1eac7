import { defined } from "../../../base/defined.ts";
import { BAD_CONDITIONS } from "../../decode/status.ts";
import { afterGrace, firstLine, USED_UP, windowOpens } from "../findings.ts";
import { at, clockTime, second } from "../moment.ts";
import type { Clause, Context, Finding, Parts } from "../types.ts";

/** 8. A cluster that cannot be reached keeps the health it had. Not observable: left out, and the evidence says so. */
const reachable: Clause = ({ input, now }) => {
  const connection = input.cluster?.connection;
  if (connection?.status !== "Failed") return undefined;
  const said = connection.message === "" ? "" : `: ${firstLine(connection.message)}`;
  const tried = at(connection.attemptedAt);
  const when = tried === undefined ? "" : ` (tried at ${clockTime(tried, now)})`;
  return { verdict: "lost", sentence: `Argo CD cannot reach cluster ${input.cluster?.name ?? ""}${when}${said}.` };
};

export const cluster: Parts = { reachable };

/** 3. Desired and live are the same. */
const inSync: Clause = (context) => {
  const { app, firstSeenAt, now, input, shows } = context;
  const status = app.status.sync.status;
  if (status === "Synced") return undefined;
  if (status !== "OutOfSync") return { verdict: "pending", sentence: `Its sync status is ${status ?? "not known"}.` };
  // Before the change is seen nobody needs to do anything: that has a limit of its own.
  if (!app.spec.automated && shows) {
    return { verdict: "waiting", sentence: "It is OutOfSync and auto-sync is off: a person must sync it in Argo CD." };
  }
  const idle = !app.operationRequested && shows;
  if (idle && input.windows?.open === false) return windowClosed(context);
  const long = idle && firstSeenAt !== undefined && now - firstSeenAt > 120_000;
  const hint = input.windows === undefined ? ": is a sync window of its project closed?" : ", though no sync window is closed.";
  return { verdict: "pending", sentence: `It is OutOfSync${long ? `, and nothing syncs it${hint}` : "."}` };
};

function windowClosed(context: Context): Finding {
  const windows = context.input.windows?.windows ?? [];
  const manual = windows.length > 0 && windows.every((window) => window.manualSync);
  const opensAt = context.input.windows?.opensAt;
  const when = opensAt === undefined ? "when it opens next cannot be told" : `it opens at ${opensAt}`;
  const hint = manual ? "; a sync by hand is allowed meanwhile" : "";
  return { ...windowOpens(context), verdict: "waiting", sentence: `It is OutOfSync and waits for a sync window: ${when}${hint}.` };
}

export const synced: Parts = { inSync };

/** 4. What Argo CD itself calls wrong with it. */
const bad: Clause = (context) => {
  let worst: Finding | undefined;
  for (const condition of context.app.status.conditions) {
    if (!BAD_CONDITIONS.has(condition.type)) continue;
    if (condition.type === "ComparisonError" && isUnreachable(context, condition.message)) return outOfReach(condition.message);
    const start = graceStart(context, condition.type, at(condition.lastTransitionTime));
    const spent = condition.type === "SyncError" && context.app.spec.automated ? USED_UP : "";
    const sentence = `${condition.type}: ${firstLine(condition.message) || "no message"}.${spent}`;
    const finding: Finding = start === undefined ? { verdict: "pending", sentence } : afterGrace(context, start, sentence);
    if (worst !== undefined && finding.verdict !== "failing") continue;
    worst = finding;
    if (finding.verdict === "failing") break;
  }
  return worst;
};

export const conditions: Parts = { bad };

/** Where connections cannot be seen, as through Kubernetes, a comparison made for the change tells of a cluster that is down. */
function isUnreachable({ input, stale }: Context, message: string): boolean {
  const connection = input.cluster?.connection?.status ?? "Unknown";
  return connection === "Unknown" && !stale && /failed to get cluster (info|version) for/i.test(message);
}

function outOfReach(message: string): Finding {
  return { verdict: "lost", sentence: `Argo CD cannot reach its cluster, by its last comparison: ${firstLine(message)}.` };
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
  const { status, message, lastTransitionTime } = context.app.status.health;
  if (status === "Healthy" || status === "Suspended") return undefined;
  const said = message === undefined ? "" : ` (${firstLine(message)})`;
  if (status !== "Degraded") return { verdict: "pending", sentence: `Its health is ${status ?? "not known"}${said}.` };
  if (!context.shows || context.firstSeenAt === undefined) {
    return { verdict: "pending", sentence: `It is Degraded${said}, by a status that does not show the change.` };
  }
  const start = Math.max(at(lastTransitionTime) ?? context.firstSeenAt, context.firstSeenAt);
  return afterGrace(context, start, `It is Degraded since ${clockTime(start, context.now)} or longer${said}.`);
};

/** 7. Something in it is paused, such as a Rollout at a canary step: in progress, and no deadline runs meanwhile. */
const notPaused: Clause = (context) => {
  const { status, message } = context.app.status.health;
  if (status !== "Suspended" || context.input.suspended === "Accept") return undefined;
  const said = message === undefined ? "" : ` (${firstLine(message)})`;
  return defined({
    verdict: "pending" as const,
    clockStopped: context.shows ? true : undefined,
    sentence: `Its health is Suspended${said}: something in it is paused, such as a Rollout at a canary step.`,
  });
};

export const health: Parts = { healthy, notPaused };
