/**
 * One round of one repo: look, decide, record, act.
 *
 * Properties: every transition is in the journal before its effect is tried; a round that loses the race for the journal
 * has done nothing; a crash between any two lines is mended by the next round, because effects are judged by what is
 * observed, never by what was attempted. Rounds of one repo do not overlap in a process (queue/), and replicas exclude each
 * other by the journal's compare-and-swap.
 *
 * A batch goes its way in the order of the lines of `roundAt`: health that is seen by `decide` settles the batch before, the next is
 * made, recorded, and its PR opened or merged by `act`; whatever that changed is seen by the next round.
 */
import type { Broken, JournalState } from "../../adapters/git/journal/port.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { type RefusedModel, refusedModel } from "../../core/report/model/refused.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import type { PastRuns } from "../config-repo/history-durations.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { Act } from "./act/act.ts";
import type { SweepBranches } from "./act/sweep-branches.ts";
import type { Attention } from "./attention.ts";
import type { Backoff, Circling } from "./backoff.ts";
import type { RepoContext } from "./context.ts";
import type { Decide, Decision } from "./decide.ts";
import type { JournalLooks } from "./journal-look.ts";
import type { MergeQueue } from "./merge-queue.ts";
import type { NoteUnprotected } from "./note-unprotected.ts";
import type { CommandPlace } from "./observe/command-source.ts";
import { type FormerPlaces, pullsToRead } from "./observe/former-places.ts";
import type { WatchOpenPulls } from "./observe/open-pulls.ts";
import type { TellPeople } from "./publish/notify.ts";
import type { Publisher } from "./publish/publish.ts";
import type { Recorder } from "./record.ts";
import type { StandBy } from "./stand-by.ts";
import type { RefusedReleases } from "./start/refused-releases.ts";
import type { StartRuns } from "./start/start-runs.ts";
import type { Started } from "./start/started.ts";

const RETRY_MS = 5000;
/** An archived repository is looked at this often, to see whether it was taken out of the archive. */
const ARCHIVED_EVERY_MS = 5 * 60_000;

interface RoundResult {
  /** Epoch milliseconds; undefined: nothing to wait for but events. */
  wakeAt: number | undefined;
  /** The last run of each rollout, ended or not, as this round leaves it. */
  runs: Run[];
  /** Releases that were merged and started no run. undefined: not looked. */
  refused?: RefusedModel[] | undefined;
  /** What the journal has besides; undefined: not looked. */
  journal?: JournalSides | undefined;
}

export interface JournalSides {
  /** It cannot be gone by: what is known is from when it last could. */
  isHeld: boolean;
  /** Rollouts that had no run yet. */
  idle: string[];
  /** Rollouts whose last run cannot be read. */
  broken: ReadonlyMap<string, Broken>;
}

interface Heads {
  base: string;
  head: string | undefined;
  /** Something was heard since the last look. */
  heard: boolean;
}

export type Round = (baseBranch: string) => Promise<RoundResult>;

interface Parts {
  attention: Attention;
  journals: JournalLooks;
  standBy: StandBy;
  remote: RemoteHeads;
  queue: MergeQueue;
  startRuns: StartRuns;
  formerPlaces: FormerPlaces;
  decide: Decide;
  recorder: Pick<Recorder, "record" | "asLastSeen" | "dueAt">;
  act: Act;
  watchOpenPulls: WatchOpenPulls;
  publisher: Publisher;
  pastRuns: Pick<PastRuns, "read">;
  sweep: SweepBranches;
  backoff: Pick<Backoff, "pending">;
  refused: Pick<RefusedReleases, "recheckAt" | "unplaced">;
  noteUnprotected: NoteUnprotected;
  tellPeople: TellPeople;
  circling: Circling;
}

type Context = Pick<RepoContext, "commands" | "clock" | "log">;

