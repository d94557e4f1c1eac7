/**
 * A collection of Argo CD's API: a list, and a stream of changes.
 *
 * Properties: the stream is opened before the list is read, and what it says meanwhile is applied after, since it cannot be
 * asked for what was before it; a stream that ended means a new list; an empty list is taken for one only where the
 * account may see something, since Argo CD leaves out what one may not get instead of refusing.
 */

import { child, fields, own, word } from "../../../core/argocd/decode/lenient.ts";
import { defined } from "../../../core/base/defined.ts";
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
import type { ArgoClient, Query } from "./client.ts";
import { type MissingOptions, withheldOf } from "./missing.ts";

export interface ArgoSourceOptions<View extends Versioned> {
  client: ArgoClient;
  clock: Clock;
  tuning: Tuning;
  /** As paths and RBAC name it. */
  what: "applications" | "applicationsets";
  query: Query;
  streamQuery: Query;
  /** Which parts of an object are read at all. */
  shape: Shape;
  /** What is read of one that is nested too deeply, in the order of preference. */
  lesser: readonly Shape[];
  log: Log;
  /** undefined: not kept. `withheld`: why it is not all there. Must not throw. */
  project: (raw: unknown, readAt: number, withheld?: string) => View | undefined;
  missing: MissingOptions<View>;
  /** Which projects it is about; undefined: all. */
  projects: readonly string[] | undefined;
}

/** Tells which objects could not be read whole. */
type Tell = (object: CutObject) => void;

type Handlers<View> = { event(event: SourceEvent<View>): void; ended(error?: unknown): void };

/** An open stream whose events wait until somebody takes them. */
interface Stream<View> {
  stop(): void;
  handOver(on: Handlers<View>): void;
}

/** Argo CD puts a whole list together before it sends the first byte. */
const LIST_IDLE_MS = 120_000;
const MOST_WAITING = 200_000;
/** How often a server without streams is asked. */
const POLL_MS = 60_000;
const YOUNG_EVERY = 500;

export function argoSource<View extends Versioned>(options: ArgoSourceOptions<View>): Source<View> {
  const { what, clock, tuning } = options;
  let stream: Stream<View> | undefined;
  let withoutStream = false;
  const tell = withholdingLog(options.log, what);
  return {
    what,
    resumes: false,
    async list(isClosed) {
      stream?.stop();
      stream = withoutStream ? undefined : await openStream(options, tell, () => (withoutStream = true));
      const opened = stream;
      try {
        const listed = await listAll(options, tell);
        if (listed.items.size === 0) await mayGet(options);
        if (!isClosed()) return listed;
      } catch (error) {
        opened?.stop();
        throw error;
      }
      opened?.stop();
      return undefined;
    },
    missed: (missing, isClosed) => withheldOf(missing, options.missing, { clock, isClosed }),
    async watch(_, on) {
      const opened = stream;
      stream = undefined;
      if (opened === undefined) return clock.after(POLL_MS, () => on.ended());
      // Missed for whatever reason, a change is seen at the latest with the next list.
      const cancel = clock.after(tuning.watchMs * (1 + tuning.random() / 10), () => stop());
      const stop = () => {
        cancel();
        opened.stop();
      };
      opened.handOver({
        event: on.event,
        ended(error) {
          cancel();
          on.ended(error);
        },
      });
      return stop;
    },
    refusal: (status) => refusal(status, what),
  };
}

async function openStream<View extends Versioned>(
  options: ArgoSourceOptions<View>,
  tell: Tell,
  isMissing: () => void,
): Promise<Stream<View>> {
  const { client, what, streamQuery, tuning, clock } = options;
  const cut = createObjectCutter(
    { result: { application: options.shape, applicationSet: options.shape } },
    options.lesser.map((part) => ({ "*": false, result: { "*": false, type: true, application: part, applicationSet: part } })),
  );
  let taker: Handlers<View> | undefined;
  let end: { error?: unknown } | undefined;
  const waiting: SourceEvent<View>[] = [];
  const lines = createLineSplitter((bytes) => {
    const { raw, ...rest } = cut(bytes);
    const event = decodeEvent(fields(raw), rest.withheld, options, clock.now());
    tell({ raw: objectIn(child(fields(raw), "result")), ...rest });
    if (event === undefined) return;
    if (taker !== undefined) taker.event(event);
    else if (waiting.push(event) > MOST_WAITING) throw new WireError(0, `${what}: more changes than can be kept while they are listed`);
  });
  const ended = (error?: unknown) => {
    // Older than streams of this kind: asked from time to time instead.
    if (statusOf(error) === 404) isMissing();
    end = statusOf(error) === 404 ? {} : { error };
    taker?.ended(end.error);
  };
  // Some version, or everything there is would come first.
  const query = { ...streamQuery, resourceVersion: "1" };
  const opened: Exchange = await client.read(
    `/api/v1/stream/${what}`,
    query,
    { chunk: lines.push },
    { idleMs: tuning.silentMs, stream: true },
  );
  opened.done.then(() => ended(), ended);
  return {
    stop: opened.stop,
    handOver(on) {
      taker = on;
      for (const event of waiting.splice(0)) on.event(event);
      if (end !== undefined) on.ended(end.error);
    },
  };
}

