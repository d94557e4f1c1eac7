/**
 * Keeps a projection of every object of one collection in memory: a paged list, then a watch, for ever.
 *
 * Properties: only the projection is kept; what was missed while the watch was down is caught up from the last
 * resourceVersion, or by a new list where the server no longer knows it (410); a watch that stops without an end is noticed
 * by its silence, since bookmarks come about every minute; whoever asks can tell since when nothing can be concluded.
 * Events: page, watch event, end, error, silence. Each only moves `resourceVersion` on or clears it; the loop does the rest,
 * so that no two of them can race.
 */
import { codeOf, reasonOf, resourceVersionOf, statusOf } from "./client.ts";
import { differing, type InformerOptions, keyOf, listAll } from "./list-all.ts";

export interface Informer<View> {
  items(): ReadonlyMap<string, View>;
  /** Resolves after the first list; rejects where the server refuses it, or after 30 s. */
  ready(): Promise<void>;
  /** undefined: what is known is what there is. */
  problem(): { why: string; since: number } | undefined;
  close(): void;
}

/** An answer that does not change by asking again soon. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 404]);

interface Loop<View> {
  items: Map<string, View>;
  resourceVersion: string | undefined;
  listedAt: number | undefined;
  lost: { why: string; since: number; refused: boolean } | undefined;
  failures: number;
  /** The server has accepted the watch that is, or was last, open. */
  accepted: boolean;
  closed: boolean;
  stop: () => void;
  waiters: Set<{ resolve: () => void; reject: (error: Error) => void }>;
}

export function startInformer<View extends { resourceVersion: string }>(options: InformerOptions<View>): Informer<View> {
  const { clock, what, tuning } = options;
  const openedAt = clock.now();
  const loop: Loop<View> = {
    items: new Map(),
    resourceVersion: undefined,
    listedAt: undefined,
    lost: undefined,
    failures: 0,
    accepted: false,
    closed: false,
    stop: () => undefined,
    waiters: new Set(),
  };
  void run(loop, options);
  return {
    items: () => loop.items,
    ready: () => readyOf(loop, what),
    problem() {
      const { lost } = loop;
      if (loop.listedAt === undefined) return { why: lost?.why ?? `${what}: not listed yet`, since: lost?.since ?? openedAt };
      if (lost === undefined || (!lost.refused && clock.now() - lost.since < tuning.staleMs)) return undefined;
      return lost;
    },
    close() {
      loop.closed = true;
      loop.stop();
      settle(loop, (waiter) => waiter.reject(new Error(`${what}: closed`)));
    },
  };
}

function readyOf<View>(loop: Loop<View>, what: string): Promise<void> {
  if (loop.listedAt !== undefined) return Promise.resolve();
  if (loop.lost?.refused === true) return Promise.reject(new Error(loop.lost.why));
  return new Promise((resolve, reject) => {
    const waiter = { resolve: () => done(resolve), reject: (error: Error) => done(() => reject(error)) };
    // The wall's seconds: however fast the world's clock runs, sockets do not.
    const patience = setTimeout(() => waiter.reject(new Error(loop.lost?.why ?? `${what}: no answer in 30s`)), 30_000);
    const done = (then: () => void) => {
      clearTimeout(patience);
      loop.waiters.delete(waiter);
      then();
    };
    loop.waiters.add(waiter);
  });
}

function settle<View>(loop: Loop<View>, how: (waiter: { resolve: () => void; reject: (error: Error) => void }) => void): void {
  for (const waiter of [...loop.waiters]) how(waiter);
}

async function run<View extends { resourceVersion: string }>(loop: Loop<View>, options: InformerOptions<View>): Promise<void> {
  while (!loop.closed) {
    const begun = options.clock.now();
    try {
      if (loop.resourceVersion === undefined) await relist(loop, options);
      if (loop.closed) return;
      await watchOnce(loop, options);
      const due = (loop.listedAt ?? begun) + options.tuning.relistMs;
      if (options.clock.now() >= due) loop.resourceVersion = undefined;
      // A server that ends every watch at once must not be asked in a tight loop.
      loop.failures = options.clock.now() - begun < 1000 ? loop.failures + 1 : 0;
      if (loop.failures > 1) await pause(loop, options);
    } catch (error) {
      if (loop.closed) return;
      failed(loop, options, error);
      await pause(loop, options);
    }
  }
}

