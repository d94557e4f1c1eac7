/** One replica of the bot: the program as it is packed, in a process of its own, started again whenever it ends. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mountDisk } from "./disk.ts";
import { kill, type Started, start } from "./processes.ts";
import type { Wire } from "./wires.ts";

export interface Replica {
  name: string;
  /** To GitHub's API, to each Argo CD, and to PostgreSQL. */
  wires: { github: Wire; argocd: Wire[]; postgres: Wire | undefined };
  /** Where it takes deliveries. */
  port: number;
  start(): void;
  /** Resolves once it says that it is ready. */
  ready(): Promise<unknown>;
  /** SIGKILL; it is started again after so long. false: it was down. */
  kill(downMs: number): Promise<boolean>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Its wall's clock is off by so much from now on. */
  setClock(offMs: number): Promise<void>;
  /** Nothing more can be written where its mirrors are, or it can again. */
  fillDisk(full: boolean): void;
  /** Of all its lives. */
  output(): string;
  /** How often it ended by itself. */
  ownEnds(): number;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  name: string;
  folder: string;
  program: string;
  port: number;
  wires: Replica["wires"];
  env: Record<string, string>;
  config: string;
}

/** A mirror of chaos has some hundred KiB. */
const DISK = "48m";
const AGAIN_MS = 1000;

export async function openReplica({ name, folder, program, port, wires, env, config }: ReplicaOptions): Promise<Replica> {
  const [home, clock] = [join(folder, name), join(folder, name, "clock")];
  const mirrors = join(home, "mirrors");
  await mkdir(mirrors, { recursive: true });
  await writeFile(join(home, "stagecoach.yaml"), config);
  await writeFile(clock, "0");
  const disk = mountDisk(mirrors, DISK);
  // By which PostgreSQL knows it, in all of its lives.
  await writeFile(join(mirrors, ".home"), name);
  const all = { ...env, HOST: "127.0.0.1", PORT: String(port), INSIDE_PORT: "0", CHAOS_CLOCK: clock };
  const shim = new URL("./clock.mjs", import.meta.url).href;
  const lives: Started[] = [];
  let [isClosed, isDown, ownEnds] = [false, false, 0];

  function begin(): void {
    if (isClosed) return;
    const life = start(["--import", shim, program, "serve"], { cwd: home, env: all, word: '"msg":"ready"' });
    lives.push(life);
    life.child.on("exit", () => {
      if (isClosed || isDown) return;
      ownEnds += 1;
      setTimeout(() => isDown || begin(), AGAIN_MS);
    });
  }
  const latest = () => lives.at(-1);

  return {
    ...{ name, wires, port, start: begin },
    ready: async () => await latest()?.line,
    async kill(downMs) {
      // One that is down already cannot be killed.
      if (isDown) return false;
      isDown = true;
      const life = latest();
      if (life !== undefined) await kill(life.child);
      await sleep(downMs);
      isDown = false;
      begin();
      return true;
    },
    signal: (signal) => void latest()?.child.kill(signal),
    async setClock(offMs) {
      await writeFile(clock, String(offMs));
      latest()?.child.kill("SIGUSR2");
    },
    fillDisk: disk.fill,
    output: () => lives.map(({ output }) => output()).join(""),
    ownEnds: () => ownEnds,
    async close() {
      isClosed = true;
      await Promise.all(lives.map(({ child }) => kill(child)));
      disk.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
