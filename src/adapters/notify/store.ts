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

interface Store {
  /** Reads what was kept; one that cannot be read is as none, and one of a newer version is never written over. */
  load(repository: string): Promise<RepoState>;
  /** Writes it, and once more where it was changed meanwhile. */
  save(repository: string, state: RepoState): Promise<void>;
}

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

export function openStore(shelf: Shelf, log: LineOptions["log"]): Store {
  /** In lower case. */
  const newer = new Set<string>();
  const onError = (error: unknown) => log.warn({ error: String(error) }, "what people were told could not be kept");
  const writing = new Map<string, { done: Promise<void>; again: Promise<void> | undefined }>();

  /** undefined: it is none that can be read. */
  function parse(repository: string, text: string): RepoState | undefined {
    const given: unknown = JSON.parse(text);
    const { success: isNewer, data: { version } = {} } = newerSchema.safeParse(given);
    if (isNewer) {
      newer.add(repository.toLowerCase());
      log.warn({ repository, version }, NEWER);
      return undefined;
    }
    newer.delete(repository.toLowerCase());
    const read = stateSchema.safeParse(given);
    if (!read.success) onError(new Error("what was kept of notifications is not as it was written"));
    return read.data;
  }

  async function write(repository: string, state: RepoState): Promise<void> {
    const entries = Object.entries(state.threads);
    if (entries.length > MOST_THREADS) state.threads = Object.fromEntries(entries.slice(-MOST_THREADS));
    try {
      checkMayWrite();
      await shelf.write(repository, JSON.stringify(state));
    } catch (error) {
      onError(error);
    }
  }

  return {
    async load(repository) {
      const none: RepoState = { version: 1, outbox: [], threads: {} };
      try {
        const text = await shelf.read(repository);
        return (text === undefined ? undefined : parse(repository, text)) ?? none;
      } catch (error) {
        onError(error);
        return none;
      }
    },
    save(repository, state) {
      if (newer.has(repository.toLowerCase())) return Promise.resolve();
      const under = writing.get(repository);
      if (under?.again !== undefined) return under.again;
      if (under !== undefined) {
        under.again = under.done.then(() => start());
        return under.again;
      }
      return start();

      function start(): Promise<void> {
        const mine: { done: Promise<void>; again: Promise<void> | undefined } = { done: Promise.resolve(), again: undefined };
        mine.done = write(repository, state).then(() => {
          if (mine.again === undefined && writing.get(repository) === mine) writing.delete(repository);
        });
        writing.set(repository, mine);
        return mine.done;
      }
    },
  };
}
