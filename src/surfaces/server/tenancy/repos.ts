/** The repositories that are served: never two works on one at once, and a dropped one is closed before it may come again. */
import { askFor } from "../../../adapters/outbound/asker.ts";
import type { Log } from "../../../engine/round/context.ts";
import { type InstalledRepo, type InstalledRepos, isHome } from "./installed-repos.ts";
import type { ServedRepo } from "./served-repo.ts";

interface Entry {
  place: InstalledRepo;
  isHome: boolean;
  suspended: boolean;
  served: ServedRepo | undefined;
  /** The work under way, or the last that was. */
  working: Promise<unknown>;
  /** Rounds in a row that were given up. */
  givenUp: number;
  /** Another process may look after it: nothing of this one is used any more. */
  abandoned?: Error;
}

interface ReposOptions {
  log: Log;
  /** `isHome`: of the one account that the bot works for. */
  open(place: InstalledRepo, isHome: boolean): Promise<ServedRepo>;
  /** After a repo was dropped and closed. */
  forget(place: InstalledRepo): Promise<void>;
  /** What is asked before anything is sent for a repo. Default: nothing. */
  fence?(key: string): () => void;
}

/** The repositories that are looked after, by `owner/name` in lower case. */
export class Repos {
  readonly #options: ReposOptions;
  readonly #entries = new Map<string, Entry>();
  /** Installations whose repositories were listed once: of others nothing is known here. */
  readonly #listed = new Set<number>();
  readonly #closing: ReturnType<typeof openClosing>;

