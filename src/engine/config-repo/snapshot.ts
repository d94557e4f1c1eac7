import type { Cell } from "../../adapters/cell/port.ts";
import { GitError, type Mirror } from "../../adapters/git/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import { NO_DESK, openDesk } from "./read-in-cell.ts";

/** Files of one commit (or tree), read in bulk and kept for the snapshot's life. */
export interface Snapshot {
  /** Commit or tree id. */
  readonly id: string;
  /** Characters of the files that it keeps; past the most of one commit no more are read. */
  readonly kept: number;
  paths(): Promise<readonly string[]>;
  /** Symbolic links below a folder: never read, only told of. */
  links(folder: string): Promise<readonly string[]>;
  read(path: string): Promise<string | null>;
  /**
   * Runs a synchronous, pure function that reads files: what it asks for and is not here yet is fetched in one go and the
   * function run again, until it asks for nothing new. So the core stays free of awaits, and a thousand files cost one call.
   */
  with<T>(work: (files: SyncFiles) => T): Promise<T>;
}

/**
 * Files as a pass of `with` sees them: null is also what is not known yet while more is being fetched, and the result of that
 * pass is thrown away. What must not be read (a symbolic link, a file too large) throws a GitError: who asked for it says what that means.
 */
export type SyncFiles = RepoFiles;

/** The file's own fault, not the mirror's. */
function isAboutFile(error: unknown): error is GitError {
  return error instanceof GitError && error.kind !== "Unavailable";
}

/** Chains of files that name files are short; past this many passes something asks in circles. */
const MOST_PASSES = 12;

/** What is kept of one commit, in characters: many times what the largest fleets have. The memory is everybody's. */
const MOST_KEPT = 64 * 1024 * 1024;
/** Of that in JSON, of which a repo may have much that is looked through for a manifest in vain. */
const MOST_KEPT_JSON = MOST_KEPT / 2;
/** Each may be as large as a file may be at all. */
const FILES_AT_ONCE = 32;

/** `cell`: does what takes long of functions that are given to `with`; absent: all is done at once. */
export function openSnapshot(mirror: Mirror, id: string, cell?: Cell): Snapshot {
  return new CommitFiles(mirror, id, cell);
}

class CommitFiles implements Snapshot {
  readonly id: string;
  readonly #mirror: Mirror;
  readonly #desk: ReturnType<typeof openDesk>;
  readonly #texts = new Map<string, string | null>();
  readonly #unreadable = new Map<string, GitError>();
  #kept = 0;
  #keptJson = 0;
  #listing: readonly string[] | undefined;
  readonly #linksBelow = new Map<string, readonly string[]>();

  constructor(mirror: Mirror, id: string, cell: Cell | undefined) {
    this.id = id;
    this.#mirror = mirror;
    this.#desk = cell === undefined ? NO_DESK : openDesk(cell, mirror, id);
  }

  get kept(): number {
    return this.#kept;
  }

  async paths(): Promise<readonly string[]> {
    this.#listing ??= await this.#mirror.listFiles(this.id);
    return this.#listing;
  }

  async links(folder: string): Promise<readonly string[]> {
    const found = this.#linksBelow.get(folder) ?? (await this.#mirror.listFiles(this.id, folder, "link"));
    this.#linksBelow.set(folder, found);
    return found;
  }

  async read(path: string): Promise<string | null> {
    await this.#load([path]);
    return this.#known(path);
  }

  async with<T>(work: (files: SyncFiles) => T): Promise<T> {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const asked = new Set<string>();
      let wantsPaths = false;
      const files: SyncFiles = {
        read: (path) => {
          if (!this.#isLoaded(path)) asked.add(path);
          return this.#known(path);
        },
        paths: () => {
          wantsPaths ||= this.#listing === undefined;
          return this.#listing ?? [];
        },
      };
      const { asked: left, result } = this.#desk.pass(() => work(files));
      if (left.length === 0) {
        const made = result();
        if (asked.size === 0 && !wantsPaths) return made;
      }
      if (wantsPaths) await this.paths();
      await this.#load(asked);
      await this.#desk.finish(left);
    }
    throw new GitError(
      "Invalid",
      `reading files at ${this.id}: each file read names another, ${MOST_PASSES} levels deep; is there a cycle?`,
    );
  }

