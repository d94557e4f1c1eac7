/**
 * What each replica shows of its repositories to the others, so that all show everything: rows of bytes, of which nothing is known here but
 * whose they are and how large. Called by `queue.ts`.
 *
 * Keeps true: only who looks after a repository writes of it. Who reads misses nothing: a read begins where the one before could not see yet
 * what was under way, by PostgreSQL's own count of transactions. A notice makes a read come sooner and no more, for it may be lost.
 */
import type { Clock } from "../../../core/base/time.ts";
import type { ShownBoard, ShownPart, ShownStanding } from "../port.ts";
import { CHANNEL, type Database } from "./database.ts";
import type { Seen, Time } from "./membership.ts";
import type { Ownership } from "./ownership.ts";
import { openStanding } from "./standing.ts";

/** Of one part; what is larger is not shown. */
export const LARGEST_PART = 8 * 1024 * 1024;
const MOST_PARTS = 200_000;
/** Read at once. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Notices closer together than this make one read. */
const COALESCE_MS = 50;
/** Where nobody has looked for so long it is read now and then only. */
const AWAKE_MS = 10 * 60_000;
const ASLEEP_MS = 60_000;
/** What was read so lately is as of now. */
const FRESH_MS = 1500;
/** Who looks waits for a read no longer. */
const LONGEST_LOOK_MS = 3000;

export const TOLD_SHOWN = "shown";

interface ShownOptions {
  database: Database;
  ownership: Pick<Ownership, "owns" | "epoch" | "known">;
  me(): string | undefined;
  time: Time;
  clock: Pick<Clock, "now">;
  log: Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
}

interface Listed {
  xmin: string;
  repository: string | null;
  part: string;
  version: string;
  format: number;
  size: number;
}

type Sized = Listed & { repository: string };

export class Shown implements ShownBoard {
  readonly largest = LARGEST_PART;
  readonly #options: ShownOptions;
  readonly #versions = new Map<string, string>();
  readonly #listeners = new Set<(parts: readonly ShownPart[]) => Promise<void>>();
  readonly #standing: ReturnType<typeof openStanding>;
  /** Transactions before it were seen. */
  #from = "0";
  #knownBefore: ReadonlySet<string> | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #seeing = Promise.resolve();
  #isStopped = false;
  #isDue = false;
  #lookedAt: number;
  #readAt = Number.NEGATIVE_INFINITY;
  #disarm = (): void => undefined;

  constructor(options: ShownOptions) {
    const { database, time, clock } = options;
    this.#options = options;
    this.#standing = openStanding(database, time, clock);
    this.#lookedAt = time.monotonic();
  }

  async write(repository: string, format: number, parts: ReadonlyMap<string, Uint8Array>, all: readonly string[]): Promise<boolean> {
    const { database, ownership, me } = this.#options;
    const epoch = ownership.epoch(repository);
    if (epoch === undefined) return false;
    const sent = [repository, me() ?? null, epoch, format, [...parts.keys()], [...parts.values()], [...all], CHANNEL, TOLD_SHOWN];
    const [row] = await database.query<{ put: string }>(WRITE, sent);
    return row !== undefined;
  }

  onRead(listener: (parts: readonly ShownPart[]) => Promise<void>): void {
    this.#listeners.add(listener);
  }

