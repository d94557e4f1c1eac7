import type { RereadOutcome } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { errorText } from "../../../core/base/error-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { said } from "../../../core/reasons/run.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { RepoContext } from "../context.ts";
import { fewAtOnce, openLanes } from "../few-at-once.ts";

/**
 * Reading Applications anew by their names, where what a watch or stream has brought would settle something: a stream that dropped
 * the one event that matters looks like one on which nothing happened.
 *
 * Properties: one read of a target at a time, few at a time of one control plane; no round waits for an answer longer than a moment,
 * since it comes as a change of the plane like any other; a read that failed says why, and is tried again a moment later.
 */

/** Of one control plane. */
const MOST_AT_ONCE = 8;
/** After one that failed. */
const AGAIN_MS = 2000;
/** Most answers come within: a round more would cost as much. In the wall's time, as sockets are. */
const MOMENT_MS = 250;
const MOST_KEPT = 20_000;

/** Reads one repo's targets by their names. */
export interface TargetReader {
  /** Reads the target soon. Returns at once, with why the last try failed, if it did. */
  readSoon(key: string): AnyReason | undefined;
  /**
   * What is asked here waits a moment at most, all of it together, for those that are being read: one for each look at a run, however many
   * batches that has. False: of these none is, or some still are.
   */
  arriving(): (keys: readonly string[]) => Promise<boolean>;
  /** Reads these now, few at a time, and no more once one could not be. Those that were not tried are left out. */
  readAll(keys: readonly string[]): Promise<Map<string, ReadNow>>;
}

/** When the read of one was begun, in epoch milliseconds, and why it failed. */
interface ReadNow {
  begunAt: number;
  failed: AnyReason | undefined;
}

export function openTargetReader({ planes, clock, log }: Pick<RepoContext, "planes" | "clock" | "log">): TargetReader {
  /** By target: when one failed last, and why. */
  const failures = new BoundedMap<string, { at: number; why: AnyReason }>(MOST_KEPT);
  const lanes = openLanes(MOST_AT_ONCE, async (key) => {
    const outcome = await readNow(key);
    if (outcome.kind === "failed") {
      failures.set(key, { at: clock.now(), why: outcome.why });
      log.warn({ target: key, reason: sentenceOf(outcome.why) }, "an Application could not be read anew");
    } else {
      failures.delete(key);
      log.debug({ target: key, outcome: outcome.kind }, "an Application was read anew");
    }
  });

  /** One read of one target, whatever else is under way. Never rejects. */
  async function readNow(key: string): Promise<RereadOutcome> {
    const [plane = "", namespace = "", name = ""] = key.split("/");
    try {
      return (await planes.get(plane)?.reread(namespace, name)) ?? { kind: "failed", why: engineReason("PLANE_MISSING", { plane }) };
    } catch (error) {
      return { kind: "failed", why: said(errorText(error).slice(0, 300)) };
    }
  }

  return {
    readSoon(key) {
      const failed = failures.get(key);
      if (!lanes.isBusy(key) && (failed === undefined || clock.now() - failed.at >= AGAIN_MS)) lanes.add(key);
      return failed?.why;
    },
    arriving() {
      let left = MOMENT_MS;
      return async (keys) => {
        for (let waited = false; ; waited = true) {
          const underWay = keys.flatMap((key) => lanes.underWay(key) ?? []);
          if (underWay.length === 0) return waited;
          if (left <= 0) return false;
          const since = performance.now();
          await within(left, underWay);
          left -= performance.now() - since;
        }
      };
    },
    async readAll(keys) {
      const read = new Map<string, ReadNow>();
      let hasFailed = false;
      await fewAtOnce(keys, MOST_AT_ONCE, async (key) => {
        if (hasFailed) return;
        const begunAt = clock.now();
        const outcome = await readNow(key);
        hasFailed ||= outcome.kind === "failed";
        read.set(key, { begunAt, failed: outcome.kind === "failed" ? outcome.why : undefined });
      });
      return read;
    },
  };
}

/** Waits for these, and no longer than so many of the wall's milliseconds. */
async function within(ms: number, work: readonly Promise<void>[]): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([Promise.all(work), late.promise]);
  clearTimeout(timer);
}
