/**
 * What is written down in the rows of the repositories that are looked after here, once a second for all where it has changed: when they want to
 * be looked at, for whoever takes them over, and in whose rounds owners end. Called by `queue.ts`.
 *
 * The first round of each owner is marked in the repository's row before it begins, and taken off by whichever ends first, well or not. A
 * repository whose owners are gone one after the other before any has ended is slowed by `ownership.ts`: who waits for nothing dies of it for
 * ever. A death in a later round is not seen, the next owner's is.
 */
import type { Database } from "./database.ts";

export class Notes {
  readonly #database: Database;
  readonly #me: () => string | undefined;
  /** When each wants to be looked at, as it was written down, and as it is to be. */
  readonly #written = new Map<string, number | undefined>();
  readonly #changed = new Map<string, number | undefined>();
  /** None of its rounds has ended, or one has; then whether that was written down. */
  readonly #marks = new Map<string, "begun" | "ended" | "written">();

  constructor(database: Database, me: () => string | undefined) {
    this.#database = database;
    this.#me = me;
  }

  /** `dueAt`: by the clock of all; 0: at once; undefined: nothing is awaited. */
  wish(repository: string, dueAt: number | undefined): void {
    if (this.#written.has(repository) && this.#written.get(repository) === dueAt) this.#changed.delete(repository);
    else this.#changed.set(repository, dueAt);
  }

  /** None of its rounds was begun here yet. */
  isFirst(repository: string): boolean {
    return !this.#marks.has(repository);
  }

  /** Where PostgreSQL does not take it, the round is begun all the same. */
  async begin(repository: string): Promise<void> {
    this.#marks.set(repository, "begun");
    await this.#database.query(BEGIN, [repository, this.#me() ?? null]).catch(() => undefined);
  }

  /** However it ended: this process lives. */
  ended(repository: string): void {
    if (this.#marks.get(repository) === "begun") this.#marks.set(repository, "ended");
  }

  drop(repository: string): void {
    for (const kept of [this.#written, this.#changed, this.#marks]) kept.delete(repository);
  }

  async write(): Promise<void> {
    await this.#writeWishes();
    await this.#writeMarks();
  }

  /** This process goes of itself: it was ended by none of its rounds, also not by those that go on. */
  async leave(): Promise<void> {
    await this.#writeWishes().catch(() => undefined);
    for (const repository of this.#marks.keys()) this.ended(repository);
    await this.#writeMarks().catch(() => undefined);
  }

  async #writeWishes(): Promise<void> {
    const now = [...this.#changed];
    if (now.length === 0) return;
    await this.#database.query(WISH, [now.map(([key]) => key), now.map(([, dueAt]) => dueAt ?? null), this.#me() ?? null]);
    for (const [key, dueAt] of now) {
      this.#written.set(key, dueAt);
      if (this.#changed.get(key) === dueAt) this.#changed.delete(key);
    }
  }

  async #writeMarks(): Promise<void> {
    const ended = [...this.#marks].filter(([, mark]) => mark === "ended").map(([key]) => key);
    if (ended.length === 0) return;
    await this.#database.query(END, [ended, this.#me() ?? null]);
    for (const key of ended) if (this.#marks.get(key) === "ended") this.#marks.set(key, "written");
  }
}

const WISH = `update stagecoach.repositories r set due_at = given.due_at
  from unnest($1::text[], $2::bigint[]) as given (key, due_at) where r.key = given.key and r.owner = $3::uuid`;
const BEGIN = `update stagecoach.repositories set unended = unended + 1, slow_until = null, due_at = 0 where key = $1 and owner = $2::uuid`;
const END = "update stagecoach.repositories set unended = 0 where key = any($1::text[]) and owner = $2::uuid";
