/**
 * Which replicas there are, and whether this one may still act for what is its own. Called once a second by `queue.ts`.
 *
 * Nobody's clock is believed. A replica renews its lease by counting up; what it may do it may until so long after it *sent* the last renewal
 * that was taken, by its own monotonic clock. Others take it for dead once they have seen the count stand still for longer than that, by
 * theirs; whoever takes its row away takes it away at that very count, so that it cannot renew any more. A process that was stopped and wakes
 * up finds its time over before it sends anything.
 */
import { randomUUID } from "node:crypto";
import type { Database } from "./database.ts";
import { checkOldest } from "./migrate.ts";

export const BEAT_MS = 1000;
/** A lease lasts so long after it was asked for. */
const LEASE_MS = 4000;
/** What was sent in time has arrived by then. */
const GRACE_MS = 1500;
/** Who has not looked for so long has not seen a count stand still. */
const LONGEST_GAP_MS = 3 * BEAT_MS;
const NEVER = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

export interface Replica {
  id: string;
  home: string;
  beats: number;
  /** How many repositories it has. */
  owned: number;
}

/** What was seen when the lease was renewed. */
export interface Seen {
  me: string;
  /** When, by its own monotonic clock. */
  at: number;
  /** Those that live, this one among them. */
  living: Replica[];
  dead: Replica[];
  /** Repositories in all, and of them those that nobody has. */
  total: number;
  free: number;
  /** Those that are slowed; see `notes.ts`. */
  slow: number;
}

interface MembershipOptions {
  database: Database;
  home: string;
  version: string;
  onTold(payload: string): void;
  /** It was taken for dead: nothing is its own any more. */
  onLost(): void;
  /** By which nothing but spans of time are measured. */
  time: Time;
}

/** Goes on also while the process stands still. */
export interface Time {
  /** Never goes back. It may stand still with the machine, for which the other is there. */
  monotonic(): number;
  wall(): number;
  after(ms: number, wake: () => void): () => void;
}

export const MACHINE: Time = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

export class Membership {
  readonly #options: MembershipOptions;
  readonly #counts = openCounts();
  #id: string | undefined;
  #until = NEVER;
  #isOver = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  readonly id = (): string | undefined => this.#id;

  /** Nobody else can have taken what is this one's. */
  holds(): boolean {
    const { time } = this.#options;
    return !this.#isOver && time.monotonic() < this.#until.monotonic && time.wall() < this.#until.wall;
  }

  /** Renews, and looks at the others. Rejects with DatabaseError, or SchemaError where a newer version has taken over. */
  async beat(): Promise<Seen> {
    const { database, time, onTold } = this.#options;
    const me = await this.#renew();
    const session = await database.lone(onTold);
    const all = await session.query<Record<keyof Replica, string> & Counts>(LOOK);
    const [count] = all;
    checkOldest(count?.oldest);
    const replicas = all.map(({ id, home, beats, owned }) => {
      return { id, home, beats: Number(beats), owned: Number(owned) };
    });
    const at = time.monotonic();
    const dead = this.#counts.still(replicas, at).filter((one) => one.id !== me);
    const living = replicas.filter((one) => !dead.includes(one));
    const { total = 0, free = 0, slow = 0 } = count ?? {};
    return { me, at, living, dead, total: Number(total), free: Number(free), slow: Number(slow) };
  }

  async #renew(): Promise<string> {
    const { database, home, version, time, onTold, onLost } = this.#options;
    const session = await database.lone(onTold);
    const sent = { monotonic: time.monotonic() + LEASE_MS, wall: time.wall() + LEASE_MS };
    if (this.#id !== undefined) {
      const values = [this.#id];
      const renewed = await session.query(
        "update stagecoach.replicas set beats = beats + 1, seen_at = now() where id = $1 returning id",
        values,
      );
      if (renewed.length > 0) {
        this.#until = sent;
        return this.#id;
      }
      this.#id = undefined;
      this.#until = NEVER;
      onLost();
    }
    const made = randomUUID();
    await session.query("insert into stagecoach.replicas (id, home, version) values ($1, $2, $3)", [made, home, version]);
    this.#id = made;
    this.#until = sent;
    return made;
  }

  /** Takes the row of a dead one away; what it had is free then. False: it lives, or another was faster. */
  async bury({ id: whose, beats }: Replica): Promise<boolean> {
    const values = [whose, beats];
    const gone = await this.#options.database.query("delete from stagecoach.replicas where id = $1 and beats = $2 returning id", values);
    return gone.length > 0;
  }

  /** From here on nothing is this one's, though nobody else's yet. Resolves once whatever it had sent has arrived. */
  lapse(): Promise<void> {
    this.#isOver = true;
    return new Promise((resolve) => void this.#options.time.after(GRACE_MS, resolve));
  }

  /** From here on others may have what was this one's. */
  async leave(): Promise<void> {
    const mine = this.#id;
    this.#id = undefined;
    this.#isOver = true;
    if (mine !== undefined) await this.#options.database.query("delete from stagecoach.replicas where id = $1", [mine]);
  }
}

interface Counts {
  total: string;
  free: string | null;
  slow: string;
  oldest: number;
}

/** Repositories are gone through once, however many replicas there are. */
const LOOK = `with counts as (
    select owner, count(*) as n, count(*) filter (where slow_until > now()) as slow from stagecoach.repositories group by owner)
  select r.id, r.home, r.beats, coalesce(c.n, 0) as owned,
    (select coalesce(sum(n), 0) from counts) as total, (select n from counts where owner is null) as free,
    (select coalesce(sum(slow), 0) from counts) as slow,
    (select max(oldest) from stagecoach.schema) as oldest
  from stagecoach.replicas r left join counts c on c.owner = r.id order by r.joined`;

/** Since when each count stands still, as far as it was looked at without a gap. */
function openCounts() {
  const known = new Map<string, { beats: number; since: number }>();
  let last = Number.NEGATIVE_INFINITY;
  return {
    /** Those that have stood still for longer than any lease lasts. */
    still(replicas: readonly Replica[], now: number): Replica[] {
      if (now - last > LONGEST_GAP_MS) known.clear();
      last = now;
      const ids = new Set(replicas.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      return replicas.filter(({ id, beats }) => {
        const before = known.get(id);
        if (before?.beats !== beats) known.set(id, { beats, since: now });
        return before?.beats === beats && now - before.since >= LEASE_MS + GRACE_MS;
      });
    },
  };
}
