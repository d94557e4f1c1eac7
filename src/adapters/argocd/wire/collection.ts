/**
 * Reads a collection of Argo CD's objects, whether Kubernetes lists and watches it or Argo CD's API lists and streams it: both send
 * the same objects in the same two envelopes. Called by either adapter's `source.ts`.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { child, fields, own, word } from "../../../core/argocd/decode/lenient.ts";
import { defined } from "../../../core/base/defined.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import type { Clock } from "../../../core/base/time.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { WireError } from "./http.ts";
import { type CutObject, createObjectCutter } from "./object.ts";
import type { Shape } from "./shape.ts";
import { keyOf, type Log, resourceVersionOf, type SourceEvent, type Tuning, type Versioned } from "./source.ts";
import { createLineSplitter, createListSplitter } from "./split.ts";

export interface CollectionOptions<View extends Versioned> {
  clock: Clock;
  tuning: Tuning;
  log: Log;
  /** For messages: `cluster secrets`. */
  what: string;
  /** Which parts of an object are read at all. */
  shape: Shape;
  /** What is read of one that is nested too deeply, in the order of preference. */
  lesser: readonly Shape[];
  /** undefined: not kept. `withheld`: why it is not all there. Must not throw. */
  project: (raw: unknown, readAt: number, withheld?: AnyReason) => View | undefined;
}

/** Tells which objects could not be read whole. */
export type Tell = (object: CutObject) => void;

/** More than any Argo CD has: a list that goes on for ever is not read for ever. */
const MOST_OBJECTS = 500_000;
const YOUNG_EVERY = 500;

/** Takes the pages of one list, projects each object as it comes, and holds none of the rest. */
export function createListing<View extends Versioned>({ shape, lesser, project, clock }: CollectionOptions<View>, tell: Tell) {
  const items = new Map<string, View>();
  const cut = createObjectCutter(shape, lesser);
  // However long the answer takes, it is of no later moment than this.
  const begun = clock.now();
  let seen = 0;
  function count(what: string): void {
    if (seen++ % YOUNG_EVERY === 0) boundYoungGeneration();
    if (seen > MOST_OBJECTS) throw new WireError(0, reason("TOO_MANY_OBJECTS", { what, most: MOST_OBJECTS }));
  }
  return {
    items,
    page() {
      // An empty page counts, too: a server may send those for ever.
      count("pages");
      return createListSplitter((bytes) => {
        count("objects");
        const object = cut(bytes);
        tell(object);
        const key = keyOf(object.raw);
        const view = key === undefined ? undefined : project(object.raw, begun, object.withheld);
        if (key !== undefined && view !== undefined) items.set(key, view);
      });
    },
  };
}

/** Where a kind of stream has the object and the type of a change in each of its lines. */
export interface Envelope {
  /** The shape of a line around that of an object. */
  whole: (ofObject: Shape) => Shape;
  /** The same around what is read of one that is nested too deeply, and no more than that. */
  part: (ofObject: Shape) => Shape;
  change: (line: Record<string, unknown>) => { type: string | undefined; object: unknown };
  /** What the server says where it ends the stream by a line. */
  refusal: (line: Record<string, unknown>) => unknown;
}

/** Takes a stream of changes apart, line by line. The splitter throws WireError where the server ends it with a reason. */
export function createChanges<View extends Versioned>(
  { shape, lesser, project, clock }: CollectionOptions<View>,
  envelope: Envelope,
  tell: Tell,
  take: (event: SourceEvent<View>) => void,
): ReturnType<typeof createLineSplitter> {
  const cut = createObjectCutter(envelope.whole(shape), lesser.map(envelope.part));
  return createLineSplitter((bytes) => {
    const { raw, ...rest } = cut(bytes);
    const line = fields(raw);
    const refusal = envelope.refusal(line);
    if (refusal != null) throw errorOf(refusal);
    const { type, object } = envelope.change(line);
    tell({ raw: object, ...rest });
    const event = eventOf(type, object, (readAt) => project(object, readAt, rest.withheld), clock.now());
    if (event !== undefined) take(event);
  });
}

function eventOf<View>(
  type: string | undefined,
  object: unknown,
  project: (readAt: number) => View | undefined,
  now: number,
): SourceEvent<View> | undefined {
  const key = keyOf(object);
  const resourceVersion = resourceVersionOf(object);
  const at = defined({ resourceVersion });
  if (type === "BOOKMARK" || key === undefined) return resourceVersion === undefined ? undefined : { kind: "mark", resourceVersion };
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return undefined;
  // What no longer makes sense is no longer known.
  const view = type === "DELETED" ? undefined : project(now);
  if (view !== undefined) return { kind: "put", key, view, ...at };
  return { kind: "gone", key, ...defined({ uid: word(child(fields(object), "metadata"), "uid") }), ...at };
}

/** Kubernetes' Status has a `code`, Argo CD's error a `http_code`. */
function errorOf(raw: unknown): WireError {
  const status = fields(raw);
  const code = own(status, "http_code") ?? own(status, "code");
  const message = word(status, "message")?.slice(0, 500);
  return new WireError(
    typeof code === "number" ? code : 0,
    message === undefined ? reason("STREAM_ENDED") : reason("PROGRAM_SAYS", { message }),
  );
}

/** Semi-spaces of about 16 MB: large enough for whatever one page leaves behind. */
const ENOUGH_BYTES = 24e6;
let isBounded = false;

/**
 * Keeps V8 from growing the space for young objects once it is large enough. Reading a large Argo CD leaves garbage at a
 * steady pace, which V8 takes as a reason to let up to 100 MB of it pile up before it looks. Cheap; to be called while reading.
 */
function boundYoungGeneration(): void {
  if (isBounded) return;
  const young = getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  if ((young?.space_size ?? 0) < ENOUGH_BYTES) return;
  isBounded = true;
  setFlagsFromString("--semi-space-growth-factor=1");
}
