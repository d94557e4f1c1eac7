/**
 * Heads of pull requests from forks, which anybody may push. Each lies in a store of its own beside the mirror: fetched without large files,
 * bounded in bytes, read through by the mirror, and deleted as a whole once its pull request is closed. Opened by `mirror.ts`.
 *
 * The mirror itself is no partial clone: what a store has left out is missing to it, and git never fetches it by the way.
 */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesBelow } from "./bytes-below.ts";
import { objectId } from "./names.ts";
import { GitError, type Mirror, type MirrorLimits } from "./port.ts";
import { fetchPartly, REMOTE_NAME, type Remote } from "./remote.ts";
import type { Repository } from "./run-git.ts";

/** How large the store of a head has become is looked at this often while it is fetched. */
const LOOK_MS = 100;
/** Each is one more place in which git looks for an object. */
const MOST_HEADS = 100;
const FOLDER = "forks";

export interface ForkHeads {
  fetch: Mirror["fetchFork"];
  /** Deletes those of other pull requests. */
  keep(open: ReadonlySet<number>): Promise<void>;
  /** Folders of objects, relative to the mirror's directory. */
  folders(): readonly string[];
  /** Where what comes of merging this head is written: to its own store. undefined: it is no head of a fork. */
  storeOf(head: string): string | undefined;
  /** Bytes of the mirror with all of its stores. */
  size(): Promise<number>;
}

export function openForkHeads(remote: Remote, limits: MirrorLimits): ForkHeads {
  const { directory } = remote.repository;
  const root = join(directory, FOLDER);
  /** By PR; undefined: it was fetched by an earlier process. */
  const heads = new Map<number, string | undefined>(numbersIn(root).map((number) => [number, undefined]));
  const folderOf = (number: number) => join(root, String(number));

  async function drop(number: number): Promise<void> {
    heads.delete(number);
    await rm(folderOf(number), { recursive: true, force: true, maxRetries: 3 });
  }

  async function fetch(number: number): ReturnType<Mirror["fetchFork"]> {
    if (!Number.isSafeInteger(number) || number < 1) throw new GitError("Invalid", "no number of a pull request");
    // Anew each time: what an earlier push brought is not kept.
    await drop(number);
    const full = { kind: "full", most: limits.repository } as const;
    // Strangers leave at least half of the room to the repository itself.
    const room = Math.min(limits.repository - (await bytesBelow(directory)), limits.repository / 2 - (await bytesBelow(root)));
    if (room <= 0 || heads.size >= MOST_HEADS) return full;
    const most = Math.min(limits.forkHead, room);
    const store = await makeStore(remote, folderOf(number), limits.forkFile);
    try {
      const whole = await within(store, most, (bounded) =>
        fetchPartly({ ...remote, repository: bounded }, `refs/pull/${number}/head`, limits.forkFile),
      );
      const head = whole ? readRef(store.directory, number) : undefined;
      if (head === undefined) {
        await drop(number);
        return most < limits.forkHead ? full : { kind: "tooLarge", most };
      }
      heads.set(number, head);
      return { kind: "fetched", most };
    } catch (error) {
      await drop(number);
      throw error;
    }
  }

  return {
    fetch,
    async keep(open) {
      for (const number of [...heads.keys()]) if (!open.has(number)) await drop(number);
    },
    folders: () => [...heads.keys()].sort((a, b) => a - b).map((number) => join(FOLDER, String(number), "objects")),
    storeOf(head) {
      const [number] = [...heads].find(([, one]) => one === head) ?? [];
      return number === undefined ? undefined : join(folderOf(number), "objects");
    },
    size: () => bytesBelow(directory),
  };
}

function numbersIn(root: string): number[] {
  try {
    return readdirSync(root).map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}

/** A bare repository that borrows the mirror's objects and may lack large files. */
async function makeStore({ repository, url }: Remote, directory: string, largest: number): Promise<Repository> {
  await mkdir(join(directory, "objects", "info"), { recursive: true });
  await mkdir(join(directory, "refs"), { recursive: true });
  await writeFile(join(directory, "objects", "info", "alternates"), "../../../objects\n");
  await writeFile(join(directory, "HEAD"), "ref: refs/heads/stagecoach-none\n");
  const config = `[core]
\trepositoryformatversion = 1
\tbare = true
[extensions]
\tpartialClone = ${REMOTE_NAME}
[remote "${REMOTE_NAME}"]
\turl = ${JSON.stringify(url)}
\tpromisor = true
\tpartialCloneFilter = blob:limit=${largest}
[fetch]
\tunpackLimit = 1
[gc]
\tauto = 0
`;
  await writeFile(join(directory, "config"), config);
  return { ...repository, directory };
}

/** False: it was stopped, or ended, with more bytes than may be. */
async function within(store: Repository, most: number, work: (bounded: Repository) => Promise<void>): Promise<boolean> {
  const over = new AbortController();
  const look = async () => {
    if ((await bytesBelow(store.directory)) > most) over.abort();
  };
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  try {
    await work({ ...store, closing: AbortSignal.any([store.closing, over.signal]) });
    await look();
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    clearInterval(looking);
  }
  return !over.signal.aborted;
}

function readRef(directory: string, number: number): string {
  return objectId(readFileSync(join(directory, "refs", "pull", String(number), "head"), "utf8").trim());
}
