/**
 * Keeps all mirrors of this disk below one bound: when they have grown past it, those that were not used for the longest are emptied. Each says
 * itself when it has grown and was used (`idle-mirror.ts`); those that nobody serves any more are found by looking.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { bytesBelow } from "../../../adapters/git/bytes-below.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";

/** What the bot notes stays: that judging a head was killed, say. */
const NOTES = "stagecoach-notes";
const GONE = "stagecoach-gone";
/** How large they are is not looked at more often. */
const LOOK_MS = 60_000;
/** Down to this share, so that the next fetch is not the next look. */
const DOWN_TO = 0.8;
/** One that is too large by itself is thrown away so often: what of it is needed may be as much. */
const ANEW_MS = 24 * 60 * 60_000;

export interface RoomLimits {
  /** Bytes of all together. */
  most: number;
  /** Of one: past that it is fetched anew, which leaves out what git never prunes. */
  each: number;
}

/** A mirror that is served. */
export interface Resident {
  /** False: it is used just now. Else `remove` was awaited with nobody in it. */
  empty(remove: () => Promise<void>): Promise<boolean>;
}

interface Known {
  resident?: Resident | undefined;
  /** It is being thrown away. */
  going?: Promise<unknown> | undefined;
  usedAt: number;
  bytes: number;
  /** Since it was measured, or never was. */
  isGrown: boolean;
  emptiedAt?: number;
}

export class MirrorRoom {
  readonly #root: string;
  readonly #limits: RoomLimits;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mirrors = new Map<string, Known>();
  #looking: Promise<void> = Promise.resolve();
  #isDue = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #disarm = (): void => undefined;
  #isClosed = false;

  constructor(root: string, limits: RoomLimits, { clock, log }: { clock: Clock; log: Log }) {
    this.#root = root;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** To be awaited before it is used: it may be being thrown away. */
  async serve(directory: string, resident: Resident): Promise<void> {
    const known = Object.assign(this.#of(directory), { resident });
    await known.going?.catch(() => undefined);
  }

  /** This one serves it no more; another may by then. */
  leave(directory: string, resident: Resident): void {
    const known = this.#of(directory);
    if (known.resident === resident) known.resident = undefined;
  }

  /** It is deleted. */
  forget(directory: string): void {
    this.#mirrors.delete(directory);
  }

  used(directory: string): void {
    this.#of(directory).usedAt = this.#clock.now();
  }

  grown(directory: string): void {
    this.#of(directory).isGrown = true;
    this.#soon();
  }

  /** Resolves once nothing is looked at or thrown away. */
  settled(): Promise<void> {
    return this.#looking;
  }

  /** Looks no more, and awaits a look that is under way: a process ends only when no timer is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#disarm();
    await this.#looking;
  }

  #of(directory: string): Known {
    const known = this.#mirrors.get(directory) ?? { usedAt: this.#clock.now(), bytes: 0, isGrown: true };
    this.#mirrors.set(directory, known);
    return known;
  }

  #soon(): void {
    if (this.#isDue || this.#isClosed) return;
    this.#isDue = true;
    const begin = () => {
      this.#looking = this.#looking
        .then(() => this.#look())
        .catch((error: unknown) => this.#log.warn({ error: String(error) }, "the room of mirrors cannot be looked at"));
    };
    const wait = this.#lookedAt + LOOK_MS - this.#clock.now();
    if (wait > 0) this.#disarm = this.#clock.after(wait, begin);
    else begin();
  }

  async #look(): Promise<void> {
    const { most, each } = this.#limits;
    this.#isDue = false;
    this.#lookedAt = this.#clock.now();
    for (const name of await readdir(this.#root).catch(() => [])) if (!this.#isClosed) await this.#measure(join(this.#root, name));
    const size = () => [...this.#mirrors.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const oldestFirst = [...this.#mirrors].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const isFull = size() > most;
    for (const [directory, known] of oldestFirst) {
      if (this.#isClosed) return;
      const isTooLarge = known.bytes > each && !(this.#clock.now() - (known.emptiedAt ?? Number.NEGATIVE_INFINITY) < ANEW_MS);
      if (known.bytes === 0 || !(isTooLarge || (isFull && size() > most * DOWN_TO))) continue;
      await this.#throwAway(directory, known).catch((error: unknown) =>
        this.#log.warn({ mirror: directory, error: String(error) }, "a mirror cannot be thrown away"),
      );
    }
  }

  async #measure(directory: string): Promise<void> {
    const known = this.#mirrors.get(directory);
    if (known?.isGrown === false || !directory.endsWith(".git")) return;
    // It may grow while it is measured.
    if (known !== undefined) known.isGrown = false;
    // Of an earlier process, or served elsewhere now.
    const usedAt = known?.usedAt ?? (await stat(directory).catch(() => undefined))?.mtimeMs ?? 0;
    const bytes = await bytesBelow(directory);
    // It is deleted meanwhile.
    if (known !== undefined && !this.#mirrors.has(directory)) return;
    this.#mirrors.set(directory, Object.assign(this.#mirrors.get(directory) ?? { usedAt, isGrown: false }, { bytes }));
  }

  async #throwAway(directory: string, known: Known): Promise<void> {
    const { resident, bytes, usedAt } = known;
    const going = resident === undefined ? emptyMirror(directory).then(() => true) : resident.empty(() => emptyMirror(directory));
    known.going = going;
    const isGone = await going.finally(() => {
      known.going = undefined;
    });
    // It is used, and may not grow again.
    if (!isGone) return this.#soon();
    this.#log.info({ mirror: directory, bytes, unusedMs: this.#clock.now() - usedAt }, "a mirror was thrown away to make room");
    known.bytes = 0;
    known.emptiedAt = this.#clock.now();
  }
}

/** Begun anew at any moment of it: without a head it is none, and its objects go in one go. */
async function emptyMirror(directory: string): Promise<void> {
  const remove = (name: string) => rm(join(directory, name), { recursive: true, force: true, maxRetries: 3 });
  await remove("HEAD");
  await remove(GONE);
  await rename(join(directory, "objects"), join(directory, GONE)).catch(({ code }) => {
    if (code !== "ENOENT") throw new Error(`objects of ${directory}: ${code}`);
  });
  const left = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    // Somebody has deleted it all: it is a cache.
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const name of left) if (name !== NOTES) await remove(name);
}
