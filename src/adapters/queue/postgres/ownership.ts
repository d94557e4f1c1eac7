/**
 * Which repositories this replica looks after. Every replica has the same share; whoever has less takes what nobody has, first what it had
 * before, whose mirror it has; whoever has more lets go, one after the other, once nothing goes on there. A repository has one owner: a row
 * names it, and only a living replica can be named. Called by `queue.ts`.
 */
import { NotOurs } from "../../outbound/asker.ts";
import type { Database } from "./database.ts";
import type { Membership, Replica, Seen } from "./membership.ts";

interface OwnershipOptions {
  database: Database;
  membership: Pick<Membership, "id" | "holds">;
  home: string;
  /** It is looked after here from now on. */
  onTaken(taken: Taken): void;
  /** Resolves when nothing of it goes on here. Gives when it wants to be looked at. */
  onLeft(repository: string): Promise<number | undefined>;
  onFree(): void;
}

export interface Taken {
  repository: string;
  /** When it wants to be looked at; undefined: nothing is awaited. */
  dueAt: number | undefined;
  /** Owners in a row that ended no round of it. */
  unended: number;
  /** For so long no round is begun; 0: it is not slowed. */
  slowMs: number;
}

/** Owners in a row that were gone before a round of it had ended, from which on it is slowed: in a round of an innocent one few are killed. */
export const MOST_UNENDED = 5;

interface Owned {
  epoch: number;
  /** Nothing new is begun: another will have it. */
  leaving: boolean;
}