  async look(): Promise<void> {
    const { time } = this.#options;
    this.#lookedAt = time.monotonic();
    if (time.monotonic() - this.#readAt < FRESH_MS) return;
    await Promise.race([this.#quietly(this.#read()), new Promise<void>((resolve) => void time.after(LONGEST_LOOK_MS, resolve))]);
  }

  standingOf(repository: string): readonly ShownStanding[] {
    return this.#standing.of(repository);
  }

  /** Something was written. */
  told(): void {
    if (!this.#isAwake() || this.#isDue || this.#isStopped) return;
    this.#isDue = true;
    this.#disarm = this.#options.time.after(COALESCE_MS, () => {
      this.#isDue = false;
      void this.#quietly(this.#read());
    });
  }

  /** After each beat. */
  beat(seen: Seen): void {
    // One after the other, so that all of it takes one connection.
    this.#seeing = this.#seeing.then(() => this.#quietly(this.#see(seen)));
  }

  /** Repositories of this replica are another's: what was not read of them is. */
  handedOn(): void {
    this.#from = "0";
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#disarm();
    await Promise.all([this.#seeing, this.#reading?.catch(() => undefined)]);
  }

  async #see(seen: Seen): Promise<void> {
    if (this.#isStopped) return;
    if (await this.#standing.see(seen)) await this.#tell([]);
    if (this.#isAwake() || this.#options.time.monotonic() - this.#readAt > ASLEEP_MS) await this.#read();
  }

  #isAwake(): boolean {
    return this.#options.time.monotonic() - this.#lookedAt < AWAKE_MS;
  }

  async #quietly(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => {
      this.#options.log.info({ error: String(error).slice(0, 300) }, "what others show could not be read; it is tried again");
    });
  }

  /** Never twice at once: who asks meanwhile shares the one read that follows. */
  #read(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = (async () => {
      do {
        this.#again = false;
        await this.#readNew();
      } while (this.#again && !this.#isStopped);
    })().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    const { database, ownership, time } = this.#options;
    const began = time.monotonic();
    const known = ownership.known();
    // What was passed over, being nobody's that is known here, is read after all.
    const since = known === this.#knownBefore ? this.#from : "0";
    const rows = await database.query<Listed>(LIST, [since, [...known], MOST_PARTS]);
    const isNew = (row: Listed): row is Sized =>
      row.repository !== null && !ownership.owns(row.repository) && this.#versions.get(nameOf(row as Sized)) !== row.version;
    for (const some of batches(rows.filter(isNew))) await this.#readContents(some);
    this.#from = rows[0]?.xmin ?? since;
    this.#knownBefore = known;
    this.#readAt = began;
  }

  async #readContents(some: readonly Sized[]): Promise<void> {
    const wanted = some.filter(({ size }) => size <= LARGEST_PART);
    const values = [wanted.map(({ repository }) => repository), wanted.map(({ part }) => part), LARGEST_PART];
    const found = wanted.length === 0 ? [] : await this.#options.database.query<ShownPart>(READ, values);
    const missing = some.filter(({ size }) => size > LARGEST_PART).map((one): ShownPart => ({ ...one, content: undefined }));
    await this.#tell([...found, ...missing]);
    for (const one of some) this.#versions.set(nameOf(one), one.version);
  }

  async #tell(parts: readonly ShownPart[]): Promise<void> {
    for (const listener of this.#listeners) await listener(parts);
  }
}

function nameOf({ repository, part }: Pick<Sized, "repository" | "part">): string {
  return `${repository} ${part}`;
}

/** So many bytes at once. */
function batches(rows: readonly Sized[]): Sized[][] {
  const found: Sized[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const own = Math.min(row.size, LARGEST_PART);
    if (size + own > MOST_BYTES) [size] = [0, found.push([])];
    size += own;
    found.at(-1)?.push(row);
  }
  return found;
}

const WRITE = `with mine as (
    select key from stagecoach.repositories where key = $1 and owner = $2::uuid and epoch = $3::bigint for share),
  put as (
    insert into stagecoach.shown (repository, part, format, content)
    select mine.key, given.part, $4::int, given.content from mine, unnest($5::text[], $6::bytea[]) as given (part, content)
    on conflict (repository, part) do update set
      format = excluded.format, content = excluded.content, written_in = pg_current_xact_id(), written_at = now()
    returning part),
  cut as (delete from stagecoach.shown where repository in (select key from mine) and part <> all($7::text[]))
  select pg_notify($8, $9) as told, (select count(*) from put) as put from mine`;
const LIST = `with seen as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
  select seen.xmin::text, s.repository, s.part, s.written_in::text as version, s.format, octet_length(s.content) as size
  from seen left join stagecoach.shown s on s.written_in >= $1::text::xid8 and s.repository = any($2::text[]) limit $3`;
const READ = `select s.repository, s.part, s.format, s.content from stagecoach.shown s
  join unnest($1::text[], $2::text[]) as wanted (repository, part) on s.repository = wanted.repository and s.part = wanted.part
  where octet_length(s.content) <= $3`;
