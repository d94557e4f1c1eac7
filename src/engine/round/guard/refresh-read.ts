import type { RereadOutcome } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Words } from "../../../core/base/reason.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { RepoContext } from "../context.ts";

/**
 * Reading Applications anew by their names, where what a watch or stream has brought would settle something: a stream that dropped
 * the one event that matters looks like one on which nothing happened.
 *
 * Properties: one read of a target at a time, few at a time of one control plane; no round waits for an answer, which comes as a
 * change of the plane like any other; a read that failed says why, and is tried again a moment later.
 */

/** Of one control plane. */
const MOST_AT_ONCE = 8;
/** After one that failed. */
const AGAIN_MS = 2000;
const MOST_KEPT = 20_000;

interface Reads {
  /** By target: when one failed last, and why. */
  failed: Map<string, { at: number; why: Words }>;
  /** By control plane. */
  waiting: Map<string, Set<string>>;
  busy: Map<string, Set<string>>;
}

/** Reads one repo's targets by their names. */
export interface TargetReader {
  /** Reads the target soon. Returns at once, with why the last try failed, if it did. */
  readSoon(key: string): Words | undefined;
  /** Reads these now, few at a time, and no more once one could not be. Those that were not tried are left out. */
  readAll(keys: readonly string[]): Promise<Map<string, ReadNow>>;
}

type Reading = Pick<RepoContext, "planes" | "clock" | "log">;

export function openTargetReader(context: Reading): TargetReader {
  const reads: Reads = { failed: new BoundedMap(MOST_KEPT), waiting: new Map(), busy: new Map() };
  return { readSoon: (key) => readSoon(context, reads, key), readAll: (keys) => readAll(context, keys) };
}

function readSoon(context: Reading, reads: Reads, key: string): Words | undefined {
  const plane = key.slice(0, key.indexOf("/"));
  const failed = reads.failed.get(key);
  const isUnderWay = reads.busy.get(plane)?.has(key) === true;
  if (!isUnderWay && (failed === undefined || context.clock.now() - failed.at >= AGAIN_MS)) {
    const waiting = reads.waiting.get(plane) ?? new Set<string>();
    reads.waiting.set(plane, waiting.add(key));
    startNext(context, reads, plane);
  }
  return failed?.why;
}

function startNext(context: Reading, reads: Reads, plane: string): void {
  const waiting = reads.waiting.get(plane) ?? new Set<string>();
  const busy = reads.busy.get(plane) ?? new Set<string>();
  reads.busy.set(plane, busy);
  for (const key of waiting) {
    if (busy.size >= MOST_AT_ONCE) return;
    waiting.delete(key);
    busy.add(key);
    void readOne(context, reads, key).finally(() => {
      busy.delete(key);
      startNext(context, reads, plane);
    });
  }
}

async function readOne({ planes, clock, log }: Reading, reads: Reads, key: string): Promise<void> {
  const outcome = await readNow(planes, key);
  if (outcome.kind === "failed") {
    reads.failed.set(key, { at: clock.now(), why: outcome.why });
    log.warn({ target: key, reason: sentenceOf(outcome.why) }, "an Application could not be read anew");
  } else {
    reads.failed.delete(key);
    log.debug({ target: key, outcome: outcome.kind }, "an Application was read anew");
  }
}

/** One read of one target, whatever else is under way. Never rejects. */
async function readNow(planes: Reading["planes"], key: string): Promise<RereadOutcome> {
  const [plane = "", namespace = "", name = ""] = key.split("/");
  try {
    return (await planes.get(plane)?.reread(namespace, name)) ?? { kind: "failed", why: `there is no control plane ${plane}` };
  } catch (error) {
    return { kind: "failed", why: error instanceof Error ? error.message.slice(0, 300) : String(error) };
  }
}

/** When the read of one was begun, in epoch milliseconds, and why it failed. */
interface ReadNow {
  begunAt: number;
  failed?: Words;
}

async function readAll({ planes, clock }: Reading, keys: readonly string[]): Promise<Map<string, ReadNow>> {
  const queue = [...keys];
  const read = new Map<string, ReadNow>();
  let failed = false;
  async function work(): Promise<void> {
    for (let key = queue.shift(); key !== undefined && !failed; key = queue.shift()) {
      const begunAt = clock.now();
      const outcome = await readNow(planes, key);
      failed ||= outcome.kind === "failed";
      read.set(key, outcome.kind === "failed" ? { begunAt, failed: outcome.why } : { begunAt });
    }
  }
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, keys.length) }, work));
  return read;
}
