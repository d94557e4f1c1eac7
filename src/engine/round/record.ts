/** Decides what of a round goes into the journal, and when; nobody else calls its `record`. The git adapter makes the commit. */
import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import { BoundedMap, BoundedSet } from "../../core/base/bounded.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { type AttentionReason, attentionReason } from "../../core/reasons/attention.ts";
import type { BatchTarget, Run } from "../../core/run/state/run.ts";
import type { Advanced } from "../../core/run/state/world.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { Attention } from "./attention.ts";
import { type Backoff, openBackoff } from "./backoff.ts";
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

export class Recorder {
  readonly #context: Context;
  readonly #remote: RemoteHeads;
  readonly #attention: Attention;
  readonly #refusals: Backoff;
  readonly #losses: Backoff;
  readonly #born: number;
  #refused: AttentionReason | undefined;
  #lost = 0;
  /** What a process records first is anchored: whoever was there before may not have come to it. */
  #owesAnchor = true;
  /** Where it cannot be, the next record tries again: an App may lack the right. */
  #triesAnchor = false;
  /** Rollout → when an observation was last recorded. */
  readonly #observedAt = new BoundedMap<string, number>(MOST_KEPT);
  readonly #unrecorded = new BoundedMap<string, Unrecorded>(MOST_KEPT);
  /** Releases that start no run, of which the log has a line. */
  readonly #toldRefused = new BoundedSet<string>(MOST_KEPT);

  constructor(context: Context, remote: RemoteHeads, attention: Attention) {
    this.#context = context;
    this.#remote = remote;
    this.#attention = attention;
    this.#refusals = openBackoff(context, LONGEST_RETRY_MS);
    this.#losses = openBackoff(context, LONGEST_RETRY_MS);
    this.#born = context.clock.now();
  }

