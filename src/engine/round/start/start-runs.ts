/**
 * What the base branch asks of each rollout that the journal does not know yet: a run, a rollback, a place in the index.
 *
 * Called at the beginning of a round, which records it with what its runs decide. One run a rollout at the most.
 */
import type { IndexEntry, JournalState } from "../../../adapters/git/journal/port.ts";
import { defined } from "../../../core/base/defined.ts";
import { iso } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { planComment } from "../../../core/report/plan/plan-comment.ts";
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
import { begunReason, NOTHING, refusedBy, type Started, type StartedRun, saysNothing, wasRefused, withoutRefused } from "./started.ts";
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

/** A control plane is listed by then: nobody is told of what a moment solves. */
const LISTED_MS = 30_000;

const UNSURE: StartedRun = { events: [], waiting: true, isUnsure: true };

type Context = Pick<RepoContext, "forge" | "mirror" | "commands" | "clock" | "log" | "repository">;

export function openStarter(context: Context, parts: Parts): StartRuns {
  const starter = new Starter(context, parts);
  return (state, base, baseBranch) => starter.startAll(state, base, baseBranch);
}

class Starter {
  readonly #context: Context;
  readonly #parts: Parts;
  readonly #lookBehind: ReturnType<typeof openLookBehind>;
  readonly #born: number;

  constructor(context: Context, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    this.#lookBehind = openLookBehind(context, parts.commits, parts.makePlan);
    this.#born = context.clock.now();
  }