  async #load(wanted: Iterable<string>): Promise<void> {
    const missing = [...wanted].filter((path) => !this.#isLoaded(path));
    // What the mirror lacks comes in one go, not by the few that are held at once.
    if (missing.length > FILES_AT_ONCE) await this.#mirror.bring?.(this.id, missing);
    for (let at = 0; at < missing.length; at += FILES_AT_ONCE) await this.#loadSome(missing.slice(at, at + FILES_AT_ONCE));
  }

  #isLoaded(path: string): boolean {
    return this.#texts.has(path) || this.#unreadable.has(path);
  }

  async #loadSome(paths: readonly string[]): Promise<void> {
    for (const path of paths.filter((one) => this.#isBeyond(one))) this.#unreadable.set(path, tooMuch());
    const left = paths.filter((path) => !this.#unreadable.has(path));
    if (left.length === 0) return;
    try {
      for (const [path, text] of await this.#mirror.readFiles(this.id, left)) this.#keep(path, text);
    } catch (error) {
      if (!isAboutFile(error)) throw error;
      // One file that must not be read is no reason not to read the others.
      for (const path of left) await this.#loadOne(path);
    }
  }

  #isBeyond(path: string): boolean {
    return this.#kept > MOST_KEPT || (isJson(path) && this.#keptJson > MOST_KEPT_JSON);
  }

  async #loadOne(path: string): Promise<void> {
    if (this.#texts.has(path)) return;
    try {
      this.#keep(path, (await this.#mirror.readFiles(this.id, [path])).get(path) ?? null);
    } catch (error) {
      if (!isAboutFile(error)) throw error;
      this.#unreadable.set(path, error);
    }
  }

  #keep(path: string, text: string | null): void {
    const size = text?.length ?? 0;
    if (isJson(path)) this.#keptJson += size;
    const isTooMuch = isJson(path) && this.#keptJson > MOST_KEPT_JSON;
    // What is dropped for being JSON takes no room of the others.
    if (!isTooMuch) this.#kept += size;
    if (isTooMuch || this.#kept > MOST_KEPT) this.#unreadable.set(path, tooMuch());
    else this.#texts.set(path, text);
  }

  #known(path: string): string | null {
    const error = this.#unreadable.get(path);
    if (error !== undefined) throw error;
    return this.#texts.get(path) ?? null;
  }
}

/** Notes which files are read. */
export function noting(files: SyncFiles, read: Set<string>): SyncFiles {
  return {
    paths: () => files.paths(),
    read(path) {
      read.add(path);
      return files.read(path);
    },
  };
}

function tooMuch(): GitError {
  return new GitError("TooLarge", `files of more than ${MOST_KEPT / 1024 / 1024} MiB are read of one commit`);
}

const MOST_SNAPSHOTS = 8;

/** The last few snapshots of a mirror: rounds on an unmoved base read nothing again. Together they keep hardly more than one may. */
export function snapshotCache(mirror: Mirror, cell?: Cell): (id: string) => Snapshot {
  const kept = new BoundedMap<string, Snapshot>(MOST_SNAPSHOTS);
  return (id) => {
    const found = kept.get(id) ?? openSnapshot(mirror, id, cell);
    kept.set(id, found);
    let all = 0;
    for (const [key, snapshot] of [...kept].toReversed()) {
      all += snapshot.kept;
      if (all > MOST_KEPT && snapshot !== found) kept.delete(key);
    }
    return found;
  };
}

function isJson(path: string): boolean {
  return path.endsWith(".json");
}
