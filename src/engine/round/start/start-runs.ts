/**
 * What the base branch asks of each rollout that the journal does not know yet: a run, a rollback, a place in the index.
 *
 * Called at the beginning of a round, which records it with what its runs decide. One run a rollout at the most.
 */
import type { IndexEntry, JournalState } from "../../../adapters/git/journal/port.ts";
import { defined } from "../../../core/base/defined.ts";
import { iso } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import { planComment } from "../../../core/report/plan/plan-comment.ts";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { releaseName } from "../../../core/report/words.ts";
import { startRun } from "../../../core/run/start.ts";
import { haltsOn } from "../../../core/run/state/halts.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Command } from "../../../core/spec/commands.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { readProject } from "../../config-repo/project.ts";
import { type FoundRelease, type Releases, sameRelease } from "../../config-repo/releases.ts";
import type { MakePlan } from "../../resolve/plan-now.ts";
import type { RepoContext } from "../context.ts";
import { openLookBehind } from "./adopted-behind.ts";
import { broughtBy, broughtByPull } from "./brought-by.ts";
import type { MergedPull } from "./merged-pull.ts";
import { judgeOverlap, retryOfRejected, standAside } from "./overlap.ts";
import type { RefusedRelease, RefusedReleases } from "./refused-releases.ts";
import { afterRollback, isOwnMerge, startRollbackOf } from "./start-rollback.ts";
import { begunReason, type Started, type StartedRun, saysNothing, wasRefused, withoutRefused } from "./started.ts";
import { pullByWords, type TrackingIssues } from "./tracking-issue.ts";

export type StartRuns = (
  state: JournalState,
  base: string,
  baseBranch: string,
) => Promise<{ started: Started[]; refused: readonly RefusedRelease[] }>;

interface Parts {
  commits: Commits;
  releases: Releases;
  refused: RefusedReleases;
  mergedPull: MergedPull;
  issues: TrackingIssues;
  makePlan: MakePlan;
}

/** A rollout, and what the journal knows of it. */
interface Place {
  rollout: Rollout;
  entry: IndexEntry;
  before: Run | undefined;
  inProgress: Run | undefined;
  base: string;
  baseBranch: string;
}

/** Of problems that are recorded: the PR's comment has them all. */
const MOST_PROBLEMS = 10;

/** A control plane is listed by then: nobody is told of what a moment solves. */
const LISTED_MS = 30_000;

const NOTHING: StartedRun = { events: [], waiting: false };
const UNSURE: StartedRun = { events: [], waiting: true, isUnsure: true };

type Context = Pick<RepoContext, "forge" | "mirror" | "commands" | "clock" | "log" | "repository">;

