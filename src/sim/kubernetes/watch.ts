import type { ServerResponse } from "node:http";
import { defined } from "../../core/base/defined.ts";
import type { Clock } from "../../core/base/time.ts";
import { ApiError, badRequest, statusBody } from "./api-error.ts";
import { askedRevision, matcherOf } from "./list.ts";
import type { Matcher } from "./selectors.ts";
import type { Store } from "./store.ts";
import { apiVersionOf, type KubeObject, type Resource, type StoreEvent } from "./types.ts";

const BOOKMARK_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;

export interface WatchHub {
  /** Streams changes to `response` until the client goes, the time is up, or `drop`. */
  open(resource: Resource, namespace: string, query: URLSearchParams, response: ServerResponse): void;
  /** Cuts every open watch in the middle of the connection. */
  drop(): void;
  /** While silent, open watches stay open and say nothing; what they missed never comes, as behind a broken proxy. */
  silence(silent: boolean): void;
  /** Changes of which this holds are never told by an open watch, and everything else is; null: all are told. */
  lose(which: ((object: KubeObject) => boolean) | null): void;
  /** Sends every open watch the ERROR event of an expired resourceVersion and ends it. */
  expire(): void;
  size(): number;
}

/** Text of one object, made once for all the watches it goes to. */
const texts = new WeakMap<KubeObject, string>();

export function textOf(object: KubeObject): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify(object);
  texts.set(object, text);
  return text;
}

/** What a change is to one with this selector: an object that stops matching is gone for it, one that begins to is new. */
function seen({ type, object, previous }: StoreEvent, matches: Matcher): StoreEvent["type"] | undefined {
  const before = previous !== undefined && matches(previous);
  if (type === "DELETED") return before ? "DELETED" : undefined;
  if (!matches(object)) return before ? "DELETED" : undefined;
  return before ? "MODIFIED" : "ADDED";
}

/** One that is gone, or left the selector, is shown as it last was, at the version of the change. */
function lastMatching({ object, previous }: StoreEvent): KubeObject {
  if (previous === undefined || previous === object) return object;
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: object.metadata.resourceVersion ?? "" } };
}

function initial(
  store: Store,
  resource: Resource,
  namespace: string,
  query: URLSearchParams,
): { objects: KubeObject[]; after: number; announce: boolean } {
  const announce = query.get("sendInitialEvents") === "true";
  if (announce && query.get("resourceVersionMatch") !== "NotOlderThan") {
    throw new ApiError(422, "Invalid", "sendInitialEvents needs resourceVersionMatch=NotOlderThan");
  }
  const asked = askedRevision(query, store.revision());
  const wanted = announce || ((asked ?? 0) === 0 && query.get("sendInitialEvents") !== "false");
  const objects = wanted ? store.list(resource.plural, namespace).filter(matcherOf(query, namespace)) : [];
  return { objects, after: wanted ? store.revision() : (asked ?? store.revision()), announce };
}

function timeoutOf(query: URLSearchParams): number {
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  if (!(seconds >= 0)) throw badRequest("timeoutSeconds is a number of seconds");
  return seconds === 0 ? DEFAULT_TIMEOUT_MS : seconds * 1000;
}

export function createWatchHub(store: Store, clock: Clock): WatchHub {
  const hub: Hub = { store, clock, open: new Map(), silent: false, isLost: () => false };
  return {
    open: (resource, namespace, query, response) => openWatch(hub, resource, namespace, query, response),
    drop() {
      for (const [response] of [...hub.open]) response.destroy();
    },
    silence(value) {
      hub.silent = value;
    },
    lose(which) {
      hub.isLost = which ?? (() => false);
    },
    expire() {
      for (const { fail } of [...hub.open.values()]) fail(new ApiError(410, "Expired", `too old resource version: ${store.revision()}`));
    },
    size: () => hub.open.size,
  };
}

/** The open watches, and what they keep silent about. */
interface Hub {
  store: Store;
  clock: Clock;
  open: Map<ServerResponse, { end: () => void; fail: (error: ApiError) => void }>;
  silent: boolean;
  isLost: (object: KubeObject) => boolean;
}

/** What one watch says to its client. */
function createSpeaker(hub: Hub, resource: Resource, matches: Matcher, response: ServerResponse) {
  const say = (type: string, text: string): void => {
    if (!hub.silent) response.write(`{"type":"${type}","object":${text}}\n`);
  };
  return {
    say,
    bookmark(annotations?: Record<string, string>): void {
      const metadata = defined({ resourceVersion: String(hub.store.revision()), creationTimestamp: null, annotations });
      say("BOOKMARK", JSON.stringify({ kind: resource.kind, apiVersion: apiVersionOf(resource), metadata }));
    },
    onEvent(event: StoreEvent): void {
      const type = seen(event, matches);
      if (type !== undefined) say(type, type === "DELETED" ? textOf(lastMatching(event)) : textOf(event.object));
    },
  };
}

function openWatch(hub: Hub, resource: Resource, namespace: string, query: URLSearchParams, response: ServerResponse): void {
  const { store, clock } = hub;
  const matches = matcherOf(query, namespace);
  const timeout = timeoutOf(query);
  const start = initial(store, resource, namespace, query);
  const { say, bookmark, onEvent } = createSpeaker(hub, resource, matches, response);
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.flushHeaders();
  const calls: (() => void)[] = [];
  const end = () => {
    for (const call of calls) call();
    hub.open.delete(response);
    response.end();
  };
  const fail = (error: ApiError) => {
    say("ERROR", JSON.stringify(statusBody(error)));
    end();
  };
  hub.open.set(response, { end, fail });
  response.on("close", end);
  try {
    for (const object of start.objects) say("ADDED", textOf(object));
    if (start.announce) bookmark({ "k8s.io/initial-events-end": "true" });
    for (const event of store.since(resource.plural, start.after)) onEvent(event);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    fail(error);
    return;
  }
  const onLaterEvent = (event: StoreEvent) => {
    if (!hub.isLost(event.object)) onEvent(event);
  };
  calls.push(store.subscribe(resource.plural, onLaterEvent), clock.after(timeout, end));
  if (query.get("allowWatchBookmarks") === "true") calls.push(every(clock, BOOKMARK_MS, bookmark));
}

function every(clock: Clock, ms: number, action: () => void): () => void {
  let stop = clock.after(ms, tick);
  function tick(): void {
    action();
    stop = clock.after(ms, tick);
  }
  return () => stop();
}