function failed<View extends { resourceVersion: string }>(loop: Loop<View>, options: InformerOptions<View>, error: unknown): void {
  const { what, clock, log } = options;
  const status = statusOf(error);
  loop.failures += 1;
  // 410: what came after this version is no longer known. Nothing is wrong, but all must be listed again.
  if (status === 410) loop.resourceVersion = undefined;
  if (status === 410) {
    log.info({ what }, "the watch is too old: listing again");
    if (loop.failures === 1) return;
  }
  // The server had let us in, so asking again gets what was missed; a quiet one without bookmarks does this all the time.
  if (loop.accepted && error instanceof Error && error.name === "TimeoutError") {
    log.info({ what }, "the watch fell silent: asking again");
    loop.failures = 0;
    return;
  }
  if (status === 404 && options.optional === true) {
    // Not installed there: looked for again now and then.
    loop.failures = 20;
    return;
  }
  const refused = REFUSED.has(status);
  if (refused) loop.resourceVersion = undefined;
  const why = `${what}: ${refused ? refusal(status, reasonOf(error), options.path) : reasonOf(error)}`;
  loop.lost = { why, since: loop.lost?.since ?? clock.now(), refused };
  log.warn({ what, status, failures: loop.failures, reason: reasonOf(error) }, "a list or watch of Argo CD's objects failed");
  if (refused) settle(loop, (waiter) => waiter.reject(new Error(why)));
}

function refusal(status: number, reason: string, path: string): string {
  if (status === 404) return `${reason}; ${path} is not there: is Argo CD installed in this cluster?`;
  if (status === 401) return `${reason}; the kubeconfig's credentials are not accepted`;
  return `${reason}; grant get, list and watch on it`;
}

async function pause<View extends { resourceVersion: string }>(loop: Loop<View>, { clock, tuning }: InformerOptions<View>): Promise<void> {
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

async function relist<View extends { resourceVersion: string }>(loop: Loop<View>, options: InformerOptions<View>): Promise<void> {
  const listed = await listAll(options, () => loop.closed);
  if (listed === undefined) return;
  const changed = differing(loop.items, listed.items);
  loop.items = listed.items;
  loop.resourceVersion = listed.resourceVersion;
  loop.listedAt = options.clock.now();
  loop.lost = undefined;
  options.changed(changed);
  settle(loop, (waiter) => waiter.resolve());
}

/** Resolves when the watch ends regularly, rejects with why it does not. */
function watchOnce<View extends { resourceVersion: string }>(loop: Loop<View>, options: InformerOptions<View>): Promise<void> {
  const { client, tuning, labelSelector } = options;
  const query: Record<string, string> = {
    resourceVersion: loop.resourceVersion ?? "0",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(Math.max(1, Math.round((tuning.watchMs * (1 + tuning.random() / 10)) / 1000))),
  };
  if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
  loop.accepted = false;
  return new Promise((resolve, reject) => {
    let over = false;
    let abort: () => void = () => undefined;
    const end = (error?: unknown) => {
      if (over) return;
      over = true;
      abort();
      if (error === undefined || loop.closed) resolve();
      else reject(error);
    };
    loop.stop = () => end();
    const event = (type: string, object: unknown) => {
      if (over) return;
      if (type === "ERROR") return end(errorOf(object));
      apply(loop, options, type, object);
    };
    client.watch(options.path, query, { event, ended: end }, tuning.silentMs).then((stop) => {
      abort = stop;
      if (over) return stop();
      loop.accepted = true;
      loop.lost = undefined;
    }, end);
  });
}

function errorOf(status: unknown): Error {
  const { code, message } = codeOf(status);
  return Object.assign(new Error(message), { statusCode: code });
}

function apply<View extends { resourceVersion: string }>(
  loop: Loop<View>,
  options: InformerOptions<View>,
  type: string,
  object: unknown,
): void {
  loop.failures = 0;
  loop.resourceVersion = resourceVersionOf(object) ?? loop.resourceVersion;
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return;
  const key = keyOf(object);
  if (key === undefined) return;
  // What no longer makes sense is no longer known.
  const view = type === "DELETED" ? undefined : options.project(object, options.clock.now());
  if (view === undefined) loop.items.delete(key);
  else loop.items.set(key, view);
  options.changed([key]);
}
