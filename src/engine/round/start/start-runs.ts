import type { IndexEntry, JournalState } from "../../../adapters/git/journal/port.ts";
import { iso } from "../../../core/base/time.ts";
import type { Release } from "../../../core/plan/plan-types.ts";
import { runReason } from "../../../core/reasons/run.ts";
import { haltsOn } from "../../../core/run/gates/halt.ts";
import { startRun } from "../../../core/run/start.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Command } from "../../../core/spec/commands.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { type FoundRelease, type Releases, sameRelease } from "../../config-repo/releases.ts";
import { makePlan } from "../../resolve/make-plan.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import { broughtBy, broughtByPull } from "./brought-by.ts";
import { overlapped, retryOfRejected, type Started, standAside } from "./overlap.ts";
import { observedNotice } from "./start-observed.ts";
import { afterRollback, isOwnMerge, startRollbackOf } from "./start-rollback.ts";
import { pullByWords } from "./tracking-issue.ts";

const NOTHING: Started = { runs: [], events: [], waiting: false };

/** What the base branch asks of one rollout that the journal does not know yet. */
export async function startRuns(
  context: RepoContext,
  memory: RepoMemory,
  state: JournalState,
  rollout: Rollout,
  base: string,
  baseBranch: string,
): Promise<Started> {
  const started = await startOrWait(context, memory, state, rollout, base, baseBranch);
  // What the last run's PR halted stays halted, whatever kind of run follows.
  const before = state.runs.get(rollout.name);
  const halts = haltsOn(before, context.clock.now());
  if (halts.length === 0) return started;
  return { ...started, runs: started.runs.map((run) => (run.number === before?.number ? run : { ...run, halts })) };
}

async function startOrWait(
  context: RepoContext,
  memory: RepoMemory,
  state: JournalState,
  rollout: Rollout,
  base: string,
  baseBranch: string,
): Promise<Started> {
  const entry = state.index.get(rollout.name);
  if (entry === undefined) return adopt(memory.releases, rollout, base);
  const before = state.runs.get(rollout.name);
  const found = (await memory.releases.find(rollout, entry, base)).filter(({ commit }) => !isOwnMerge(before, commit.sha));
  const inProgress = before !== undefined && !isEnded(before) ? before : undefined;
  const newest = found.at(-1);
  // What was asked to go back goes back first: a release that came meanwhile would build on what has failed.
  const back = await startRollbackOf(context, memory, rollout, entry, before, base, newest === undefined);
  if (back !== undefined) return { entry: back.entry, runs: [back.run], events: [back.event], waiting: false };
  if (newest === undefined) {
    const retried = await retryOfRejected(context, rollout.name, entry, inProgress);
    if (retried !== undefined) return startRetried(context, memory, { rollout, entry, before, base, baseBranch }, retried);
    const restored = afterRollback(entry, before, base);
    // The cursor moves lazily: writing it for every merge would cost a push each and says nothing.
    return restored === undefined ? NOTHING : { ...NOTHING, entry: restored, waiting: restored.cursor !== base };
  }
  if (isTakenBack(entry, newest, before)) return NOTHING;
  if (inProgress?.ending !== undefined) return { ...NOTHING, waiting: true };
  return start(context, memory, rollout, entry, found, newest, base, baseBranch, inProgress, before);
}

/** Starts what was rejected. That the command was done stands in the run, so that it is answered and never acts again. */
async function startRetried(
  context: RepoContext,
  memory: RepoMemory,
  at: { rollout: Rollout; entry: IndexEntry; before: Run | undefined; base: string; baseBranch: string },
  { found, command }: { found: FoundRelease; command: Command },
): Promise<Started> {
  const { rejected: _, ...entry } = at.entry;
  const started = await start(context, memory, at.rollout, entry, [found], found, at.base, at.baseBranch, undefined, at.before);
  const { id, text, actor } = command;
  const handled = { id, text, actor, at: iso(context.clock.now()), outcome: "done" as const, message: runReason("RUN_STARTED") };
  return { ...started, runs: started.runs.map((run) => ({ ...run, commands: [...run.commands, handled] })) };
}

