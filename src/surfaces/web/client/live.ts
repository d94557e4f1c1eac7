/** A document of the API that is kept up to date: read once, then changed as its events say, and read anew where one is missing. */
import type { Fleet, FleetRepository, FleetRollout } from "../../../core/report/model/schema/fleet.ts";
import type { FleetRelease, PlanDocument } from "../../../core/report/model/schema/plan.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import { applyPatch, type PatchOperation } from "../json-patch.ts";

export interface Live<T> {
  /** Absent: not read yet. */
  document?: T | undefined;
  /** It is told of as it changes; false: it is over, and stays as it is. */
  isFollowed: boolean;
  /**
   * `past`: it is of a moment that is over; `ahead`: of one that has not come; `before`: of one from which nothing of it is recorded.
   * `missing`: there is none, or none that one may see. `signed-out`: nobody says who one is. `lost`: what is shown is from before.
   * `unread`: its journal cannot be read; `fault`: the server failed, and nothing is known of the journal.
   */
  link: "loading" | "live" | "past" | "lost" | Kept;
  /** Of what cannot be read: which file. */
  detail?: string | undefined;
  /** The bot's clock as it was at `at` of `performance.now()`, and how fast it goes. */
  clock: { now: number; at: number; speed: number };
}

/** Why there is no document. */
type Kept = "ahead" | "before" | "missing" | "unread" | "fault" | "signed-out";

/** What of the API is read, how its events are heard, and what each makes of the document. */
export interface Wanted<T> {
  path: string;
  /** It is of a moment that is over. */
  isThen?: boolean;
  events?: Events<T> | undefined;
}

interface Events<T> {
  query: string;
  names: readonly string[];
  /** Throws where it has to be read anew. */
  apply(document: T, data: unknown): T;
  /** Of a server that does not know what was shown: all it shows itself. */
  whole(document: T, data: unknown): T;
}

export const API = "/api/v1";
const AGAIN_MS = 3_000;
/** Of an EventSource. */
const CLOSED = 2;
/** A bot that has just started knows of nothing yet. */
const MISSING_AGAIN_MS = 15_000;

/** `at`: as it was then. */
export function fleetWanted(at?: string): Wanted<Fleet> {
  if (at !== undefined) return { path: `/fleet${asOf(at)}`, isThen: true };
  return { path: "/fleet", events: { query: "", names: ["fleet"], apply: withRow, whole: (_, data) => data as Fleet } };
}

export function asOf(at: string | undefined): string {
  return at === undefined ? "" : `?at=${encodeURIComponent(at)}`;
}

export function runWanted(
  repository: string,
  rollout: string,
  { number, at }: { number?: number | undefined; at?: string | undefined } = {},
): Wanted<RunDocument> {
  const rolloutPath = `/repos/${repository}/rollouts/${encodeURIComponent(rollout)}`;
  const path = number === undefined ? rolloutPath : `${rolloutPath}/runs/${number}`;
  if (at !== undefined) return { path: path + asOf(at), isThen: true };
  const whole = (_: RunDocument, data: unknown) => {
    const changed = data as RunDocument;
    if (number !== undefined && changed.number !== number) throw new Error("the next run has begun; this one is over");
    return changed;
  };
  const apply = (document: RunDocument, data: unknown) =>
    whole(document, applyPatch(document, (data as { patch: readonly PatchOperation[] }).patch));
  return { path, events: { query: `rollout=${encodeURIComponent(`${repository}/${rollout}`)}&`, names: ["rollout"], apply, whole } };
}

/** Whoever changes it tells of it in the fleet: then it is read anew. */
export function planWanted(repository: string, rollout: string, pull: number): Wanted<PlanDocument> {
  const key = `${repository.toLowerCase()}/${rollout}/pulls/${pull}`;
  const apply = (document: PlanDocument, data: unknown) => {
    const { release, releaseGone } = data as { release?: FleetRelease; releaseGone?: string };
    if (release?.key === key || releaseGone === key) throw new Error("read it anew");
    return document;
  };
  const whole = (document: PlanDocument, data: unknown) => {
    const now = (data as Fleet).releases.find((release) => release.key === key);
    if (now?.head !== document.head || now.judgedAt !== document.judgedAt) throw new Error("read it anew");
    return document;
  };
  const path = `/repos/${repository}/rollouts/${encodeURIComponent(rollout)}/pulls/${pull}`;
  return { path, events: { query: "", names: ["fleet"], apply, whole } };
}

type FleetEvent =
  | { rollout: FleetRollout }
  | { gone: string }
  | { release: FleetRelease }
  | { releaseGone: string }
  | { repository: FleetRepository };

/** Rows are put in their order by whoever draws them. */
function withRow(fleet: Fleet, data: unknown): Fleet {
  const event = data as FleetEvent;
  if ("repository" in event) {
    const others = fleet.repositories.filter(({ repository }) => repository !== event.repository.repository);
    return { ...fleet, repositories: event.repository.state === "Gone" ? others : [...others, event.repository] };
  }
  if ("release" in event) return { ...fleet, releases: [...without(fleet.releases, event.release.key), event.release] };
  if ("releaseGone" in event) return { ...fleet, releases: without(fleet.releases, event.releaseGone) };
  if ("gone" in event) return { ...fleet, rollouts: without(fleet.rollouts, event.gone) };
  return { ...fleet, rollouts: [...without(fleet.rollouts, event.rollout.key), event.rollout] };
}

