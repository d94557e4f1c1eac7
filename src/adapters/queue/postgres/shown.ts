/**
 * What each replica shows of its repositories to the others, so that all show everything: rows of bytes, of which nothing is known here but
 * whose they are and how large. Called by `queue.ts`.
 *
 * Keeps true: only who looks after a repository writes of it. Who reads misses nothing: a read begins where the one before could not see yet
 * what was under way, by PostgreSQL's own count of transactions. A notice makes a read come sooner and no more, for it may be lost.
 */
import type { Clock } from "../../../core/base/time.ts";
import type { ShownBoard, ShownPart } from "../port.ts";
import { CHANNEL, type Database } from "./database.ts";
import type { Seen, Time } from "./membership.ts";
import type { openOwnership } from "./ownership.ts";
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
  ownership: Pick<ReturnType<typeof openOwnership>, "owns" | "epoch" | "known">;
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

export function openShown({ database, ownership, me, time, clock, log }: ShownOptions) {
  const versions = new Map<string, string>();
  const listeners = new Set<(parts: readonly ShownPart[]) => Promise<void>>();
  const standing = openStanding(database, time, clock);
  /** Transactions before it were seen. */
  let from = "0";
  let knownBefore: ReadonlySet<string> | undefined;
  let reading: Promise<void> | undefined;
  let [again, seeing] = [false, Promise.resolve()];
  let isStopped = false;
  let isDue = false;
  let [lookedAt, readAt] = [time.monotonic(), Number.NEGATIVE_INFINITY];
  let disarm = (): void => undefined;

  async function tell(parts: readonly ShownPart[]): Promise<void> {
    for (const listener of listeners) await listener(parts);
  }

  async function readNew(): Promise<void> {
    const began = time.monotonic();
    const known = ownership.known();
    // What was passed over, being nobody's that is known here, is read after all.
    const since = known === knownBefore ? from : "0";
    const rows = await database.query<Listed>(LIST, [since, [...known], MOST_PARTS]);
    const isNew = (row: Listed): row is Sized =>
      row.repository !== null && !ownership.owns(row.repository) && versions.get(nameOf(row as Sized)) !== row.version;
    for (const some of batches(rows.filter(isNew))) await readContents(some);
    from = rows[0]?.xmin ?? since;
    knownBefore = known;
    readAt = began;
  }

  async function readContents(some: readonly Sized[]): Promise<void> {
    const wanted = some.filter(({ size }) => size <= LARGEST_PART);
    const values = [wanted.map(({ repository }) => repository), wanted.map(({ part }) => part), LARGEST_PART];
    const found = wanted.length === 0 ? [] : await database.query<ShownPart>(READ, values);
    const missing = some.filter(({ size }) => size > LARGEST_PART).map((one): ShownPart => ({ ...one, content: undefined }));
    await tell([...found, ...missing]);
    for (const one of some) versions.set(nameOf(one), one.version);
  }

  /** Never twice at once: who asks meanwhile shares the one read that follows. */
  function read(): Promise<void> {
    if (isStopped) return Promise.resolve();
    if (reading !== undefined) {
      again = true;
      return reading;
    }
    reading = (async () => {
      do {
        again = false;
        await readNew();
      } while (again && !isStopped);
    })().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function quietly(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => {
      log.info({ error: String(error).slice(0, 300) }, "what others show could not be read; it is tried again");
    });
  }

  async function see(seen: Seen): Promise<void> {
    if (isStopped) return;
    if (await standing.see(seen)) await tell([]);
    if (isAwake() || time.monotonic() - readAt > ASLEEP_MS) await read();
  }

  const isAwake = () => time.monotonic() - lookedAt < AWAKE_MS;

  const board: ShownBoard = {
    largest: LARGEST_PART,
    async write(repository, format, parts, all) {
      const epoch = ownership.epoch(repository);
      if (epoch === undefined) return false;
      const sent = [repository, me() ?? null, epoch, format, [...parts.keys()], [...parts.values()], [...all], CHANNEL, TOLD_SHOWN];
      const [row] = await database.query<{ put: string }>(WRITE, sent);
      return row !== undefined;
    },
    onRead: (listener) => void listeners.add(listener),
    async look() {
      lookedAt = time.monotonic();
      if (time.monotonic() - readAt < FRESH_MS) return;
      await Promise.race([quietly(read()), new Promise<void>((resolve) => void time.after(LONGEST_LOOK_MS, resolve))]);
    },
    standingOf: standing.of,
  };

  return {
    board,
    /** Something was written. */
    told(): void {
      if (!isAwake() || isDue || isStopped) return;
      isDue = true;
      disarm = time.after(COALESCE_MS, () => {
        isDue = false;
        void quietly(read());
      });
    },
    /** After each beat. */
    beat(seen: Seen): void {
      // One after the other, so that all of it takes one connection.
      seeing = seeing.then(() => quietly(see(seen)));
    },
    /** Repositories of this replica are another's: what was not read of them is. */
    handedOn: () => {
      from = "0";
    },
    async stop(): Promise<void> {
      isStopped = true;
      disarm();
      await Promise.all([seeing, reading?.catch(() => undefined)]);
    },
  };
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
