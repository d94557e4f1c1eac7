import { ASKER_HEADER } from "../../../core/base/asker.ts";
import { defined } from "../../../core/base/defined.ts";
import { type OctokitLike, repositoryIn } from "./octokit.ts";
import { isAppsOwn } from "./pressure.ts";
import type { WritePacer } from "./write-pacer.ts";

/** A merge that cannot be sent as soon is not sent: by then its journalled intention may be over before GitHub's answer. */
const SENT_WITHIN_MS = 4_000;
/** From when it is sent on; then it is given up by us, and by GitHub. */
const ANSWERED_WITHIN_MS = 10_000;

/** A way to GitHub past what else the installation has to send. */
export interface MergeClient {
  octokit: OctokitLike;
  /** Options of one call: it is sent within 4 s or not at all, and cut off 10 s after it was sent. */
  soon(): { retries: 0; sendBy: number };
}

/** A pacer of octokit/plugin-throttling, as far as the plugin uses it. */
interface Limiter {
  key(id: string): { schedule<T>(options: unknown, send: () => T): Promise<T> };
}

interface Factory {
  octokit: { constructor: new (options: object) => OctokitLike };
  octokitOptions: { auth?: object; throttle?: { id?: string; enabled?: boolean } };
  /** Of tokens. */
  cache?: unknown;
  installationId?: number;
}

/** Held up by nothing. */
const OPEN: Limiter = { key: () => ({ schedule: async (_options, send) => send() }) };

interface Sent {
  method?: unknown;
  url?: unknown;
  query?: unknown;
  owner?: unknown;
  repo?: unknown;
  headers?: Record<string, string | number | undefined>;
  request?: { sendBy?: unknown; fetch?: unknown };
}

/** What only asks. GitHub wants a second between writes, and a GraphQL document without a mutation is none. */
function isRead({ method, url, query }: Sent): boolean {
  if (method === "GET" || method === "HEAD") return true;
  return /\/graphql$/.test(String(url)) && typeof query === "string" && /^\s*query\b/.test(query);
}

type Paced<S, R, G, T> = (state: S, request: (given: G) => R, given: G) => T;

/**
 * Where octokit/plugin-throttling begins with a request, for all Octokits of an App. It would have questions of GraphQL stand behind writes, a
 * second each, and a repository's five hundred writes before another's first: here each repository has one in the installation's line, and one
 * that notifies.
 */
export function writeLanes() {
  /** The last of each repository to come: resolves once it is sent. */
  const lanes = new Map<string, Promise<void>>();
  return {
    async schedule<S extends LaneState, R, G extends Sent, T>(paced: Paced<S, R, G, T>, state: S, request: (given: G) => R, given: G) {
      if (isRead(given)) return given.method === "POST" ? request(given) : paced(state, request, given);
      const lane = laneOf(state, given);
      // What has a time to be sent by is not held up; nor is what is the App's own.
      if (lane === undefined) return paced(state, request, given);
      const { promise: sent, resolve: leave } = Promise.withResolvers<void>();
      const before = lanes.get(lane);
      lanes.set(lane, sent);
      await before;
      const send = (now: G): R => {
        leave();
        return request(now);
      };
      try {
        return await paced(state, send, given);
      } finally {
        leave();
        if (lanes.get(lane) === sent) lanes.delete(lane);
      }
    },
    /** It repeats nothing. */
    on: () => undefined,
  };
}

interface LaneState {
  id?: string;
  triggersNotification?(path: string): boolean;
}

function laneOf({ id, triggersNotification }: LaneState, { url, headers, owner, repo, request }: Sent): string | undefined {
  const address = String(url);
  if (isAppsOwn(address) || request?.sendBy !== undefined) return undefined;
  const repository = repositoryIn({ url: address, owner, repo }) ?? String(headers?.[ASKER_HEADER] ?? "");
  const { pathname } = new URL(address, "http://github.invalid");
  return `${id} ${triggersNotification?.(pathname) === true} ${repository.toLowerCase()}`;
}

/**
 * A second Octokit of the installation for what must not stand behind its other writes: octokit/plugin-throttling sends them
 * one a second, those that notify one in three, first come first served, and checks of a large fleet keep it busy for
 * minutes. It has no such lanes; the writes of both meet in `pacer`, so that GitHub still sees one a second. undefined: there
 * is nothing to get past, or this Octokit is not an App's.
 */
async function secondOctokit(octokit: OctokitLike, pacer: WritePacer): Promise<OctokitLike | undefined> {
  const factory = ({ octokit: first, octokitOptions, cache, installationId }: Factory) => {
    const { throttle, auth } = octokitOptions;
    if (throttle?.enabled !== true) return undefined;
    pacer.pace();
    return new first.constructor({
      ...octokitOptions,
      auth: defined({ ...auth, cache, installationId }),
      throttle: { ...throttle, id: `${throttle.id ?? "installation"}-merges`, write: OPEN, notifications: OPEN },
    });
  };
  const made = (await octokit.auth({ type: "installation", factory })) as Partial<OctokitLike> | undefined;
  return typeof made?.hook?.wrap === "function" ? (made as OctokitLike) : undefined;
}

/** Has an Octokit's writes stand in line right before they are sent; added last, so that whatever repeats one stands in line again. */
export function standInLine(octokit: OctokitLike, pacer: WritePacer, answeredWithinMs = ANSWERED_WITHIN_MS): void {
  octokit.hook.wrap("request", (request, given) => {
    if (isRead(given) || isAppsOwn(String(given.url))) return request(given);
    const send = given.request?.fetch ?? fetch;
    const by = given.request?.["sendBy"] as number | undefined;
    // Set in place: hooks further in are bound to this very object. Its `request` may be that of all calls, and stays.
    given.request = {
      ...given.request,
      async fetch(url: string, init: RequestInit) {
        if (!(await pacer.turn(by)))
          throw new Error(`not sent: other merges of the installation go first; given up after ${SENT_WITHIN_MS / 1000}s`);
        return send(url, by === undefined ? init : { ...init, signal: AbortSignal.timeout(answeredWithinMs) });
      },
    };
    return request(given);
  });
}

/** Where no second Octokit can be had merges go with everything else, and still in time or not at all. */
export async function openMergeClient(
  octokit: OctokitLike,
  pacer: WritePacer,
  prepare: (second: OctokitLike) => void,
): Promise<MergeClient> {
  const second = await secondOctokit(octokit, pacer).catch(() => undefined);
  if (second !== undefined) prepare(second);
  return { octokit: second ?? octokit, soon: () => ({ retries: 0, sendBy: pacer.now() + SENT_WITHIN_MS }) };
}