  /** Records in one commit a round for all runs of the repo. */
  readonly record = async (
    started: readonly Started[],
    decisions: readonly Decision[],
    notStarted: readonly RefusedRelease[] = [],
  ): Promise<Recorded> => {
    const { repository, log, journalBranch } = this.#context;
    const of = { repository, deliveries: (this.#context.deliveries?.() ?? []).slice(-MOST_DELIVERIES) };
    for (const one of notStarted) {
      const key = `${one.commit} ${one.problems.map(({ code, file }) => `${code} ${file}`).join()}`;
      if (!this.#toldRefused.has(key)) logRefused(log, of, one);
      this.#toldRefused.add(key);
    }
    try {
      const recorded = await this.#record(started, decisions, of.deliveries);
      if (recorded.kind !== "recorded") return recorded;
      for (const one of started) logStarted(log, of, one);
      for (const one of decisions) logDecided(log, of, one);
      return recorded;
    } catch (error) {
      this.#remote.expire();
      if (await isArchived(this.#context)) return { kind: "archived" };
      const because = whyRefused(error);
      if (because === undefined) throw error;
      this.#refused = attentionReason("JOURNAL_NOT_WRITTEN", { branch: journalBranch, because });
      this.#attention.note(CONCERN, this.#refused);
      this.#refusals.note(CONCERN, error);
      return { kind: "refused", held: this.#refused, again: this.#refusals.until(CONCERN) ?? this.#context.clock.now() };
    }
  };

  /** Anchors the journal where what was recorded must not be taken back. What could not be anchored is still owed. */
  async anchor(): Promise<void> {
    const { journal, log, repository } = this.#context;
    if (!this.#triesAnchor) return;
    this.#triesAnchor = false;
    try {
      await journal.anchor();
      this.#owesAnchor = false;
    } catch (error) {
      log.warn({ repository, error: String(error) }, "the journal's head could not be anchored; trying again with the next record");
    }
  }

  /** A run of the journal as this process last saw it, with the observations that are not recorded yet. A restart makes them anew. */
  readonly asLastSeen = (run: Run): Run => {
    const known = this.#unrecorded.get(run.rollout);
    return known?.of === run ? known.run : run;
  };

  /** When what has happened, and is not recorded yet, is to be. Epoch milliseconds; Infinity: nothing is. */
  readonly dueAt = (): number =>
    Math.min(Infinity, ...[...this.#unrecorded.values()].map(({ eventAt = Infinity }) => eventAt + EVENT_WITHIN_MS));

  async #record(started: readonly Started[], decisions: readonly Decision[], deliveries: readonly string[]): Promise<Recorded> {
    const { clock, journal } = this.#context;
    const now = clock.now();
    const index = new Map<string, IndexEntry>();
    const runs = new Map<string, Run>();
    const events: string[] = [];
    for (const { rollout, entry, run, events: own } of started) {
      if (entry !== undefined) index.set(rollout, entry);
      if (run !== undefined) runs.set(rollout, run);
      events.push(...own.map((event) => eventText(rollout, event.run, event.reason, run)));
    }
    const sightings = decisions.map((decision) => sightingOf(decision, this.#unrecorded.get(decision.before.rollout)));
    const worth = sightings.map(({ before, advanced, since }) => this.#isWorthRecording(before, advanced, since, now));
    // What one run does may rest on what was seen of another: whatever is recorded, all that was seen goes with it.
    const isDue = worth.includes(true) || runs.size > 0 || index.size > 0;
    for (const { before, advanced, since, seen } of sightings) {
      if (advanced.change === "none" && since === undefined) continue;
      if (!isDue) {
        const eventAt = since?.eventAt ?? (seen.some(({ code }) => !TOLD_AGAIN.has(code)) ? now : undefined);
        this.#unrecorded.set(before.rollout, { of: since?.of ?? before, run: advanced.run, events: seen, eventAt });
        continue;
      }
      runs.set(before.rollout, advanced.run);
      events.push(...seen.map((event) => eventText(before.rollout, before.number, event, advanced.run)));
      this.#observedAt.set(before.rollout, now);
    }
    if (runs.size === 0 && index.size === 0) return { kind: "recorded" };
    const again = this.#refusals.until(CONCERN);
    if (this.#refused !== undefined && again !== undefined) return { kind: "refused", held: this.#refused, again };
    const change = { index, runs: [...runs.values()], ...changeWords(events, runs, decisions, deliveries) };
    const outcome = await journal.record({ ...change, at: now });
    this.#refused = undefined;
    this.#attention.note(CONCERN, undefined);
    this.#refusals.forget(CONCERN);
    if (outcome === "lost") return this.#wasLost(now);
    this.#owesAnchor ||= started.some(({ run }) => run !== undefined) || decisions.some(isWeighty);
    this.#triesAnchor = this.#owesAnchor;
    return this.#wasRecorded(runs, sightings);
  }

  /** What brings nothing on waits as long as ever in a process that has just begun, too, lest each restart be a commit. */
  #isWorthRecording(before: Run, { change, run, events }: Advanced<Run>, known: Unrecorded | undefined, now: number): boolean {
    if (change === "transition") return true;
    if (change === "none" && known === undefined) return false;
    if (anyTarget(known?.of ?? before, run, isLoss)) return true;
    if (now - this.#born < YOUNG_MS && (events.length > 0 || anyTarget(known?.of ?? before, run, isGain))) return true;
    if (known?.eventAt !== undefined && now - known.eventAt >= EVENT_WITHIN_MS) return true;
    const last = this.#observedAt.get(run.rollout);
    if (last === undefined) this.#observedAt.set(run.rollout, now);
    return last !== undefined && now - last >= OBSERVATION_EVERY_MS;
  }

  #wasRecorded(runs: ReadonlyMap<string, Run>, sightings: readonly ReturnType<typeof sightingOf>[]): Recorded {
    const had = new Map(sightings.map(({ before, since }) => [before.rollout, since?.of ?? before]));
    this.#losses.forget(CONCERN);
    this.#lost = 0;
    this.#remote.moveJournal(this.#context.journal.head());
    for (const [rollout, run] of runs) {
      this.#unrecorded.delete(rollout);
      this.#context.onRecorded?.(had.get(rollout), run);
    }
    return { kind: "recorded" };
  }

  #wasLost(now: number): Recorded {
    this.#remote.expire();
    this.#lost += 1;
    if (this.#lost > LOST_AT_ONCE) this.#losses.note(CONCERN);
    this.#context.log.info({ repository: this.#context.repository, lost: this.#lost }, "another replica recorded first; looking again");
    return { kind: "lost", again: this.#losses.until(CONCERN) ?? now };
  }
}

/** What a run has become, with what was seen of it and is not recorded. */
function sightingOf({ before, advanced }: Decision, known: Unrecorded | undefined) {
  const since = known?.run === before ? known : undefined;
  return { before, advanced, since, seen: [...(since?.events ?? []), ...advanced.events] };
}

/** Whether what just failed failed because nothing can be written here any more. Not known counts as no. */
async function isArchived({ forge, log, repository }: Context): Promise<boolean> {
  try {
    const { archived } = await forge.repo();
    if (archived) log.error({ repository }, "the repository is archived: its runs stand still until it is not");
    return archived;
  } catch {
    return false;
  }
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