function objectIn(result: Record<string, unknown>): unknown {
  return own(result, "application") ?? own(result, "applicationSet");
}

function decodeEvent<View extends Versioned>(
  line: Record<string, unknown>,
  withheld: string | undefined,
  { project }: ArgoSourceOptions<View>,
  now: number,
): SourceEvent<View> | undefined {
  const refusal = own(line, "error");
  if (refusal != null) {
    const error = fields(refusal);
    const code = own(error, "http_code");
    throw new WireError(typeof code === "number" ? code : 0, word(error, "message")?.slice(0, 500) ?? "the stream ended with an error");
  }
  const result = child(line, "result");
  const object = objectIn(result);
  const type = word(result, "type");
  const key = keyOf(object);
  if (key === undefined || (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED")) return undefined;
  const view = type === "DELETED" ? undefined : project(object, now, withheld);
  if (view !== undefined) return { kind: "put", key, view };
  const uid = word(child(fields(object), "metadata"), "uid");
  return defined({ kind: "gone" as const, key, uid });
}

async function listAll<View extends Versioned>(
  { client, what, query, shape, lesser, project, clock }: ArgoSourceOptions<View>,
  tell: Tell,
): Promise<Listed<View>> {
  const items = new Map<string, View>();
  const cut = createObjectCutter(shape, lesser);
  // However long the answer takes, it is of no later moment than this.
  const begun = clock.now();
  let seen = 0;
  const answer = createListSplitter((bytes) => {
    if (seen++ % YOUNG_EVERY === 0) boundYoungGeneration();
    if (seen > MOST_OBJECTS) throw new WireError(0, `more than ${MOST_OBJECTS} objects`);
    const object = cut(bytes);
    tell(object);
    const key = keyOf(object.raw);
    const view = key === undefined ? undefined : project(object.raw, begun, object.withheld);
    if (key !== undefined && view !== undefined) items.set(key, view);
  });
  const { done } = await client.read(`/api/v1/${what}`, query, { chunk: answer.push }, { idleMs: LIST_IDLE_MS, stream: false });
  await done;
  return { items, resourceVersion: resourceVersionOf(headOf(answer)) ?? "0" };
}

/** Of a wrong address, often the page of a login. */
function headOf(answer: ReturnType<typeof createListSplitter>): unknown {
  let head: unknown;
  try {
    answer.end();
    head = answer.envelope();
  } catch (error) {
    throw new WireError(
      0,
      `the answer is no list of Argo CD (${error instanceof Error ? error.message.slice(0, 60) : "unreadable"}); is it the right address?`,
    );
  }
  if (!Object.hasOwn(fields(head), "items")) throw new WireError(0, "the answer is no list of Argo CD: it has no items");
  return head;
}

/** Rejects with 403 where the account may get nothing of this kind, of which an empty list says nothing. */
async function mayGet<View extends Versioned>({ client, what, projects }: ArgoSourceOptions<View>): Promise<void> {
  const answers: string[] = [];
  for (const project of (projects ?? ["*"]).slice(0, 20)) {
    const answer = await client.get(`/api/v1/account/can-i/${what}/get/${encodeURIComponent(project)}/*`);
    answers.push(word(fields(answer), "value") ?? "");
  }
  if (answers.every((answer) => answer === "no"))
    throw new WireError(403, `forbidden: the account may get no ${what}, and an empty list says nothing then`);
}

function refusal(status: number, what: string): string | undefined {
  if (status === 404) return "that is not there; is it Argo CD's address, with its root path?";
  if (status === 401) return "the token is not accepted: give one that has not expired (argocd account generate-token)";
  if (status === 403) return `grant it in argocd-rbac-cm: p, ACCOUNT, ${what}, get, PROJECT/*, allow`;
  return undefined;
}
