import type { Clause, Context, Finding } from "./liveness-types.ts";
import { at, clockTime, second } from "./moment.ts";

/** 1. It goes away: what it reports on the way says nothing. */
export const exists: Clause = ({ app }) =>
  app.deletionTimestamp === undefined
    ? undefined
    : { verdict: "lost", sentence: `The Application is being deleted since ${app.deletionTimestamp}.` };

/** 1. The spec in the cluster is the one the commit gives it: covers an ApplicationSet that lags, and edits by hand. */
export const spec: Clause = ({ specDiffers }) =>
  specDiffers === undefined ? undefined : { verdict: "pending", sentence: `The change is not in the Application yet: ${specDiffers}.` };

/** 2. Argo CD's own test whether status is about this spec at all. */
export const compared: Clause = ({ app, compared }) => {
  if (compared) return undefined;
  const never = app.status.sync.comparedTo === undefined;
  return {
    verdict: "pending",
    wantsRefresh: true,
    sentence: never
      ? "Stale: Argo CD has not compared this Application yet."
      : "Stale: Argo CD's status is about an older spec (comparedTo is not the spec).",
  };
};

/** 3. What Argo CD has seen of Git contains the change. */
export const revision: Clause = (context) => {
  for (const sight of context.sights) {
    if (sight.state === "proven" || sight.state === "shown") continue;
    if (sight.state === "failed") return hydrationFailed(context, sight.why, sight.since);
    // Somebody has to say which of two changes holds; but a stale status may not even be about either.
    const verdict = sight.state === "changed" && !context.stale ? "waiting" : "pending";
    const finding: Finding = { verdict, sentence: `${capital(sight.why)}.` };
    // Our own mirror fetches in the meantime; nothing in Argo CD would tell us that it has.
    if (sight.state === "unknown") finding.lookAgainAt = context.now + 5000;
    if (sight.state === "older" || sight.state === "unresolved") finding.wantsRefresh = true;
    return finding;
  }
  return undefined;
};

function hydrationFailed(context: Context, why: string, since = context.now): Finding {
  const due = since + context.input.graceMs;
  return { verdict: context.now >= due ? "failing" : "pending", sentence: `${capital(why)}.`, lookAgainAt: due };
}

/** 6. Computed after the merge, and after the last operation ended: the two loops of Argo CD write apart. */
export const reconciled: Clause = (context) => {
  const { app, mergedAt } = context;
  const reconciledAt = at(app.status.reconciledAt);
  if (reconciledAt === undefined) return { verdict: "pending", sentence: "Stale: Argo CD has never reconciled it.", wantsRefresh: true };
  const proven = context.sights.every((sight) => sight.state === "proven");
  const reconciledSecond = second(reconciledAt);
  if (reconciledSecond < second(mergedAt) || (!proven && reconciledSecond === second(mergedAt))) {
    return {
      verdict: "pending",
      wantsRefresh: true,
      sentence: `Stale: Argo CD last compared at ${clockTime(reconciledAt)}, the change was merged at ${clockTime(mergedAt)}.`,
    };
  }
  const finishedAt = at(app.status.operation?.finishedAt);
  if (finishedAt === undefined || reconciledSecond > second(finishedAt)) return undefined;
  return {
    verdict: "pending",
    wantsRefresh: true,
    sentence: `Stale: its operation ended at ${clockTime(finishedAt)}, Argo CD last compared at ${clockTime(reconciledAt)}, not later.`,
  };
};

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
