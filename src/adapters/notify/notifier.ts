/** Tells people by the destinations of the server's configuration: keeps first, sends after. Opened by the server, called by each repository's rounds. */
import { BoundedMap } from "../../core/base/bounded.ts";
import { matchesGlob } from "../../core/base/glob.ts";
import type { Clock } from "../../core/base/time.ts";
import { digestOf, type RunCard, runKey } from "../../core/report/notify/notice.ts";
import { Line, type LineOptions } from "./line.ts";
import type { Notifier, RepoTold, Sender, Telling } from "./port.ts";
import { filesIn, type RepoState, type Shelf, Store } from "./store.ts";

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

export function openNotifier(options: NotifierOptions): Notifier {
  return new Lines(options);
}

class Lines implements Notifier {
  readonly #destinations: readonly Destination[];
  readonly #log: LineOptions["log"];
  readonly #store: Store;
  readonly #lines: ReadonlyMap<string, Line>;
  readonly #states = new Map<string, Promise<RepoState>>();
  readonly #loaded = new Map<string, RepoState>();
  readonly #busy = new Set<Promise<void>>();
  /** What messages of runs show, by destination and run. */
  readonly #shown = new BoundedMap<string, string>(MOST_SHOWN);

  constructor({ destinations, directory, clock, log }: NotifierOptions) {
    this.#destinations = destinations;
    this.#log = log;
    this.#store = new Store(typeof directory === "string" ? filesIn(directory) : directory, log);
    this.#lines = new Map(destinations.map(({ name, sender }) => [name, new Line({ name, sender, clock, log, ...this.#stateFor(name) })]));
  }

  #stateFor(to: string): Pick<LineOptions, "threadOf" | "done"> {
    return {
      threadOf: (notice) => this.#loaded.get(notice.repository.toLowerCase())?.threads[`${to} ${runKey(notice) ?? ""}`],
      done: async (repository, notices, { thread, instead }) => {
        const state = await this.#stateOf(repository);
        const gone = new Set(notices.map(({ id }) => id));
        state.outbox = state.outbox.filter((one) => one.to !== to || !gone.has(one.notice.id));
        if (instead !== undefined) state.outbox.push({ to, notice: instead });
        const [notice] = notices;
        const key = notice === undefined ? undefined : runKey(notice);
        if (thread !== undefined && key !== undefined) {
          state.threads[`${to} ${key}`] = thread;
          this.#shown.set(`${to} ${key}`, JSON.stringify(notice?.run?.card));
        }
        await this.#store.save(repository, state);
      },
    };
  }

  async told(repository: string): Promise<RepoTold | undefined> {
    return (await this.#stateOf(repository)).told;
  }

  #stateOf(repository: string): Promise<RepoState> {
    const key = repository.toLowerCase();
    const known = this.#states.get(key) ?? this.#load(key);
    this.#states.set(key, known);
    return known;
  }

  async #load(repository: string): Promise<RepoState> {
    const state = await this.#store.load(repository);
    this.#loaded.set(repository, state);
    // A destination that is gone is sent nothing.
    state.outbox = state.outbox.filter(({ to }) => this.mayUse(repository, to));
    for (const { to, notice } of state.outbox) this.#lines.get(to)?.add(notice);
    return state;
  }

  mayUse(repository: string, destination: string): boolean {
    const found = this.#destinations.find(({ name }) => name === destination);
    return found?.repositories.some((glob) => matchesGlob(glob.toLowerCase(), "go", repository.toLowerCase())) === true;
  }

  tell(repository: string, { told, notices, cards }: Telling): void {
    const work = this.#stateOf(repository).then(async (state) => {
      state.told = told;
      const wanted = this.#wantedOf(repository, notices);
      state.outbox = [...state.outbox, ...wanted].slice(-MOST_WAITING * Math.max(1, this.#lines.size));
      // Kept before it is sent: after a crash it is known what was.
      await this.#store.save(repository.toLowerCase(), state);
      for (const { to, notice } of wanted) this.#lines.get(to)?.add(notice);
      this.#show(state, repository, cards);
    });
    const mine: Promise<void> = work
      .catch((error: unknown) => this.#log.error({ repository, error: String(error) }, "people could not be told"))
      .finally(() => this.#busy.delete(mine));
    this.#busy.add(mine);
  }

  /** More at once than a destination takes are one from the beginning. */
  #wantedOf(repository: string, notices: Telling["notices"]): RepoState["outbox"] {
    return this.#destinations.flatMap(({ name: to, sender }) => {
      const own = this.mayUse(repository, to) ? notices.filter((one) => one.to.includes(to)).map(({ notice }) => notice) : [];
      return (own.length > sender.most ? [digestOf(own)] : own).map((notice) => ({ to, notice }));
    });
  }

  #show(state: RepoState, repository: string, cards: ReadonlyMap<string, RunCard>): void {
    for (const [key, card] of cards)
      for (const [name, line] of this.#lines) {
        const thread = state.threads[`${name} ${key}`];
        const text = JSON.stringify(card);
        if (thread === undefined || this.#shown.get(`${name} ${key}`) === text) continue;
        this.#shown.set(`${name} ${key}`, text);
        line.show(key, { card, repository, thread });
      }
  }

  async leave(repository: string): Promise<void> {
    const key = repository.toLowerCase();
    await Promise.all(this.#busy);
    await Promise.all([...this.#lines.values()].map((line) => line.drop(key)));
    this.#states.delete(key);
    this.#loaded.delete(key);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#busy);
    await Promise.all([...this.#lines.values()].map((line) => line.settled()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#busy);
    for (const line of this.#lines.values()) line.close();
    await Promise.all([...this.#lines.values()].map((line) => line.settled()));
  }
}
