/**
 * PostgreSQL as the distribution has it, one server for all tests of a worker: on a free port of this machine, in a folder of its own, and gone
 * with the worker however that ends. Nothing is forced to the disk, and what was committed outlives a crash of its processes. Whoever tests against it skips where it is not here; the gate installs it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./free-port.ts";

/** Where its programs are; undefined: it is not here. */
export const POSTGRES = globSync("/usr/lib/postgresql/*/bin/postgres")
  .sort()
  .at(-1)
  ?.replace(/\/postgres$/, "");
/** It refuses to be run by root. */
const OWN = process.getuid?.() === 0 ? ["--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];

export interface PostgresServer {
  port: number;
  process: ChildProcess;
  /** A database of its own. */
  database(): Promise<{ url: string; name: string }>;
  /** As its superuser. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** `SIGKILL` is a crash. */
  stop(signal?: "SIGKILL" | "SIGINT"): Promise<void>;
  /** On the same port, with what it has. */
  start(): Promise<void>;
  remove(): void;
}

let shared: Promise<PostgresServer> | undefined;

/** The server of this worker. */
export function postgres(): Promise<PostgresServer> {
  shared ??= startPostgres().then((server) => {
    process.once("exit", () => server.remove());
    return server;
  });
  return shared;
}

interface Given {
  /** In PEM. */
  tls?: { cert: string; key: string };
  /** Where its folder is made. */
  below?: string;
}

export async function startPostgres(settings: readonly string[] = [], { tls, below = tmpdir() }: Given = {}): Promise<PostgresServer> {
  if (POSTGRES === undefined) throw new Error("PostgreSQL is not here");
  const folder = mkdtempSync(join(below, "stagecoach-postgres-"));
  if (OWN.length > 0) chownSync(folder, ...idsOf("postgres"));
  const data = join(folder, "data");
  const as = (program: string) => ["setpriv", [...OWN, "--pdeathsig=KILL", join(POSTGRES, program)]] as const;
  const [initdb, before] = as("initdb");
  execFileSync(initdb, [...before, "-D", data, "-U", "admin", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"], { stdio: "pipe" });
  if (tls !== undefined) {
    for (const [file, text] of [
      ["server.crt", tls.cert],
      ["server.key", tls.key],
    ] as const) {
      writeFileSync(join(data, file), text, { mode: 0o600 });
      if (OWN.length > 0) chownSync(join(data, file), ...idsOf("postgres"));
    }
  }
  const port = await freePort();
  // Killed, it would leave what lies in the machine's shared memory there for ever.
  const inFolder = ["dynamic_shared_memory_type=mmap", "unix_socket_directories="];
  const own = ["fsync=off", "listen_addresses=127.0.0.1", `port=${port}`, ...inFolder];
  let child: ChildProcess;
  let databases = 0;

  async function start(): Promise<void> {
    const [program, args] = as("postgres");
    const options = [...own, "shared_buffers=32MB", "max_connections=400", `ssl=${tls === undefined ? "off" : "on"}`, ...settings].flatMap(
      (one) => ["-c", one],
    );
    child = spawn(program, [...args, "-D", data, ...options], { stdio: ["ignore", "ignore", "pipe"] });
    await new Promise<void>((resolve, reject) => {
      let said = "";
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-5000);
        if (said.includes("ready to accept connections")) resolve();
      });
      child.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said}`)));
    });
  }

  async function query(text: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ host: "127.0.0.1", port, user: "admin", database });
    await client.connect();
    try {
      return (await client.query(text)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  await start();
  return {
    port,
    get process() {
      return child;
    },
    async database() {
      const name = `test_${++databases}`;
      await query(`create database ${name}`);
      return { url: `postgresql://admin@127.0.0.1:${port}/${name}`, name };
    },
    query,
    async stop(signal = "SIGINT") {
      const exited = once(child, "exit");
      const sessions = signal === "SIGKILL" ? childrenOf(child.pid ?? 0) : [];
      child.kill(signal);
      await exited;
      // As a machine that loses its power: no session outlives it.
      for (const pid of sessions) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
      while (sessions.some((pid) => existsSync(`/proc/${pid}`))) await new Promise(setImmediate);
    },
    start,
    remove() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").map(Number).filter(Boolean);
}

function idsOf(user: string): [number, number] {
  const id = (which: string) => Number(execFileSync("id", [which, user], { encoding: "utf8" }));
  return [id("-u"), id("-g")];
}
