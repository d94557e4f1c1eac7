import { BoundedMap } from "../../../core/base/bounded.ts";
import { parseBranch } from "../../../core/run/state/branch-name.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { CommandPlace } from "./command-source.ts";
import { isRunBranch } from "./open-pulls.ts";

/** Which batch of which run a PR is of. Its branch says so, and never changes. */
interface PullOfRun {
  rollout: string;
  run: number;
  stage: number;
  batch: number;
  step?: number;
}

/** What is written later than this after an event told of the PR, another event tells of. Commands are heard for as long: docs/spec.md §9.20. */
const READ_FOR_MS = 15 * 60_000;
/** PRs of former attempts and runs that are read at once; those told of first are dropped first. */
const MOST_READ = 50;

/**
 * PRs besides those of the runs in progress on which somebody has just written something: of attempts that were built again and of runs
 * that are over. By rollout. Costs one call for each PR that an event tells of for the first time; none without an event.
 */
export type FormerPlaces = (runs: ReadonlyMap<string, Run>) => Promise<Map<string, CommandPlace[]>>;

const MOST_KEPT = 1000;

export function openFormerPlaces(context: RepoContext): FormerPlaces {
  const former: Former = { until: new BoundedMap(MOST_READ), pulls: new BoundedMap(MOST_KEPT) };
  return (runs) => formerPlaces(context, former, runs);
}

interface Former {
  /** PRs that an event told of as commented on, and until when they are read. */
  until: Map<number, number>;
  /** Of which run a PR is, null for none. */
  pulls: Map<number, PullOfRun | null>;
}

async function formerPlaces(context: RepoContext, former: Former, runs: ReadonlyMap<string, Run>): Promise<Map<string, CommandPlace[]>> {
  const now = context.clock.now();
  const { until } = former;
  for (const pull of context.commands.spokenOn?.() ?? []) until.set(pull, now + READ_FOR_MS);
  const places = new Map<string, CommandPlace[]>();
  for (const [pull, end] of until) {
    const of = end > now ? await ofWhich(context, former, pull) : null;
    const run = of == null ? undefined : runs.get(of.rollout);
    if (of === null) until.delete(pull);
    else if (of !== undefined && run !== undefined && of.run <= run.number)
      places.set(of.rollout, [...(places.get(of.rollout) ?? []), placeOf(pull, of, run)]);
  }
  return places;
}

/** null: of no run. undefined: it could not be asked; the next round asks again. */
async function ofWhich(context: RepoContext, { pulls }: Former, pull: number): Promise<PullOfRun | null | undefined> {
  const known = pulls.get(pull);
  if (known !== undefined) return known;
  try {
    const found = await context.forge.pull(pull);
    const named = found === null || !isRunBranch(found, context.repository) ? undefined : parseBranch(found.branch);
    pulls.set(pull, named ?? null);
    return named ?? null;
  } catch (error) {
    context.log.warn({ pull, error: String(error) }, "whose pull request was commented on could not be asked; trying again");
    return undefined;
  }
}

function placeOf(number: number, of: PullOfRun, run: Run): CommandPlace {
  if (of.run < run.number) return { number, shared: false, former: of.run };
  const batch = run.batches.findLast((one) => one.stage === of.stage - 1 && one.ofStage === of.batch && one.step?.index === of.step);
  return batch === undefined ? { number, shared: false } : { number, shared: false, batch: batch.number };
}

/** Where people write to a run. Of one that is over only the release PR is read without being told that something was written. */
export function pullsToRead(run: Run, active: readonly Run[], former: readonly CommandPlace[] = []): CommandPlace[] {
  const { pull } = run.trigger;
  const shared = active.some((other) => other.rollout !== run.rollout && other.trigger.pull === pull);
  const places = new Map<number, CommandPlace>(former.map((place) => [place.number, place]));
  if (!isEnded(run)) {
    for (const batch of run.batches)
      if (batch.pull !== undefined) places.set(batch.pull.number, { number: batch.pull.number, batch: batch.number, shared: false });
  }
  if (pull === undefined) return [...places.values()];
  places.delete(pull);
  return [{ number: pull, shared }, ...places.values()];
}
