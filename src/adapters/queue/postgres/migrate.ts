/**
 * Brings the schema to what this program wants. Each step is taken once, under a lock, so that replicas that start together do not take it
 * twice; a step says which programs still work with what it leaves, so that two versions of the bot may run beside each other.
 */
import type { AnyReason } from "../../../core/base/reason.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { type Database, DatabaseError, type Session } from "./database.ts";

interface Step {
  sql: string;
  /** Programs that know fewer steps than this cannot work with what it leaves. */
  oldest: number;
}

const STEPS: readonly Step[] = [
  {
    oldest: 1,
    sql: `
create table stagecoach.replicas (
  id uuid primary key,
  -- Which directory of mirrors it has: the same after a restart on the same disk.
  home text not null,
  address text,
  version text not null,
  -- Goes up with each renewal. Whoever sees it stand still for long enough takes the row away.
  beats bigint not null default 0,
  joined bigint generated always as identity,
  seen_at timestamptz not null default now()
);
create table stagecoach.repositories (
  key text primary key,
  owner uuid references stagecoach.replicas (id) on delete set null,
  -- Goes up whenever it is taken.
  epoch bigint not null default 0,
  -- When it wants to be looked at by itself, in milliseconds since 1970; null: nothing is awaited.
  due_at bigint default 0,
  -- Who had it last, the last first.
  homes text[] not null default '{}'
);
create index repositories_owner on stagecoach.repositories (owner);
-- What else outlives a process: whom was told what, by repository.
create table stagecoach.documents (
  kind text not null,
  repository text not null,
  value json not null,
  primary key (kind, repository)
);
create table stagecoach.deliveries (
  guid text primary key,
  seq bigint generated always as identity,
  -- Null: of no repository alone.
  repository text,
  version int not null,
  event json not null,
  failures int not null default 0,
  received_at timestamptz not null default now(),
  done_at timestamptz,
  set_aside_at timestamptz
);
create index deliveries_waiting on stagecoach.deliveries (repository) where done_at is null and set_aside_at is null;
create index deliveries_for_all on stagecoach.deliveries (received_at) where repository is null;
create index deliveries_done on stagecoach.deliveries (done_at) where done_at is not null;
`,
  },
  {
    oldest: 1,
    sql: `
create table stagecoach.shown (
  repository text references stagecoach.repositories (key) on delete cascade,
  -- Empty: what is shown besides runs; else a rollout.
  part text,
  format int not null,
  -- By which a reader knows what it has not seen.
  written_in xid8 not null default pg_current_xact_id(),
  written_at timestamptz not null default now(),
  -- Compressed by who writes it.
  content bytea not null,
  primary key (repository, part)
);
alter table stagecoach.shown alter column content set storage external;
create index shown_written_in on stagecoach.shown (written_in);
`,
  },
  {
    oldest: 1,
    sql: `
-- What is new is read in the order in which it came.
drop index stagecoach.deliveries_waiting;
create index deliveries_waiting on stagecoach.deliveries (seq) where done_at is null and set_aside_at is null;
`,
  },
  {
    oldest: 1,
    sql: `
alter table stagecoach.repositories
  -- Owners in a row that began a round, and were gone before one of theirs had ended.
  add column unended int not null default 0,
  -- No round of it is begun before, but for what somebody says; null: it is not slowed.
  add column slow_until timestamptz;
`,
  },
  {
    oldest: 1,
    sql: `
-- When an installation's next write may be sent; may be lost at any moment.
create unlogged table stagecoach.paces (installation bigint primary key, free_at timestamptz not null);
`,
  },
  {
    oldest: 1,
    sql: `
-- Since when its repository is none that anybody knows.
alter table stagecoach.documents add column gone_at timestamptz;
`,
  },
];

/** How many steps this program knows. */
export const SCHEMA_VERSION = STEPS.length;
/** Any number, the same for all. */
export const LOCK = 7_251_620_361;

/** The schema is not one that this program can work with. */
export class SchemaError extends Error {
  override name = "SchemaError";
  readonly reason: AnyReason;
  constructor(reason: AnyReason) {
    super(reason.code);
    this.reason = reason;
  }
}

