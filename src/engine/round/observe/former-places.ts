import { BoundedMap } from "../../../core/base/bounded.ts";
import { parseBranch } from "../../../core/run/state/branch-name.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { CommandPlace } from "./command-source.ts";
import { batchOf, isRunBranch } from "./open-pulls.ts";

/** Which batch of which run a PR is of. Its branch says so, and never changes. */
type PullOfRun = NonNullable<ReturnType<typeof parseBranch>>;

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

type Context = Pick<RepoContext, "forge" | "commands" | "clock" | "log" | "repository">;

export function openFormerPlaces({ forge, commands, clock, log, repository }: Context): FormerPlaces {
  /** PRs that an event told of as commented on, and until when they are read. */
  const until = new BoundedMap<number, number>(MOST_READ);
  /** Of which run a PR is, null for none. */
  const pulls = new BoundedMap<number, PullOfRun | null>(MOST_KEPT);

  /** null: of no run. undefined: it could not be asked; the next round asks again. */
  async function ofWhich(pull: number): Promise<PullOfRun | null | undefined> {
    const known = pulls.get(pull);
    if (known !== undefined) return known;
    try {
      const found = await forge.pull(pull);
      const of = (found !== null && isRunBranch(found, repository) && parseBranch(found.branch)) || null;
      pulls.set(pull, of);
      return of;
    } catch (error) {
      log.warn({ pull, error: String(error) }, "whose pull request was commented on could not be asked; trying again");
      return undefined;
    }
  }

  return async (runs) => {
    const now = clock.now();
    for (const pull of commands.spokenOn?.() ?? []) until.set(pull, now + READ_FOR_MS);
    const places = new Map<string, CommandPlace[]>();
    for (const [pull, end] of until) {
      const of = end > now ? await ofWhich(pull) : null;
      const run = of == null ? undefined : runs.get(of.rollout);
      if (of === null) until.delete(pull);
      else if (of !== undefined && run !== undefined && of.run <= run.number)
        places.set(of.rollout, [...(places.get(of.rollout) ?? []), placeOf(pull, of, run)]);
    }
    return places;
  };
}

function placeOf(number: number, of: PullOfRun, run: Run): CommandPlace {
  if (of.run < run.number) return { number, shared: false, former: of.run };
  return { number, shared: false, batch: batchOf(run, of)?.number };
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
