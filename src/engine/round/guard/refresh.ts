import type { RefreshOutcome } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { iso, type Time } from "../../../core/base/time.ts";
import { said } from "../../../core/reasons/run.ts";
import { planeOf } from "../../../core/run/targets/unseen.ts";
import type { RepoContext } from "../context.ts";
import { openLanes } from "../few-at-once.ts";

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
  /** When it was last asked (for this reason, if one is given) and whether it could be. undefined: it was not, or there is no answer yet. */
  last(target: string, reason?: string): { at: Time; answer: RefreshOutcome } | undefined;
  /** Asks for those that are due; the others were asked for a moment ago. Returns at once. */
  ask(targets: readonly string[]): void;
}

/** The key of an ApplicationSet among those that are asked for, which may have the name of an Application. */
export function setKey(key: string): string {
  return `${key}/${SET}`;
}

const SET = "applicationset";

export function openRefresher({ planes, clock, log }: Pick<RepoContext, "planes" | "clock" | "log">): Refresher {
  /** By target: what a refresh is wanted for now, and from when on it can show it. */
  const wanted = new BoundedMap<string, { reason: string; from: number }>(MOST_KEPT);
  /** `reason`: what it was asked for. */
  const asked = new BoundedMap<string, { at: number; reason: string; answer: RefreshOutcome | undefined }>(MOST_KEPT);
  const lanes = openLanes(MOST_AT_ONCE, askOne);

  function dueAt(target: string): number {
    const before = asked.get(target);
    const { reason, from } = wanted.get(target) ?? { reason: "", from: 0 };
    if (before === undefined) return from;
    if (before.answer === "unavailable") return before.at + UNAVAILABLE_AGAIN_MS;
    if (typeof before.answer === "object") return before.at + ASK_AGAIN_MS;
    return Math.max(from, before.at + (before.reason === reason ? ASK_AGAIN_MS : SOONEST_MS));
  }

  async function askOne(key: string): Promise<void> {
    const [planeName = "", namespace = "", name = "", what] = key.split("/");
    const plane = planes.get(planeName);
    let answer: RefreshOutcome;
    try {
      answer = (await (what === SET ? plane?.refreshSet?.(namespace, name) : plane?.refresh?.(namespace, name))) ?? "unavailable";
    } catch (error) {
      answer = { failed: said(errorText(error)) };
    }
    const known = asked.get(key);
    if (known !== undefined) known.answer = answer;
    log.debug({ target: key, answer }, "asked Argo CD to compare again");
  }

  return {
    want(target, reason, from = 0) {
      wanted.set(target, { reason, from });
      return dueAt(target);
    },
    last(target, reason) {
      const last = asked.get(target);
      if (last?.answer === undefined || (reason !== undefined && last.reason !== reason)) return undefined;
      return { at: iso(last.at), answer: last.answer };
    },
    ask(targets) {
      const now = clock.now();
      for (const key of targets) {
        if (planes.get(planeOf(key))?.state().fresh !== true || now < dueAt(key)) continue;
        const reason = wanted.get(key)?.reason ?? "";
        const before = asked.get(key);
        // What came of asking for something else says nothing of this.
        asked.set(key, { at: now, reason, answer: before?.reason === reason ? before.answer : undefined });
        lanes.add(key);
      }
    },
  };
}
