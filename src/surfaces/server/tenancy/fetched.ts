/** Remembers what was fetched into a mirror, so that it can be fetched anew, and what does not change until something is. Used by `idle-mirror.ts`. */
import type { Mirror } from "../../../adapters/git/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";

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

export function openFetched(): Fetched {
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
