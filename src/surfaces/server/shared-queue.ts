/** The queue that several replicas share, as the configuration says. Called by `serve.ts` and `stagecoach migrate`. */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, openDatabase } from "../../adapters/queue/postgres/database.ts";
import { askSchema, prepareSchema } from "../../adapters/queue/postgres/migrate.ts";
import { PostgresQueue } from "../../adapters/queue/postgres/queue.ts";
import type { Log } from "../../engine/round/context.ts";
import { databaseUrlOf, type Environment } from "./config/env.ts";
import type { ServerConfig } from "./config/schema.ts";
import type { StagecoachOptions } from "./stagecoach.ts";

interface SharedQueueOptions {
  log: Log;
  version: string;
  /** Of mirrors. */
  directory: string;
  onOutdated(error: Error): void;
}

/** undefined: the process is to have all repositories to itself. Rejects with DatabaseError or SchemaError. */
export async function openSharedQueue(
  config: ServerConfig,
  env: Environment,
  { log, version, directory, onOutdated }: SharedQueueOptions,
): Promise<{ openQueue: NonNullable<StagecoachOptions["openQueue"]>; database: Database } | undefined> {
  const url = databaseUrlOf(config, env);
  if (url === undefined) return undefined;
  const database = openDatabase(url);
  try {
    await prepareSchema(database);
    const home = await homeOf(directory);
    return { database, openQueue: (options) => new PostgresQueue({ ...options, database, home, version, log, onOutdated }) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Whether PostgreSQL answers, where one is configured, and what it holds is not newer than this program. Rejects as `openSharedQueue`. */
export async function askSharedQueue(config: ServerConfig, env: Environment): Promise<void> {
  const url = databaseUrlOf(config, env);
  if (url === undefined) return;
  const database = openDatabase(url);
  try {
    await askSchema(database);
  } finally {
    await database.close();
  }
}

/** A name that stays with the mirrors: whoever opens this directory again has them. */
async function homeOf(directory: string): Promise<string> {
  const file = join(directory, ".home");
  const known = (await readFile(file, "utf8").catch(() => "")).trim();
  if (/^[\w-]{8,64}$/.test(known)) return known;
  const made = randomUUID();
  await writeFile(file, `${made}\n`);
  return made;
}
