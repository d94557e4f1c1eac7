/**
 * One round of one repo: look, decide, record, act.
 *
 * Properties: every transition is in the journal before its effect is tried; a round that loses the race for the journal
 * has done nothing; a crash between any two lines is mended by the next round, because effects are judged by what is
 * observed, never by what was attempted. Rounds of one repo do not overlap in a process (queue/), and replicas exclude each
 * other by the journal's compare-and-swap.
 */
import { ForgeError } from "../forge/port.ts";
import type { IndexEntry, JournalState } from "../git/journal-port.ts";
import { advance } from "../rollout/advance.ts";
import { checkInvariants } from "../rollout/invariants.ts";
import { isEnded, type Run } from "../rollout/run.ts";
import { epoch } from "../rollout/time.ts";
import type { Advanced, Command, Effect, World } from "../rollout/world.ts";
import { act } from "./act.ts";
import type { CommandPlace } from "./command-source.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { observe } from "./observe.ts";
import { readProject } from "./project.ts";
import { publishRefusal, publishRun } from "./publish.ts";
import { refusedReleases } from "./refused-releases.ts";
import { type Started, startRuns } from "./start-runs.ts";

/** Mere observations are recorded at most this often: GitHub wants few pushes a minute. */
const OBSERVATION_EVERY_MS = 30_000;
/** After an effect the world is different: its outcome is looked at at once. */
const SOON_MS = 0;
const RETRY_START_MS = 5000;
const FIRST_RETRY_MS = 2000;

export interface RoundResult {
  /** Epoch milliseconds; undefined: nothing to wait for but events. */
  wakeAt?: number;
  runs: Run[];
}

/** A word of the remote that got lost delays a round by this much at the most. */
const REMOTE_EVERY_MS = 60_000;

interface Decision {
  /** See ActScope. */
  decidedAt: number;
  now: number;
  before: Run;
  world: World;
  advanced: Advanced<Run>;
}

export async function round(context: RepoContext, memory: RepoMemory, baseBranch: string): Promise<RoundResult> {
  const { base, journal } = await remoteHeads(context, memory, baseBranch);
  if (base === undefined) return { runs: [] };
  const state = await context.journal.read({ head: journal });
  if (state.tampered !== undefined) {
    context.log.error(
      { repository: context.repository, ...state.tampered },
      "the journal was changed by somebody else; no run goes on until it is accepted",
    );
    return { runs: [] };
  }
  const started = await startAll(context, memory, state, base, baseBranch);
  const fresh = new Map(started.flatMap((s) => s.runs.map((run) => [run.rollout, run] as const)));
  const active = [...new Map([...state.runs, ...fresh]).values()].filter((run) => !isEnded(run));
  const decisions: Decision[] = [];
  const spoken = await spokenTo(context, [...state.runs.values()]);
  let failed = false;
  for (const run of [...active, ...spoken]) {
    try {
      decisions.push(await decide(context, memory, run, active, base, baseBranch));
    } catch (error) {
      // One run that cannot be judged is no reason to hold the others.
      failed = true;
      context.log.error({ rollout: run.rollout, run: run.number, error: String(error) }, "a run could not be looked at; trying again");
    }
  }
  if (!(await record(context, memory, started, fresh, decisions))) return { wakeAt: context.clock.now(), runs: [] };
  const acted = await actAll(context, memory, decisions, base, baseBranch);
  publishAll(context, memory, started, decisions);
  memory.previousBase = base;
  const { wakeAt = Number.POSITIVE_INFINITY } = wake(context, memory, started, decisions, acted);
  const soonest = memory.remote.dirty ? context.clock.now() + SOON_MS : failed ? context.clock.now() + RETRY_START_MS : wakeAt;
  const again = Math.min(wakeAt, soonest);
  return { runs: decisions.map((d) => d.advanced.run), ...(Number.isFinite(again) ? { wakeAt: again } : {}) };
}

