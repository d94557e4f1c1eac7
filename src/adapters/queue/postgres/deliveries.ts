/**
 * Deliveries, kept before they are acknowledged and until a round that began after them has ended well. Whoever looks after the repository
 * then finds them here, told of them or not. Called by `queue.ts`.
 */
import { BoundedSet } from "../../../core/base/bounded.ts";
import type { Delivery } from "../port.ts";
import { type Database, DatabaseError } from "./database.ts";
import type { Time } from "./membership.ts";

/** How this version writes events; what is newer is not read here. */
const EVENT_VERSION = 1;
const MOST_READ = 2000;
/** Those of no repository alone are told to every replica that lives so long after. */
const FOR_ALL_MINUTES = 10;
/** A delivery that comes again within it is known. */
const KNOWN_MINUTES = 15;
const LONGEST_KEPT_DAYS = 3;
/** Rounds in a row that failed since it came, from a second to a minute apart. */
const MOST_FAILURES = 20;
const MOST_GUIDS = 10_000;
/** Probot says that all is well after nine seconds; one waits for those before it as well as for PostgreSQL. */
const KEPT_WITHIN_MS = 8000;

/** Notices closer together than this make one read. */
const COALESCE_MS = 50;

interface Row {
  guid: string;
  seq: string;
  repository: string | null;
  version: number;
  event: unknown;
}

