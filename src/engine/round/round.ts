/**
 * One round of one repo: look, decide, record, act.
 *
 * Properties: every transition is in the journal before its effect is tried; a round that loses the race for the journal
 * has done nothing; a crash between any two lines is mended by the next round, because effects are judged by what is
 * observed, never by what was attempted. Rounds of one repo do not overlap in a process (queue/), and replicas exclude each
 * other by the journal's compare-and-swap.
 */

import type { JournalState } from "../../adapters/git/journal/port.ts";
import { epoch } from "../../core/base/time.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import { readProject } from "../config-repo/project.ts";
import { actAll } from "./act-all.ts";
import { ARCHIVED_EVERY_MS, isArchived, standingStill } from "./archived.ts";
import type { RepoContext } from "./context.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";
import type { RepoMemory } from "./memory.ts";
import type { CommandPlace } from "./observe/command-source.ts";
import { pullsToRead } from "./observe/former-places.ts";
import { watchOpenPulls } from "./observe/open-pulls.ts";
import { endedUntold } from "./publish/closing-summary.ts";
import { publishRefusal, publishRun, slowedWake, stickyMarker } from "./publish/publish.ts";
import { record } from "./record.ts";
import type { Started } from "./start/overlap.ts";
import { startRuns } from "./start/start-runs.ts";

/** After an effect the world is different: its outcome is looked at at once. */
const SOON_MS = 0;
const RETRY_START_MS = 5000;

export interface RoundResult {
  /** Epoch milliseconds; undefined: nothing to wait for but events. */
  wakeAt?: number;
  runs: Run[];
}

export async function round(context: RepoContext, memory: RepoMemory, baseBranch: string): Promise<RoundResult> {
  const heard = memory.remote.hasNews;
  // A merge group may be there, or gone.
  if (heard) memory.queue.expire();
  const { base, journal } = await memory.remote.read(baseBranch);
  if (base === undefined) return { runs: [] };
  const state = await context.journal.read({ head: journal });
  if (state.tampered !== undefined) {
    context.log.error(
      { repository: context.repository, commit: state.tampered.commit, why: sentenceOf(state.tampered.why) },
      "the journal was changed by somebody else; no run goes on until it is accepted",
    );
    return { runs: [] };
  }
  const started = await startAll(context, memory, state, base, baseBranch);
  const fresh = new Map(started.flatMap((s) => s.runs.map((run) => [run.rollout, run] as const)));
  const last = new Map([...state.runs, ...fresh]);
  const active = [...last.values()].filter((run) => !isEnded(run));
  const decisions: Decision[] = [];
  const former = await memory.formerPlaces(last);
  // One run a rollout is recorded in a round: what is said to the one before waits while its successor begins.
  const before = [...state.runs.values()].filter((run) => !fresh.has(run.rollout));
  const spoken = await spokenTo(context, before, former);
  let failed = false;
  for (const run of [...active, ...spoken]) {
    try {
      const places = pullsToRead(run, active, former.get(run.rollout));
      decisions.push(await decide(context, memory, run, places, others(run, last, decisions), base, baseBranch));
    } catch (error) {
      // One run that cannot be judged is no reason to hold the others.
      failed = true;
      context.log.error({ rollout: run.rollout, run: run.number, error: String(error) }, "a run could not be looked at; trying again");
    }
  }
  const recorded = await recordOrStand(context, memory, started, fresh, decisions);
  if (recorded === "archived") {
    return { wakeAt: context.clock.now() + ARCHIVED_EVERY_MS, runs: decisions.map((one) => standingStill(one.before)) };
  }
  if (!recorded) return { wakeAt: context.clock.now(), runs: [] };
  const acted = await actAll(context, memory, decisions, {
    base,
    baseBranch,
    whole: !failed && decisions.every(({ stoodStill }) => stoodStill !== true),
  });
  const runs = new Map([...state.runs, ...decisions.map(({ advanced }) => [advanced.run.rollout, advanced.run] as const)]);
  if (heard) await watchOpenPulls(context, memory.checks, runs, baseBranch);
  const shown = publishAll(context, memory, started, decisions, runs);
  const wakeAt = Math.min(shown, wake(context, memory, started, decisions, acted));
  const moved = memory.remote.needsFetch;
  const soonest = moved ? context.clock.now() + SOON_MS : failed ? context.clock.now() + RETRY_START_MS : wakeAt;
  const again = moved ? soonest : slowedWake(context, Math.min(wakeAt, soonest));
  return { runs: decisions.map((d) => d.advanced.run), ...(Number.isFinite(again) ? { wakeAt: again } : {}) };
}