/** A release that was merged and reverted before it could start: what is asked for is being done, or is done. */
function isTakenBack(entry: IndexEntry, newest: FoundRelease, before: Run | undefined): boolean {
  if (!sameRelease(newest.release, { values: entry.lastRelease, attempt: entry.attempt })) return false;
  if (before === undefined) return true;
  return isEnded(before) ? before.phase === "Succeeded" : before.ending === undefined;
}

/** First sight of a rollout: what is there is taken as it is, and nothing starts. */
async function adopt(releases: Releases, rollout: Rollout, base: string): Promise<Started> {
  const release = (await releases.at(rollout.name, base)) ?? noTagYet(rollout);
  if (release === undefined) return NOTHING;
  const entry: IndexEntry = { lastRun: 0, lastRelease: release.values, attempt: release.attempt, cursor: base };
  return { entry, runs: [], events: [`${rollout.name}: adopted at ${Object.values(release.values).join(", ")}`], waiting: false };
}

/** A tag that is still to come is a release when it comes. */
function noTagYet(rollout: Rollout): Release | undefined {
  return rollout.release?.kind === "tag" ? { values: {}, attempt: rollout.release.attempt } : undefined;
}

/** The PR that released it. That which brought a tag's commit in is not: it released nothing. */
async function pullOf(context: RepoContext, memory: RepoMemory, rollout: Rollout, { commit }: FoundRelease, baseBranch: string) {
  if (rollout.release?.kind === "tag") return undefined;
  return (await memory.mergedPull(commit.sha, baseBranch)) ?? pullByWords(context, commit, baseBranch);
}

async function start(
  context: RepoContext,
  memory: RepoMemory,
  rollout: Rollout,
  entry: IndexEntry,
  found: readonly FoundRelease[],
  newest: FoundRelease,
  base: string,
  baseBranch: string,
  inProgress: Run | undefined,
  before: Run | undefined,
): Promise<Started> {
  if (rollout.mode === "Observe") {
    if (inProgress !== undefined) return standAside(inProgress, newest, context.clock.now());
    const place = {
      pull: (await pullOf(context, memory, rollout, newest, baseBranch))?.number,
      before: entry.lastRelease,
      base,
      baseBranch,
    };
    const notice = await observedNotice(context, memory, rollout, newest.release, place);
    return {
      entry: { ...entry, lastRelease: newest.release.values, attempt: newest.release.attempt, cursor: base },
      runs: [],
      events: [`${rollout.name}: mode is Observe, no run`],
      ...(notice === undefined ? {} : { notice }),
      waiting: false,
    };
  }
  const pull = await pullOf(context, memory, rollout, newest, baseBranch);
  const place = pull?.number ?? (await memory.issues.of(rollout.name, newest.release, newest.commit));
  const made = await makePlan(context, rollout, newest.release, memory.commits.snapshot(base), baseBranch);
  if (!made.ok) return { ...NOTHING, waiting: made.retry, refused: { pull: place, problems: made.problems } };
  // Only what can start takes another's place: a release with an error stops nothing.
  if (inProgress !== undefined) return overlapped(rollout, entry, inProgress, newest, { pull: place, base, now: context.clock.now() });
  // Only what starts is asked about: what waits for its plan is looked at every few seconds.
  const brought = await (pull === undefined ? broughtBy(context, rollout, newest, baseBranch) : broughtByPull(context, rollout, pull));
  const number = entry.lastRun + 1;
  const run = startRun({
    rollout,
    number,
    release: newest.release,
    trigger: {
      commit: newest.commit.sha,
      ...brought,
      at: iso(newest.commit.at),
      ...(place === undefined ? {} : { pull: place }),
    },
    plan: made.plan,
    now: context.clock.now(),
    before,
    lastRelease: entry.lastRelease,
  });
  const skipped = found
    .slice(0, -1)
    .map((release) => `${rollout.name}: ${Object.values(release.release.values).join(", ")} was superseded before it started`);
  return {
    entry: { lastRun: number, lastRelease: newest.release.values, attempt: newest.release.attempt, cursor: base },
    runs: [run],
    events: [...skipped, `${rollout.name} #${number}: started for ${Object.values(newest.release.values).join(", ")}`],
    waiting: false,
  };
}
