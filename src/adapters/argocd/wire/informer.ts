/**
 * Keeps a projection of every object of one collection in memory: a list, then a watch, for ever.
 *
 * Properties: only the projection is kept; what was missed while the watch was down is caught up from the last
 * resourceVersion, or by a new list where the server cannot or no longer do that (410); a watch that stops without an end is
 * noticed by its silence; whoever asks can tell since when nothing can be concluded.
 * Events: put, gone, mark, end, error, silence. Each only moves `resourceVersion` on or clears it; the loop does the rest,
 * so that no two of them can race.
 */
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { reasonOf, statusOf, WireError } from "./http.ts";
import { createKept, type Kept } from "./kept.ts";
import { type InformerOptions, type SourceEvent, UNSETTLED_MS, type Versioned } from "./source.ts";

export interface Informer<View> {
  items(): ReadonlyMap<string, View>;
  /** Resolves after the first list; rejects where the server refuses it, or after `readyMs`. */
  ready(): Promise<void>;
  /** undefined: what is known is what there is. */
  problem(): { why: AnyReason; since: number } | undefined;
  /** Since when what is known has been what there is. */
  freshSince(): number;
  /**
   * What was read by its name, asked for at this time; undefined: it is not there. Taken over unless something newer, or nothing, is known.
   */
  offer(key: string, view: View | undefined, askedAt: number): void;
  close(): void;
}

interface Loop<View> {
  kept: Kept<View>;
  resourceVersion: string | undefined;
  listedAt: number | undefined;
  /** When to list again though the watch is well: of some that are not listed any more nobody knows why. */
  againAt: number | undefined;
  /** `watching`: the list was read, but its changes could not be. */
  lost: { why: AnyReason; since: number; refused: boolean; watching: boolean } | undefined;
  watching: boolean;
  freshSince: number;
  failures: number;
  /** The server has accepted the watch that is, or was last, open. */
  accepted: boolean;
  closed: boolean;
  stop: () => void;
  first: PromiseWithResolvers<void>;
}

export function startInformer<View extends Versioned>(options: InformerOptions<View>): Informer<View> {
  const { clock, tuning } = options;
  const { what } = options.source;
  const openedAt = clock.now();
  const loop: Loop<View> = {
    kept: createKept(),
    resourceVersion: undefined,
    listedAt: undefined,
    againAt: undefined,
    lost: undefined,
    watching: false,
    freshSince: openedAt,
    failures: 0,
    accepted: false,
    closed: false,
    stop: () => undefined,
    first: Promise.withResolvers(),
  };
  loop.first.promise.catch(() => undefined);
  void run(loop, options);
  return {
    items: loop.kept.items,
    ready: () => readyOf(loop, what, tuning.readyMs),
    problem() {
      const { lost } = loop;
      if (loop.listedAt === undefined) return lost ?? { why: reason("COLLECTION_UNLISTED", { what }), since: openedAt };
      if (lost === undefined || (!lost.refused && clock.now() - lost.since < tuning.staleMs)) return undefined;
      return lost;
    },
    freshSince: () => loop.freshSince,
    offer(key, view, askedAt) {
      if (loop.listedAt === undefined || loop.closed) return;
      if (loop.kept.offer(key, view, askedAt)) options.changed([key]);
    },
    close() {
      loop.closed = true;
      loop.stop();
      rejectReady(loop, reason("COLLECTION_CLOSED", { what }));
    },
  };
}

async function readyOf<View>(loop: Loop<View>, what: string, ms: number): Promise<void> {
  if (loop.listedAt !== undefined) return;
  if (loop.lost?.refused === true) throw new WireError(0, loop.lost.why);
  const silence = Promise.withResolvers<never>();
  const silent = reason("COLLECTION_SILENT", { what, seconds: Math.round(ms / 1000) });
  // The wall's seconds: however fast the world's clock runs, sockets do not.
  const patience = setTimeout(() => silence.reject(new WireError(0, loop.lost?.why ?? silent)), ms);
  await Promise.race([loop.first.promise, silence.promise]).finally(() => clearTimeout(patience));
}

/** Tells those who wait for the first list why there is none, and lets others wait. */
function rejectReady<View>(loop: Loop<View>, why: AnyReason): void {
  loop.first.reject(new WireError(0, why));
  loop.first = Promise.withResolvers();
  loop.first.promise.catch(() => undefined);
}

async function run<View extends Versioned>(loop: Loop<View>, options: InformerOptions<View>): Promise<void> {
  while (!loop.closed) {
    const begun = options.clock.now();
    try {
      if (loop.resourceVersion === undefined) await relist(loop, options);
      if (loop.closed) return;
      await watchOnce(loop, options);
      const due = Math.min((loop.listedAt ?? begun) + options.tuning.relistMs, loop.againAt ?? Number.POSITIVE_INFINITY);
      if (!options.source.resumes || options.clock.now() >= due) loop.resourceVersion = undefined;
      // A server that ends every watch at once must not be asked in a tight loop.
      loop.failures = options.clock.now() - begun < 1000 ? loop.failures + 1 : 0;
      if (loop.failures > 1 || !options.source.resumes) await pause(loop, options);
    } catch (error) {
      if (loop.closed) return;
      failed(loop, options, error);
      await pause(loop, options);
    }
  }
}

