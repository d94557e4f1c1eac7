import { firstLine } from "./clause-state.ts";
import type { Change, Clause, Context, Finding, Sight } from "./liveness-types.ts";
import { at, clockTime, isFullSha, second } from "./moment.ts";
import type { ApplicationView } from "./port.ts";

type Operation = NonNullable<ApplicationView["status"]["operation"]>;

/** 5. Nothing in flight, and the last thing done for the change went well. No operation at all is fine. */
export const operation: Clause = (context) => {
  const state = context.app.status.operation;
  if (state?.phase === "Running" || state?.phase === "Terminating") return inFlight(context, state);
  if (context.app.operationRequested) return { verdict: "pending", sentence: "A sync is asked for and has not begun." };
  if (state === undefined || state.phase === "Succeeded") return undefined;
  if (state.phase === "Failed" || state.phase === "Error") return ended(context, state);
  return { verdict: "pending", sentence: `Its operation is ${state.phase}.` };
};

function inFlight({ stale }: Context, state: Operation): Finding {
  const waits = stale ? "pending" : "waiting";
  if (state.phase === "Running" && /sync window/i.test(state.message ?? "")) {
    return { verdict: waits, sentence: `Its sync waits for a sync window to open: ${firstLine(state.message ?? "")}.` };
  }
  const finishedAt = at(state.finishedAt);
  // Between two tries Argo CD leaves the phase at Running, with the end of the try before in place.
  if (state.phase === "Running" && finishedAt !== undefined) {
    const next = finishedAt + Math.min(5000 * 2 ** Math.max(0, state.retryCount - 1), 180_000);
    const said = state.message === undefined ? "" : `: ${firstLine(state.message)}`;
    return {
      verdict: waits,
      lookAgainAt: next,
      sentence: `Its sync failed at ${clockTime(finishedAt)} and waits for retry ${state.retryCount + 1}${said}.`,
    };
  }
  const since = at(state.startedAt);
  return {
    verdict: "pending",
    sentence: `Its operation is ${state.phase.toLowerCase()}${since === undefined ? "" : ` since ${clockTime(since)}`}.`,
  };
}

function ended(context: Context, state: Operation): Finding | undefined {
  const finishedAt = at(state.finishedAt) ?? at(state.startedAt);
  // One that ended before the merge was for something else.
  if (finishedAt !== undefined && second(finishedAt) < second(context.mergedAt)) return undefined;
  const ours = isOurs(context, state);
  if (ours === "no") return undefined;
  const sentence = `Its sync ended ${state.phase}: ${firstLine(state.message ?? "") || "no message"}.`;
  if (ours === "unknown" || context.stale || context.specDiffers !== undefined || context.firstSeenAt === undefined)
    return { verdict: "pending", sentence };
  const due = Math.max(finishedAt ?? context.firstSeenAt, context.firstSeenAt) + context.input.graceMs;
  return { verdict: context.now >= due ? "failing" : "pending", sentence, lookAgainAt: due };
}

type Answer = "yes" | "no" | "unknown";

/** Whether what a failed operation tried contains the change. */
function isOurs(context: Context, state: Operation): Answer {
  if (state.ofSpec === false) return "no";
  const tried = state.appliedRevisions.length > 0 ? state.appliedRevisions : state.requestedRevisions;
  const answers = new Set<Answer>();
  for (const [i, sight] of context.sights.entries()) {
    const change = i === 0 ? context.input.change : context.input.also?.[i - 1];
    if (change === undefined || change.kind === "generator") continue;
    for (const index of sight.sources) {
      const revision = tried[index] ?? "";
      if (revision !== "") answers.add(triedChange(context, change, sight, revision, context.app.status.sync.revisions[index]));
    }
  }
  if (answers.has("no")) return "no";
  if (answers.has("unknown")) return "unknown";
  if (answers.has("yes") || (state.ofSpec === true && context.input.change.kind !== "commit")) return "yes";
  // Without a revision it was for the head of the moment it began.
  const startedAt = at(state.startedAt);
  return startedAt !== undefined && context.firstSeenAt !== undefined && startedAt >= context.firstSeenAt ? "yes" : "unknown";
}

function triedChange(
  context: Context,
  change: Exclude<Change, { kind: "generator" }>,
  sight: Sight,
  tried: string,
  seen: string | undefined,
): Answer {
  const shown = sight.state === "proven" || sight.state === "shown";
  if (shown && tried === seen) return "yes";
  if (change.kind === "revision" && tried === change.revision) return "yes";
  // The spec names the change and Argo CD resolved it to `seen`: whatever else was tried is something else.
  if (change.commit === undefined) return shown ? "no" : "unknown";
  if (tried.toLowerCase() === change.commit.toLowerCase()) return "yes";
  const ancestry = isFullSha(tried) ? (context.input.ancestry?.(tried, change.commit) ?? "unknown") : "unknown";
  return ancestry === "contains" ? "yes" : ancestry === "missing" ? "no" : "unknown";
}
