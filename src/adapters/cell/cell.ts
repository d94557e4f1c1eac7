/**
 * Starts and ends the process of a cell. A thread would be cheaper, and no cell: one that runs out of memory takes the whole process down
 * (docs/adr/0019). One process does one job after the other and stays for the next; it is killed when a job passes a limit.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onlyCompiled } from "../git/launch/compiled.ts";
import { CELL_IN, CELL_OUT, decode, encode, frameReader, type Said, thrownOf } from "./frames.ts";
import { type Cell, type CellJob, type CellOutcome, TooMuchAsked } from "./port.ts";

export interface CellLimits {
  /** Of the processor's time, for one job; where that cannot be seen, of the time in which nobody was asked. */
  cpuMs: number;
  /** A job that neither works nor asks for so long is stuck. */
  stuckMs: number;
  /** What JavaScript holds. */
  heapMb: number;
  /** All of the process: buffers and texts beside the heap, too. */
  residentMb: number;
}

export const CELL_LIMITS: CellLimits = { cpuMs: 10_000, stuckMs: 60_000, heapMb: 256, residentMb: 512 };

const LOOK_MS = 50;
/** What a job answers and asks is told in far less. */
const LARGEST_MESSAGE = 64 * 1024 * 1024;
/** A process that keeps more than this after a job is ended: the next one begins with nothing kept. */
const KEPT_BYTES = 128 * 1024 * 1024;
/** A process without a job for so long is ended. */
const IDLE_MS = 5 * 60_000;
/** Linux counts processor time in hundredths of a second, whatever the machine. */
const TICK_MS = 10;
const PAGE = 4096;

let busy = 0;

/** How many jobs are in cells now, or wait for one. */
export function cellsUnderWay(): number {
  return busy;
}

/** One process for many repositories. */
export interface SharedCell extends Cell {
  /** The same for jobs of one repository: each owner has their turn, and of theirs each repository, however many jobs of another wait. */
  of(repository: string): Cell;
  close(): void;
}

/** Opens a cell whose inside is this module. Its process starts with the first job. */
export function openCell(inside: URL, limits: CellLimits = CELL_LIMITS, program = process.execPath): SharedCell {
  let process: Process | undefined;
  /** By owner and by repository, those whose turn is next first. */
  const waiting = new Map<string, Map<string, (() => Promise<void>)[]>>();
  let isMoving = false;
  let idle: NodeJS.Timeout | undefined;

  async function next(job: CellJob): Promise<CellOutcome> {
    clearTimeout(idle);
    process ??= start(inside, limits, program);
    const { outcome, spent } = await process.run(job);
    if (spent) close();
    else idle = setTimeout(close, IDLE_MS).unref();
    return outcome;
  }

  function close(): void {
    clearTimeout(idle);
    process?.end();
    process = undefined;
  }

  function take(): (() => Promise<void>) | undefined {
    const [owner, repositories] = nextOf(waiting) ?? [];
    const [repository, jobs] = nextOf(repositories) ?? [];
    if (jobs?.length === 1) repositories?.delete(repository ?? "");
    if (repositories?.size === 0) waiting.delete(owner ?? "");
    return jobs?.shift();
  }

  async function move(): Promise<void> {
    if (isMoving) return;
    isMoving = true;
    for (let job = take(); job !== undefined; job = take()) await job();
    isMoving = false;
  }

  function of(repository: string): Cell {
    return {
      run(job) {
        busy += 1;
        const { promise, resolve, reject } = Promise.withResolvers<CellOutcome>();
        const turn = () => next(job).then(resolve, reject);
        const [owner = ""] = repository.split("/");
        const repositories = waiting.get(owner) ?? new Map();
        const jobs = repositories.get(repository) ?? [];
        jobs.push(turn);
        waiting.set(owner, repositories.set(repository, jobs));
        void move();
        return promise.finally(() => (busy -= 1));
      },
    };
  }

  return { ...of(""), of, close };
}

/** The first of them, which is the last one from now on. */
function nextOf<T>(turns: Map<string, T> | undefined): [string, T] | undefined {
  const [first] = turns ?? [];
  if (first === undefined) return undefined;
  turns?.delete(first[0]);
  turns?.set(...first);
  return first;
}

type Lose = (outcome: CellOutcome) => void;
type Question = Extract<Said, { ask: string }>;

interface Process {
  /** `spent`: it is over, or keeps too much for another job. */
  run(job: CellJob): Promise<{ outcome: CellOutcome; spent: boolean }>;
  end(): void;
}

/** Nothing of the environment goes along, and Ctrl-C is for the server, which ends its cell itself. */
const apart = () => ({ env: onlyCompiled(), detached: true, stdio: STDIO });
const STDIO: StdioOptions = ["ignore", "ignore", "ignore", "pipe", "pipe", "pipe"];

