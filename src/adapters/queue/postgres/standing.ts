/** What is to be said of a repository besides what is shown of it: that nobody looks after it, is slowed, or has deliveries set aside. Called by `shown.ts`. */
import type { Clock } from "../../../core/base/time.ts";
import type { ShownStanding } from "../port.ts";
import type { Database } from "./database.ts";
import type { Seen, Time } from "./membership.ts";

/** What is shown counts as from before where its owner, or PostgreSQL, has said nothing for so long. */
const SILENT_MS = 3000;
/** Beats. */
const ASIDES_EVERY = 60;

interface Odd {
  /** Nobody is known to look after it, and since when. */
  lone: Moment | undefined;
  slow: ShownStanding | undefined;
}

interface Moment {
  since: number;
  at: number;
}

/** Which repositories nobody is known to look after just now, which are slowed, and of which deliveries are set aside. */
export function openStanding(database: Database, time: Time, clock: Pick<Clock, "now">) {
  const counts = new Map<string, Moment & { beats: number }>();
  let odd = new Map<string, Odd>();
  /** How many deliveries of each repository are set aside. */
  let asides = new Map<string, number>();
  let looks = 0;
  let last = { since: time.monotonic(), at: clock.now() };

  return {
    /** True: it is another than before. */
    async see({ living, dead, free, slow, me }: Seen): Promise<boolean> {
      if (looks++ % ASIDES_EVERY === 0) {
        const rows = await database.query<{ repository: string; count: string }>(ASIDES);
        asides = new Map(rows.map(({ repository, count }) => [repository, Number(count)]));
      }
      const now = { since: time.monotonic(), at: clock.now() };
      const all = [...living, ...dead];
      last = now;
      for (const { id, beats } of all) if (counts.get(id)?.beats !== beats) counts.set(id, { beats, ...now });
      for (const id of counts.keys()) if (!all.some((one) => one.id === id)) counts.delete(id);
      const silent = all.filter(({ id }) => id !== me && now.since - (counts.get(id)?.since ?? now.since) >= SILENT_MS);
      const before = odd;
      odd = new Map();
      const rows = free + slow + silent.length === 0 ? [] : await database.query<Row>(ODD, [silent.map(({ id }) => id)]);
      for (const { key, owner, is_lone: isLone, unended: owners, until } of rows) {
        const lone = isLone ? (before.get(key)?.lone ?? counts.get(owner ?? "") ?? now) : undefined;
        odd.set(key, { lone, slow: until === null ? undefined : { code: "REPOSITORY_SLOWED", owners, until: Number(until) } });
      }
      return odd.size > 0 || before.size > 0;
    },
    of(repository: string): readonly ShownStanding[] {
      if (time.monotonic() - last.since >= SILENT_MS) return [{ code: "SHOWN_WITHOUT_DATABASE", at: last.at }];
      const webhooks = asides.get(repository);
      const found: ShownStanding[] = webhooks === undefined ? [] : [{ code: "DELIVERIES_SET_ASIDE", webhooks }];
      const { lone, slow } = odd.get(repository) ?? {};
      if (slow !== undefined) found.push(slow);
      if (lone !== undefined && time.monotonic() - lone.since >= SILENT_MS) found.push({ code: "SHOWN_BY_NOBODY", at: lone.at });
      return found;
    },
  };
}

interface Row {
  key: string;
  owner: string | null;
  is_lone: boolean;
  unended: number;
  until: string | null;
}

const ODD = `select key, owner, unended, owner is null or owner = any($1::uuid[]) as is_lone,
    (extract(epoch from case when slow_until > now() then slow_until end) * 1000)::bigint as until
  from stagecoach.repositories where owner is null or owner = any($1::uuid[]) or slow_until > now()`;
const ASIDES = `select repository, count(*) as count from stagecoach.deliveries
  where set_aside_at is not null and repository is not null group by repository`;
