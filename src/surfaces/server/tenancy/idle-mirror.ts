import { rm } from "node:fs/promises";
import { join } from "node:path";
import { GitError, type Mirror } from "../../../adapters/git/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { MirrorRoom, Resident } from "./mirror-room.ts";

/** Not used for so long, a mirror lets go of its git process. */
const REST_MS = 60_000;

/** What needs nothing of what was fetched. */
const NEEDS_NOTHING: ReadonlySet<string> = new Set([
  ...["remoteHead", "remoteHeads", "remoteBelow", "remoteCommits"],
  ...["note", "noted", "room", "keepPulls"],
]);
/** After these it may be larger. */
const GROWS: ReadonlySet<string> = new Set(["fetch", "fetchFork", "deepen", "readFiles", "bring", "mergeTree", "commit"]);

interface Place {
  directory: string;
  room: MirrorRoom;
}

/**
 * A mirror that is opened when it is needed and rests when it is not: with hundreds of repositories nearly all are idle,
 * and each open mirror keeps a git process. What is on disk stays, so waking up costs milliseconds; unless room was made there for others: then
 * what had been fetched is fetched anew by whoever needs it.
 */
export function idleMirror(open: () => Promise<Mirror>, clock: Clock, place?: Place): Mirror {
  const idle = new IdleMirror(open, clock, place);
  // Every method of a mirror answers with a promise, so all are passed on alike, those to come, too.
  return new Proxy({} as Mirror, {
    get(_target, name) {
      if (name === "close") return () => idle.close();
      if (name === "then" || typeof name === "symbol") return undefined;
      return (...given: unknown[]) => idle.ask(name, given);
    },
  });
}

class IdleMirror implements Resident {
  readonly #open: () => Promise<Mirror>;
  readonly #clock: Clock;
  readonly #place: Place | undefined;
  readonly #fetched = openFetched();
  #opening: Promise<Mirror> | undefined;
  #users = 0;
  #closed = false;
  #callOff = (): void => undefined;
  /** Its files are being deleted. */
  #emptying: Promise<void> | undefined;
  #refilling: Promise<void> | undefined;
  #isEmptied = false;

  constructor(open: () => Promise<Mirror>, clock: Clock, place: Place | undefined) {
    this.#open = open;
    this.#clock = clock;
    this.#place = place;
    this.#emptying = place?.room.serve(place.directory, this).finally(() => {
      this.#emptying = undefined;
    });
  }

  async ask(name: string, given: unknown[]): Promise<unknown> {
    const known = this.#fetched.known(name, given, this.#isEmptied);
    return known === undefined ? await this.#use(name, given) : known.answer;
  }

  async #use(name: string, given: unknown[]): Promise<unknown> {
    if (this.#closed) throw new GitError("Unavailable", "the mirror is closed");
    this.#callOff();
    this.#users += 1;
    try {
      await this.#emptying?.catch(() => undefined);
      this.#opening ??= this.#open();
      const mirror = await this.#opening.catch((error: unknown) => {
        this.#opening = undefined;
        throw error;
      });
      const needs = !NEEDS_NOTHING.has(name);
      const place = this.#place;
      if (needs) place?.room.used(place.directory);
      if (needs && this.#isEmptied) await this.#refill(mirror);
      const method = (mirror as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name];
      if (method === undefined) throw new TypeError(`a mirror has no ${name}`);
      const answer = await method.apply(mirror, given);
      this.#fetched.note(name, given, answer);
      if (GROWS.has(name)) place?.room.grown(place.directory);
      return answer;
    } finally {
      this.#users -= 1;
      if (this.#users === 0 && !this.#closed) this.#callOff = this.#clock.after(REST_MS, () => void this.#rest());
    }
  }

  async #refill(mirror: Mirror): Promise<void> {
    this.#refilling ??= this.#fetched.again(mirror).finally(() => {
      this.#refilling = undefined;
    });
    await this.#refilling;
    this.#isEmptied = false;
    this.#place?.room.grown(this.#place.directory);
  }

  #rest(): Promise<void> {
    return this.#users > 0 ? Promise.resolve() : this.#letGo();
  }

  async #letGo(): Promise<void> {
    const idle = this.#opening;
    this.#opening = undefined;
    await (await idle?.catch(() => undefined))?.close();
  }

  async empty(remove: () => Promise<void>): Promise<boolean> {
    if (this.#users > 0 || this.#closed || this.#emptying !== undefined) return false;
    this.#callOff();
    this.#isEmptied = true;
    this.#emptying = this.#rest().then(remove);
    await this.#emptying.finally(() => {
      this.#emptying = undefined;
    });
    return true;
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#callOff();
    this.#place?.room.leave(this.#place.directory, this);
    return this.#letGo();
  }
}

