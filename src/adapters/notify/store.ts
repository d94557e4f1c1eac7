/**
 * What was told, what is still to be sent and where runs' messages stand, a file a repository, or a row where replicas share them. It is written
 * before anything is sent: after a crash the one message that was on its way is sent again. Without it, as on a new disk, only what is new
 * counts as not told.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { toldSchema } from "../../core/report/notify/events.ts";
import { noticeSchema } from "../../core/report/notify/notice.ts";
import { checkMayWrite } from "../outbound/asker.ts";
import type { LineOptions } from "./line.ts";

const threadSchema = z.object({ channel: z.string().max(200), ts: z.string().max(100) });

const stateSchema = z.object({
  version: z.literal(1),
  told: z.object({ rollouts: z.record(z.string(), toldSchema), refused: z.array(z.string().max(500)).max(2000) }).optional(),
  outbox: z.array(z.object({ to: z.string().max(300), notice: noticeSchema })).max(100_000),
  /** By destination and run. */
  threads: z.record(z.string(), threadSchema),
});

export type RepoState = z.output<typeof stateSchema>;

const newerSchema = z.object({ version: z.number().gt(1) });

const MOST_THREADS = 500;
const NEWER =
  "a newer version kept what people were told of this repository: that is left as it is, and what they are told now is not kept; run that version, or a later one";

/** Where the states are kept, as text. */
export interface Shelf {
  /** undefined: there is none. */
  read(repository: string): Promise<string | undefined>;
  write(repository: string, text: string): Promise<void>;
}

export function filesIn(directory: string): Shelf {
  const fileOf = (repository: string) => join(directory, "notifications", `${encodeURIComponent(repository.toLowerCase())}.json`);
  return {
    async read(repository) {
      try {
        return await readFile(fileOf(repository), "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async write(repository, text) {
      const file = fileOf(repository);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      await rename(`${file}.new`, file);
    },
  };
}

interface Writing {
  done: Promise<void>;
  again: Promise<void> | undefined;
}

export class Store {
  readonly #shelf: Shelf;
  readonly #log: LineOptions["log"];
  /** In lower case. */
  readonly #newer = new Set<string>();
  readonly #writing = new Map<string, Writing>();

  constructor(shelf: Shelf, log: LineOptions["log"]) {
    this.#shelf = shelf;
    this.#log = log;
  }

  /** Reads what was kept; one that cannot be read is as none, and one of a newer version is never written over. */
  async load(repository: string): Promise<RepoState> {
    const none: RepoState = { version: 1, outbox: [], threads: {} };
    try {
      const text = await this.#shelf.read(repository);
      return (text === undefined ? undefined : this.#parse(repository, text)) ?? none;
    } catch (error) {
      this.#failed(error);
      return none;
    }
  }

  /** undefined: it is none that can be read. */
  #parse(repository: string, text: string): RepoState | undefined {
    const given: unknown = JSON.parse(text);
    const { success: isNewer, data: { version } = {} } = newerSchema.safeParse(given);
    if (isNewer) {
      this.#newer.add(repository.toLowerCase());
      this.#log.warn({ repository, version }, NEWER);
      return undefined;
    }
    this.#newer.delete(repository.toLowerCase());
    const read = stateSchema.safeParse(given);
    if (!read.success) this.#failed(new Error("what was kept of notifications is not as it was written"));
    return read.data;
  }

  /** Writes it, and once more where it was changed meanwhile. */
  save(repository: string, state: RepoState): Promise<void> {
    if (this.#newer.has(repository.toLowerCase())) return Promise.resolve();
    const under = this.#writing.get(repository);
    if (under?.again !== undefined) return under.again;
    if (under !== undefined) {
      under.again = under.done.then(() => this.#start(repository, state));
      return under.again;
    }
    return this.#start(repository, state);
  }

  #start(repository: string, state: RepoState): Promise<void> {
    const mine: Writing = { done: Promise.resolve(), again: undefined };
    mine.done = this.#write(repository, state).then(() => {
      if (mine.again === undefined && this.#writing.get(repository) === mine) this.#writing.delete(repository);
    });
    this.#writing.set(repository, mine);
    return mine.done;
  }

  async #write(repository: string, state: RepoState): Promise<void> {
    const entries = Object.entries(state.threads);
    if (entries.length > MOST_THREADS) state.threads = Object.fromEntries(entries.slice(-MOST_THREADS));
    try {
      checkMayWrite();
      await this.#shelf.write(repository, JSON.stringify(state));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#log.warn({ error: String(error) }, "what people were told could not be kept");
  }
}
