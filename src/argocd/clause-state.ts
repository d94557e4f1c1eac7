import { BAD_CONDITIONS } from "./decode.ts";
import type { Clause, Context, Finding } from "./liveness-types.ts";
import { at, clockTime, second } from "./moment.ts";

/** 8. A cluster that cannot be reached keeps the health it had. Not observable: left out, and the evidence says so. */
export const cluster: Clause = ({ input }) => {
  const connection = input.cluster?.connection;
  if (connection?.status !== "Failed") return undefined;
  const said = connection.message === "" ? "" : `: ${firstLine(connection.message)}`;
  return { verdict: "lost", sentence: `Argo CD cannot reach cluster ${input.cluster?.name ?? ""}${said}.` };
};

/** 3. Desired and live are the same. */
export const synced: Clause = ({ app, stale, firstSeenAt, now }) => {
  const status = app.status.sync.status;
  if (status === "Synced") return undefined;
  if (status !== "OutOfSync") return { verdict: "pending", sentence: `Its sync status is ${status ?? "not known"}.` };
  if (!app.spec.automated && !stale) {
    return { verdict: "waiting", sentence: "It is OutOfSync and auto-sync is off: a person must sync it in Argo CD." };
  }
  const long = firstSeenAt !== undefined && now - firstSeenAt > 120_000 && !app.operationRequested;
  const hint = long ? ", and nothing syncs it: is a sync window of its project closed?" : ".";
  return { verdict: "pending", sentence: `It is OutOfSync${hint}` };
};

/** 4. What Argo CD itself calls wrong with it. */
export const conditions: Clause = (context) => {
  let worst: Finding | undefined;
  for (const condition of context.app.status.conditions) {
    if (!BAD_CONDITIONS.has(condition.type)) continue;
    const start = graceStart(context, condition.type, at(condition.lastTransitionTime));
    const due = start === undefined ? undefined : start + context.input.graceMs;
    const failing = due !== undefined && context.now >= due;
    if (worst !== undefined && !failing) continue;
    const spent = condition.type === "SyncError" && context.app.spec.automated ? USED_UP : "";
    worst = {
      verdict: failing ? "failing" : "pending",
      sentence: `${condition.type}: ${firstLine(condition.message) || "no message"}.${spent}`,
      ...(due === undefined ? {} : { lookAgainAt: due }),
    };
    if (failing) break;
  }
  return worst;
};

const USED_UP = " Argo CD tries a revision once: it wants a new commit, or a sync by hand.";

/** From when a bad condition counts; undefined: not yet, since it may well be about what was there before the change. */
function graceStart(context: Context, type: string, since: number | undefined): number | undefined {
  const newer = since !== undefined && second(since) > second(context.mergedAt);
  // It is what keeps the status stale: waiting for a fresher one would be waiting for ever.
  if (type === "InvalidSpecError" && newer) return Math.max(since, context.firstSeenAt ?? since);
  if (context.stale) return undefined;
  // An error can hide the revision it is about; then its own time, newer than the merge, must do.
  const hidden = context.specDiffers === undefined && context.sights.some((sight) => sight.state === "unresolved");
  if (!context.shows && !hidden) return undefined;
  if (context.firstSeenAt !== undefined) return Math.max(since ?? context.firstSeenAt, context.firstSeenAt);
  return newer ? since : undefined;
}

/** 7. Healthy. */
export const health: Clause = (context) => {
  const { status, message, lastTransitionTime } = context.app.status.health;
  if (status === "Healthy") return undefined;
  const said = message === undefined ? "" : ` (${firstLine(message)})`;
  if (status === "Suspended") {
    if (context.input.suspended === "Accept") return undefined;
    return {
      verdict: "pending",
      sentence: `Its health is Suspended${said}: something in it is paused, such as a Rollout at a canary step.`,
    };
  }
  if (status !== "Degraded") return { verdict: "pending", sentence: `Its health is ${status ?? "not known"}${said}.` };
  if (!context.shows || context.firstSeenAt === undefined) {
    return { verdict: "pending", sentence: `It is Degraded${said}, by a status that does not show the change.` };
  }
  const start = Math.max(at(lastTransitionTime) ?? context.firstSeenAt, context.firstSeenAt);
  const due = start + context.input.graceMs;
  return {
    verdict: context.now >= due ? "failing" : "pending",
    sentence: `It is Degraded since ${clockTime(start)} or longer${said}.`,
    lookAgainAt: due,
  };
};

/** Up to its first line break, at most 300 characters, without a final stop. */
export function firstLine(text: string): string {
  const end = text.search(/[\r\n]/);
  const line = (end < 0 ? text : text.slice(0, end)).trim().replace(/\.+$/, "");
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}
