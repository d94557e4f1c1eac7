import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import { BoundedMap, BoundedSet } from "../../core/base/bounded.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { type AttentionReason, attentionReason } from "../../core/reasons/attention.ts";
import type { BatchTarget, Run } from "../../core/run/state/run.ts";
import type { Advanced } from "../../core/run/state/world.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { Attention } from "./attention.ts";
import { openBackoff } from "./backoff.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decide.ts";
import { changeWords, eventText, logDecided, logRefused, logStarted } from "./log-events.ts";
import { whyRefused } from "./refused-write.ts";
import type { RefusedRelease } from "./start/refused-releases.ts";
import type { Started } from "./start/started.ts";

/** Mere observations are recorded at most this often: GitHub wants few pushes a minute, and most of them go with what comes of them. */
const OBSERVATION_EVERY_MS = 5 * 60_000;
/** What has happened, as that a bake began, waits no longer than this for something to go with: a restart would begin it anew. */
const EVENT_WITHIN_MS = 2 * 60_000;
/** What GitHub tells again as it was, times and all: nothing begins anew. */
const TOLD_AGAIN: ReadonlySet<string> = new Set(["BATCH_PROPOSED", "BATCH_MERGED"]);
/** A process as young records at once what brings a run on: it may be killed in a moment. */
const YOUNG_MS = 30_000;
const MOST_KEPT = 1000;

/** What recording came to: where it is not recorded nothing is to be tried. */
type Recorded =
  | { kind: "recorded" }
  /** Another replica was faster. `again`: when to look, in epoch milliseconds; as for all of these. */
  | { kind: "lost"; again: number }
  /** GitHub refuses the commit, or did lately. */
  | { kind: "refused"; held: AttentionReason; again: number }
  /** Nothing can be written to the repository. */
  | { kind: "archived" };

export interface Recorder {
  /** Records in one commit a round for all runs of the repo. */
  record(started: readonly Started[], decisions: readonly Decision[], notStarted?: readonly RefusedRelease[]): Promise<Recorded>;
  /** Anchors the journal where what was recorded must not be taken back. What could not be anchored is still owed. */
  anchor(): Promise<void>;
  /** A run of the journal as this process last saw it, with the observations that are not recorded yet. A restart makes them anew. */
  asLastSeen(run: Run): Run;
  /** When what has happened, and is not recorded yet, is to be. Epoch milliseconds; Infinity: nothing is. */
  dueAt(): number;
}

/** What was observed of a run since it was recorded, and has not been recorded itself. */
interface Unrecorded {
  /** As the journal has it. */
  of: Run;
  run: Run;
  events: readonly AnyReason[];
  /** Since when there are events among it. Epoch milliseconds. */
  eventAt: number | undefined;
}

type Context = Pick<RepoContext, "journal" | "journalBranch" | "forge" | "clock" | "log" | "repository" | "deliveries" | "onRecorded">;

/** What may not be recorded, as it is noted among what needs attention. */
const CONCERN = "journal write";
/** Of those heard before one round, the newest. */
const MOST_DELIVERIES = 10;
/** Races come one at a time; more in a row have another cause. */
const LOST_AT_ONCE = 3;
/** Nothing tells of a rule that was changed: whoever did it waits no longer than this. */
const LONGEST_RETRY_MS = 60_000;

