import { GitError } from "../../../adapters/git/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import { publishPlans } from "../../../engine/release-pr/plan-pulls.ts";
import { round } from "../../../engine/round/round.ts";
import type { Metrics } from "../metrics.ts";
import { onboardOnceWanted } from "../onboarding/onboard.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";
import { described } from "./resync.ts";

/** A plan, or what is said of it on GitHub, that could not be had is tried again after this. */
const PLANS_AGAIN_MS = 15_000;

export interface Looking {
  clock: Clock;
  metrics?: Metrics;
  wake(repository: string, at?: number): void;
  /** Something of a run is as it was not before. */
  changed(): void;
}

/** One look at a repository: its runs, then the plans of its open pull requests, then whether it wants to be onboarded. */
export async function lookAt(s: ServedRepo, { clock, metrics, wake, changed }: Looking): Promise<void> {
  const started = performance.now();
  await takeUpPermissions(s);
  const result = await round(s.context, s.memory, s.baseBranch).catch(async (error) => {
    // A token taken back before its time: the round that follows has another.
    if (error instanceof GitError && error.kind === "Unauthorized") await s.forge.gitCredentials({ renew: true });
    throw error;
  });
  metrics?.round("done", (performance.now() - started) / 1000);
  // As the journal has them, ended ones and those of another replica, too; what this round saw may be newer.
  const recorded = await s.context.journal.read({ head: s.memory.remote.last.journal });
  s.runs = new Map([...recorded.runs, ...result.runs.map((run) => [run.rollout, run] as const)]);
  changed();
  const heard = s.pullsDirty;
  s.pullsDirty = false;
  if (await publishPlans(s.context, s.memory, s.baseBranch, heard)) {
    s.pullsDirty = true;
    wake(s.context.repository, clock.now() + PLANS_AGAIN_MS);
  }
  if (!s.onboarded) {
    const { settled, wakeAt } = await onboardOnceWanted(s.context, s.baseBranch);
    s.onboarded = settled;
    if (wakeAt !== undefined) wake(s.context.repository, wakeAt);
  }
  s.waiting = result.wakeAt !== undefined;
  if (result.wakeAt !== undefined) wake(s.context.repository, result.wakeAt);
}

/**
 * A token has the permissions of the moment it was made: what the App was given since comes with a new one. Where there is none to
 * be had the old one is good, too, for all that matters more.
 */
async function takeUpPermissions({ memory, forge, context }: ServedRepo): Promise<void> {
  if (!memory.permissionsMoved) return;
  memory.permissionsMoved = false;
  try {
    await forge.gitCredentials({ renew: true });
    memory.forbidden.clear();
  } catch (error) {
    memory.permissionsMoved = true;
    context.log.warn(
      { error: described(error) },
      "new permissions cannot be taken up yet: there is no new token; the next look tries again",
    );
  }
}

/** Which repos were looked at once, well or not: one that cannot be looked at must not keep the others from being ready. */
export function firstLooksOf(isServed: (repository: string) => boolean): {
  done(repository: string): void;
  of(repositories: string[]): Promise<void>;
} {
  const looked = new Set<string>();
  let wake = (): void => undefined;
  return {
    done(repository) {
      looked.add(repository);
      wake();
    },
    of: (repositories) =>
      new Promise((resolve) => {
        wake = () => {
          if (repositories.every((one) => looked.has(one) || !isServed(one))) resolve();
        };
        wake();
      }),
  };
}
