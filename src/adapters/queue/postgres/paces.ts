/**
 * When each installation's next write may be sent, for all replicas: GitHub asks for about one a second of an installation, whichever process
 * sends it. By PostgreSQL's clock, which decides nothing else, and holds nothing up for long. Called by `queue.ts`.
 */
import type { Database } from "./database.ts";
import type { Time } from "./membership.ts";

/** Nobody waits longer, whatever the clock did, or however many there are. */
const LONGEST_MS = 10_000;
/** Who is not answered by then goes by its own pace. */
const ANSWERED_WITHIN_MS = 500;

export function openPaces(database: Database, time: Pick<Time, "after">, isAlone: () => boolean) {
  return {
    /** Takes the next turn. Gives the milliseconds until then; 0 as well where there is nobody else, or PostgreSQL is not there. */
    async turn(installation: number): Promise<number> {
      if (isAlone()) return 0;
      const { promise: late, resolve } = Promise.withResolvers<{ wait: number }[]>();
      const disarm = time.after(ANSWERED_WITHIN_MS, () => resolve([]));
      const taken = database.query<{ wait: number }>(TAKE, [installation, LONGEST_MS]).catch(() => []);
      const [row] = await Promise.race([taken, late]);
      disarm();
      return Math.min(Math.max(0, row?.wait ?? 0), LONGEST_MS);
    },
    /** Forgets those that have not written for long. */
    async tidy(): Promise<void> {
      await database.query(
        "delete from stagecoach.paces where free_at not between now() - interval '1 hour' and now() + interval '1 hour'",
      );
    },
  };
}

/** The time is looked at once the row is this one's. */
const TAKE = `insert into stagecoach.paces as p (installation, free_at) values ($1, clock_timestamp() + interval '1 s')
  on conflict (installation) do update
    set free_at = least(greatest(p.free_at, clock_timestamp()), clock_timestamp() + $2::int * interval '1 ms') + interval '1 s'
  returning (extract(epoch from free_at - interval '1 s' - clock_timestamp()) * 1000)::float8 as wait`;
