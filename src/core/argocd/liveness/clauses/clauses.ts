/** The clauses of liveness in the order in which they are told: an Application is live where all hold. */
import type { AnyReason } from "../../../base/reason.ts";
import { livenessReason as reason } from "../../../reasons/liveness.ts";
import type { ApplicationView } from "../../views.ts";
import { contextOf } from "../context.ts";
import { at, dayOf, timeOf } from "../moment.ts";
import { CLAUSE_NAMES, type ClauseName, type ContentSeen, type Context, type Finding, type Parts } from "../types.ts";
import { compared, exists, readable, reconciled, revision, spec } from "./change.ts";
import { operation } from "./operation.ts";
import { cluster, conditions, health, synced } from "./state.ts";

/** What was read tells by itself that it was; where that failed somebody has to look again. */
const ASK_AGAIN_MS = 5000;
/** Nobody says that an answer has come. */
const ANSWER_MS = 250;

/** The clauses that one read can meet by itself. */
const ONE_READ: Record<Exclude<ClauseName, "content" | "settled" | "confirmed">, Parts> = {
  exists,
  cluster,
  readable,
  spec,
  compared,
  reconciled,
  revision,
  operation,
  conditions,
  synced,
  health,
};

/** Every clause by its name, in parts. All must be met for *live*. */
export const CLAUSES: Readonly<Record<ClauseName, Parts>> = {
  ...ONE_READ,
  content: { shown },
  settled: { quiet, held, asked },
  confirmed: { earlier },
};

/** T0: from when on nothing has moved. Epoch milliseconds, by our clock as far as the cluster's is known to be ahead. */
export function quietSince(context: Context): number {
  const { app, aheadMs } = context;
  return Math.max(
    context.mergedAt,
    (at(app.status.health.lastTransitionTime) ?? 0) - aheadMs,
    (at(app.status.operation?.finishedAt) ?? 0) - aheadMs,
    (context.firstSeenAt ?? 0) - aheadMs,
  );
}

/** 9. The objects themselves show the change, where they can be seen: revision, Synced and Healthy are what Argo CD says of them. */
function shown(context: Context): Finding | undefined {
  const { input, app, now } = context;
  if (input.content === undefined) return undefined;
  const seen = input.content.see(app.status.sync.revisions);
  context.content = seen ?? "asked";
  if (seen === undefined) return { verdict: "pending", lookAgainAt: now + ANSWER_MS, because: reason("CONTENT_ASKED") };
  const because = contentMissing(seen, context);
  return because && { verdict: "pending", lookAgainAt: now + ASK_AGAIN_MS, because };
}

/** What cannot be told is missing where it is required; else it counts by the revision, once it was asked for over the whole grace. */
function contentMissing(seen: ContentSeen, { input, now }: Context): AnyReason | undefined {
  const required = input.content?.required === true;
  if ("failed" in seen) {
    const isLasting = seen.refused === true || now - (at(seen.since) ?? now) >= input.graceMs;
    return required || !isLasting ? reason("CONTENT_UNREAD", { because: seen.failed, required }) : undefined;
  }
  if (seen.proof === "notLive") return reason("CONTENT_NOT_LIVE");
  if (seen.proof === "same") return reason("CONTENT_UNCHANGED");
  return seen.proof === "unknown" && required ? reason("CONTENT_UNTOLD") : undefined;
}

/** 7. Health is computed before new objects exist: it must have held for a while after the last thing that moved. */
function quiet(context: Context): Finding | undefined {
  return settling(context, quietSince(context));
}

/** 7. The same by our own clock: a cluster whose clock is behind dates what has just moved to a while ago. */
function held(context: Context): Finding | undefined {
  const { input, now } = context;
  return input.held === undefined ? undefined : settling(context, at(input.held.goodSince) ?? now);
}

function settling(context: Context, since: number): Finding | undefined {
  const due = since + context.input.settleMs;
  if (context.now >= due) return undefined;
  return {
    verdict: "pending",
    lookAgainAt: due,
    because: reason("SETTLING", { since: timeOf(since), until: timeOf(due), day: dayOf(context.now) }),
  };
}

/** 7. A stream that dropped the one event that matters looks like one on which nothing happened: one read by name must tell. */
function asked(context: Context): Finding | undefined {
  const { input, app, now } = context;
  if (input.kept === undefined) return undefined;
  const ours = input.held === undefined ? 0 : (at(input.held.goodSince) ?? now);
  const settled = Math.max(quietSince(context), ours) + input.settleMs;
  const since = at(input.kept.since) ?? 0;
  const due = since <= now ? Math.max(settled, since) : settled;
  if ((at(app.askedAt) ?? 0) >= due) return undefined;
  const wanted = now >= due;
  return {
    verdict: "pending",
    wantsRead: wanted,
    lookAgainAt: wanted ? now + ASK_AGAIN_MS : due,
    because: reason("READ_AWAITED", { at: timeOf(due), day: dayOf(now) }),
  };
}

/** 7. An earlier read that is given must have met every clause, too, and must be one that can tell. */
function earlier(context: Context): Finding | undefined {
  const previous = context.input.previous;
  if (previous === undefined) return undefined;
  if (!isEarlier(previous, context.app)) {
    const by = previous.uid !== context.app.uid ? "uid" : "resourceVersion";
    return { verdict: "pending", because: reason("EARLIER_READ_DIFFERS", { by }) };
  }
  const clause = firstUnmet(contextOf(context.input, previous, at(previous.readAt) ?? context.now), context);
  return clause && { verdict: "pending", because: reason("EARLIER_READ_UNMET", { clause }) };
}

function firstUnmet(before: Context, { firstSeenAt, firstComparedAt }: Context): ClauseName | undefined {
  const reconciledAt = at(before.app.status.reconciledAt);
  if (before.shows && reconciledAt !== undefined) {
    before.firstSeenAt = Math.min(reconciledAt, firstSeenAt ?? reconciledAt);
    before.firstComparedAt = Math.min(reconciledAt, firstComparedAt ?? reconciledAt);
  }
  for (const name of CLAUSE_NAMES) {
    if (name === "content" || name === "settled" || name === "confirmed") continue;
    for (const part of Object.values(ONE_READ[name])) if (part(before) !== undefined) return name;
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
