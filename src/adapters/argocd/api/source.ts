/**
 * A collection of Argo CD's API: a list, and a stream of changes.
 *
 * Properties: the stream is opened before the list is read, and what it says meanwhile is applied after, since it cannot be
 * asked for what was before it; a stream that ended means a new list; an empty list is taken for one only where the
 * account may see something, since Argo CD leaves out what one may not get instead of refusing.
 */
import { child, fields, own, word } from "../../../core/argocd/decode/lenient.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { type CollectionOptions, createChanges, createListing, type Envelope, type Tell } from "../wire/collection.ts";
import { type Exchange, reasonOf, statusOf, WireError } from "../wire/http.ts";
import { withholdingLog } from "../wire/object.ts";
import { type Handlers, type Listed, resourceVersionOf, type Source, type SourceEvent, type Versioned } from "../wire/source.ts";
import type { createListSplitter } from "../wire/split.ts";
import type { ArgoClient, Query } from "./client.ts";
import { type MissingOptions, withheldOf } from "./missing.ts";

export interface ArgoSourceOptions<View extends Versioned> extends CollectionOptions<View> {
  client: ArgoClient;
  /** As paths and RBAC name it. */
  what: "applications" | "applicationsets";
  query: Query;
  streamQuery: Query;
  missing: MissingOptions<View>;
  /** Which projects it is about; undefined: all. */
  projects: readonly string[] | undefined;
}

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

const ENVELOPE: Envelope = {
  whole: (ofObject) => ({ result: { application: ofObject, applicationSet: ofObject } }),
  part: (ofObject) => ({ "*": false, result: { "*": false, type: true, application: ofObject, applicationSet: ofObject } }),
  change(line) {
    const result = child(line, "result");
    return { type: word(result, "type"), object: own(result, "application") ?? own(result, "applicationSet") };
  },
  refusal: (line) => own(line, "error"),
};

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
  const { client, what, streamQuery, tuning } = options;
  let taker: Handlers<View> | undefined;
  let end: { error?: unknown } | undefined;
  const waiting: SourceEvent<View>[] = [];
  const changes = createChanges(options, ENVELOPE, tell, (event) => {
    if (taker !== undefined) taker.event(event);
    else if (waiting.push(event) > MOST_WAITING) throw new WireError(0, reason("TOO_MANY_CHANGES", { what }));
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
    { chunk: changes.push },
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

async function listAll<View extends Versioned>(options: ArgoSourceOptions<View>, tell: Tell): Promise<Listed<View>> {
  const { client, what, query } = options;
  const listing = createListing(options, tell);
  const answer = listing.page();
  const { done } = await client.read(`/api/v1/${what}`, query, { chunk: answer.push }, { idleMs: LIST_IDLE_MS, stream: false });
  await done;
  return { items: listing.items, resourceVersion: resourceVersionOf(headOf(answer)) ?? "0" };
}

/** Of a wrong address, often the page of a login. */
function headOf(answer: ReturnType<typeof createListSplitter>): unknown {
  let head: unknown;
  try {
    answer.end();
    head = answer.envelope();
  } catch (error) {
    throw new WireError(0, reason("NO_ARGOCD_LIST", { message: sentenceOf(reasonOf(error)).slice(0, 60) }));
  }
  if (!Object.hasOwn(fields(head), "items")) throw new WireError(0, reason("NO_ARGOCD_LIST", {}));
  return head;
}

/** Rejects with 403 where the account may get nothing of this kind, of which an empty list says nothing. */
async function mayGet<View extends Versioned>({ client, what, projects }: ArgoSourceOptions<View>): Promise<void> {
  const answers: string[] = [];
  for (const project of (projects ?? ["*"]).slice(0, 20)) {
    const answer = await client.get(`/api/v1/account/can-i/${what}/get/${encodeURIComponent(project)}/*`);
    answers.push(word(fields(answer), "value") ?? "");
  }
  if (answers.every((answer) => answer === "no")) throw new WireError(403, reason("EMPTY_LIST_SAYS_NOTHING", { what }));
}

function refusal(status: number, what: string): AnyReason | undefined {
  if (status === 404) return reason("ADVISE_ADDRESS");
  if (status === 401) return reason("ADVISE_TOKEN");
  return status === 403 ? reason("ADVISE_RBAC", { what }) : undefined;
}
