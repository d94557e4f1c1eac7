import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { iso } from "../../../core/base/time.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { CommitInfo, Mirror } from "../port.ts";
import { parseTrailers } from "../signing/commit-object.ts";
import { RUN_TRAILER } from "./check.ts";
import { INDEX_FILE, type Index, parseIndex } from "./index-file.ts";
import { readLastRuns } from "./last-runs.ts";
import type { JournalReader, ListedRun, RecordedRun } from "./port.ts";
import type { RunFiles } from "./print-run.ts";
import { FORMAT, type ReadTexts, readRun } from "./read-run.ts";
import { rolloutDirectory, runFile, runName, whyNoRollout } from "./run-paths.ts";
import { parseYaml } from "./yaml-rows.ts";

/** Our own files may be larger than what we read from others: the frozen plan of 100,000 clusters has some 40 MB. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Runs as they were read last of the past, so that the moment beside it is not parsed anew; and ended ones as lists have them. */
const MOST_KEPT = 64;
const MOST_LISTED = 5_000;

type Reads = Pick<Mirror, "readFiles" | "listFiles" | "firstParentLog">;

export function readTextsAt(mirror: Pick<Mirror, "readFiles">, commit: string): ReadTexts {
  return (paths) => mirror.readFiles(commit, paths, { maxBytes: MAX_BYTES });
}

/** A journal as history, with what was read of it. */
interface Reading {
  mirror: Reads;
  /** Which commit to read at; undefined: there is no journal. */
  head: () => Promise<string | undefined>;
  history: ReturnType<typeof openHistoryIndex>;
  kept: BoundedMap<string, RunFiles>;
  listed: BoundedMap<string, ListedRun>;
}

/** The journal as history: any run, from Git alone. `head` says which commit to read at; undefined: there is no journal. */
export function openJournalReader(mirror: Reads, head: Reading["head"]): JournalReader & { index(): Promise<Index | undefined> } {
  const [kept, listed] = [new BoundedMap<string, RunFiles>(MOST_KEPT), new BoundedMap<string, ListedRun>(MOST_LISTED)];
  const reading: Reading = { mirror, head, history: openHistoryIndex(mirror), kept, listed };
  return {
    async index() {
      const at = await head();
      const text = at === undefined ? null : (await mirror.readFiles(at, [INDEX_FILE])).get(INDEX_FILE);
      return text === null || text === undefined ? undefined : parseIndex(text);
    },

    async runs(rollout) {
      const at = await head();
      if (at === undefined) return [];
      const paths = (await mirror.listFiles(at, rolloutDirectory(rollout))).filter((path) => /^runs\/[^/]+\/\d+\/run\.yaml$/.test(path));
      const texts = await mirror.readFiles(at, paths, { maxBytes: MAX_BYTES });
      const runs = paths.map((path) => summary(Number(path.split("/")[2]), texts.get(path) ?? ""));
      return runs.sort((a, b) => a.number - b.number);
    },

    async run(rollout, number): Promise<Run | undefined> {
      const at = await head();
      if (at === undefined) return undefined;
      const here = await readRun(readTextsAt(mirror, at), rollout, number);
      if (here !== undefined) return here.run;
      // Folded away: it stands as it ended in the last commit that was about it.
      const last = (await known(reading))?.run(runName(rollout, number))?.last;
      return last === undefined ? undefined : (await readRun(readTextsAt(mirror, last), rollout, number))?.run;
    },

    async log(rollout, number) {
      runFile(rollout, number);
      const name = runName(rollout, number);
      const span = (await known(reading))?.run(name);
      const commits = span === undefined ? [] : await mirror.firstParentLog(span.before, span.last);
      return commits.flatMap(({ sha, at, subject, body }) => {
        const trailers = parseTrailers(body);
        return trailers[RUN_TRAILER]?.split(", ").includes(name) ? [{ sha, at: iso(at), subject, trailers }] : [];
      });
    },

    stateAt: (time, only) => stateAt(reading, time, only),
    runsAround: (time, most, only) => runsAround(reading, time, most, only),
  };
}

/** The history up to the head; undefined: there is no journal. */
async function known({ head, history }: Reading): Promise<Reading["history"] | undefined> {
  const at = await head();
  if (at === undefined) return undefined;
  await history.upTo(at);
  return history;
}

async function stateAt(reading: Reading, time: number, only: Parameters<JournalReader["stateAt"]>[1]) {
  const { mirror, kept } = reading;
  const past = await known(reading);
  const commit = past?.headAt(time);
  if (commit === undefined) return undefined;
  const read = readTextsAt(mirror, commit);
  const { rollouts } = parseIndex((await read([INDEX_FILE])).get(INDEX_FILE) ?? undefined);
  const lastOf = (rollout: string) => rollouts.get(rollout)?.lastRun ?? 0;
  const wanted = only && ([[only.rollout, { lastRun: only.number ?? lastOf(only.rollout) }]] as const);
  const isThere = only === undefined || (only.number ?? 1) <= lastOf(only.rollout);
  // One that was over by then may be folded away: it stands as it ended in the last commit that was about it.
  const span = only?.number === undefined ? undefined : past?.run(runName(only.rollout, only.number));
  const isOver = span !== undefined && (span.times.at(-1) ?? time) < time;
  const from = isOver ? readTextsAt(mirror, span.last) : read;
  const { files, runs, broken } = await readLastRuns(from, isThere ? (wanted ?? rollouts) : [], kept);
  for (const [name, found] of files) kept.set(name, found);
  return { commit, runs, broken };
}