export function openRound(context: Context, parts: Parts): Round {
  const { clock } = context;
  const { attention, journals, standBy, remote, queue, startRuns, recorder, act } = parts;
  const { watchOpenPulls, publisher, pastRuns, sweep, noteUnprotected, tellPeople } = parts;

  async function round(baseBranch: string): Promise<RoundResult> {
    const heard = remote.hasNews;
    // A merge group may be there, or gone.
    if (heard) queue.expire();
    const { base, journal: head } = await remote.read(baseBranch);
    if (base === undefined) return { runs: [], journal: NOTHING_THERE, wakeAt: undefined };
    const result = await roundAt(baseBranch, { base, head, heard });
    return { ...result, wakeAt: parts.circling(`${base} ${head}`, result.wakeAt) };
  }

  async function roundAt(baseBranch: string, { base, head, heard }: Heads): Promise<RoundResult> {
    const { state, held, again } = await journals.read(head);
    const at = { state, base, baseBranch, heard };
    if (held !== undefined) {
      const runs = await standBy({ ...at, held });
      return { runs, journal: sidesOf(state, [], true), wakeAt: earlier(again, await attention.publish()) };
    }
    const { started, refused } = await startRuns(state, base, baseBranch);
    const { decisions, whole } = await decideAll(context, parts, state, started, base, baseBranch);
    await noteUnprotected(decisions, whole);
    const recorded = await recorder.record(started, decisions, refused);
    if (recorded.kind === "archived") return standStill(clock.now(), state, decisions);
    if (recorded.kind === "lost") return { wakeAt: recorded.again, runs: [...state.runs.values()] };
    if (recorded.kind === "refused") {
      const runs = await standBy({ ...at, held: recorded.held, started });
      return { runs, wakeAt: earlier(recorded.again, await attention.publish()) };
    }
    const decided = decisions.map(({ advanced }) => advanced.run);
    const runs = new Map([...state.runs, ...decided.map((run) => [run.rollout, run] as const)]);
    const notStarted = [...started.flatMap(({ rollout, refused: own }) => (own === undefined ? [] : [{ rollout, ...own }])), ...refused];
    const refusedNow = notStarted.map(refusedModel);
    // Before anything is tried: what is recorded is told, whatever becomes of this process.
    await tellPeople(base, { runs, started, decisions, refused: refusedNow });
    const acted = await act(decisions, { base, baseBranch, whole: whole && decisions.every(({ stoodStill }) => stoodStill !== true) });
    const quiet = state.index.size === 0 && started.length === 0 && refused.length === 0;
    if (heard) await watchOpenPulls(runs, baseBranch, { quiet });
    sweep(runs.values());
    await pastRuns.read(decisions, base);
    const shown = Math.min(publisher.publish(started, refused, decisions, runs), await attention.publish());
    // After an effect the world is different: its outcome is looked at at once.
    const unplaced = parts.refused.unplaced.map(refusedModel);
    const result = { runs: [...runs.values()], refused: [...refusedNow, ...unplaced], journal: sidesOf(state, started) };
    if (remote.needsFetch) return { ...result, wakeAt: clock.now() };
    const wakeAt = publisher.slowedWake(Math.min(shown, nextLook(parts, clock.now(), started, decisions, { acted, whole })));
    return { ...result, wakeAt: Number.isFinite(wakeAt) ? wakeAt : undefined };
  }

  return round;
}

