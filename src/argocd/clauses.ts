import { compared, exists, reconciled, revision, spec } from "./clause-change.ts";
import { operation } from "./clause-operation.ts";
import { cluster, conditions, health, synced } from "./clause-state.ts";
import { contextOf } from "./context.ts";
import { CLAUSE_NAMES, type Clause, type ClauseName, type Context, type Finding } from "./liveness-types.ts";
import { at, clockTime } from "./moment.ts";
import type { ApplicationView } from "./port.ts";

/** The clauses that one read can meet by itself. */
const ONE_READ: Record<Exclude<ClauseName, "settled" | "confirmed">, Clause> = {
  exists,
  cluster,
  spec,
  compared,
  reconciled,
  revision,
  operation,
  conditions,
  synced,
  health,
};

/** Every clause by its name. All must be met for *live*. */
export const CLAUSES: Readonly<Record<ClauseName, Clause>> = { ...ONE_READ, settled, confirmed };

/** T0: from when on nothing has moved. Epoch milliseconds. */
export function quietSince(context: Context): number {
  return Math.max(
    context.mergedAt,
    at(context.app.status.health.lastTransitionTime) ?? 0,
    at(context.app.status.operation?.finishedAt) ?? 0,
    context.firstSeenAt ?? 0,
  );
}

/** 7. Health is computed before new objects exist: it must have held for a while after the last thing that moved. */
function settled(context: Context): Finding | undefined {
  const since = quietSince(context);
  const due = since + context.input.settleMs;
  if (context.now >= due) return undefined;
  return {
    verdict: "pending",
    lookAgainAt: due,
    sentence: `All is well since ${clockTime(since)}; it counts if that still holds at ${clockTime(due)}.`,
  };
}

/** 7. An earlier read that is given must have met every clause, too, and must be one that can tell. */
function confirmed(context: Context): Finding | undefined {
  const previous = context.input.previous;
  if (previous === undefined) return undefined;
  if (!isEarlier(previous, context.app)) {
    const other = previous.uid !== context.app.uid ? "is of another object (uid)" : "is not of an older resourceVersion";
    return { verdict: "pending", sentence: `The earlier read ${other}, so it confirms nothing.` };
  }
  const name = firstUnmet(contextOf(context.input, previous, at(previous.readAt) ?? context.now));
  if (name === undefined) return undefined;
  return { verdict: "pending", sentence: `The earlier read did not meet clause "${name}": one more read must confirm this one.` };
}

function firstUnmet(earlier: Context): ClauseName | undefined {
  if (earlier.shows) earlier.firstSeenAt = at(earlier.app.status.reconciledAt);
  for (const name of CLAUSE_NAMES) {
    if (name === "settled" || name === "confirmed") continue;
    if (ONE_READ[name](earlier) !== undefined) return name;
  }
  return undefined;
}

/** Whether `previous` is an earlier state of the same object: what `LivenessInput.previous` wants. */
export function isEarlier(previous: ApplicationView, app: ApplicationView): boolean {
  if (previous.uid === "" || previous.uid !== app.uid) return false;
  const number = /^\d{1,30}$/;
  if (!number.test(previous.resourceVersion) || !number.test(app.resourceVersion)) return false;
  return BigInt(previous.resourceVersion) < BigInt(app.resourceVersion);
}
