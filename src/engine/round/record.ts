import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import type { AnyReason, Words } from "../../core/base/reason.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Advanced } from "../../core/run/state/world.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decide.ts";
import type { Started } from "./start/started.ts";

/** Mere observations are recorded at most this often: GitHub wants few pushes a minute, and most of them go with what comes of them. */
const OBSERVATION_EVERY_MS = 2 * 60_000;
const MOST_SUBJECT = 150;
const MOST_KEPT = 1000;

export interface Recorder {
  /**
   * Records in one commit a round for all runs of the repo. False: another replica was faster. "archived": nothing can be written to the
   * repository, so nothing was recorded and nothing is to be tried.
   */
  record(started: readonly Started[], decisions: readonly Decision[]): Promise<boolean | "archived">;
  /** A run of the journal as this process last saw it, with the observations that are not recorded yet. A restart makes them anew. */
  asLastSeen(run: Run): Run;
}

/** What was observed of a run since it was recorded, and has not been recorded itself. */
interface Unrecorded {
  /** As the journal has it. */
  of: Run;
  run: Run;
  events: readonly AnyReason[];
}

type Context = Pick<RepoContext, "journal" | "forge" | "clock" | "log" | "repository">;

export function openRecorder(context: Context, remote: RemoteHeads): Recorder {
  const { journal, forge, clock, log, repository } = context;
  /** Rollout → when an observation was last recorded. */
  const observedAt = new BoundedMap<string, number>(MOST_KEPT);
  const unrecorded = new BoundedMap<string, Unrecorded>(MOST_KEPT);

  /** A process that has just begun has recorded nothing yet: its first observation waits as long as any, lest each restart be a commit. */
  function isWorthRecording({ change, run }: Advanced<Run>, known: Unrecorded | undefined, now: number): boolean {
    if (change === "transition") return true;
    if (change === "none" && known === undefined) return false;
    const last = observedAt.get(run.rollout);
    if (last === undefined) observedAt.set(run.rollout, now);
    return last !== undefined && now - last >= OBSERVATION_EVERY_MS;
  }

  async function record(started: readonly Started[], decisions: readonly Decision[]): Promise<boolean> {
    const now = clock.now();
    const index = new Map<string, IndexEntry>();
    const runs = new Map<string, Run>();
    const events: string[] = [];
    for (const { rollout, entry, run, events: own } of started) {
      if (entry !== undefined) index.set(rollout, entry);
      if (run !== undefined) runs.set(rollout, run);
      events.push(...own.map((event) => eventText(rollout, event.run, event.reason, run)));
    }
    for (const { before, advanced } of decisions) {
      const known = unrecorded.get(before.rollout);
      const since = known?.run === before ? known : undefined;
      const seen = [...(since?.events ?? []), ...advanced.events];
      if (!isWorthRecording(advanced, since, now)) {
        if (advanced.change !== "none") unrecorded.set(before.rollout, { of: since?.of ?? before, run: advanced.run, events: seen });
        continue;
      }
      runs.set(before.rollout, advanced.run);
      events.push(...seen.map((event) => eventText(before.rollout, before.number, event, advanced.run)));
      observedAt.set(before.rollout, now);
    }
    if (runs.size === 0 && index.size === 0) return true;
    const change = { index, runs: [...runs.values()], subject: subjectOf(events, runs), trailers: trailersOf(events, runs, decisions) };
    const outcome = await journal.record({ ...change, at: now });
    if (outcome === "recorded") {
      remote.moveJournal(journal.head());
      for (const rollout of runs.keys()) unrecorded.delete(rollout);
    } else remote.expire();
    if (outcome === "lost") log.info({ repository }, "another replica recorded first; looking again");
    return outcome === "recorded";
  }

  /** Whether what just failed failed because nothing can be written here any more. Not known counts as no. */
  async function isArchived(): Promise<boolean> {
    try {
      const { archived } = await forge.repo();
      if (archived) log.error({ repository }, "the repository is archived: its runs stand still until it is not");
      return archived;
    } catch {
      return false;
    }
  }

  return {
    async record(started, decisions) {
      try {
        return await record(started, decisions);
      } catch (error) {
        if (await isArchived()) return "archived";
        throw error;
      }
    },
    asLastSeen(run) {
      const known = unrecorded.get(run.rollout);
      return known?.of === run ? known.run : run;
    },
  };
}

function eventText(rollout: string, number: number | undefined, event: Words, run: Run | undefined): string {
  return `${rollout}${number === undefined ? "" : ` #${number}`}: ${sentenceOf(event, run)}`;
}

function subjectOf(events: readonly string[], runs: ReadonlyMap<string, Run>): string {
  const now = () => [...runs.values()].map((run) => eventText(run.rollout, run.number, run.why, run)).join("; ");
  const first = events[0] ?? now().slice(0, MOST_SUBJECT);
  return events.length > 1 ? `${first} (and ${events.length - 1} more)` : first;
}

function trailersOf(events: readonly string[], runs: ReadonlyMap<string, Run>, decisions: readonly Decision[]) {
  const handled = decisions.flatMap(({ before, advanced }) => advanced.run.commands.slice(before.commands.length));
  const actors = [...new Set(handled.map(({ actor }) => actor))].join(" ");
  return defined({
    "Stagecoach-Run": [...runs.values()].map((run) => `${run.rollout}/${run.number}`).join(" "),
    "Stagecoach-Event": events.join("; ").slice(0, 2000),
    "Stagecoach-Actor": actors === "" ? undefined : actors,
  });
}