/** `whole`: every run could be looked at. */
async function decideAll(
  { commands, log }: Context,
  { recorder, formerPlaces, decide }: Parts,
  state: JournalState,
  started: readonly Started[],
  base: string,
  baseBranch: string,
): Promise<{ decisions: Decision[]; whole: boolean }> {
  const fresh = new Map(started.flatMap(({ rollout, run }) => (run === undefined ? [] : [[rollout, run] as const])));
  const seen = [...state.runs].map(([rollout, run]) => [rollout, recorder.asLastSeen(run)] as const);
  const last = new Map([...seen, ...fresh]);
  const active = [...last.values()].filter((run) => !isEnded(run));
  const former = await formerPlaces(last);
  // One run a rollout is recorded in a round: what is said to the one before waits while its successor begins.
  const before = [...state.runs.values()].filter((run) => !fresh.has(run.rollout));
  const decisions: Decision[] = [];
  let whole = true;
  for (const run of [...active, ...(await spokenTo(commands, before, former))]) {
    try {
      const places = pullsToRead(run, active, former.get(run.rollout));
      decisions.push(await decide(run, places, others(run, last, decisions), base, baseBranch));
    } catch (error) {
      // One run that cannot be judged is no reason to hold the others.
      whole = false;
      log.error({ rollout: run.rollout, run: run.number, error: String(error) }, "a run could not be looked at; trying again");
    }
  }
  return { decisions, whole };
}

const NOTHING_THERE: JournalSides = { isHeld: false, idle: [], broken: new Map() };

/** As the round leaves it. */
function sidesOf({ index, broken }: JournalState, started: readonly Started[], isHeld = false): JournalSides {
  const entries = new Map([...index, ...started.flatMap(({ rollout, entry }) => (entry === undefined ? [] : [[rollout, entry] as const]))]);
  return { isHeld, idle: [...entries].flatMap(([rollout, { lastRun }]) => (lastRun === 0 ? [rollout] : [])), broken };
}

function earlier(again: number | undefined, shown: number): number | undefined {
  const at = Math.min(again ?? Number.POSITIVE_INFINITY, shown);
  return Number.isFinite(at) ? at : undefined;
}

/** Two runs of one round must not both take the last place that the repo's limits leave: each sees what those before it decided. */
function others(run: Run, last: ReadonlyMap<string, Run>, decisions: readonly Decision[]): Run[] {
  const decided = new Map(decisions.map(({ advanced }) => [advanced.run.rollout, advanced.run]));
  return [...last.values()].filter((one) => one.rollout !== run.rollout).map((one) => decided.get(one.rollout) ?? one);
}

/** Ended runs that somebody wrote a command for: `/retry` wakes a failed one, and every command gets an answer. */
async function spokenTo(
  commands: Context["commands"],
  runs: readonly Run[],
  former: ReadonlyMap<string, readonly CommandPlace[]>,
): Promise<Run[]> {
  const spoken: Run[] = [];
  for (const run of runs) {
    const places = isEnded(run) ? pullsToRead(run, [], former.get(run.rollout)) : [];
    if (places.length > 0 && (await commands.read(run.rollout, places)).length > 0) spoken.push(run);
  }
  return spoken;
}

/** As the page shows it: nothing of it can be written to the journal. */
function standStill(now: number, state: JournalState, decisions: readonly Decision[]): RoundResult {
  const stopped = { why: engineReason("REPOSITORY_ARCHIVED"), next: { what: engineReason("ASK_UNARCHIVE") } };
  const stands = decisions.map(({ before }): [string, Run] => [before.rollout, { ...before, ...stopped }]);
  const runs = [...new Map([...state.runs, ...stands]).values()];
  return { wakeAt: now + ARCHIVED_EVERY_MS, runs, journal: sidesOf(state, []) };
}

function nextLook(
  { backoff, refused, recorder }: Pick<Parts, "backoff" | "refused" | "recorder">,
  now: number,
  started: readonly Started[],
  decisions: readonly Decision[],
  { acted, whole }: { acted: boolean; whole: boolean },
): number {
  const times = [...backoff.pending(), refused.recheckAt ?? Number.POSITIVE_INFINITY];
  // One that is overdue belongs to a run that could not be decided on now.
  if (recorder.dueAt() > now) times.push(recorder.dueAt());
  if (acted) times.push(now);
  if (!whole || started.some(({ waiting }) => waiting)) times.push(now + RETRY_MS);
  for (const { advanced } of decisions) {
    if (advanced.change === "transition") times.push(now);
    if (advanced.wakeAt !== undefined) times.push(advanced.wakeAt);
  }
  return Math.min(...times);
}
