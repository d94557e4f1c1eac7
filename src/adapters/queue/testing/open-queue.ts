import { randomUUID } from "node:crypto";
import { POSTGRES, postgres } from "../../../../test/support/postgres.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { embeddedQueue } from "../embedded.ts";
import type { QueueOptions, SharedQueue, SharingOptions } from "../port.ts";
import { type Database, openDatabase } from "../postgres/database.ts";
import { prepareSchema } from "../postgres/migrate.ts";
import { type PostgresOptions, PostgresQueue } from "../postgres/queue.ts";

const NOTHING_SHARED = { onDelivery: () => false, onLeft: async () => undefined, onLost: () => undefined };

type Opened = (names: readonly string[], options: QueueOptions & Partial<SharingOptions>) => Promise<SharedQueue>;

/** What both kinds of queue are opened by: these repos were known before, and nothing is asked of them. */
export const KINDS: readonly { kind: string; here: boolean; open: Opened }[] = [
  { kind: "embedded", here: true, open: async (_names, options) => embeddedQueue({ ...NOTHING_SHARED, ...options }) },
  { kind: "postgres", here: POSTGRES !== undefined, open: openPostgres },
];

async function openPostgres(names: readonly string[], options: QueueOptions & Partial<SharingOptions>): Promise<SharedQueue> {
  const { database } = await freshDatabase();
  let isOpen = false;
  const handler: QueueOptions["handler"] = async (...given) => (isOpen ? await options.handler(...given) : undefined);
  const queue = replica(database, { ...NOTHING_SHARED, ...options, handler });
  queue.share(names);
  await queue.start();
  await queue.idle();
  isOpen = true;
  return queue;
}

/** A database with the schema, and a way to it; closed with the last test of the file. */
export async function freshDatabase(): Promise<{ database: Database; url: string; name: string }> {
  const made = await (await postgres()).database();
  const database = databaseAt(made.url);
  await prepareSchema(database);
  return { ...made, database };
}

export function databaseAt(url: string): Database {
  const database = openDatabase(url);
  opened.push(database);
  return database;
}

export function replica(database: Database, options: SharingOptions & Partial<PostgresOptions>): SharedQueue {
  const queue = new PostgresQueue({ home: randomUUID(), version: "0.0.0", log: silentLog, ...options, database });
  replicas.push(queue);
  return queue;
}

const opened: Database[] = [];
const replicas: SharedQueue[] = [];

/** Ends every queue and connection of a file's tests. */
export async function closeAll(): Promise<void> {
  await Promise.all(replicas.splice(0).map((queue) => queue.leave()));
  await Promise.all(opened.splice(0).map((database) => database.close()));
}
