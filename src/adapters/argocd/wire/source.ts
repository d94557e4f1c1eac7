/**
 * What an informer and the source of its objects agree on. Each adapter has a source of its own; there is one informer.
 */
import { child, fields, word } from "../../../core/argocd/decode/lenient.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import type { Clock, Time } from "../../../core/base/time.ts";

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What of an object every informer needs. */
export interface Versioned {
  resourceVersion: string;
  uid?: string;
  /** Of Applications: see the port. */
  readAt?: Time;
  askedAt?: Time;
  clusterAnswer?: ApplicationView["clusterAnswer"];
  unreadable?: AnyReason;
}

export type SourceEvent<View> =
  /** `resourceVersion`: from where a watch may go on; absent: it was read otherwise. */
  | { kind: "put"; key: string; view: View; resourceVersion?: string }
  /** `uid`: of the one that is gone; absent: whichever is known. */
  | { kind: "gone"; key: string; uid?: string; resourceVersion?: string }
  /** Nothing changed up to this version. */
  | { kind: "mark"; resourceVersion: string };

export interface Listed<View> {
  items: Map<string, View>;
  resourceVersion: string;
}

export interface Missed<View> {
  /** What is to be kept all the same, since it may not be gone. */
  kept: ReadonlyMap<string, View>;
  /** Of some of it nobody knows yet why it is not listed: it is worth listing and asking again soon. */
  unsettled: boolean;
}

/** Who takes the changes of a collection. `ended` is called once, with the reason where it is not a regular end. */
export interface Handlers<View> {
  event(event: SourceEvent<View>): void;
  ended(error?: unknown): void;
}

/** Where the objects of one collection come from. Rejections are WireErrors. */
export interface Source<View> {
  /** For messages: `applications`. */
  what: string;
  /** Everything there is; undefined where `isClosed` meanwhile. */
  list(isClosed: () => boolean): Promise<Listed<View> | undefined>;
  /** Of those that are known and not in a new list. Takes a bounded time, as nothing is taken from the list meanwhile. Never rejects. */
  missed?(missing: ReadonlyMap<string, View>, isClosed: () => boolean): Promise<Missed<View>>;
  /**
   * Changes since `from`. Resolves once the server has accepted it, with how to end it. Its end and ours are regular ones.
   */
  watch(from: string, on: Handlers<View>): Promise<() => void>;
  /** A watch that ended can go on from the last version; if not, everything is listed again. */
  resumes: boolean;
  /** What to do about an answer that will not change by asking again soon; undefined: it may. */
  refusal(status: number): AnyReason | undefined;
  /** A collection that the server does not have (404) counts as an empty one. */
  optional?: boolean;
}

/** Milliseconds, of the clock given; `silentMs` and `readyMs` of the wall's. */
export interface Tuning {
  pageSize: number;
  silentMs: number;
  /** A watch is asked to end after this, plus up to a tenth. */
  watchMs: number;
  /** Everything is listed again after this, when a watch ends. */
  relistMs: number;
  /** How long a lost connection may take to come back before nothing may be concluded. */
  staleMs: number;
  maxBackoffMs: number;
  /** How long the first list may take, of the wall. */
  readyMs: number;
  /** Whoever waits for the first list asks once: the first failure is told, instead of what comes of trying again until `readyMs`. */
  impatient?: boolean;
  random: () => number;
}

export interface InformerOptions<View extends Versioned> {
  source: Source<View>;
  clock: Clock;
  log: Log;
  /** Keys (`namespace/name`) that were added, changed or removed. */
  changed: (keys: Iterable<string>) => void;
  /** What is known became, or is no longer, what there is. */
  freshness: () => void;
  tuning: Tuning;
}

/** How long one answer to a list may take. */
export const LIST_TOTAL_MS = 600_000;
/** How soon all is listed again where nobody knows why some is not there any more. */
export const UNSETTLED_MS = 60_000;

/** `namespace/name`; undefined where there is no name. */
export function keyOf(raw: unknown): string | undefined {
  const metadata = child(fields(raw), "metadata");
  const name = word(metadata, "name");
  return name === undefined ? undefined : `${word(metadata, "namespace") ?? ""}/${name}`;
}

export function resourceVersionOf(object: unknown): string | undefined {
  return word(child(fields(object), "metadata"), "resourceVersion");
}