function without<T extends { key: string }>(all: readonly T[], key: string): T[] {
  return all.filter((one) => one.key !== key);
}

export function notReadYet(): Live<never> {
  return { link: "loading", isFollowed: false, clock: { now: Date.now(), at: performance.now(), speed: 1 } };
}

/**
 * What turns the text around it about, and control characters, are shown as a sign of their own: names and versions come from others, and
 * stand in lines of ours. Line breaks and tabs stay.
 */
export function parseSafely(text: string): unknown {
  const shown = text.replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  // As JSON writes them; a backslash that is one itself is passed over, with its pair.
  return JSON.parse(shown.replace(/(\\\\)|\\(?:u00[01][0-9a-f]|b|f)/g, (_, pair: string | undefined) => pair ?? "\ufffd"));
}

/** Begins at once; what is returned ends it. */
export function follow<T>(base: string, { path, events, isThen = false }: Wanted<T>, tell: (live: Live<T>) => void): () => void {
  let live: Live<T> = notReadYet();
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const change = (part: Partial<Live<T>>) => {
    live = { ...live, ...part };
    if (!ended) tell(live);
  };
  const readAgain = (ms: number) => {
    source?.close();
    clearTimeout(again);
    if (!ended) again = setTimeout(read, ms);
  };
  const lost = () => {
    change({ link: "lost" });
    readAgain(AGAIN_MS);
  };
  const reader = { live: () => live, change, readAgain, lost };
  function read(): void {
    void readOnce(base + API + path, isThen)
      .then(({ kept, sequence, ...answer }) => {
        if (kept !== undefined) {
          // What was there before is still true where it is the server that failed.
          const document = kept === "fault" ? live.document : undefined;
          change({ ...(answer as Partial<Live<T>>), link: kept, document });
          return readAgain(MISSING_AGAIN_MS);
        }
        // What is over is told without an id.
        const isFollowed = events !== undefined && sequence !== "";
        change({ detail: undefined, link: "live", isFollowed, ...answer } as Partial<Live<T>>);
        if (!ended && isFollowed) source = listen(`${base}${API}/events?${events.query}whole&after=${sequence}`, events, reader);
      })
      .catch(lost);
  }
  read();
  return () => {
    ended = true;
    clearTimeout(again);
    source?.close();
  };
}

/** Who is told by a line of events. */
interface Reader<T> {
  live(): Live<T>;
  change(part: Partial<Live<T>>): void;
  readAgain(ms: number): void;
  lost(): void;
}

function listen<T>(url: string, events: Events<T>, { live, change, readAgain, lost }: Reader<T>): EventSource {
  const opened = new EventSource(url);
  opened.addEventListener("reset", () => readAgain(0));
  opened.addEventListener("hello", ({ data }: MessageEvent<string>) => {
    const { now, speed } = parseSafely(data) as { now: string; speed: number };
    change({ clock: { now: Date.parse(now), at: performance.now(), speed } });
  });
  // The browser comes back by itself, with the id of what it heard last, unless it was told that there is nothing to hear.
  opened.onerror = () => (opened.readyState === CLOSED ? lost() : change({ link: "lost" }));
  opened.onopen = () => change({ link: "live" });
  const takeIn = (name: string, applied: Events<T>["apply"]) =>
    opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
      try {
        const { document } = live();
        if (document !== undefined) change({ document: applied(document, parseSafely(data)) });
      } catch {
        readAgain(0);
      }
    });
  for (const name of events.names) takeIn(name, events.apply);
  takeIn("whole", events.whole);
  return opened;
}

async function readOnce(url: string, isThen: boolean) {
  const response = await fetch(url, { headers: { accept: "application/json" } });
  const told = (name: string) => response.headers.get(name) ?? "";
  const clock = {
    now: Date.parse(told("Stagecoach-Now")) || Date.now(),
    at: performance.now(),
    speed: Number(told("Stagecoach-Speed")) || 1,
  };
  const body = parseSafely(await response.text());
  if (response.ok) return { document: body, clock, sequence: encodeURIComponent(told("Stagecoach-Sequence")) };
  const { code, detail } = body as Partial<Record<string, string>>;
  const kept = keptOf(response.status, code, isThen);
  if (kept === undefined) throw new Error(`${response.status}`);
  return { kept, detail, clock };
}

/** undefined: it is asked again. What of a rollout others may see is answered with 403 to whoever may not. */
function keptOf(status: number, code: string | undefined, isThen: boolean): Kept | undefined {
  if (status === 401) return "signed-out";
  if (status === 403) return "missing";
  if (status === 404) return isThen ? "before" : "missing";
  // Its time was read as one before it was sent.
  if (status === 400 && isThen) return "ahead";
  if (status === 500) return code === "UNREADABLE" ? "unread" : "fault";
  return undefined;
}