function failed<View extends Versioned>(loop: Loop<View>, options: InformerOptions<View>, error: unknown): void {
  const { source, clock, log, tuning } = options;
  const { what } = source;
  const status = statusOf(error);
  loop.failures += 1;
  if (!source.resumes) loop.resourceVersion = undefined;
  // 410: what came after this version is no longer known. Nothing is wrong, but all must be listed again.
  if (status === 410) {
    loop.resourceVersion = undefined;
    log.info({ what }, "the watch is too old: listing again");
    if (loop.failures === 1) return;
  }
  // The server had let us in, so asking again gets what was missed; a quiet one without bookmarks does this all the time.
  if (loop.accepted && error instanceof WireError && error.silent) {
    log.info({ what }, "the watch fell silent: asking again");
    loop.failures = 0;
    return;
  }
  if (status === 404 && source.optional === true) {
    // Not installed there: looked for again now and then.
    loop.failures = 20;
    return;
  }
  const advice = source.refusal(status);
  const refused = advice !== undefined || (error instanceof WireError && error.settled);
  // Whoever was kept out may have missed anything.
  if (refused || !(error instanceof WireError)) loop.resourceVersion = undefined;
  const because = reasonOf(error);
  const why = reason("COLLECTION_LOST", { what, because, advice });
  loop.lost = { why, since: loop.lost?.since ?? clock.now(), refused, watching: loop.watching };
  log.warn({ what, status, failures: loop.failures, reason: sentenceOf(because) }, "a list or watch of Argo CD's objects failed");
  if (refused || tuning.impatient === true) rejectReady(loop, why);
  options.freshness();
}

async function pause<View extends Versioned>(loop: Loop<View>, { clock, tuning }: InformerOptions<View>): Promise<void> {
  const ceiling = Math.min(250 * 2 ** Math.min(loop.failures, 20), tuning.maxBackoffMs);
  const wait = loop.failures <= 1 ? tuning.random() * 250 : ceiling * (0.5 + tuning.random() / 2);
  await new Promise<void>((resolve) => {
    const cancel = clock.after(wait, resolve);
    loop.stop = () => {
      cancel();
      resolve();
    };
  });
}

async function relist<View extends Versioned>(loop: Loop<View>, options: InformerOptions<View>): Promise<void> {
  loop.watching = false;
  const listed = await options.source.list(() => loop.closed);
  if (listed === undefined) return;
  const missing = new Map([...loop.kept.items()].filter(([key]) => !listed.items.has(key)));
  const left = missing.size === 0 ? undefined : await options.source.missed?.(missing, () => loop.closed);
  for (const [key, view] of left?.kept ?? []) listed.items.set(key, view);
  if (loop.closed) return;
  const changed = loop.kept.replace(listed.items);
  loop.resourceVersion = listed.resourceVersion;
  loop.listedAt = options.clock.now();
  loop.againAt = left?.unsettled === true ? loop.listedAt + UNSETTLED_MS : undefined;
  // Who may list but not watch knows what was, for a moment.
  if (loop.lost?.watching !== true || !loop.lost.refused) found(loop, options);
  options.changed(changed);
  loop.first.resolve();
}

function found<View extends Versioned>(loop: Loop<View>, { clock, freshness }: InformerOptions<View>): void {
  if (loop.lost === undefined) return;
  loop.freshSince = clock.now();
  loop.lost = undefined;
  freshness();
}

/** Resolves when the watch ends regularly, rejects with why it does not. */
function watchOnce<View extends Versioned>(loop: Loop<View>, options: InformerOptions<View>): Promise<void> {
  loop.accepted = false;
  loop.watching = true;
  return new Promise((resolve, reject) => {
    let over = false;
    let abort: () => void = () => undefined;
    const { againAt } = loop;
    const cancel = againAt === undefined ? abort : options.clock.after(Math.max(0, againAt - options.clock.now()), () => end());
    const end = (error?: unknown) => {
      if (over) return;
      over = true;
      cancel();
      abort();
      if (error === undefined || loop.closed) resolve();
      else reject(error);
    };
    loop.stop = () => end();
    const event = (seen: SourceEvent<View>) => {
      if (!over) apply(loop, options, seen);
    };
    options.source
      .watch(loop.resourceVersion ?? "0", { event, ended: end })
      .then((stop) => {
        abort = stop;
        if (over) return stop();
        loop.accepted = true;
        found(loop, options);
      })
      .catch(end);
  });
}

function apply<View extends Versioned>(loop: Loop<View>, options: InformerOptions<View>, event: SourceEvent<View>): void {
  loop.failures = 0;
  loop.resourceVersion = event.resourceVersion ?? loop.resourceVersion;
  if (event.kind === "mark") return;
  const changed = event.kind === "gone" ? loop.kept.remove(event.key, event.uid) : loop.kept.put(event.key, event.view);
  if (changed) options.changed([event.key]);
}