  /** Listed, and not on hold. */
  readonly has = (key: string): boolean => this.#entries.get(key)?.suspended === false;
  /** Whether what it has is known here. */
  readonly hasListed = (installationId: number | undefined) => installationId !== undefined && this.#listed.has(installationId);
  /** Those that may be looked at now. */
  readonly keys = () => [...this.#entries].filter(([, entry]) => !entry.suspended).map(([key]) => key);
  /** As GitHub spells it. */
  readonly nameOf = (key: string) => this.#entries.get(key)?.place.fullName;
  readonly placeOf = (key: string) => this.#entries.get(key)?.place;
  readonly counts = () => {
    const suspended = [...this.#entries.values()].filter((entry) => entry.suspended).length;
    return { served: this.#entries.size - suspended, suspended };
  };
  /** Where it was opened already. */
  readonly get = (key: string) => this.#entries.get(key)?.served;
  readonly opened = () => [...this.#entries.values()].flatMap(({ served }) => (served === undefined ? [] : [served]));
  readonly openedByKey = () => [...this.#entries].flatMap(([key, { served }]) => (served === undefined ? [] : [[key, served] as const]));

  constructor(options: ReposOptions) {
    this.#options = options;
    this.#closing = openClosing(options.log);
  }

  /** Takes in what GitHub lists now: new ones come, those that are gone are closed and forgotten. Gives the keys of the new ones. */
  apply(found: InstalledRepos): string[] {
    const places = new Map(found.repos.map((place) => [place.fullName.toLowerCase(), place]));
    const fresh: string[] = [];
    for (const { installationId } of found.repos) this.#listed.add(installationId);
    for (const [key, entry] of this.#entries) {
      const place = places.get(key);
      if (place === undefined) this.#missing(key, entry, found);
      else if (entry.isHome !== isHome(place, found))
        this.#drop(key, entry, "other accounts have the App, too, or have it no more: see tenancy");
      else if (isSame(entry.place, place)) keep(entry, place);
      else this.#drop(key, entry, "it is another one by the same name, or installed anew");
    }
    for (const [key, place] of places) {
      if (this.#entries.has(key)) continue;
      this.#entries.set(key, unopened({ place, isHome: isHome(place, found), suspended: false }));
      fresh.push(key);
    }
    return fresh;
  }

  #missing(key: string, entry: Entry, { suspended, unseen }: InstalledRepos): void {
    const { installationId } = entry.place;
    if (suspended.has(installationId)) entry.suspended = true;
    else if (!unseen.has(installationId)) this.#drop(key, entry, "GitHub no longer lists it: uninstalled, removed, renamed or archived");
  }

  #drop(key: string, entry: Entry, why: string): void {
    const { log, forget } = this.#options;
    this.#entries.delete(key);
    log.info({ repository: entry.place.fullName, why }, "a repository is no longer served");
    this.#closing.begin(key, entry, () => forget(entry.place));
  }

  /**
   * Opens it where need be and works on it; nothing where it is gone or on hold. Calls for one repo must not overlap. What hangs until
   * `over` is given up: it is opened anew the next time, and `look` is told how often that was so.
   */
  async work(key: string, look: (served: ServedRepo, givenUp: number) => Promise<void>, over?: AbortSignal): Promise<void> {
    const { open, fence } = this.#options;
    await this.#closing.of(key);
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.suspended) return;
    const working = askFor(key, () => workOn(entry, open, look, over), fence?.(key));
    entry.working = over === undefined ? working.catch(() => undefined) : Promise.race([working, endOf(over)]).catch(() => undefined);
    await working;
  }

  /** Another process looks after it from now on: resolves when nothing of it goes on here. Its mirror stays. */
  async leave(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#closing.of(key);
    await entry.working;
    if (this.#entries.get(key) === entry) this.#entries.set(key, unopened(entry));
    await this.#closing.begin(key, entry);
  }

  /** Another process may look after it already: what goes on here can do nothing more. */
  abandon(key: string, why: Error): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.set(key, unopened(entry));
    entry.abandoned = why;
    entry.served?.abandon(why);
    void this.#closing.begin(key, entry);
  }

  async close(): Promise<void> {
    const closed = [...this.#entries.values()].map((entry) => entry.working.then(() => entry.served?.close()));
    await Promise.all([...this.#closing.all(), ...closed]);
  }
}

function unopened({ place, isHome: home, suspended }: Pick<Entry, "place" | "isHome" | "suspended">): Entry {
  return { place, isHome: home, suspended, served: undefined, working: Promise.resolve(), givenUp: 0 };
}

async function workOn(
  entry: Entry,
  open: ReposOptions["open"],
  look: (served: ServedRepo, givenUp: number) => Promise<void>,
  over: AbortSignal = new AbortController().signal,
): Promise<void> {
  const giveUp = (): void => {
    entry.served?.abandon(over.reason);
    entry.served = undefined;
    entry.givenUp += 1;
  };
  over.addEventListener("abort", giveUp, { once: true });
  try {
    const served = entry.served ?? (await open(entry.place, entry.isHome));
    if (over.aborted || entry.abandoned !== undefined) return served.abandon(entry.abandoned ?? over.reason);
    entry.served = served;
    await look(served, entry.givenUp);
    if (!over.aborted) entry.givenUp = 0;
  } finally {
    over.removeEventListener("abort", giveUp);
  }
}

function endOf(over: AbortSignal): Promise<void> {
  return new Promise((resolve) => over.addEventListener("abort", () => resolve(), { once: true }));
}

/** Closes repositories that were dropped, once their work has ended: their folder is taken until then. */
function openClosing(log: Log) {
  const closing = new Map<string, Promise<void>>();
  return {
    of: (key: string) => closing.get(key),
    all: () => [...closing.values()],
    begin(key: string, entry: Entry, then: () => Promise<void> = async () => undefined): Promise<void> {
      const gone = (closing.get(key) ?? Promise.resolve())
        .then(() => entry.working)
        .then(() => entry.served?.close())
        .then(then)
        .catch((error) => log.warn({ repository: entry.place.fullName, error: String(error) }, "a repository could not be closed well"));
      closing.set(key, gone);
      void gone.finally(() => {
        if (closing.get(key) === gone) closing.delete(key);
      });
      return gone;
    },
  };
}

function keep(entry: Entry, place: InstalledRepo): void {
  entry.suspended = false;
  entry.place = place;
  if (entry.served === undefined || entry.served.baseBranch === place.baseBranch) return;
  entry.served.baseBranch = place.baseBranch;
  entry.served.loop.remote.hear();
}

/** A new default branch is taken in; all else means other objects behind the same name. */
function isSame(a: InstalledRepo, b: InstalledRepo): boolean {
  return a.id === b.id && a.installationId === b.installationId && a.cloneUrl === b.cloneUrl && a.fullName === b.fullName;
}
