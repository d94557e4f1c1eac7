import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Advanced } from "../../core/run/state/world.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decision.ts";
import type { RepoMemory } from "./memory.ts";
import type { Started } from "./start/overlap.ts";

/** Mere observations are recorded at most this often: GitHub wants few pushes a minute. */
const OBSERVATION_EVERY_MS = 30_000;

/** One commit a round for all runs of the repo. False: another replica was faster. */
export async function record(
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
    events.push(...advanced.events.map((event) => `${before.rollout} #${before.number}: ${sentenceOf(event, advanced.run)}`));
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
  if (outcome === "recorded") memory.remote.moveJournal(context.journal.head());
  else memory.remote.expire();
  if (outcome === "lost") context.log.info({ repository: context.repository }, "another replica recorded first; looking again");
  return outcome === "recorded";
}

/** A process that has just begun has recorded nothing yet: its first observation waits as long as any, lest each restart be a commit. */
function worthRecording(memory: RepoMemory, advanced: Advanced<Run>, now: number): boolean {
  if (advanced.change !== "observation") return advanced.change === "transition";
  const last = memory.observedAt.get(advanced.run.rollout);
  if (last === undefined) memory.observedAt.set(advanced.run.rollout, now);
  return last !== undefined && now - last >= OBSERVATION_EVERY_MS;
}

const MOST_SUBJECT = 150;

function subject(events: readonly string[], runs: ReadonlyMap<string, Run>): string {
  const first =
    events[0] ??
    [...runs.values()]
      .map((run) => `${run.rollout} #${run.number}: ${sentenceOf(run.why, run)}`)
      .join("; ")
      .slice(0, MOST_SUBJECT);
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
