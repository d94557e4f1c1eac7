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
interface Resident {
  /** False: it is used just now. Else `remove` was awaited with nobody in it. */
  empty(remove: () => Promise<void>): Promise<boolean>;
}

export interface MirrorRoom {
  /** To be awaited before it is used: it may be being thrown away. */
  serve(directory: string, resident: Resident): Promise<void>;
  /** This one serves it no more; another may by then. */
  leave(directory: string, resident: Resident): void;
  /** It is deleted. */
  forget(directory: string): void;
  used(directory: string): void;
  grown(directory: string): void;
  /** Resolves once nothing is looked at or thrown away. */
  settled(): Promise<void>;
  /** Looks no more, and awaits a look that is under way: a process ends only when no timer is left. */
  close(): Promise<void>;
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

export function openMirrorRoom(root: string, { most, each }: RoomLimits, { clock, log }: { clock: Clock; log: Log }): MirrorRoom {
  const mirrors = new Map<string, Known>();
  let looking: Promise<void> = Promise.resolve();
  let isDue = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let disarm = (): void => undefined;
  let isClosed = false;

  function of(directory: string): Known {
    const known = mirrors.get(directory) ?? { usedAt: clock.now(), bytes: 0, isGrown: true };
    mirrors.set(directory, known);
    return known;
  }

  async function throwAway(directory: string, known: Known): Promise<void> {
    const { resident, bytes, usedAt } = known;
    const going = resident === undefined ? emptyMirror(directory).then(() => true) : resident.empty(() => emptyMirror(directory));
    known.going = going;
    const isGone = await going.finally(() => {
      known.going = undefined;
    });
    // It is used, and may not grow again.
    if (!isGone) return soon();
    log.info({ mirror: directory, bytes, unusedMs: clock.now() - usedAt }, "a mirror was thrown away to make room");
    known.bytes = 0;
    known.emptiedAt = clock.now();
  }

  async function look(): Promise<void> {
    isDue = false;
    lookedAt = clock.now();
    for (const name of await readdir(root).catch(() => [])) if (!isClosed) await measure(join(root, name));
    const size = () => [...mirrors.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const oldestFirst = [...mirrors].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const isFull = size() > most;
    for (const [directory, known] of oldestFirst) {
      if (isClosed) return;
      const isTooLarge = known.bytes > each && !(clock.now() - (known.emptiedAt ?? Number.NEGATIVE_INFINITY) < ANEW_MS);
      if (known.bytes === 0 || !(isTooLarge || (isFull && size() > most * DOWN_TO))) continue;
      await throwAway(directory, known).catch((error: unknown) =>
        log.warn({ mirror: directory, error: String(error) }, "a mirror cannot be thrown away"),
      );
    }
  }

  async function measure(directory: string): Promise<void> {
    const known = mirrors.get(directory);
    if (known?.isGrown === false || !directory.endsWith(".git")) return;
    // It may grow while it is measured.
    if (known !== undefined) known.isGrown = false;
    // Of an earlier process, or served elsewhere now.
    const usedAt = known?.usedAt ?? (await stat(directory).catch(() => undefined))?.mtimeMs ?? 0;
    const bytes = await bytesBelow(directory);
    // It is deleted meanwhile.
    if (known !== undefined && !mirrors.has(directory)) return;
    mirrors.set(directory, Object.assign(mirrors.get(directory) ?? { usedAt, isGrown: false }, { bytes }));
  }

  function soon(): void {
    if (isDue || isClosed) return;
    isDue = true;
    const begin = () => {
      looking = looking.then(look).catch((error: unknown) => log.warn({ error: String(error) }, "the room of mirrors cannot be looked at"));
    };
    const wait = lookedAt + LOOK_MS - clock.now();
    if (wait > 0) disarm = clock.after(wait, begin);
    else begin();
  }

  return {
    async serve(directory, resident) {
      const known = Object.assign(of(directory), { resident });
      await known.going?.catch(() => undefined);
    },
    leave(directory, resident) {
      const known = of(directory);
      if (known.resident === resident) known.resident = undefined;
    },
    forget: (directory) => void mirrors.delete(directory),
    used(directory) {
      of(directory).usedAt = clock.now();
    },
    grown(directory) {
      of(directory).isGrown = true;
      soon();
    },
    settled: () => looking,
    async close() {
      isClosed = true;
      disarm();
      await looking;
    },
  };
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
