import type { RefreshOutcome } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Time } from "../../../core/base/time.ts";
import { iso } from "../../../core/base/time.ts";
import type { RepoContext } from "../context.ts";

/**
 * Asking Argo CD to compare an Application again, where it has not seen a change yet: never a change of it. Each
 * target is asked for once in a while only, few at a time, and no round waits for an answer: what comes of it is seen by the watch.
 */

/** Argo CD polls every 2 to 3 minutes by itself; a comparison in a large repository takes one. */
const ASK_AGAIN_MS = 60_000;
/** When what it is asked for has changed, such as another operation that ended: at once, but for an Application that never rests. */
const SOONEST_MS = 5000;
/** Where it cannot be asked: somebody may have granted the right. */
const UNAVAILABLE_AGAIN_MS = 5 * 60_000;
/** Of one control plane. */
const MOST_AT_ONCE = 4;
const MOST_KEPT = 20_000;

/** One repo's refreshes. */
export interface Refresher {
  /**
   * Notes what a refresh of the target would be for, and from when on (epoch milliseconds) a comparison can show it: one that differs
   * from the last is asked for anew. Returns when asking is due, in epoch milliseconds, which may be past.
   */
  want(target: string, reason: string, from?: number): number;
  /** When it was last asked and whether it could be. undefined: it was not, or there is no answer yet. */
  last(target: string): { at: Time; answer: RefreshOutcome } | undefined;
  /** Asks for those that are due; the others were asked for a moment ago. Returns at once. */
  ask(targets: readonly string[]): void;
}

interface Refreshes {
  /** `reason`: what it was asked for. */
  last: Map<string, { at: number; reason: string; answer?: RefreshOutcome }>;
  /** By target: what a refresh is wanted for now, and from when on it can show it. */
  reasons: Map<string, { reason: string; from: number }>;
  /** By control plane. */
  waiting: Map<string, Set<string>>;
  busy: Map<string, number>;
}

export function openRefresher(context: Pick<RepoContext, "planes" | "clock" | "log">): Refresher {
  const all: Refreshes = { last: new BoundedMap(MOST_KEPT), reasons: new BoundedMap(MOST_KEPT), waiting: new Map(), busy: new Map() };
  return {
    want(target, reason, from = 0) {
      all.reasons.set(target, { reason, from });
      return dueAt(all, target);
    },
    last(target) {
      const last = all.last.get(target);
      return last?.answer === undefined ? undefined : { at: iso(last.at), answer: last.answer };
    },
    ask: (targets) => askFor(context, all, targets),
  };
}

type Asker = Pick<RepoContext, "planes" | "clock" | "log">;

function dueAt({ last, reasons }: Refreshes, target: string): number {
  const before = last.get(target);
  const { reason, from } = reasons.get(target) ?? { reason: "", from: 0 };
  if (before === undefined) return from;
  if (before.answer === "unavailable") return before.at + UNAVAILABLE_AGAIN_MS;
  if (typeof before.answer === "object") return before.at + ASK_AGAIN_MS;
  return Math.max(from, before.at + (before.reason === reason ? ASK_AGAIN_MS : SOONEST_MS));
}

function askFor(context: Asker, all: Refreshes, targets: readonly string[]): void {
  const now = context.clock.now();
  for (const key of targets) {
    const plane = key.slice(0, key.indexOf("/"));
    if (context.planes.get(plane)?.state().fresh !== true) continue;
    if (now < dueAt(all, key)) continue;
    const answer = all.last.get(key)?.answer;
    const { reason } = all.reasons.get(key) ?? { reason: "" };
    all.last.set(key, { at: now, reason, ...(answer === undefined ? {} : { answer }) });
    const waiting = all.waiting.get(plane) ?? new Set<string>();
    all.waiting.set(plane, waiting.add(key));
  }
  for (const plane of all.waiting.keys()) startNext(context, all, plane);
}

function startNext(context: Asker, all: Refreshes, plane: string): void {
  const waiting = all.waiting.get(plane);
  while (waiting !== undefined && waiting.size > 0 && (all.busy.get(plane) ?? 0) < MOST_AT_ONCE) {
    const [key] = waiting;
    if (key === undefined) return;
    waiting.delete(key);
    all.busy.set(plane, (all.busy.get(plane) ?? 0) + 1);
    void ask(context, all, key).finally(() => {
      all.busy.set(plane, (all.busy.get(plane) ?? 1) - 1);
      startNext(context, all, plane);
    });
  }
}

async function ask({ planes, log }: Asker, { last }: Refreshes, key: string): Promise<void> {
  const [plane = "", namespace = "", name = ""] = key.split("/");
  let answer: RefreshOutcome;
  try {
    answer = (await planes.get(plane)?.refresh(namespace, name)) ?? "unavailable";
  } catch (error) {
    answer = { failed: error instanceof Error ? error.message : String(error) };
  }
  const known = last.get(key);
  if (known !== undefined) known.answer = answer;
  log.debug({ target: key, answer }, "asked Argo CD to compare again");
}
