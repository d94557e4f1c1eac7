/**
 * Where in the journal's history each run stands, and what its head was at a time: read once, then only what is new of it.
 *
 * Keeps true: so many commits at most are known, the newest; of what is older nothing is said. A branch that was rewritten is read anew.
 */
import type { CommitInfo, Mirror } from "../port.ts";
import { parseTrailers } from "../signing/commit-object.ts";
import { RUN_TRAILER } from "./check.ts";

const MOST_COMMITS = 100_000;
const PAGE = 5_000;

interface Entry {
  sha: string;
  at: number;
  /** `payments#42`. */
  runs: readonly string[];
}

/** One run, from the first commit that is about it to the last. */
interface RunSpan {
  name: string;
  begins: number;
  /** When each of them was made, in order. */
  times: number[];
  /** The commit before the first; undefined: there is none, or it is not known. */
  before: string | undefined;
  last: string;
}

export function openHistoryIndex(mirror: Pick<Mirror, "firstParentLog">) {
  let entries: Entry[] = [];
  let spans = new Map<string, RunSpan>();
  let reading: Promise<void> = Promise.resolve();

  function add(commits: readonly CommitInfo[]): void {
    for (const { sha, at, body } of commits) {
      const before = entries.at(-1)?.sha;
      const runs = parseTrailers(body)[RUN_TRAILER]?.split(", ") ?? [];
      entries.push({ sha, at, runs });
      for (const name of runs) {
        const known = spans.get(name);
        if (known === undefined) spans.set(name, { name, begins: at, times: [at], before, last: sha });
        else {
          known.last = sha;
          known.times.push(at);
        }
      }
    }
  }

  /** From the newest back, so that no more is ever held than is kept. */
  async function readAll(head: string): Promise<void> {
    const pages: CommitInfo[][] = [];
    let at: string | undefined = head;
    let count = 0;
    while (at !== undefined && count < MOST_COMMITS) {
      const page = await mirror.firstParentLog(undefined, at, PAGE);
      pages.push(page);
      count += page.length;
      at = page.length < PAGE ? undefined : page[0]?.parents[0];
    }
    [entries, spans] = [[], new Map()];
    for (const page of pages.reverse()) add(page);
  }

  async function read(head: string): Promise<void> {
    const last = entries.at(-1)?.sha;
    if (last === head) return;
    const fresh = last === undefined || entries.length > MOST_COMMITS + PAGE ? [] : await mirror.firstParentLog(last, head).catch(() => []);
    if (fresh.length > 0 && fresh[0]?.parents[0] === last) add(fresh);
    else await readAll(head);
  }

  return {
    /** Brings it up to this head. */
    async upTo(head: string): Promise<void> {
      const turn = reading.catch(() => undefined).then(() => read(head));
      reading = turn;
      await turn;
    },
    run: (name: string): RunSpan | undefined => spans.get(name),
    /** Its head at that time, in epoch milliseconds; undefined: there was none, or it is not known any more. */
    headAt: (time: number): string | undefined => entries.findLast(({ at }) => at <= time)?.sha,
    begins: (): number | undefined => entries[0]?.at,
    /** Those that began next to a time, as many before as after it, in order. */
    runsAround(time: number, most: number, rollout?: string): RunSpan[] {
      const those = [...spans.values()].filter(({ name }) => rollout === undefined || name.startsWith(`${rollout}#`));
      const all = those.sort((a, b) => a.begins - b.begins);
      const at = all.findLastIndex(({ begins }) => begins <= time) + 1;
      return all.slice(Math.max(0, at - most), at + most);
    },
  };
}