interface DeliveriesOptions {
  database: Database;
  me(): string | undefined;
  owns(repository: string): boolean;
  /** False: there is nothing to look at. */
  onDelivery(delivery: Delivery): boolean;
  /** Others have to be told. */
  onKept(): void;
  log: { error(fields: object, message: string): void };
  time: Pick<Time, "after">;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  /** Of repositories that are looked after here: those that no round has ended well since. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #forAll = new BoundedSet<string>(MOST_GUIDS);
  #done: string[] = [];
  readonly #reads = openReads();
  readonly #coming: { delivery: Delivery; resolve: (isNew: boolean) => void; reject: (error: unknown) => void }[] = [];
  #isWriting = false;
  #isDue = false;
  /** Of what was read; what was committed late is older, and is read with the next beat. */
  #newest = "0";

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  keep(delivery: Delivery): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new DatabaseError({ code: "ETIMEDOUT", message: "ETIMEDOUT" }));
      const disarm = this.#options.time.after(KEPT_WITHIN_MS, late);
      const settle =
        <T>(then: (outcome: T) => void) =>
        (outcome: T): void => {
          disarm();
          then(outcome);
        };
      this.#coming.push({ delivery, resolve: settle(resolve), reject: settle(reject) });
      void this.#write();
    });
  }

  /** Those that come while others are being written are written together. */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#coming.length > 0) {
      const batch = this.#coming.splice(0, MOST_READ);
      try {
        const fresh = await this.#insert(batch.map(({ delivery }) => delivery));
        for (const { delivery, resolve } of batch) resolve(fresh.delete(delivery.guid));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #insert(batch: readonly Delivery[]): Promise<Set<string>> {
    const { database, owns, onKept } = this.#options;
    const columns = [
      batch.map(({ guid }) => guid),
      batch.map(({ repository }) => repository ?? null),
      batch.map(({ event }) => JSON.stringify(event)),
      EVENT_VERSION,
    ];
    const rows = await database.query<{ guid: string }>(KEEP, columns);
    const fresh = new Set(rows.map(({ guid }) => guid));
    let isOthers = false;
    for (const delivery of batch) {
      if (!fresh.has(delivery.guid)) continue;
      if (delivery.repository === undefined || !owns(delivery.repository)) isOthers = true;
      if (delivery.repository === undefined || owns(delivery.repository)) this.#hear(delivery);
    }
    if (isOthers) onKept();
    return fresh;
  }

  /** Another has kept some: what is new is read soon. */
  told(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.time.after(COALESCE_MS, () => {
      this.#isDue = false;
      // Where it fails, the next beat says so.
      this.#read(this.#newest).catch(() => undefined);
    });
  }

  /** Reads what is kept for this replica, and was not told here yet. */
  fetch(): Promise<void> {
    return this.#read("0");
  }

  async #read(since: string): Promise<void> {
    const { database, me } = this.#options;
    const known = since === "0" ? [...this.#waiting.values()].flatMap((guids) => [...guids]) : [];
    const { rows, ended } = await this.#reads.during(database.query<Row>(OURS, [me() ?? null, known, [...this.#done], since]));
    for (const row of rows) {
      if (BigInt(row.seq) > BigInt(this.#newest)) this.#newest = row.seq;
      if (!ended.has(row.guid)) this.#hearRow(row);
    }
    for (const row of await database.query<Omit<Row, "seq">>(OF_ALL)) this.#hearRow(row);
  }

  #hearRow({ guid, repository, version, event }: Omit<Row, "seq">): void {
    if (repository !== null && !this.#options.owns(repository)) return;
    this.#hear({ guid, repository: repository ?? undefined, event: version <= EVENT_VERSION ? event : undefined });
  }

  #hear(delivery: Delivery): void {
    const { guid, repository } = delivery;
    const { database, log, onDelivery } = this.#options;
    if (repository === undefined ? this.#forAll.has(guid) : this.#waiting.get(repository)?.has(guid)) return;
    if (repository === undefined) this.#forAll.add(guid);
    else this.#waiting.set(repository, (this.#waiting.get(repository) ?? new Set()).add(guid));
    try {
      if (onDelivery(delivery) || repository === undefined) return;
      this.#end(repository, [guid]);
    } catch (error) {
      log.error({ delivery: guid, repository, error: String(error) }, "a delivery cannot be read; it is set aside");
      this.#waiting.get(repository ?? "")?.delete(guid);
      database.query("update stagecoach.deliveries set set_aside_at = now() where guid = $1", [guid]).catch(() => undefined);
    }
  }

  /** A round begins. Gives what is to be told of its end. */
  begin(repository: string): { ended(): void; failed(): void } {
    const mine = [...(this.#waiting.get(repository) ?? [])];
    return {
      ended: () => this.#end(repository, mine),
      failed: () => {
        if (mine.length > 0) this.#options.database.query(FAILED, [mine]).catch(() => undefined);
      },
    };
  }

  #end(repository: string, guids: readonly string[]): void {
    for (const guid of guids) this.#waiting.get(repository)?.delete(guid);
    if (this.#waiting.get(repository)?.size === 0) this.#waiting.delete(repository);
    this.#done.push(...guids);
    this.#reads.ended(guids);
  }

  /** Looked after elsewhere from now on. */
  drop(repository: string): void {
    this.#waiting.delete(repository);
  }

  count(): number {
    return [...this.#waiting.values()].reduce((sum, guids) => sum + guids.size, 0);
  }

  /** Writes down which have been looked at. */
  async settle(): Promise<void> {
    const written = [...this.#done];
    if (written.length === 0) return;
    await this.#options.database.query(DONE, [written]);
    this.#done = this.#done.slice(written.length);
  }

  /** Forgets what is old. Gives how many are set aside. */
  async tidy(): Promise<number> {
    const { database } = this.#options;
    await database.query(TIDY);
    const [row] = await database.query<{ count: string }>(
      "select count(*) as count from stagecoach.deliveries where set_aside_at is not null",
    );
    return Number(row?.count ?? 0);
  }
}

/** Of each read under way which deliveries a round ended meanwhile: its rows may still have them. */
function openReads() {
  const underWay = new Set<Set<string>>();
  return {
    ended(guids: readonly string[]): void {
      for (const ended of underWay) for (const guid of guids) ended.add(guid);
    },
    async during(asked: Promise<Row[]>): Promise<{ rows: Row[]; ended: ReadonlySet<string> }> {
      const ended = new Set<string>();
      underWay.add(ended);
      return { rows: await asked.finally(() => underWay.delete(ended)), ended };
    },
  };
}

const KEEP = `insert into stagecoach.deliveries (guid, repository, event, version, done_at)
  select guid, repository, event::json, $4::int, case when repository is null then now() end
  from unnest($1::text[], $2::text[], $3::text[]) as given (guid, repository, event) on conflict (guid) do nothing returning guid`;
const OURS = `select d.guid, d.seq, d.repository, d.version, d.event from stagecoach.deliveries d
  join stagecoach.repositories r on r.key = d.repository
  where r.owner = $1::uuid and d.done_at is null and d.set_aside_at is null and d.guid <> all($2::text[]) and d.guid <> all($3::text[])
    and d.seq > $4::bigint
  order by d.seq limit ${MOST_READ}`;
const OF_ALL = `select guid, repository, version, event from stagecoach.deliveries
  where repository is null and received_at > now() - interval '${FOR_ALL_MINUTES} minutes' order by seq desc limit ${MOST_READ}`;
const DONE = "update stagecoach.deliveries set done_at = now(), set_aside_at = null where guid = any($1::text[])";
const FAILED = `update stagecoach.deliveries set failures = failures + 1,
  set_aside_at = case when failures + 1 >= ${MOST_FAILURES} then now() end where guid = any($1::text[])`;
const TIDY = `delete from stagecoach.deliveries where done_at < now() - interval '${KNOWN_MINUTES} minutes'
  or received_at < now() - interval '${LONGEST_KEPT_DAYS} days'`;