/** Let go at once: each closes what it has open. */
const MOST_LEAVING = 8;
/** Whose mirrors are remembered, of a repository. */
const MOST_HOMES = 4;
const MOST_ROWS = 5000;
/** What is free for so long is taken beyond one's share: whose it should be does not know of it yet, or stands still. */
const LEFT_MS = 3500;
/** Nothing is let go again for so long: it would come back. */
const CALM_MS = 60_000;

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #owned = new Map<string, Owned>();
  /** Those that GitHub lists here. */
  #known = new Set<string>();
  readonly #unwritten = new Set<string>();
  readonly #freeSince = new Map<string, number>();
  #calmUntil = Number.NEGATIVE_INFINITY;
  /** What is known again is not taken away by what forgot it before. */
  #forgetting: Promise<unknown> = Promise.resolve();

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  owns(key: string): boolean {
    return this.#holds(key) && this.keeps(key);
  }

  /** Whether it is its own as soon as the lease holds. */
  keeps(key: string): boolean {
    return this.#owned.get(key)?.leaving === false;
  }

  keys(): string[] {
    return [...this.#owned.keys()];
  }

  /** Of what is its own now, also while it is let go. */
  epoch(key: string): number | undefined {
    return this.#holds(key) ? this.#owned.get(key)?.epoch : undefined;
  }

  fence(key: string): () => void {
    const epoch = this.#owned.get(key)?.epoch ?? -1;
    return () => {
      if (!this.#holds(key, epoch)) throw new NotOurs(key);
    };
  }

  #holds(key: string, epoch?: number): boolean {
    const mine = this.#owned.get(key);
    return mine !== undefined && (epoch === undefined || mine.epoch === epoch) && this.#options.membership.holds();
  }

  isKnown(key: string): boolean {
    return this.#known.has(key);
  }

  /** Whoever has room may take it. */
  isRegistered(key: string): boolean {
    return this.#known.has(key) && !this.#unwritten.has(key);
  }

  known(): ReadonlySet<string> {
    return this.#known;
  }

  /** Those that were known, too: another may have seen one gone that is not. */
  share(repositories: readonly string[]): void {
    for (const key of repositories) this.#unwritten.add(key);
    this.#known = new Set(repositories);
  }

  /** Makes them known to all. False: there were none that were new. */
  async register(): Promise<boolean> {
    const wanted = [...this.#unwritten];
    if (wanted.length === 0) return false;
    await this.#forgetting;
    const made = await this.#options.database.query<{ key: string }>(REGISTER, [wanted]);
    for (const key of wanted) this.#unwritten.delete(key);
    return made.length > 0;
  }

  /** What a lost answer has left to this one in the table alone: nobody would look after it. */
  async mend({ me, living }: Seen): Promise<void> {
    const counted = living.find(({ id }) => id === me)?.owned ?? 0;
    if (counted > this.#owned.size) await this.#options.database.query(MEND, [me, this.keys()]);
  }

  async take({ me, at, living, total, free }: Seen): Promise<void> {
    const { database, membership, home, onTaken } = this.#options;
    const share = shareOf(total, living) - this.#owned.size;
    if (free === 0 || share > 0) this.#freeSince.clear();
    if (free === 0 || this.#known.size === 0) return;
    const left = share > 0 ? [] : await this.#leftAt(at);
    const [keys, room] = share > 0 ? [this.#known, share] : [left, Math.ceil(left.length / living.length)];
    if (room <= 0) return;
    const rows = await database.query<TakenRow>(TAKE, [me, home, [...keys], room]);
    // Taken for dead meanwhile, it has none of them.
    if (membership.id() !== me) return;
    if (left.length > 0 && rows.length > 0) this.#calmUntil = at + CALM_MS;
    for (const { key, epoch, due_at: dueAt, unended, slow_ms: slowMs } of rows) {
      this.#owned.set(key, { epoch: Number(epoch), leaving: false });
      onTaken({ repository: key, dueAt: dueAt === null ? undefined : Number(dueAt), unended, slowMs: Number(slowMs ?? 0) });
    }
  }

  /** Those that are known here and that nobody has taken for LEFT_MS, as far as it was looked at. */
  async #leftAt(at: number): Promise<string[]> {
    const asked = "select key from stagecoach.repositories where owner is null limit $1";
    const rows = await this.#options.database.query<{ key: string }>(asked, [MOST_ROWS]);
    const free = new Set(rows.map(({ key }) => key));
    for (const key of this.#freeSince.keys()) if (!free.has(key)) this.#freeSince.delete(key);
    for (const key of free) if (!this.#freeSince.has(key)) this.#freeSince.set(key, at);
    return [...this.#freeSince].filter(([key, since]) => at - since >= LEFT_MS && this.#known.has(key)).map(([key]) => key);
  }

  async letGo({ me, at, living, total }: Seen): Promise<void> {
    if (at < this.#calmUntil) return;
    const leaving = [...this.#owned.values()].filter((one) => one.leaving).length;
    const most = Math.min(this.#owned.size - leaving - shareOf(total, living), MOST_LEAVING - leaving);
    if (most <= 0) return;
    const homes = living.filter((one) => one.id !== me && one.owned < shareOf(total, living)).map((one) => one.home);
    const rows = await this.#options.database.query<{ key: string }>(SPARE, [me, homes, most + leaving]);
    for (const { key } of rows.filter((row) => this.keeps(row.key)).slice(0, most)) this.#leave(key, me).catch(() => undefined);
  }

  async #leave(key: string, me: string): Promise<void> {
    const { database, onLeft, onFree } = this.#options;
    const mine = this.#owned.get(key);
    if (mine === undefined) return;
    mine.leaving = true;
    const dueAt = await onLeft(key).catch(() => 0);
    if (this.#owned.get(key) !== mine) return;
    this.#owned.delete(key);
    await database.query("update stagecoach.repositories set owner = null, due_at = $4 where key = $1 and owner = $2 and epoch = $3", [
      ...[key, me, mine.epoch],
      dueAt ?? null,
    ]);
    onFree();
  }

  /** Nothing is its own any more. Gives what was. */
  lose(): string[] {
    const lost = this.keys();
    this.#owned.clear();
    return lost;
  }

  /** It is gone from GitHub: nobody has to look after it. */
  async forget(key: string): Promise<void> {
    this.#known.delete(key);
    const mine = this.#owned.get(key);
    this.#owned.delete(key);
    this.#unwritten.delete(key);
    const { database, membership } = this.#options;
    const me = membership.id();
    if (mine === undefined || me === undefined) return;
    const values = [key, me, mine.epoch];
    const gone = database.query("delete from stagecoach.repositories where key = $1 and owner = $2 and epoch = $3", values);
    this.#forgetting = Promise.allSettled([this.#forgetting, gone]);
    await gone;
  }

  /** Forgets what nobody has and GitHub does not list. */
  async tidy(): Promise<void> {
    const gone = "delete from stagecoach.repositories where owner is null and key <> all($1::text[])";
    await this.#options.database.query(gone, [[...this.#known]]);
  }
}

interface TakenRow {
  key: string;
  epoch: string;
  due_at: string | null;
  unended: number;
  slow_ms: string | null;
}

function shareOf(total: number, living: readonly Replica[]): number {
  return Math.ceil(total / Math.max(1, living.length));
}

const REGISTER = "insert into stagecoach.repositories (key) select unnest($1::text[]) on conflict do nothing returning key";
/**
 * Rows that another is just taking are passed by; the foreign key lets no dead replica take any. Those that are slowed are so for 1, 2, 4 … 10
 * minutes, each a little otherwise: whichever was only looked at beside the one that ends its owners gets through alone.
 */
const TAKE = `with free as (
    select key from stagecoach.repositories where owner is null and key = any($3::text[])
    order by array_position(homes, $2::text) nulls last, due_at nulls last, key limit least($4::int, ${MOST_ROWS}) for update skip locked)
  update stagecoach.repositories r set owner = $1::uuid, epoch = r.epoch + 1,
    homes = (array_prepend($2::text, array_remove(r.homes, $2::text)))[1:${MOST_HOMES}],
    slow_until = case when r.slow_until > now() then r.slow_until when r.unended >= ${MOST_UNENDED} then
      now() + least(interval '10 minutes', interval '1 minute' * 2 ^ least(r.unended - ${MOST_UNENDED}, 4)) * (0.8 + 0.4 * random()) end
  from free where r.key = free.key
  returning r.key, r.epoch, r.due_at, r.unended, (extract(epoch from r.slow_until - now()) * 1000)::bigint as slow_ms`;
const MEND = "update stagecoach.repositories set owner = null, due_at = 0 where owner = $1::uuid and key <> all($2::text[])";
/** First what a replica with room has the mirror of, then where nothing goes on. */
const SPARE = `select key from stagecoach.repositories where owner = $1::uuid
  order by (homes && $2::text[]) desc, (due_at is not null), key limit $3`;
