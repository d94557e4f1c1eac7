import { defined } from "../../../core/base/defined.ts";
import { iso } from "../../../core/base/time.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { CommitInfo, Mirror } from "../port.ts";
import { parseTrailers } from "../signing/commit-object.ts";
import { RUN_TRAILER } from "./check.ts";
import { INDEX_FILE, type Index, parseIndex } from "./index-file.ts";
import type { JournalReader } from "./port.ts";
import { type ReadTexts, readRun } from "./read-run.ts";
import { rolloutDirectory, runFile, runName } from "./run-paths.ts";
import { parseYaml } from "./yaml-rows.ts";

/** Our own files may be larger than what we read from others: the frozen plan of 100,000 clusters has some 40 MB. */
const MAX_BYTES = 128 * 1024 * 1024;

type Reads = Pick<Mirror, "readFiles" | "listFiles" | "firstParentLog">;

export function readTextsAt(mirror: Pick<Mirror, "readFiles">, commit: string): ReadTexts {
  return (paths) => mirror.readFiles(commit, paths, { maxBytes: MAX_BYTES });
}

/** The journal as history: any run, from Git alone. `head` says which commit to read at; undefined: there is no journal. */
export function openJournalReader(
  mirror: Reads,
  head: () => Promise<string | undefined>,
): JournalReader & { index(): Promise<Index | undefined> } {
  async function commitsOf(rollout: string, number: number): Promise<CommitInfo[]> {
    const at = await head();
    if (at === undefined) return [];
    const name = runName(rollout, number);
    const log = await mirror.firstParentLog(undefined, at);
    return log.filter((commit) => parseTrailers(commit.body)[RUN_TRAILER]?.split(", ").includes(name));
  }

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
      const last = (await commitsOf(rollout, number)).at(-1);
      if (last === undefined) return undefined;
      return (await readRun(readTextsAt(mirror, last.sha), rollout, number))?.run;
    },

    async log(rollout, number) {
      runFile(rollout, number);
      const commits = await commitsOf(rollout, number);
      return commits.map((commit) => ({
        sha: commit.sha,
        at: iso(commit.at),
        subject: commit.subject,
        trailers: parseTrailers(commit.body),
      }));
    },
  };
}

/** The few fields a list needs. A run that cannot be read is in the list all the same, and says so. */
function summary(number: number, text: string): Awaited<ReturnType<JournalReader["runs"]>>[number] {
  const broken = { number, phase: "Unreadable", startedAt: "", release: "" };
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch {
    return broken;
  }
  if (typeof value !== "object" || value === null) return broken;
  const { phase, startedAt, endedAt, release, rollback } = value as Record<string, unknown>;
  if (typeof phase !== "string" || typeof startedAt !== "string") return broken;
  const values = (release as { values?: Record<string, unknown> } | undefined)?.values ?? {};
  const entries = Object.entries(values).map(([name, version]): [string, string] => [name, String(version)]);
  const words = entries.length === 1 ? (entries[0]?.[1] ?? "") : entries.map(([name, version]) => `${name}=${version}`).join(", ");
  // What `/rollback` ended is told by what became of it.
  const told = phase === "Aborted" && rollback !== undefined ? "RolledBack" : phase;
  return defined({ number, phase: told, startedAt, endedAt: typeof endedAt === "string" ? endedAt : undefined, release: words });
}
