/** PostgreSQL of a trial: it can be killed, and writes down by itself who looked after which repository when. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/adapters/queue/postgres/database.ts";
import { migrate } from "../../src/adapters/queue/postgres/migrate.ts";
import { startPostgres } from "../support/postgres.ts";
import { mountDisk } from "./disk.ts";

/** From here on a repository is looked after by this replica; null: by nobody. */
export interface Holding {
  repository: string;
  /** Its directory of mirrors is named so. */
  holder: string | null;
  atMs: number;
}

export interface ChaosDatabase {
  port: number;
  /** Through a port of one's own. */
  url(port: number): string;
  /** SIGKILL; it is started again after so long. */
  kill(downMs: number): Promise<void>;
  /** Nothing more can be written where its files are, or it can again: then it is started where it has ended of that. */
  fillDisk(full: boolean): Promise<void>;
  holdings(): Promise<Holding[]>;
  /** What was stored of deliveries: GUIDs, and whether a round has looked at each. */
  deliveries(): Promise<{ guid: string; isDone: boolean; isAside: boolean }[]>;
  close(): Promise<void>;
}

/** A trigger is part of the statement that it watches: nothing changes hands without it, and its time is before anybody may act on that. */
const WATCH = `create schema chaos;
create table chaos.holdings (seq bigint generated always as identity, repository text, holder text, at_ms double precision);
create function chaos.note() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or old.owner is distinct from new.owner then
    insert into chaos.holdings (repository, holder, at_ms)
    values (new.key, (select home from stagecoach.replicas where id = new.owner), extract(epoch from clock_timestamp()) * 1000);
  end if;
  return null;
end $$;
create trigger note after insert or update on stagecoach.repositories for each row execute function chaos.note();`;
/** Those of the one that was killed have to be gone before it can begin. */
const AGAIN_MS = 100;
/** A trial needs a tenth of it. */
const DISK = "256m";

export async function startDatabase(): Promise<ChaosDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "stagecoach-chaos-postgres-"));
  const disk = mountDisk(folder, DISK);
  // It is run by a user of its own.
  await chmod(folder, 0o755);
  // What it has answered must not be lost with its process.
  // What it shares in memory stays off the disk that is filled.
  const settings = ["synchronous_commit=on", "max_wal_size=64MB", "dynamic_shared_memory_type=posix"];
  const server = await startPostgres(settings, { below: folder });
  const { url, name } = await server.database();
  const opened = openDatabase(url);
  await migrate(opened);
  await opened.close();
  await server.query(WATCH, name);
  let isDown = false;
  let closed = false;

  async function startAgain(): Promise<void> {
    while (!closed)
      try {
        return await server.start();
      } catch {
        await sleep(AGAIN_MS);
      }
  }

  return {
    port: server.port,
    url: (port) => url.replace(`:${server.port}/`, `:${port}/`),
    async kill(downMs) {
      // One that is down already cannot be killed.
      if (isDown) return;
      isDown = true;
      await server.stop("SIGKILL");
      await sleep(downMs);
      await startAgain();
      isDown = false;
    },
    async fillDisk(full) {
      disk.fill(full);
      const { exitCode, signalCode } = server.process;
      if (full || isDown || (exitCode === null && signalCode === null)) return;
      isDown = true;
      await startAgain();
      isDown = false;
    },
    async holdings() {
      const rows = await server.query("select repository, holder, at_ms from chaos.holdings order by seq", name);
      return rows.map((row) => ({
        repository: String(row["repository"]),
        holder: row["holder"] as string | null,
        atMs: Number(row["at_ms"]),
      }));
    },
    async deliveries() {
      const text = "select guid, done_at is not null as done, set_aside_at is not null as aside from stagecoach.deliveries";
      const rows = await server.query(text, name);
      return rows.map((row) => ({ guid: String(row["guid"]), isDone: row["done"] === true, isAside: row["aside"] === true }));
    },
    async close() {
      closed = true;
      server.remove();
      disk.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