export function openStarter(context: Context, { commits, releases, refused, mergedPull, issues, makePlan }: Parts): StartRuns {
  const { forge, clock, log, repository } = context;
  const lookBehind = openLookBehind(context, commits, makePlan);
  const born = clock.now();

  async function startOf(state: JournalState, rollout: Rollout, base: string, baseBranch: string): Promise<StartedRun> {
    const before = state.runs.get(rollout.name);
    const entry = state.index.get(rollout.name);
    if (entry === undefined) return adopt(rollout, base);
    const inProgress = before !== undefined && !isEnded(before) ? before : undefined;
    const found = await startOrWait({ rollout, entry, before, inProgress, base, baseBranch });
    const started = entry.refused !== undefined && saysNothing(found) ? { ...found, entry: withoutRefused(entry) } : found;
    // What the last run's PR halted stays halted, whatever kind of run follows.
    const halts = haltsOn(before, clock.now());
    if (started.run === undefined || started.run.number === before?.number || halts.length === 0) return started;
    return { ...started, run: { ...started.run, halts } };
  }

  /** First sight of a rollout: what is there is taken as it is, and nothing starts. */
  async function adopt(rollout: Rollout, base: string): Promise<StartedRun> {
    const release = (await releases.at(rollout.name, base)) ?? noTagYet(rollout);
    if (release === undefined) return NOTHING;
    const { values, attempt } = release;
    const entry = { lastRun: 0, lastRelease: values, attempt, cursor: base };
    return { entry, events: [{ reason: engineReason("ROLLOUT_ADOPTED", { values }) }], waiting: true };
  }

  async function startOrWait(place: Place): Promise<StartedRun> {
    const { rollout, entry, before, inProgress, base } = place;
    const found = (await releases.find(rollout, entry, base)).filter(({ commit }) => !isOwnMerge(before, commit.sha));
    const newest = found.at(-1);
    // What was asked to go back goes back first: a release that came meanwhile would build on what has failed.
    const back = await startRollbackOf(context, commits, { rollout, entry, before, base, alone: newest === undefined });
    if (back !== undefined) return back;
    if (newest === undefined) {
      const retried = await retryOfRejected(context, rollout.name, entry, inProgress);
      if (retried !== undefined) return startRetried(place, retried);
      const restored = afterRollback(entry, before, base);
      // The cursor moves lazily: writing it for every merge would cost a push each and says nothing.
      if (restored !== undefined) return { ...NOTHING, entry: restored, waiting: restored.cursor !== base };
      return entry.lastRun === 0 ? adoptedBehind(place) : NOTHING;
    }
    if (isTakenBack(entry, newest, before)) return NOTHING;
    if (inProgress?.ending !== undefined) return { ...NOTHING, waiting: true };
    return start(place, found, newest);
  }

  /** What was merged before the first look starts no run, and is told as what is refused. */
  async function adoptedBehind(place: Place): Promise<StartedRun> {
    const { behind, waiting } = await lookBehind(place.rollout, place.entry, place.base, place.baseBranch);
    if (behind === undefined) return { ...NOTHING, waiting };
    const pull = await pullOf(place.rollout, behind.found, place.baseBranch);
    return refusedBy(place, behind.found, pull?.number, { problems: [behind.problem], retry: false });
  }

  /** Starts what was rejected. That the command was done stands in the run, so that it is answered and never acts again. */
  async function startRetried(place: Place, { found, command }: { found: FoundRelease; command: Command }): Promise<StartedRun> {
    const { rejected: _, ...entry } = place.entry;
    const started = await start({ ...place, entry, inProgress: undefined }, [found], found);
    if (started.run === undefined) return started;
    const { id, text, actor } = command;
    const message = engineReason("RELEASE_STARTED");
    const handled = { id, text, actor, at: iso(clock.now()), outcome: "done" as const, message };
    return { ...started, run: { ...started.run, commands: [...started.run.commands, handled] } };
  }

  async function start(place: Place, found: readonly FoundRelease[], newest: FoundRelease): Promise<StartedRun> {
    const { rollout, entry, before, inProgress, base, baseBranch } = place;
    const { values, attempt } = newest.release;
    if (rollout.mode === "Observe") return observeOnly(place, newest);
    const pull = await pullOf(rollout, newest, baseBranch);
    const number = pull?.number ?? (await issues.of(rollout.name, newest.release, newest.commit));
    const made = await makePlan(rollout, newest.release, commits.snapshot(base), baseBranch);
    if (!made.ok && made.retry && clock.now() - born < LISTED_MS) return UNSURE;
    if (!made.ok) return refusedBy(place, newest, number, made);
    const now = clock.now();
    // Only what can start takes another's place: a release with an error stops nothing.
    if (inProgress !== undefined) return judgeOverlap(rollout, entry, inProgress, newest, { pull: number, base, now });
    // Only what starts is asked about: what waits for its plan is looked at every few seconds.
    const brought = await (pull === undefined ? broughtBy(context, rollout, newest, baseBranch) : broughtByPull(context, rollout, pull));
    const lastRun = entry.lastRun + 1;
    const refusedAt = wasRefused(entry, newest) ? entry.refused?.at : number === undefined ? undefined : refused.since(number);
    const times = { at: iso(newest.commit.at), ...defined({ refusedAt, openedAt: pull?.createdAt }) };
    const trigger = { commit: newest.commit.sha, ...brought, ...times, pull: number };
    const run = startRun({
      rollout,
      number: lastRun,
      release: newest.release,
      trigger,
      plan: made.plan,
      now,
      before,
      lastRelease: entry.lastRelease,
    });
    const skipped = found.slice(0, -1).map(({ release }) => ({ reason: engineReason("RELEASE_SUPERSEDED", { values: release.values }) }));
    return {
      entry: { lastRun, lastRelease: values, attempt, cursor: base },
      run,
      events: [...skipped, { run: lastRun, reason: begunReason(values, refusedAt) }],
      waiting: false,
    };
  }

  /** What lasts is recorded, so that whoever looks at the journal sees it, and what comes of it is said. */
  function refusedBy(
    { rollout, entry }: Place,
    { release, commit }: FoundRelease,
    pull: number | undefined,
    { problems, retry }: { problems: readonly Problem[]; retry: boolean },
  ): StartedRun {
    const { values, attempt } = release;
    const known = wasRefused(entry, { release, commit }) ? entry.refused : undefined;
    const at = known?.at ?? iso(clock.now());
    const shown = { ...NOTHING, waiting: retry, refused: { values, commit: commit.sha, pull, at: retry ? known?.at : at, problems } };
    const same = JSON.stringify(known?.problems) === JSON.stringify(problems.slice(0, MOST_PROBLEMS));
    if (retry || same) return shown;
    const said = problems.map((one) => sayProblem(one).message);
    const fields = { repository, rollout: rollout.name, commit: commit.sha, pull, problems: said };
    log.warn(fields, "a release was merged, and no run starts from it");
    const kept = defined({
      values,
      attempt,
      commit: commit.sha,
      pull,
      at,
      problems: problems.slice(0, MOST_PROBLEMS).map((one) => ({ ...one })),
    });
    const events = [{ reason: engineReason("RELEASE_REFUSED", { values, count: problems.length }) }];
    return { ...shown, entry: { ...entry, refused: kept }, events };
  }

  /** Under `mode: Observe` a merged release starts no run: its PR says what a run would have opened. */
  async function observeOnly({ rollout, entry, inProgress, base, baseBranch }: Place, newest: FoundRelease): Promise<StartedRun> {
    if (inProgress !== undefined) return standAside(inProgress, newest, clock.now());
    const { values, attempt } = newest.release;
    const pull = (await pullOf(rollout, newest, baseBranch))?.number;
    const made = pull === undefined ? undefined : await makePlan(rollout, newest.release, commits.snapshot(base), baseBranch);
    const current = releaseName(entry.lastRelease);
    return {
      entry: { ...entry, lastRelease: values, attempt, cursor: base },
      events: [{ reason: engineReason("MODE_STARTS_NO_RUN") }],
      // Where nothing can be planned now the comment from before the merge stands.
      notice: pull !== undefined && made?.ok ? { pull, body: planComment(rollout, made.plan, current, { merged: true }) } : undefined,
      waiting: false,
    };
  }

  /** The PR that released it. That which brought a tag's commit in is not: it released nothing. */
  async function pullOf(rollout: Rollout, { commit }: FoundRelease, baseBranch: string) {
    if (rollout.release?.kind === "tag") return undefined;
    return (await mergedPull(commit.sha, baseBranch)) ?? pullByWords(forge, commit, baseBranch);
  }

  return async (state, base, baseBranch) => {
    const project = await readProject(commits.snapshot(base), baseBranch);
    const started: Started[] = [];
    for (const rollout of project.rollouts) {
      const { name } = rollout;
      if (rollout.release === undefined || state.broken.has(name)) continue;
      try {
        started.push({ rollout: name, ...(await startOf(state, rollout, base, baseBranch)) });
      } catch (error) {
        log.error({ rollout: name, error: String(error) }, "a rollout could not be looked at; trying again");
        started.push({ rollout: name, ...UNSURE });
      }
    }
    return { started, refused: await refused.find(state, project, base, baseBranch) };
  };
}

/** A release that was merged and reverted before it could start: what is asked for is being done, or is done. */
function isTakenBack(entry: IndexEntry, newest: FoundRelease, before: Run | undefined): boolean {
  if (!sameRelease(newest.release, { values: entry.lastRelease, attempt: entry.attempt })) return false;
  if (before === undefined) return true;
  return isEnded(before) ? before.phase === "Succeeded" : before.ending === undefined;
}

/** A tag that is still to come is a release when it comes. */
function noTagYet({ release }: Rollout) {
  return release?.kind === "tag" ? { values: {}, attempt: release.attempt } : undefined;
}
