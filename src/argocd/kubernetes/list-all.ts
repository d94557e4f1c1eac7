import type { Clock } from "../../rollout/time.ts";
import { child, fields, list, word } from "../lenient.ts";
import { type KubeClient, statusOf } from "./client.ts";

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface InformerOptions<View extends { resourceVersion: string }> {
  /** For messages: `applications`. */
  what: string;
  path: string;
  labelSelector?: string;
  client: KubeClient;
  clock: Clock;
  log: Log;
  /** undefined: not kept. Must not throw. */
  project: (raw: unknown, readAt: number) => View | undefined;
  /** Keys (`namespace/name`) that were added, changed or removed. */
  changed: (keys: Iterable<string>) => void;
  /** A resource that the server does not have (404) counts as an empty one. */
  optional?: boolean;
  tuning: Tuning;
}

/** Milliseconds, of the clock given; `silentMs` of the wall's. */
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
  random: () => number;
}

/** Every object of the collection, page by page, projected as it comes; undefined where it was closed meanwhile. */
export async function listAll<View extends { resourceVersion: string }>(
  options: InformerOptions<View>,
  isClosed: () => boolean,
): Promise<{ items: Map<string, View>; resourceVersion: string } | undefined> {
  const { client, clock, tuning, labelSelector } = options;
  const items = new Map<string, View>();
  let version: string | undefined;
  let next: string | undefined = "";
  while (next !== undefined) {
    if (isClosed()) return undefined;
    const query: Record<string, string> = { limit: String(tuning.pageSize) };
    if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
    if (next !== "") query["continue"] = next;
    const page = fields(await emptyIfAbsent(client.get(options.path, query), options.optional === true));
    for (const raw of list(page, "items")) {
      const key = keyOf(raw);
      const view = key === undefined ? undefined : options.project(raw, clock.now());
      if (key !== undefined && view !== undefined) items.set(key, view);
    }
    const metadata = child(page, "metadata");
    version = word(metadata, "resourceVersion") ?? version;
    next = word(metadata, "continue");
  }
  return isClosed() ? undefined : { items, resourceVersion: version ?? "0" };
}

/** `namespace/name`; undefined where there is no name. */
export function keyOf(raw: unknown): string | undefined {
  const metadata = child(fields(raw), "metadata");
  const name = word(metadata, "name");
  return name === undefined ? undefined : `${word(metadata, "namespace") ?? ""}/${name}`;
}

async function emptyIfAbsent(page: Promise<unknown>, optional: boolean): Promise<unknown> {
  if (!optional) return await page;
  return await page.catch((error: unknown) => {
    if (statusOf(error) === 404) return {};
    throw error;
  });
}

/** Keys of what was added, changed or removed. */
export function differing<View extends { resourceVersion: string }>(
  before: ReadonlyMap<string, View>,
  after: ReadonlyMap<string, View>,
): string[] {
  const keys: string[] = [];
  for (const [key, view] of after) if (before.get(key)?.resourceVersion !== view.resourceVersion) keys.push(key);
  for (const key of before.keys()) if (!after.has(key)) keys.push(key);
  return keys;
}