export function openRecorder(context: Context, remote: RemoteHeads, attention: Attention): Recorder {
  const { journal, journalBranch, forge, clock, log, repository } = context;
  const refusals = openBackoff({ clock }, LONGEST_RETRY_MS);
  const losses = openBackoff({ clock }, LONGEST_RETRY_MS);
  const born = clock.now();
  let refused: AttentionReason | undefined;
  let lost = 0;
  /** What a process records first is anchored: whoever was there before may not have come to it. */
  let owesAnchor = true;
  /** Where it cannot be, the next record tries again: an App may lack the right. */
  let triesAnchor = false;
  /** Rollout → when an observation was last recorded. */
  const observedAt = new BoundedMap<string, number>(MOST_KEPT);
  const unrecorded = new BoundedMap<string, Unrecorded>(MOST_KEPT);
  /** Releases that start no run, of which the log has a line. */
  const toldRefused = new BoundedSet<string>(MOST_KEPT);

  /** What brings nothing on waits as long as ever in a process that has just begun, too, lest each restart be a commit. */
  function isWorthRecording(before: Run, { change, run, events }: Advanced<Run>, known: Unrecorded | undefined, now: number): boolean {
    if (change === "transition") return true;
    if (change === "none" && known === undefined) return false;
    if (anyTarget(known?.of ?? before, run, isLoss)) return true;
    if (now - born < YOUNG_MS && (events.length > 0 || anyTarget(known?.of ?? before, run, isGain))) return true;
    if (known?.eventAt !== undefined && now - known.eventAt >= EVENT_WITHIN_MS) return true;
    const last = observedAt.get(run.rollout);
    if (last === undefined) observedAt.set(run.rollout, now);
    return last !== undefined && now - last >= OBSERVATION_EVERY_MS;
  }

  /** What a run has become, with what was seen of it and is not recorded. */
  function sightingOf({ before, advanced }: Decision) {
    const known = unrecorded.get(before.rollout);
    const since = known?.run === before ? known : undefined;
    return { before, advanced, since, seen: [...(since?.events ?? []), ...advanced.events] };
  }

  async function record(started: readonly Started[], decisions: readonly Decision[], deliveries: readonly string[]): Promise<Recorded> {
    const now = clock.now();
    const index = new Map<string, IndexEntry>();
    const runs = new Map<string, Run>();
    const events: string[] = [];
    for (const { rollout, entry, run, events: own } of started) {
      if (entry !== undefined) index.set(rollout, entry);
      if (run !== undefined) runs.set(rollout, run);
      events.push(...own.map((event) => eventText(rollout, event.run, event.reason, run)));
    }
    const sightings = decisions.map((decision) => sightingOf(decision));
    const worth = sightings.map(({ before, advanced, since }) => isWorthRecording(before, advanced, since, now));
    // What one run does may rest on what was seen of another: whatever is recorded, all that was seen goes with it.
    const isDue = worth.includes(true) || runs.size > 0 || index.size > 0;
    for (const { before, advanced, since, seen } of sightings) {
      if (advanced.change === "none" && since === undefined) continue;
      if (!isDue) {
        const eventAt = since?.eventAt ?? (seen.some(({ code }) => !TOLD_AGAIN.has(code)) ? now : undefined);
        unrecorded.set(before.rollout, { of: since?.of ?? before, run: advanced.run, events: seen, eventAt });
        continue;
      }
      runs.set(before.rollout, advanced.run);
      events.push(...seen.map((event) => eventText(before.rollout, before.number, event, advanced.run)));
      observedAt.set(before.rollout, now);
    }
    if (runs.size === 0 && index.size === 0) return { kind: "recorded" };
    const again = refusals.until(CONCERN);
    if (refused !== undefined && again !== undefined) return { kind: "refused", held: refused, again };
    const change = {
      index,
      runs: [...runs.values()],
      ...changeWords(events, runs, decisions, deliveries),
    };
    const outcome = await journal.record({ ...change, at: now });
    refused = undefined;
    attention.note(CONCERN, undefined);
    refusals.forget(CONCERN);
    if (outcome === "lost") return wasLost(now);
    owesAnchor ||= started.some(({ run }) => run !== undefined) || decisions.some(isWeighty);
    triesAnchor = owesAnchor;
    return wasRecorded(runs, sightings);
  }

  async function anchor(): Promise<void> {
    if (!triesAnchor) return;
    triesAnchor = false;
    try {
      await journal.anchor();
      owesAnchor = false;
    } catch (error) {
      log.warn({ repository, error: String(error) }, "the journal's head could not be anchored; trying again with the next record");
    }
  }

  function wasRecorded(runs: ReadonlyMap<string, Run>, sightings: readonly ReturnType<typeof sightingOf>[]): Recorded {
    const had = new Map(sightings.map(({ before, since }) => [before.rollout, since?.of ?? before]));
    losses.forget(CONCERN);
    lost = 0;
    remote.moveJournal(journal.head());
    for (const [rollout, run] of runs) {
      unrecorded.delete(rollout);
      context.onRecorded?.(had.get(rollout), run);
    }
    return { kind: "recorded" };
  }

  function wasLost(now: number): Recorded {
    remote.expire();
    lost += 1;
    if (lost > LOST_AT_ONCE) losses.note(CONCERN);
    log.info({ repository, lost }, "another replica recorded first; looking again");
    return { kind: "lost", again: losses.until(CONCERN) ?? now };
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
    async record(started, decisions, notStarted = []) {
      const of = { repository, deliveries: (context.deliveries?.() ?? []).slice(-MOST_DELIVERIES) };
      for (const one of notStarted) {
        const key = `${one.commit} ${one.problems.map(({ code, file }) => `${code} ${file}`).join()}`;
        if (!toldRefused.has(key)) logRefused(log, of, one);
        toldRefused.add(key);
      }
      try {
        const recorded = await record(started, decisions, of.deliveries);
        if (recorded.kind !== "recorded") return recorded;
        for (const one of started) logStarted(log, of, one);
        for (const one of decisions) logDecided(log, of, one);
        return recorded;
      } catch (error) {
        remote.expire();
        if (await isArchived()) return { kind: "archived" };
        const because = whyRefused(error);
        if (because === undefined) throw error;
        refused = attentionReason("JOURNAL_NOT_WRITTEN", { branch: journalBranch, because });
        attention.note(CONCERN, refused);
        refusals.note(CONCERN, error);
        return { kind: "refused", held: refused, again: refusals.until(CONCERN) ?? clock.now() };
      }
    },
    anchor,
    asLastSeen(run) {
      const known = unrecorded.get(run.rollout);
      return known?.of === run ? known.run : run;
    },
    dueAt: () => Math.min(Infinity, ...[...unrecorded.values()].map(({ eventAt = Infinity }) => eventAt + EVENT_WITHIN_MS)),
  };
}

/** What people said and what stopped or ended must not be taken back; a batch more or less is found by looking. */
function isWeighty({ before, advanced: { run } }: Decision): boolean {
  const said = run.commands.length !== before.commands.length;
  return said || run.phase !== before.phase || (run.paused === undefined) !== (before.paused === undefined);
}

type Counted = Partial<Pick<BatchTarget, "firstSeenAt" | "goodSince">>;

function anyTarget(before: Run, after: Run, is: (was: Counted, now: Counted) => boolean): boolean {
  return after.batches.some(({ targets }, index) => targets.some((now, place) => is(before.batches[index]?.targets[place] ?? {}, now)));
}

/** What waits are counted by was seen for the first time. */
const isGain = (was: Counted, now: Counted) => (!was.firstSeenAt && !!now.firstSeenAt) || (!was.goodSince && !!now.goodSince);
/** What is recorded as good since is not any more: a later process would count from it. */
const isLoss = (was: Counted, now: Counted) => !!was.goodSince && !now.goodSince;