function start(inside: URL, limits: CellLimits, program: string): Process {
  const flags = [`--max-old-space-size=${limits.heapMb}`, "--max-semi-space-size=1", "--disable-warning=ExperimentalWarning"];
  const child = spawn(program, [...flags, fileURLToPath(inside)], apart());
  const [input, output] = [child.stdio[CELL_IN] as Writable, child.stdio[CELL_OUT] as Readable];
  let settle: ((outcome: CellOutcome, spent: boolean) => void) | undefined;
  let answers: CellJob["answers"] = {};
  let isAsking = false;
  const ready = Promise.withResolvers<void>();

  const lose: Lose = (outcome) => {
    child.kill("SIGKILL");
    ready.resolve();
    settle?.(outcome, true);
  };

  const read = frameReader(LARGEST_MESSAGE, (body) => {
    const said = decode<Said>(body);
    if ("ready" in said) return ready.resolve();
    if ("ask" in said) {
      isAsking = true;
      return void answer(answers, said, input, lose).finally(() => (isAsking = false));
    }
    const outcome: CellOutcome = "failed" in said ? { kind: "failed", said: said.failed } : { kind: "done", value: said.done };
    settle?.(outcome, said.heap > KEPT_BYTES);
  });
  output.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      lose(error instanceof RangeError ? { kind: "killed", by: "memory" } : { kind: "failed", said: String(error) });
    }
  });
  input.on("error", () => undefined);
  child.once("error", (error) => lose({ kind: "failed", said: `it could not be started: ${error.message}` }));
  child.once("close", (code, signal) => lose(endedBy(code, signal)));
  keepAlive(child, false);

  return {
    end: () => void child.kill("SIGKILL"),
    async run(job) {
      answers = job.answers;
      keepAlive(child, true);
      // What it takes to begin is not the job's.
      await ready.promise;
      const stop = watch(child, limits, () => isAsking, lose);
      try {
        return await new Promise((resolve) => {
          settle = (outcome, spent) => resolve({ outcome, spent });
          if (child.exitCode !== null || child.signalCode !== null) settle({ kind: "failed", said: "it had ended" }, true);
          else input.write(encode({ job: job.name, input: job.input }));
        });
      } finally {
        stop();
        settle = undefined;
        answers = {};
        keepAlive(child, false);
      }
    },
  };
}

async function answer(answers: CellJob["answers"], { ask, args }: Question, input: Writable, lose: Lose): Promise<void> {
  try {
    const of = Object.hasOwn(answers, ask) ? answers[ask] : undefined;
    if (of === undefined) throw new Error(`${ask} is nothing a cell may ask`);
    input.write(encode({ answer: await of(...(args as never[])) }));
  } catch (error) {
    if (error instanceof TooMuchAsked) lose({ kind: "killed", by: "memory" });
    else input.write(encode({ error: thrownOf(error) }));
  }
}

/** V8 and the kernel end what has no memory left by these; whatever else ends it, such as a stop of the whole service, is nobody's fault. */
const OUT_OF_MEMORY: ReadonlySet<string | number | null> = new Set(["SIGABRT", "SIGKILL", "SIGTRAP", "SIGILL", 132, 133, 134, 137]);

function endedBy(code: number | null, signal: NodeJS.Signals | null): CellOutcome {
  const how = signal ?? code;
  return OUT_OF_MEMORY.has(how) ? { kind: "killed", by: "memory" } : { kind: "failed", said: `it ended: ${how}` };
}

/** Looks at a job every few hundredths of a second: what it has used since it began, and what it holds. */
function watch(child: ChildProcess, limits: CellLimits, isAsking: () => boolean, lose: Lose): () => void {
  const began = usedBy(child.pid);
  let alone = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // A look that comes late was held up by somebody's work here, and says nothing of the cell's.
    if (!isAsking()) alone += Math.min(now - before, 2 * LOOK_MS);
    before = now;
    const used = usedBy(child.pid);
    const cpu = used === undefined || began === undefined ? alone : used.cpuMs - began.cpuMs;
    if (cpu > limits.cpuMs || alone > limits.stuckMs) lose({ kind: "killed", by: "time" });
    else if (used !== undefined && used.residentMb > limits.residentMb) lose({ kind: "killed", by: "memory" });
  }, LOOK_MS);
  return () => clearInterval(timer);
}

/** undefined: not to be seen here. */
function usedBy(pid: number | undefined): { cpuMs: number; residentMb: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the program's name, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system, pages] = [fields[11], fields[12], fields[21]].map(Number);
    return { cpuMs: ((user ?? 0) + (system ?? 0)) * TICK_MS, residentMb: ((pages ?? 0) * PAGE) / 2 ** 20 };
  } catch {
    return undefined;
  }
}

/** A process that waits for a job holds up nobody's end. */
function keepAlive(child: ChildProcess, wanted: boolean): void {
  const ends = [child, ...child.stdio] as ({ ref?(): void; unref?(): void } | null)[];
  for (const end of ends) wanted ? end?.ref?.() : end?.unref?.();
}