  async startAll(state: JournalState, base: string, baseBranch: string): ReturnType<StartRuns> {
    const project = await readProject(this.#parts.commits.snapshot(base), baseBranch);
    const started: Started[] = [];
    for (const rollout of project.rollouts) {
      const { name } = rollout;
      if (rollout.release === undefined || state.broken.has(name)) continue;
      try {
        started.push({ rollout: name, ...(await this.#startOf(state, rollout, base, baseBranch)) });
      } catch (error) {
        this.#context.log.error({ rollout: name, error: String(error) }, "a rollout could not be looked at; trying again");
        started.push({ rollout: name, ...UNSURE });
      }
    }
    return { started, refused: await this.#parts.refused.find(state, project, base, baseBranch) };
  }

  async #startOf(state: JournalState, rollout: Rollout, base: string, baseBranch: string): Promise<StartedRun> {
    const before = state.runs.get(rollout.name);
    const entry = state.index.get(rollout.name);
    if (entry === undefined) return adopt(this.#parts.releases, rollout, base);
    const inProgress = before !== undefined && !isEnded(before) ? before : undefined;
    const found = await this.#startOrWait({ rollout, entry, before, inProgress, base, baseBranch });
    const started = entry.refused !== undefined && saysNothing(found) ? { ...found, entry: withoutRefused(entry) } : found;
    // What the last run's PR halted stays halted, whatever kind of run follows.
    const halts = haltsOn(before, this.#context.clock.now());
    if (started.run === undefined || started.run.number === before?.number || halts.length === 0) return started;
    return { ...started, run: { ...started.run, halts } };
  }

  async #startOrWait(place: Place): Promise<StartedRun> {
    const { rollout, entry, before, inProgress, base } = place;
    const found = (await this.#parts.releases.find(rollout, entry, base)).filter(({ commit }) => !isOwnMerge(before, commit.sha));
    const newest = found.at(-1);
    // What was asked to go back goes back first: a release that came meanwhile would build on what has failed.
    const asked = { rollout, entry, before, base, alone: newest === undefined };
    const back = await startRollbackOf(this.#context, this.#parts.commits, asked);
    if (back !== undefined) return back;
    if (newest === undefined) {
      const retried = await retryOfRejected(this.#context, rollout.name, entry, inProgress);
      if (retried !== undefined) return this.#startRetried(place, retried);
      const restored = afterRollback(entry, before, base);
      // The cursor moves lazily: writing it for every merge would cost a push each and says nothing.
      if (restored !== undefined) return { ...NOTHING, entry: restored, waiting: restored.cursor !== base };
      return entry.lastRun === 0 ? this.#adoptedBehind(place) : NOTHING;
    }
    if (isTakenBack(entry, newest, before)) return NOTHING;
    if (inProgress?.ending !== undefined) return { ...NOTHING, waiting: true };
    return this.#start(place, found, newest);
  }

  /** What was merged before the first look starts no run, and is told as what is refused. */
  async #adoptedBehind(place: Place): Promise<StartedRun> {
    const { behind, waiting } = await this.#lookBehind(place.rollout, place.entry, place.base, place.baseBranch);
    if (behind === undefined) return { ...NOTHING, waiting };
    const pull = await this.#pullOf(place.rollout, behind.found, place.baseBranch);
    return refusedBy(this.#context, place, behind.found, pull?.number, { problems: [behind.problem], retry: false });
  }

  /** Starts what was rejected. That the command was done stands in the run, so that it is answered and never acts again. */
  async #startRetried(place: Place, { found, command }: { found: FoundRelease; command: Command }): Promise<StartedRun> {
    const { rejected: _, ...entry } = place.entry;
    const started = await this.#start({ ...place, entry, inProgress: undefined }, [found], found);
    if (started.run === undefined) return started;
    const { id, text, actor } = command;
    const message = engineReason("RELEASE_STARTED");
    const handled = { id, text, actor, at: iso(this.#context.clock.now()), outcome: "done" as const, message };
    return { ...started, run: { ...started.run, commands: [...started.run.commands, handled] } };
  }

  async #start(place: Place, found: readonly FoundRelease[], newest: FoundRelease): Promise<StartedRun> {
    const { issues, makePlan, commits, refused } = this.#parts;
    const { clock } = this.#context;
    const { rollout, entry, before, inProgress, base, baseBranch } = place;
    const { values, attempt } = newest.release;
    if (rollout.mode === "Observe") return this.#observeOnly(place, newest);
    const pull = await this.#pullOf(rollout, newest, baseBranch);
    const number = pull?.number ?? (await issues.of(rollout.name, newest.release, newest.commit));
    const made = await makePlan(rollout, newest.release, commits.snapshot(base), baseBranch);
    if (!made.ok && made.retry && clock.now() - this.#born < LISTED_MS) return UNSURE;
    if (!made.ok) return refusedBy(this.#context, place, newest, number, made);
    const now = clock.now();
    // Only what can start takes another's place: a release with an error stops nothing.
    if (inProgress !== undefined) return judgeOverlap(rollout, entry, inProgress, newest, { pull: number, base, now });
    // Only what starts is asked about: what waits for its plan is looked at every few seconds.
    const brought = await (pull === undefined
      ? broughtBy(this.#context, rollout, newest, baseBranch)
      : broughtByPull(this.#context, rollout, pull));
    const lastRun = entry.lastRun + 1;
    const refusedAt = wasRefused(entry, newest) ? entry.refused?.at : number === undefined ? undefined : refused.since(number);
    const times = { at: iso(newest.commit.at), ...defined({ refusedAt, openedAt: pull?.createdAt }) };
    const trigger = { commit: newest.commit.sha, ...brought, ...times, pull: number };
    const { release } = newest;
    const run = startRun({ rollout, number: lastRun, release, trigger, plan: made.plan, now, before, lastRelease: entry.lastRelease });
    const skipped = found.slice(0, -1).map((one) => ({ reason: engineReason("RELEASE_SUPERSEDED", { values: one.release.values }) }));
    return {
      entry: { lastRun, lastRelease: values, attempt, cursor: base },
      run,
      events: [...skipped, { run: lastRun, reason: begunReason(values, refusedAt) }],
      waiting: false,
    };
  }

  /** Under `mode: Observe` a merged release starts no run: its PR says what a run would have opened. */
  async #observeOnly({ rollout, entry, inProgress, base, baseBranch }: Place, newest: FoundRelease): Promise<StartedRun> {
    if (inProgress !== undefined) return standAside(inProgress, newest, this.#context.clock.now());
    const { makePlan, commits } = this.#parts;
    const { values, attempt } = newest.release;
    const pull = (await this.#pullOf(rollout, newest, baseBranch))?.number;
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
  async #pullOf(rollout: Rollout, { commit }: FoundRelease, baseBranch: string) {
    if (rollout.release?.kind === "tag") return undefined;
    return (await this.#parts.mergedPull(commit.sha, baseBranch)) ?? pullByWords(this.#context.forge, commit, baseBranch);
  }
}

/** First sight of a rollout: what is there is taken as it is, and nothing starts. */
async function adopt(releases: Releases, rollout: Rollout, base: string): Promise<StartedRun> {
  const release = (await releases.at(rollout.name, base)) ?? noTagYet(rollout);
  if (release === undefined) return NOTHING;
  const { values, attempt } = release;
  const entry = { lastRun: 0, lastRelease: values, attempt, cursor: base };
  return { entry, events: [{ reason: engineReason("ROLLOUT_ADOPTED", { values }) }], waiting: true };
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
