import { child, fields, own, word } from "../../../core/argocd/decode/lenient.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Shape } from "../wire/cut.ts";
import { type Exchange, statusOf, WireError } from "../wire/http.ts";
import { type CutObject, createObjectCutter, withholdingLog } from "../wire/object.ts";
import {
  keyOf,
  type Listed,
  type Log,
  MOST_OBJECTS,
  resourceVersionOf,
  type Source,
  type SourceEvent,
  type Tuning,
  type Versioned,
} from "../wire/source.ts";
import { createLineSplitter, createListSplitter } from "../wire/split.ts";
import { boundYoungGeneration } from "../wire/young.ts";
import type { KubeClient } from "./client.ts";

export interface KubeSourceOptions<View extends Versioned> {
  client: KubeClient;
  clock: Clock;
  tuning: Tuning;
  /** For messages: `cluster secrets`. */
  what: string;
  /** `applications.argoproj.io`, as a Role names it. */
  resource: string;
  path: string;
  namespace: string | undefined;
  labelSelector?: string;
  /** Which parts of an object are read at all. */
  shape: Shape;
  /** What is read of one that is nested too deeply, in the order of preference. */
  lesser: readonly Shape[];
  log: Log;
  /** undefined: not kept. `withheld`: why it is not all there. Must not throw. */
  project: (raw: unknown, readAt: number, withheld?: string) => View | undefined;
  optional?: boolean;
}

/** Tells which objects could not be read whole. */
type Tell = (object: CutObject) => void;

/** Silence in the middle of a page. */
const PAGE_IDLE_MS = 30_000;

/** A collection of the Kubernetes API: pages of a list, and a watch with bookmarks. */
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

/** Every object of the collection, page by page, projected as it comes; undefined where it was closed meanwhile. */
async function listAll<View extends Versioned>(
  options: KubeSourceOptions<View>,
  tell: Tell,
  isClosed: () => boolean,
): Promise<Listed<View> | undefined> {
  const items = new Map<string, View>();
  const cut = createObjectCutter(options.shape, options.lesser);
  let version: string | undefined;
  let next: string | undefined = "";
  // However long the answer takes, it is of no later moment than this.
  const begun = options.clock.now();
  let seen = 0;
  while (next !== undefined) {
    if (isClosed()) return undefined;
    boundYoungGeneration();
    // An empty page counts, too: a server may send those for ever.
    seen += 1;
    const page = createListSplitter((bytes) => {
      if (++seen > MOST_OBJECTS) throw new WireError(0, `more than ${MOST_OBJECTS} objects`);
      const object = cut(bytes);
      tell(object);
      const key = keyOf(object.raw);
      const view = key === undefined ? undefined : options.project(object.raw, begun, object.withheld);
      if (key !== undefined && view !== undefined) items.set(key, view);
    });
    const metadata = child(fields(await readPage(options, next, page)), "metadata");
    version = word(metadata, "resourceVersion") ?? version;
    next = word(metadata, "continue");
    if (seen > MOST_OBJECTS) throw new WireError(0, `more than ${MOST_OBJECTS} pages`);
  }
  return isClosed() ? undefined : { items, resourceVersion: version ?? "0" };
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
  on: { event(event: SourceEvent<View>): void; ended(error?: unknown): void },
): Promise<() => void> {
  const { client, tuning, path, labelSelector, shape, lesser, clock } = options;
  // An ERROR event holds a Status instead of an object: what it says must get through, whatever the shape keeps.
  const cut = createObjectCutter(
    { object: { ...shape, code: true, message: true } },
    lesser.map((part) => ({ "*": false, type: true, object: part })),
  );
  const query: Record<string, string> = {
    watch: "true",
    resourceVersion: from,
    allowWatchBookmarks: "true",
    timeoutSeconds: String(Math.max(1, Math.round((tuning.watchMs * (1 + tuning.random() / 10)) / 1000))),
  };
  if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
  const lines = createLineSplitter((bytes) => {
    const { raw, ...rest } = cut(bytes);
    const event = decodeEvent(fields(raw), rest.withheld, options, clock.now());
    tell({ raw: own(fields(raw), "object"), ...rest });
    if (event !== undefined) on.event(event);
  });
  return await new Promise<() => void>((resolve, reject) => {
    let opened: Exchange | undefined;
    const stop = () => opened?.stop();
    const reader = { begun: () => resolve(stop), chunk: lines.push };
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

function decodeEvent<View extends Versioned>(
  event: Record<string, unknown>,
  withheld: string | undefined,
  { project }: KubeSourceOptions<View>,
  now: number,
): SourceEvent<View> | undefined {
  const object = own(event, "object");
  const type = word(event, "type");
  if (type === "ERROR") throw errorOf(object);
  const resourceVersion = resourceVersionOf(object);
  const key = keyOf(object);
  if (type === "BOOKMARK" || key === undefined) return resourceVersion === undefined ? undefined : { kind: "mark", resourceVersion };
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return undefined;
  const at = resourceVersion === undefined ? {} : { resourceVersion };
  // What no longer makes sense is no longer known.
  const view = type === "DELETED" ? undefined : project(object, now, withheld);
  return view === undefined ? { kind: "gone", key, ...at } : { kind: "put", key, view, ...at };
}

function errorOf(raw: unknown): WireError {
  const status = fields(raw);
  const code = own(status, "code");
  return new WireError(typeof code === "number" ? code : 0, word(status, "message")?.slice(0, 500) ?? "the watch ended with an error");
}

function refusal<View extends Versioned>(status: number, { resource, namespace, path }: KubeSourceOptions<View>): string | undefined {
  if (status === 404) return `${path} is not there: is Argo CD installed in this cluster?`;
  if (status === 401) return "the kubeconfig's credentials are not accepted";
  if (status !== 403) return undefined;
  const where = namespace === undefined ? "in a ClusterRole" : `in a Role of the namespace ${namespace}`;
  return `grant the verbs get, list and watch on ${resource} ${where}`;
}