async function runsAround(reading: Reading, time: number, most: number, only: string | undefined): Promise<RecordedRun[]> {
  const spans = (await known(reading))?.runsAround(time, most, only) ?? [];
  const found: RecordedRun[] = [];
  for (const { name, last, times } of spans) {
    const [, rollout = "", number = ""] = /^(.*)#([1-9]\d{0,8})$/.exec(name) ?? [];
    if (whyNoRollout(rollout) === undefined)
      found.push({ rollout, recorded: times, ...(await listedAt(reading, rollout, Number(number), last)) });
  }
  return found;
}

/** As it ended or stands in the last commit that is about it. */
async function listedAt({ mirror, listed }: Reading, rollout: string, number: number, commit: string): Promise<ListedRun> {
  const path = runFile(rollout, number);
  // One commit may be the last that is about several runs.
  const key = `${commit} ${path}`;
  const before = listed.get(key);
  if (before !== undefined) return before;
  const one = summary(number, (await mirror.readFiles(commit, [path], { maxBytes: MAX_BYTES })).get(path) ?? "");
  listed.set(key, one);
  return one;
}

/** The few fields a list needs. A run that cannot be read is in the list all the same, and says so. */
function summary(number: number, text: string): ListedRun {
  const broken = { number, phase: "Unreadable", startedAt: "", release: "" };
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch {
    return broken;
  }
  if (typeof value !== "object" || value === null) return broken;
  const { format, phase, startedAt, endedAt, release, rollback } = value as Record<string, unknown>;
  if (format !== FORMAT || typeof phase !== "string" || typeof startedAt !== "string") return broken;
  const values = (release as { values?: Record<string, unknown> } | undefined)?.values ?? {};
  const entries = Object.entries(values).map(([name, version]): [string, string] => [name, String(version)]);
  const words = entries.length === 1 ? (entries[0]?.[1] ?? "") : entries.map(([name, version]) => `${name}=${version}`).join(", ");
  // What `/rollback` ended is told by what became of it.
  const told = phase === "Aborted" && rollback !== undefined ? "RolledBack" : phase;
  return defined({ number, phase: told, startedAt, endedAt: typeof endedAt === "string" ? endedAt : undefined, release: words });
}

// Where in the journal's history each run stands, and what its head was at a time: read once, then only what is new of it. Keeps true: so
// many commits at most are known, the newest; of what is older nothing is said. A branch that was rewritten is read anew.

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

interface History {
  entries: Entry[];
  spans: Map<string, RunSpan>;
}

export function openHistoryIndex(mirror: Pick<Mirror, "firstParentLog">) {
  let history: History = { entries: [], spans: new Map() };
  let reading: Promise<void> = Promise.resolve();

  async function read(head: string): Promise<void> {
    const { entries } = history;
    const last = entries.at(-1)?.sha;
    if (last === head) return;
    const fresh = last === undefined || entries.length > MOST_COMMITS + PAGE ? [] : await mirror.firstParentLog(last, head).catch(() => []);
    if (fresh.length > 0 && fresh[0]?.parents[0] === last) add(history, fresh);
    else history = await readAll(mirror, head);
  }

  return {
    /** Brings it up to this head. */
    async upTo(head: string): Promise<void> {
      const turn = reading.catch(() => undefined).then(() => read(head));
      reading = turn;
      await turn;
    },
    run: (name: string): RunSpan | undefined => history.spans.get(name),
    /** Its head at that time, in epoch milliseconds; undefined: there was none, or it is not known any more. */
    headAt: (time: number): string | undefined => history.entries.findLast(({ at }) => at <= time)?.sha,
    /** Those that began next to a time, as many before as after it, in order. */
    runsAround(time: number, most: number, rollout?: string): RunSpan[] {
      const those = [...history.spans.values()].filter(({ name }) => rollout === undefined || name.startsWith(`${rollout}#`));
      const all = those.sort((a, b) => a.begins - b.begins);
      const at = all.findLastIndex(({ begins }) => begins <= time) + 1;
      return all.slice(Math.max(0, at - most), at + most);
    },
  };
}

/** From the newest back, so that no more is ever held than is kept. */
async function readAll(mirror: Pick<Mirror, "firstParentLog">, head: string): Promise<History> {
  const pages: CommitInfo[][] = [];
  let at: string | undefined = head;
  let count = 0;
  while (at !== undefined && count < MOST_COMMITS) {
    const page = await mirror.firstParentLog(undefined, at, PAGE);
    pages.push(page);
    count += page.length;
    at = page.length < PAGE ? undefined : page[0]?.parents[0];
  }
  const history: History = { entries: [], spans: new Map() };
  for (const page of pages.reverse()) add(history, page);
  return history;
}

function add({ entries, spans }: History, commits: readonly CommitInfo[]): void {
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