/** The heads of the base and of the journal, with the base fetched: asked for only where they may have moved. */
async function remoteHeads(context: RepoContext, memory: RepoMemory, baseBranch: string): Promise<RepoMemory["remote"]> {
  const known = memory.remote;
  const now = context.clock.now();
  if (!known.dirty && now - known.at < REMOTE_EVERY_MS) return known;
  // Cleared before asking: what is heard meanwhile counts for the next round.
  known.dirty = false;
  try {
    const heads = await context.mirror.remoteHeads([baseBranch, context.journalBranch]);
    const base = heads.get(baseBranch);
    if (base !== known.base) await context.mirror.fetch([baseBranch]);
    memory.remote = {
      dirty: known.dirty,
      at: now,
      branch: baseBranch,
      base: await context.mirror.head(baseBranch),
      journal: heads.get(context.journalBranch),
    };
  } catch (error) {
    known.dirty = true;
    throw error;
  }
  return memory.remote;
}

async function startAll(
  context: RepoContext,
  memory: RepoMemory,
  state: JournalState,
  base: string,
  baseBranch: string,
): Promise<(Started & { rollout: string })[]> {
  const project = await readProject(memory.snapshot(base));
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
  const refused = await refusedReleases(context, memory, state, project, base, baseBranch);
  return [...all, ...refused.map((one) => ({ runs: [], events: [], waiting: false, rollout: "", refused: one }))];
}

async function decide(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  active: readonly Run[],
  base: string,
  baseBranch: string,
): Promise<Decision> {
  const commands = await context.commands.read(run.rollout, pullsToRead(run, active));
  const world = await observe(context, memory, { run, base, baseBranch, commands });
  const decidedAt = performance.now();
  const now = context.clock.now();
  const advanced = advance(run, world, now);
  const violations = checkInvariants(run, advanced.run, advanced.effects, world, now);
  if (violations.length > 0) {
    // A bug of ours: nothing is recorded and nothing done, and it is said loudly.
    context.log.error({ rollout: run.rollout, run: run.number, violations }, "an invariant would be violated; the run stands still");
    return { decidedAt, now, before: run, world, advanced: { run, effects: [], change: "none", events: [] } };
  }
  return { decidedAt, now, before: run, world, advanced };
}

/** Ended runs that somebody wrote a command for: `/retry` wakes a failed one, and every command gets an answer. */
async function spokenTo(context: RepoContext, runs: readonly Run[]): Promise<Run[]> {
  const spoken: Run[] = [];
  for (const run of runs) {
    if (!isEnded(run) || run.trigger.pull === undefined) continue;
    const commands = await context.commands.read(run.rollout, [{ number: run.trigger.pull, shared: false }]);
    if (commands.length > 0) spoken.push(run);
  }
  return spoken;
}

function pullsToRead(run: Run, active: readonly Run[]): CommandPlace[] {
  const { pull } = run.trigger;
  const shared = active.some((other) => other.rollout !== run.rollout && other.trigger.pull === pull);
  const pulls: CommandPlace[] = pull === undefined ? [] : [{ number: pull, shared }];
  for (const batch of run.batches) {
    if (batch.pull !== undefined && batch.phase !== "Closed") pulls.push({ number: batch.pull.number, batch: batch.number, shared: false });
  }
  return pulls;
}

/** One commit a round for all runs of the repo. False: another replica was faster. */
async function record(
  context: RepoContext,
  memory: RepoMemory,
  started: readonly (Started & { rollout: string })[],
  fresh: ReadonlyMap<string, Run>,
  decisions: readonly Decision[],
): Promise<boolean> {
  const now = context.clock.now();
  const index = new Map<string, IndexEntry>();
  for (const s of started) if (s.entry !== undefined) index.set(s.rollout, s.entry);
  const runs = new Map<string, Run>(fresh);
  const events = started.flatMap((s) => s.events);
  for (const { before, advanced } of decisions) {
    if (!worthRecording(memory, advanced, now)) continue;
    runs.set(before.rollout, advanced.run);
    events.push(...advanced.events.map((event) => `${before.rollout} #${before.number}: ${event}`));
    memory.observedAt.set(before.rollout, now);
  }
  if (runs.size === 0 && index.size === 0) return true;
  const outcome = await context.journal.record({
    index,
    runs: [...runs.values()],
    subject: subject(events, runs),
    trailers: trailers(events, runs, decisions),
    at: now,
  });
  if (outcome === "recorded") memory.remote.journal = await context.mirror.head(context.journalBranch);
  else memory.remote.dirty = true;
  if (outcome === "lost") context.log.info({ repository: context.repository }, "another replica recorded first; looking again");
  return outcome === "recorded";
}

