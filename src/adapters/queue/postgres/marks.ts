/**
 * In whose rounds replicas end. A round is marked while it goes on; whoever finds a replica dead counts what was marked. A repository that took
 * so many with it, one after the other and with no round that ended, is set aside: nobody has it for a while. Called by `queue.ts`.
 */
import type { Database } from "./database.ts";
import type { Replica } from "./membership.ts";

/** Deaths in a row. A replica that is killed, or cut off, in the midst of a round says nothing against the repository. */
export const MOST_DEATHS = 5;

export interface SetAside {
  key: string;
  deaths: number;
  /** In seconds. */
  forS: number;
}

interface Mark {
  goesOn: boolean;
  /** It stands in the table: only then can it be taken off. */
  stands: boolean;
}

export function openMarks(database: Database, me: () => string | undefined) {
  const marks = new Map<string, Mark>();
  return {
    /** Waits for nothing: a round that ends its process does so later. False: the table says that it is another's. */
    async begin(repository: string): Promise<boolean> {
      const before = marks.get(repository);
      if (before !== undefined) {
        before.goesOn = true;
        return true;
      }
      const mark: Mark = { goesOn: true, stands: false };
      marks.set(repository, mark);
      const rows = await database.query(MARK, [repository, me() ?? null]).catch(() => undefined);
      mark.stands = true;
      return rows === undefined || rows.length > 0;
    },
    /** However it ended: the process lives. */
    ended(repository: string): void {
      const mark = marks.get(repository);
      if (mark !== undefined) mark.goesOn = false;
    },
    drop: (repository: string) => void marks.delete(repository),
    dropAll: () => marks.clear(),
    /** Takes the marks off what has ended. */
    async settle(): Promise<void> {
      const ended = [...marks].filter(([, { goesOn, stands }]) => stands && !goesOn).map(([key]) => key);
      if (ended.length === 0) return;
      await database.query(UNMARK, [ended, me() ?? null]);
      // One that has begun meanwhile goes unmarked, which is one death that is not counted.
      for (const key of ended) if (marks.get(key)?.goesOn === false) marks.delete(key);
    },
    /** Takes the row of a dead one away; what it had is free then, or set aside. undefined: it lives, or another was faster. */
    async bury({ id, beats }: Replica): Promise<SetAside[] | undefined> {
      const rows = await database.query<{ key: string | null; deaths: number; for_s: number | null }>(BURY, [id, beats]);
      if (rows.length === 0) return undefined;
      return rows.flatMap(({ key, deaths, for_s: forS }) => (key === null || forS === null ? [] : [{ key, deaths, forS }]));
    },
  };
}

const MARK = "update stagecoach.repositories set in_round = true where key = $1 and owner = $2::uuid returning key";
const UNMARK = "update stagecoach.repositories set in_round = false, deaths = 0 where key = any($1::text[]) and owner = $2::uuid";
/** Longer each time, and not all at one moment: what only was looked at beside the one that ends its owners gets through alone. */
const BURY = `with dead as (select id from stagecoach.replicas where id = $1::uuid and beats = $2::bigint for update),
  hit as (
    update stagecoach.repositories r set in_round = false, due_at = 0, deaths = r.deaths + 1,
      aside_until = case when r.deaths + 1 >= ${MOST_DEATHS} then
        now() + least(interval '4 hours', interval '5 minutes' * 2 ^ (r.deaths + 1 - ${MOST_DEATHS})) * (0.5 + random()) end
    from dead where r.owner = dead.id and r.in_round
    returning r.key, r.deaths, extract(epoch from r.aside_until - now())::int as for_s),
  gone as (delete from stagecoach.replicas where id in (select id from dead) returning id)
  select hit.key, hit.deaths, hit.for_s from gone left join hit on true`;
