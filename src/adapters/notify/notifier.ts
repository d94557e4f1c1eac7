/** Tells people by the destinations of the server's configuration: keeps first, sends after. Opened by the server, called by each repository's rounds. */
import { BoundedMap } from "../../core/base/bounded.ts";
import { matchesGlob } from "../../core/base/glob.ts";
import type { Clock } from "../../core/base/time.ts";
import { digestOf, type Notice, type RunCard, runKey } from "../../core/report/notify/notice.ts";
import { type LineOptions, openLine } from "./line.ts";
import type { Notifier, Sender, Telling, Thread } from "./port.ts";
import { filesIn, openStore, type RepoState, type Shelf } from "./store.ts";

export interface Destination {
  name: string;
  /** Globs of `owner/name`, in any case: who may use it. */
  repositories: readonly string[];
  sender: Sender;
}

interface NotifierOptions {
  destinations: readonly Destination[];
  /** Where it is kept whom was told what: a directory, or a place that replicas share. */
  directory: string | Shelf;
  clock: Clock;
  log: LineOptions["log"];
}

/** Of a repository and destination, while nothing can be sent: what is older is dropped. */
const MOST_WAITING = 2000;
const MOST_SHOWN = 1000;

export function openNotifier({ destinations, directory, clock, log }: NotifierOptions): Notifier {
  const shelf = typeof directory === "string" ? filesIn(directory) : directory;
  const store = openStore(shelf, log);
  const states = new Map<string, Promise<RepoState>>();
  const lines = new Map(
    destinations.map((one) => [
      one.name,
      openLine({ name: one.name, sender: one.sender, clock, log, threadOf: threadOf(one.name), done: doneOf(one.name) }),
    ]),
  );
  const loaded = new Map<string, RepoState>();
  const busy = new Set<Promise<void>>();
  /** What messages of runs show, by destination and run. */
  const shown = new BoundedMap<string, string>(MOST_SHOWN);

  function threadOf(to: string): (notice: Notice) => Thread | undefined {
    return (notice) => loaded.get(notice.repository.toLowerCase())?.threads[`${to} ${runKey(notice) ?? ""}`];
  }

  function doneOf(to: string): LineOptions["done"] {
    return async (repository, notices, { thread, instead }) => {
      const state = await stateOf(repository);
      const gone = new Set(notices.map(({ id }) => id));
      state.outbox = state.outbox.filter((one) => one.to !== to || !gone.has(one.notice.id));
      if (instead !== undefined) state.outbox.push({ to, notice: instead });
      const [notice] = notices;
      const key = notice === undefined ? undefined : runKey(notice);
      if (thread !== undefined && key !== undefined) {
        state.threads[`${to} ${key}`] = thread;
        shown.set(`${to} ${key}`, JSON.stringify(notice?.run?.card));
      }
      await store.save(repository, state);
    };
  }

  function stateOf(repository: string): Promise<RepoState> {
    const key = repository.toLowerCase();
    const known = states.get(key) ?? load(key);
    states.set(key, known);
    return known;
  }

  async function load(repository: string): Promise<RepoState> {
    const state = await store.load(repository);
    loaded.set(repository, state);
    // A destination that is gone is sent nothing.
    state.outbox = state.outbox.filter(({ to }) => mayUse(repository, to));
    for (const { to, notice } of state.outbox) lines.get(to)?.add(notice);
    return state;
  }

  function mayUse(repository: string, destination: string): boolean {
    const found = destinations.find(({ name }) => name === destination);
    return found?.repositories.some((glob) => matchesGlob(glob.toLowerCase(), "go", repository.toLowerCase())) === true;
  }

  /** More at once than a destination takes are one from the beginning. */
  function wantedOf(repository: string, notices: Telling["notices"]): RepoState["outbox"] {
    return destinations.flatMap(({ name: to, sender }) => {
      const own = mayUse(repository, to) ? notices.filter((one) => one.to.includes(to)).map(({ notice }) => notice) : [];
      return (own.length > sender.most ? [digestOf(own)] : own).map((notice) => ({ to, notice }));
    });
  }

  function show(state: RepoState, repository: string, cards: ReadonlyMap<string, RunCard>): void {
    for (const [key, card] of cards)
      for (const [name, line] of lines) {
        const thread = state.threads[`${name} ${key}`];
        const text = JSON.stringify(card);
        if (thread === undefined || shown.get(`${name} ${key}`) === text) continue;
        shown.set(`${name} ${key}`, text);
        line.show(key, { card, repository, thread });
      }
  }

  return {
    told: async (repository) => (await stateOf(repository)).told,
    mayUse,
    tell(repository, { told, notices, cards }) {
      const work = stateOf(repository).then(async (state) => {
        state.told = told;
        const wanted = wantedOf(repository, notices);
        state.outbox = [...state.outbox, ...wanted].slice(-MOST_WAITING * Math.max(1, lines.size));
        // Kept before it is sent: after a crash it is known what was.
        await store.save(repository.toLowerCase(), state);
        for (const { to, notice } of wanted) lines.get(to)?.add(notice);
        show(state, repository, cards);
      });
      const mine: Promise<void> = work
        .catch((error: unknown) => log.error({ repository, error: String(error) }, "people could not be told"))
        .finally(() => busy.delete(mine));
      busy.add(mine);
    },
    async leave(repository) {
      const key = repository.toLowerCase();
      await Promise.all(busy);
      await Promise.all([...lines.values()].map((line) => line.drop(key)));
      states.delete(key);
      loaded.delete(key);
    },
    async settled() {
      await Promise.all(busy);
      await Promise.all([...lines.values()].map((line) => line.settled()));
    },
    async close() {
      await Promise.all(busy);
      for (const line of lines.values()) line.close();
      await Promise.all([...lines.values()].map((line) => line.settled()));
    },
  };
}