/** Where the mirror of a repository is kept. */
export function mirrorDirectory(directory: string, fullName: string): string {
  return join(directory, `${fullName.replace("/", "__")}.git`);
}

/** Where the journal alone is kept, of a repository that another replica looks after: no repository has a name with a plus. */
export function historyDirectory(directory: string, fullName: string): string {
  return join(directory, `${fullName.replace("/", "__")}+journal.git`);
}

/** What was fetched of a repository the App has no access to any more is not kept. */
export async function removeMirror(directory: string, fullName: string, room?: MirrorRoom): Promise<void> {
  for (const folder of [mirrorDirectory(directory, fullName), historyDirectory(directory, fullName)]) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    room?.forget(folder);
  }
}

// Remembers what was fetched into a mirror, so that it can be fetched anew, and what does not change until something is.

/** Refs that are fetched anew; one fetch asks for so many. */
const MOST_REFS = 1000;
const AT_ONCE = 100;
/** Of comparisons of two commits, which are for ever as they are: an idle repository is asked the same ones again and again. */
const MOST_COMPARED = 8;
const MOST_PATHS = 1000;

interface Fetched {
  note(name: string, given: readonly unknown[], answer: unknown): void;
  /** What is known without a look. */
  known(name: string, given: readonly unknown[], isEmptied: boolean): { answer: unknown } | undefined;
  again(mirror: Mirror): Promise<void>;
}

function openFetched(): Fetched {
  const refs = new BoundedMap<string, true>(MOST_REFS);
  const forks = new Set<number>();
  const heads = new BoundedMap<string, unknown>(MOST_REFS);
  const compared = new BoundedMap<string, readonly string[]>(MOST_COMPARED);
  let isAll = false;
  let isShallow = true;

  function noteFetch([branches, options]: Parameters<Mirror["fetch"]>): void {
    isShallow &&= options?.shallow === true;
    isAll ||= branches === undefined;
    for (const name of branches ?? []) refs.set(name.startsWith("refs/") ? name : `refs/heads/${name}`, true);
    // They may have moved.
    heads.clear();
  }

  function forgetPulls(open: ReadonlySet<number>): void {
    for (const number of forks) if (!open.has(number)) forks.delete(number);
    for (const ref of refs.keys()) {
      const pull = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
      if (pull !== undefined && !open.has(Number(pull))) refs.delete(ref);
    }
  }

  return {
    note(name, given, answer) {
      const [first, second] = given;
      if (name === "fetch") noteFetch(given as unknown as Parameters<Mirror["fetch"]>);
      else if (name === "deepen") isShallow = false;
      else if (name === "isShallow") isShallow = answer === true;
      else if (name === "fetchFork") forks.add(first as number);
      else if (name === "keepPulls") forgetPulls(first as ReadonlySet<number>);
      else if (name === "push") heads.clear();
      else if (name === "head") heads.set(first as string, answer);
      else if (name === "changedPaths" && (answer as string[]).length <= MOST_PATHS) compared.set(`${first} ${second}`, answer as string[]);
    },
    known(name, [first, second], isEmptied) {
      const comparison = `${first} ${second}`;
      if (name === "changedPaths" && compared.has(comparison)) return { answer: [...(compared.get(comparison) ?? [])] };
      if (!isEmptied) return undefined;
      if (name === "isShallow") return { answer: isShallow };
      return name === "head" && heads.has(first as string) ? { answer: heads.get(first as string) } : undefined;
    },
    async again(mirror) {
      const depth = { shallow: isShallow };
      if (isAll) await mirror.fetch(undefined, depth);
      // Of those that are gone git would name one at a time.
      const there = refs.size === 0 ? [] : [...(await mirror.remoteCommits([...refs.keys()])).keys()];
      for (let at = 0; at < there.length; at += AT_ONCE) await mirror.fetch(there.slice(at, at + AT_ONCE), depth);
      for (const number of forks) await mirror.fetchFork(number);
    },
  };
}
