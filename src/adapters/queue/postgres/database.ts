/**
 * A way to PostgreSQL: every statement bounded in time, and what goes wrong told by a code. One connection of its own hears what others tell
 * and renews the lease; it waits for no other statement. Called by `queue.ts`, `migrate.ts` and tests.
 */
import pg from "pg";
import { defined } from "../../../core/base/defined.ts";
import { setting } from "../../../core/reasons/settings.ts";

/** GitHub takes an answer of a delivery for ten seconds, and Probot answers after nine whatever became of it. */
const STATEMENT_MS = 4000;
const CONNECT_MS = 3000;
const MOST_CONNECTIONS = 4;

/** Thrown for whatever PostgreSQL refuses, or does not answer. Its message holds no credential. */
export class DatabaseError extends Error {
  override name = "DatabaseError";
  /** Of SQL, or of the system. */
  readonly code: string;
  /** As whoever sent a delivery is answered. */
  readonly status = 503;
  constructor(error: unknown) {
    const { code = "", message = String(error) } = error as { code?: string; message?: string };
    super(message.slice(0, 300), { cause: error });
    this.code = code;
  }
  /** In what way it is of no use just now. */
  get reason() {
    return whyRefused(this.code, this.message);
  }
}

export interface Session {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Session {
  /** All of it, or none. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** The connection of its own, opened where it is not. What is told by others comes to `onTold` as long as it stands. */
  lone(onTold: (payload: string) => void): Promise<Session>;
  close(): Promise<void>;
}

export const CHANNEL = "stagecoach";

/** That nobody is told is made up for by the next beat of those who were not. */
export function tellAll(database: Database, what: string): void {
  database.query("select pg_notify($1, $2)", [CHANNEL, what]).catch(() => undefined);
}

/** `url`: `postgresql://user:password@host/database`, with its options of TLS. */
export function openDatabase(url: string): Database {
  const options = {
    connectionString: url,
    application_name: "stagecoach",
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + 500,
    idle_in_transaction_session_timeout: STATEMENT_MS * 2,
    keepAlive: true,
  };
  const pool = new pg.Pool({ ...options, max: MOST_CONNECTIONS, idleTimeoutMillis: 60_000 });
  // Of a connection that rests: whoever asks next opens another.
  pool.on("error", () => undefined);
  let lone: pg.Client | undefined;
  let ended: Promise<void> | undefined;

  async function openLone(onTold: (payload: string) => void): Promise<Session> {
    if (lone === undefined) {
      const client = clientOf(options);
      const drop = () => {
        if (lone === client) lone = undefined;
        client.end().catch(() => undefined);
      };
      client.on("error", drop);
      client.on("end", drop);
      client.on("notification", ({ payload }) => onTold(payload ?? ""));
      try {
        await client.connect();
        await client.query(`listen ${CHANNEL}`);
      } catch (error) {
        drop();
        throw new DatabaseError(error);
      }
      lone = client;
    }
    const mine = lone;
    return {
      query: <Row extends object>(text: string, values?: readonly unknown[]) =>
        run<Row>(mine, text, values).catch((error: unknown) => {
          // One that hangs is not waited for a second time.
          if (!isRefusal(error) && lone === mine) {
            lone = undefined;
            mine.end().catch(() => undefined);
          }
          throw error;
        }),
    };
  }

  return {
    query: (text, values) => run(pool, text, values),
    transaction: (work) => transaction(pool, work),
    lone: openLone,
    async close() {
      const client = lone;
      lone = undefined;
      ended ??= pool.end();
      await Promise.all([client?.end().catch(() => undefined), ended]);
    },
  };
}

async function transaction<T>(pool: pg.Pool, work: (session: Session) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new DatabaseError(error);
  });
  let fault: Error | undefined;
  try {
    await run(client, "begin");
    const done = await work({ query: (text, values) => run(client, text, values) });
    await run(client, "commit");
    return done;
  } catch (error) {
    fault = error as Error;
    await client.query("rollback").catch(() => undefined);
    throw error;
  } finally {
    client.release(fault !== undefined && !isRefusal(fault) ? fault : undefined);
  }
}

/** Reads the files that the address names. */
function clientOf(options: pg.ClientConfig): pg.Client {
  try {
    return new pg.Client(options);
  } catch (error) {
    throw new DatabaseError(error);
  }
}

let underWay = 0;

/** How many statements of this process wait for their answer: a clock of tests waits for them. */
export function statementsUnderWay(): number {
  return underWay;
}

async function run<Row extends object>(
  on: { query(config: { text: string; values?: unknown[] }): Promise<{ rows: unknown[] }> },
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  underWay += 1;
  try {
    const { rows } = await on.query(defined({ text, values: values && [...values] }));
    return rows as Row[];
  } catch (error) {
    throw error instanceof DatabaseError ? error : new DatabaseError(error);
  } finally {
    underWay -= 1;
  }
}

/**
 * PostgreSQL itself said no: the connection is good. Class 57 and 08 are of one that ends; one that is read-only (25006) stays so, though its
 * database takes writes again.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && /^(?!57|08|25006)[0-9A-Z]{5}$/.test(error.code);
}

// What is wrong with PostgreSQL, from the code of its refusal or of the system's.

const LOGIN = new Set(["28P01", "28000", "3D000"]);
const READ_ONLY = new Set(["25006"]);
const FULL = new Set(["53100", "53200", "54000"]);
const NOT_THERE = new Set(["42P01", "3F000", "42703"]);

/** In the words of its client, which gives it no code. */
const NO_TLS = "The server does not support SSL connections";
/** Of Node's and OpenSSL's, for a certificate that is not taken. */
const UNTRUSTED = /CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)/;

/** `said`: in PostgreSQL's words, or the system's. */
function whyRefused(code: string, said: string) {
  if (LOGIN.has(code)) return setting("DATABASE_LOGIN", { said });
  if (READ_ONLY.has(code)) return setting("DATABASE_READ_ONLY");
  if (FULL.has(code)) return setting("DATABASE_FULL", { said });
  if (code === "42501") return setting("DATABASE_RIGHTS", { said });
  if (NOT_THERE.has(code)) return setting("DATABASE_EMPTY");
  if (UNTRUSTED.test(code) || said === NO_TLS) return setting("DATABASE_TLS", { said });
  return setting("DATABASE_AWAY", { said: said === "" ? code : said });
}
