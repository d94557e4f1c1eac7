/** What is to be said of a repository besides what is shown of it: that nobody looks after it, or what is set aside. Called by `shown.ts`. */
import type { Clock } from "../../../core/base/time.ts";
import type { ShownStanding } from "../port.ts";
import type { Database } from "./database.ts";
import type { Seen, Time } from "./membership.ts";

/** What is shown counts as from before where its owner, or PostgreSQL, has said nothing for so long. */
const SILENT_MS = 3000;
/** Beats. */
const ASIDES_EVERY = 60;

/** Which repositories nobody is known to look after just now, and since when. */
export function openStanding(database: Database, time: Time, clock: Pick<Clock, "now">) {
  const counts = new Map<string, { beats: number; since: number; at: number }>();
  let lone = new Map<string, { since: number; at: number; aside: ShownStanding | undefined }>();
  /** How many deliveries of each repository are set aside. */
  let asides = new Map<string, number>();
  let looks = 0;
  let last = { since: time.monotonic(), at: clock.now() };

  return {
    /** True: it is another than before. */
    async see({ living, dead, free, aside, me }: Seen): Promise<boolean> {
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
      const before = lone;
      if (free + aside + silent.length === 0) {
        lone = new Map();
        return before.size > 0;
      }
      const rows = await database.query<Lone>(LONE, [silent.map(({ id }) => id)]);
      lone = new Map(rows.map((row) => [row.key, { ...(before.get(row.key) ?? counts.get(row.owner ?? "") ?? now), aside: asideOf(row) }]));
      return lone.size > 0 || before.size > 0;
    },
    of(repository: string): readonly ShownStanding[] {
      if (time.monotonic() - last.since >= SILENT_MS) return [{ code: "SHOWN_WITHOUT_DATABASE", at: last.at }];
      const webhooks = asides.get(repository);
      const found: ShownStanding[] = webhooks === undefined ? [] : [{ code: "DELIVERIES_SET_ASIDE", webhooks }];
      const since = lone.get(repository);
      if (since?.aside !== undefined) found.push(since.aside);
      else if (since !== undefined && time.monotonic() - since.since >= SILENT_MS) found.push({ code: "SHOWN_BY_NOBODY", at: since.at });
      return found;
    },
  };
}

interface Lone {
  key: string;
  owner: string | null;
  deaths: number;
  until: string | null;
}

function asideOf({ deaths, until }: Lone): ShownStanding | undefined {
  return until === null ? undefined : { code: "REPOSITORY_SET_ASIDE", deaths, until: Number(until) };
}

const LONE = `select key, owner, deaths, (extract(epoch from case when aside_until > now() then aside_until end) * 1000)::bigint as until
  from stagecoach.repositories where owner is null or owner = any($1::uuid[])`;
const ASIDES = `select repository, count(*) as count from stagecoach.deliveries
  where set_aside_at is not null and repository is not null group by repository`;
