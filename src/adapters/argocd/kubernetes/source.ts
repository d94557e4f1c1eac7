/**
 * A collection of the Kubernetes API: pages of a list, and a watch with bookmarks.
 */
import { child, fields, own, word } from "../../../core/argocd/decode/lenient.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { type CollectionOptions, createChanges, createListing, type Envelope, type Tell } from "../wire/collection.ts";
import { type Exchange, statusOf } from "../wire/http.ts";
import { withholdingLog } from "../wire/object.ts";
import type { Handlers, Listed, Source, Versioned } from "../wire/source.ts";
import type { createListSplitter } from "../wire/split.ts";
import type { KubeClient } from "./client.ts";

export interface KubeSourceOptions<View extends Versioned> extends CollectionOptions<View> {
  client: KubeClient;
  /** `applications.argoproj.io`, as a Role names it. */
  resource: string;
  path: string;
  namespace: string | undefined;
  labelSelector?: string;
  optional?: boolean;
}

/** Silence in the middle of a page. */
const PAGE_IDLE_MS = 30_000;

const ENVELOPE: Envelope = {
  // An ERROR event holds a Status instead of an object: what it says must get through, whatever the shape keeps.
  whole: (ofObject) => ({ object: { ...ofObject, code: true, message: true } }),
  part: (ofObject) => ({ "*": false, type: true, object: ofObject }),
  change: (event) => ({ type: word(event, "type"), object: own(event, "object") }),
  refusal: (event) => (own(event, "type") === "ERROR" ? fields(own(event, "object")) : undefined),
};

export function kubeSource<View extends Versioned>(options: KubeSourceOptions<View>): Source<View> {
  const { what, optional } = options;
  const tell = withholdingLog(options.log, what);
  return {
    what,
    resumes: true,
    optional: optional === true,
    list: (isClosed) => listAll(options, tell, isClosed),
    watch: (from, on) => watch(options, tell, from, on),
    refusal: (status) => refusal(status, options),
  };
}

/** Reads every object of the collection, page by page; undefined where it was closed meanwhile. */
async function listAll<View extends Versioned>(
  options: KubeSourceOptions<View>,
  tell: Tell,
  isClosed: () => boolean,
): Promise<Listed<View> | undefined> {
  const listing = createListing(options, tell);
  let version: string | undefined;
  let next: string | undefined = "";
  while (next !== undefined) {
    if (isClosed()) return undefined;
    const metadata = child(fields(await readPage(options, next, listing.page())), "metadata");
    version = word(metadata, "resourceVersion") ?? version;
    next = word(metadata, "continue");
  }
  return isClosed() ? undefined : { items: listing.items, resourceVersion: version ?? "0" };
}

/** The page without its items. */
async function readPage<View extends Versioned>(
  { client, tuning, path, labelSelector, optional }: KubeSourceOptions<View>,
  from: string,
  page: ReturnType<typeof createListSplitter>,
): Promise<unknown> {
  const query: Record<string, string> = { limit: String(tuning.pageSize) };
  if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
  if (from !== "") query["continue"] = from;
  try {
    const { done } = await client.read(path, query, { chunk: page.push }, PAGE_IDLE_MS);
    await done;
  } catch (error) {
    if (optional === true && statusOf(error) === 404) return {};
    throw error;
  }
  page.end();
  return page.envelope();
}

async function watch<View extends Versioned>(
  options: KubeSourceOptions<View>,
  tell: Tell,
  from: string,
  on: Handlers<View>,
): Promise<() => void> {
  const { client, tuning, path, labelSelector } = options;
  const query: Record<string, string> = {
    watch: "true",
    resourceVersion: from,
    allowWatchBookmarks: "true",
    timeoutSeconds: String(Math.max(1, Math.round((tuning.watchMs * (1 + tuning.random() / 10)) / 1000))),
  };
  if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
  const changes = createChanges(options, ENVELOPE, tell, (event) => on.event(event));
  return await new Promise<() => void>((resolve, reject) => {
    let opened: Exchange | undefined;
    const stop = () => opened?.stop();
    const reader = { begun: () => resolve(stop), chunk: changes.push };
    client.read(path, query, reader, tuning.silentMs).then((running) => {
      opened = running;
      running.done.then(
        () => on.ended(),
        (error: unknown) => {
          // One that was not accepted has not ended: whoever waits for it is told.
          reject(error);
          on.ended(error);
        },
      );
    }, reject);
  });
}

function refusal<View extends Versioned>(status: number, { resource, namespace, path }: KubeSourceOptions<View>): AnyReason | undefined {
  if (status === 404) return reason("ADVISE_INSTALL", { path });
  if (status === 401) return reason("ADVISE_CREDENTIALS");
  return status === 403 ? reason("ADVISE_ROLE", { resource, namespace }) : undefined;
}