async function startAll(
  context: RepoContext,
  memory: RepoMemory,
  state: JournalState,
  base: string,
  baseBranch: string,
): Promise<(Started & { rollout: string })[]> {
  const project = await readProject(memory.commits.snapshot(base), baseBranch);
  const all: (Started & { rollout: string })[] = [];
  for (const rollout of project.rollouts) {
    if (rollout.release === undefined || state.broken.has(rollout.name)) continue;
    try {
      all.push({ ...(await startRuns(context, memory, state, rollout, base, baseBranch)), rollout: rollout.name });
    } catch (error) {
      context.log.error({ rollout: rollout.name, error: String(error) }, "a rollout could not be looked at; trying again");
      all.push({ runs: [], events: [], waiting: true, rollout: rollout.name });
    }
  }
  const refused = await memory.refused.find(state, project, base, baseBranch);
  return [...all, ...refused.map((one) => ({ runs: [], events: [], waiting: false, rollout: "", refused: one }))];
}

/** Two runs of one round must not both take the last place that the repo's limits leave: each sees what those before it decided. */
function others(run: Run, last: ReadonlyMap<string, Run>, decisions: readonly Decision[]): Run[] {
  const decided = new Map(decisions.map(({ advanced }) => [advanced.run.rollout, advanced.run]));
  return [...last.values()].filter((one) => one.rollout !== run.rollout).map((one) => decided.get(one.rollout) ?? one);
}

/** Ended runs that somebody wrote a command for: `/retry` wakes a failed one, and every command gets an answer. */
async function spokenTo(context: RepoContext, runs: readonly Run[], former: ReadonlyMap<string, readonly CommandPlace[]>): Promise<Run[]> {
  const spoken: Run[] = [];
  for (const run of runs) {
    const places = isEnded(run) ? pullsToRead(run, [], former.get(run.rollout)) : [];
    if (places.length === 0) continue;
    const commands = await context.commands.read(run.rollout, places);
    if (commands.length > 0) spoken.push(run);
  }
  return spoken;
}

/** What people see of it. Gives the time at which something of it is due, without end where nothing is. */
function publishAll(
  context: RepoContext,
  memory: RepoMemory,
  started: readonly (Started & { rollout: string })[],
  decisions: readonly Decision[],
  runs: ReadonlyMap<string, Run>,
): number {
  for (const s of started) {
    if (s.refused !== undefined) publishRefusal(context, memory, s.refused);
    if (s.notice !== undefined) memory.comments.send({ key: `notice ${s.rollout}`, marker: stickyMarker(s.rollout), ...s.notice });
  }
  let due = Number.POSITIVE_INFINITY;
  for (const { advanced, remarks } of decisions) {
    due = Math.min(due, publishRun(context, memory, advanced, remarks) ?? due, memory.publishRollouts(advanced.run) ?? due);
    memory.putDeployments(advanced.run);
  }
  for (const run of endedUntold(context, memory, runs.values()))
    publishRun(context, memory, { run, effects: [], change: "none", events: [] }, []);
  return due;
}

/** "archived": nothing can be written to the repository, so nothing was recorded and nothing is tried. */
async function recordOrStand(...input: Parameters<typeof record>): Promise<boolean | "archived"> {
  try {
    return await record(...input);
  } catch (error) {
    if (await isArchived(input[0])) return "archived";
    throw error;
  }
}

function wake(
  context: RepoContext,
  memory: RepoMemory,
  started: readonly Started[],
  decisions: readonly Decision[],
  acted: boolean,
): number {
  const now = context.clock.now();
  const times: number[] = [];
  if (acted) times.push(now + SOON_MS);
  times.push(...memory.backoff.pending());
  if (memory.refused.recheckAt !== undefined) times.push(memory.refused.recheckAt);
  if (started.some((s) => s.waiting)) times.push(now + RETRY_START_MS);
  for (const { advanced } of decisions) {
    if (advanced.change === "transition") times.push(now);
    if (advanced.wakeAt !== undefined) times.push(epoch(advanced.wakeAt));
  }
  return Math.min(...times);
}