function worthRecording(memory: RepoMemory, advanced: Advanced<Run>, now: number): boolean {
  if (advanced.change === "transition") return true;
  return advanced.change === "observation" && now - (memory.observedAt.get(advanced.run.rollout) ?? 0) >= OBSERVATION_EVERY_MS;
}

function subject(events: readonly string[], runs: ReadonlyMap<string, Run>): string {
  const first = events[0] ?? `${[...runs.values()].map((run) => `${run.rollout} #${run.number}`).join(", ")}: observed`;
  return events.length > 1 ? `${first} (and ${events.length - 1} more)` : first;
}

function trailers(events: readonly string[], runs: ReadonlyMap<string, Run>, decisions: readonly Decision[]): Record<string, string> {
  const actors = new Set<string>();
  for (const { before, advanced } of decisions) {
    for (const command of advanced.run.commands.slice(before.commands.length)) actors.add(command.actor);
  }
  return {
    "Stagecoach-Run": [...runs.values()].map((run) => `${run.rollout}/${run.number}`).join(" "),
    "Stagecoach-Event": events.join("; ").slice(0, 2000),
    ...(actors.size === 0 ? {} : { "Stagecoach-Actor": [...actors].join(" ") }),
  };
}

/** Merges first: their intentions run out. */
const ORDER: Record<Effect["kind"], number> = { Merge: 0, Close: 1, Propose: 2, Answer: 3, Refresh: 4 };
const LONGEST_RETRY_MS = 5 * 60_000;

/** True where something was done whose outcome is worth looking at now. */
async function actAll(
  context: RepoContext,
  memory: RepoMemory,
  decisions: readonly Decision[],
  base: string,
  baseBranch: string,
): Promise<boolean> {
  let acted = false;
  const journalHead = memory.remote.journal;
  for (const { advanced, world, decidedAt, now } of decisions) {
    const { rollout } = advanced.run;
    const scope = { run: advanced.run, base, baseBranch, journalHead, commands: world.commands as readonly Command[], decidedAt, now };
    for (const effect of [...advanced.effects].sort((a, b) => ORDER[a.kind] - ORDER[b.kind])) {
      // What failed is left alone for a while, whoever wakes the round.
      if (effect.kind !== "Answer" && (memory.troubles.get(rollout)?.until ?? 0) > context.clock.now()) continue;
      try {
        const done = await act(context, memory, scope, effect);
        if (effect.kind === "Propose") memory.proposed.add(advanced.run.batches[effect.batch - 1]?.branch ?? "");
        if (!done) {
          trouble(context, memory, rollout, undefined);
          continue;
        }
        if (effect.kind === "Answer" || effect.kind === "Refresh") continue;
        acted = true;
        memory.troubles.delete(rollout);
      } catch (error) {
        // One effect's trouble is not the others': it will be wanted again in a later round.
        context.log.warn({ rollout, effect: effect.kind, error: String(error) }, "an effect failed and will be tried again");
        trouble(context, memory, rollout, error);
      }
    }
  }
  return acted;
}

function trouble(context: RepoContext, memory: RepoMemory, rollout: string, error: unknown): void {
  const count = (memory.troubles.get(rollout)?.count ?? 0) + 1;
  const now = context.clock.now();
  const until = now + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1));
  const asked = error instanceof ForgeError ? (error.retryAt ?? 0) : 0;
  memory.troubles.set(rollout, { count, until: Math.max(until, asked) });
}

function publishAll(context: RepoContext, memory: RepoMemory, started: readonly Started[], decisions: readonly Decision[]): void {
  for (const s of started) if (s.refused !== undefined) publishRefusal(context, memory, s.refused);
  for (const { advanced } of decisions) publishRun(context, memory, advanced);
}

function wake(
  context: RepoContext,
  memory: RepoMemory,
  started: readonly Started[],
  decisions: readonly Decision[],
  acted: boolean,
): { wakeAt?: number } {
  const now = context.clock.now();
  const times: number[] = [];
  if (acted) times.push(now + SOON_MS);
  for (const { until } of memory.troubles.values()) if (until > now) times.push(until);
  if (started.some((s) => s.waiting)) times.push(now + RETRY_START_MS);
  for (const { advanced } of decisions) {
    if (advanced.change === "transition") times.push(now);
    if (advanced.wakeAt !== undefined) times.push(epoch(advanced.wakeAt));
  }
  return times.length === 0 ? {} : { wakeAt: Math.min(...times) };
}