/** Takes the steps that were not taken. Gives how many. Throws SchemaError where a newer program has left what this one cannot use. */
export async function migrate(database: Database): Promise<number> {
  return await database.transaction(async (session) => {
    await session.query("select pg_advisory_xact_lock($1)", [LOCK]);
    const found = await versionOf(session);
    refuseNewer(found);
    if (found === undefined) {
      await session.query("create schema if not exists stagecoach");
      await session.query("create table stagecoach.schema (version int not null, oldest int not null, taken_at timestamptz default now())");
    }
    const taken = found?.version ?? 0;
    for (const [i, { sql, oldest }] of STEPS.entries()) {
      if (i < taken) continue;
      await session.query(sql);
      await session.query("insert into stagecoach.schema (version, oldest) values ($1, $2)", [i + 1, oldest]);
    }
    return Math.max(0, STEPS.length - taken);
  });
}

/** Throws SchemaError where the schema is older than this program, or newer than it can work with. */
async function checkSchema(session: Session): Promise<void> {
  const found = await versionOf(session);
  refuseNewer(found);
  if (found === undefined) throw new SchemaError(setting("DATABASE_EMPTY"));
  if (found.version < SCHEMA_VERSION) throw new SchemaError(setting("DATABASE_OLDER", { is: found.version, wanted: SCHEMA_VERSION }));
}

/** Whether this role may take steps: make the schema where there are no tables yet, and change every table that is there. */
const MAY_MIGRATE = `
select (has_database_privilege(current_database(), 'create')
    or exists (select from pg_catalog.pg_tables where schemaname = 'stagecoach' and tablename = 'schema'))
  and coalesce((select has_schema_privilege(oid, 'create') from pg_catalog.pg_namespace where nspname = 'stagecoach'), true)
  and coalesce((select bool_and(pg_has_role(tableowner, 'usage')) from pg_catalog.pg_tables where schemaname = 'stagecoach'), true) as may`;

/** Asks, and changes nothing: what a start would bring up to date is no fault where it may. Throws SchemaError, or DatabaseError. */
export async function askSchema(session: Session): Promise<void> {
  const [role] = await session.query<{ may: boolean }>(MAY_MIGRATE);
  if (role?.may === true) refuseNewer(await versionOf(session));
  else await checkSchema(session);
}

/** The schema as a start wants it: steps that were not taken are taken, where the role may. */
export async function prepareSchema(database: Database): Promise<void> {
  try {
    await checkSchema(database);
  } catch (error) {
    if (!(error instanceof SchemaError) || error.reason.code === "DATABASE_NEWER") throw error;
    await migrate(database).catch((fault: unknown) => {
      // A role that only works may not: then somebody else has to.
      throw fault instanceof DatabaseError && fault.code === "42501" ? error : fault;
    });
  }
}

/** Throws SchemaError where what a newer version has made of the schema is not for this one. */
export function checkOldest(oldest: number | null | undefined): void {
  if (typeof oldest === "number" && oldest > SCHEMA_VERSION)
    throw new SchemaError(setting("DATABASE_NEWER", { is: oldest, known: SCHEMA_VERSION }));
}

interface Version {
  version: number;
  oldest: number;
}

async function versionOf(session: Session): Promise<Version | undefined> {
  // Looked up in the catalogue itself: by `to_regclass` a session is told again what it found before another had made it.
  const [made] = await session.query("select 1 from pg_catalog.pg_tables where schemaname = 'stagecoach' and tablename = 'schema'");
  if (made === undefined) return undefined;
  const [found] = await session.query<Version>("select max(version) as version, max(oldest) as oldest from stagecoach.schema");
  return found?.version === null ? { version: 0, oldest: 0 } : found;
}

function refuseNewer(found: Version | undefined): void {
  if (found !== undefined && found.oldest > SCHEMA_VERSION)
    throw new SchemaError(setting("DATABASE_NEWER", { is: found.version, known: SCHEMA_VERSION }));
}
