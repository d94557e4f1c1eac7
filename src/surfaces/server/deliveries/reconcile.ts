import { GitError } from "../../../adapters/git/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import { attentionReason } from "../../../core/reasons/attention.ts";
import { onboardOnceWanted } from "../onboarding/onboard.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Telemetry } from "../telemetry/scope.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";
import { describeError } from "./resync.ts";

/** A plan, or what is said of it on GitHub, that could not be had is tried again after this. */
const PLANS_AGAIN_MS = 15_000;
/** Plans are made for so long in one round, and said for as long: a round that does not end is given up with all it knows. */
const PLANS_MS = 60_000;
/** What needs attention where rounds do not end. */
const ROUND = "round";

interface ReconcileOptions {
  clock: Clock;
  metrics?: Metrics;
  telemetry: Pick<Telemetry, "round">;
  wake(repository: string, at?: number): void;
  /** Something of a run is as it was not before. */
  changed(): void;
}

/** What a repository is brought up to date with. `givenUp`: see `reconcile`. */
export function reconciler(options: ReconcileOptions): (repo: ServedRepo, givenUp: number) => Promise<void> {
  const { telemetry } = options;
  return (repo, givenUp) => telemetry.round(repo.context.repository, repo.heard(), () => reconcile(repo, options, givenUp));
}

/**
 * Brings a repository up to date: its runs, then the plans of its open pull requests, then whether it wants to be onboarded. `givenUp`:
 * so many rounds before this one did not end.
 */
async function reconcile(repo: ServedRepo, { clock, metrics, wake, changed }: ReconcileOptions, givenUp: number): Promise<void> {
  const began = performance.now();
  const { attention } = repo.context;
  attention?.note(ROUND, givenUp === 0 ? undefined : attentionReason("ROUNDS_GIVEN_UP", { rounds: givenUp }));
  // This round may hang as well: it is said before.
  if (givenUp > 0) await attention?.publish();
  await takeUpPermissions(repo);
  // Plans and checks of pull requests wait for no run: they are brought up to date though the round failed.
  const letGo = repo.inbox.holdAnswers();
  const round = repo.loop.round(repo.baseBranch).finally(letGo);
  const result = await round.catch(async (error) => {
    // A token taken back before its time: the round that follows has another.
    if (error instanceof GitError && error.kind === "Unauthorized") await repo.forge.gitCredentials({ renew: true });
    return { error };
  });
  if (!("error" in result)) {
    metrics?.round("done", (performance.now() - began) / 1000);
    repo.runs = new Map(result.runs.map((run) => [run.rollout, run] as const));
    repo.refused = result.refused ?? repo.refused;
    repo.journal = result.journal ?? repo.journal;
    changed();
    // Before the plans, which may take long: what a run waits for is not theirs.
    repo.waiting = result.wakeAt !== undefined;
    if (result.wakeAt !== undefined) wake(repo.context.repository, result.wakeAt);
  }
  const needsFetch = repo.pullsNeedFetch;
  repo.pullsNeedFetch = false;
  if (await repo.loop.publishPlans(repo.baseBranch, needsFetch, plansBudget)) {
    repo.pullsNeedFetch = true;
    wake(repo.context.repository, clock.now() + PLANS_AGAIN_MS);
  }
  if (needsFetch) changed();
  if ("error" in result) throw result.error;
  if (!repo.onboarded) {
    const { settled, wakeAt } = await onboardOnceWanted(repo.context, repo.baseBranch);
    repo.onboarded = settled;
    if (wakeAt !== undefined) wake(repo.context.repository, wakeAt);
  }
  if (givenUp === 0) return;
  attention?.note(ROUND, undefined);
  await attention?.publish();
}

/** In the wall's time, as rounds are. */
function plansBudget(): () => boolean {
  const end = performance.now() + PLANS_MS;
  return () => performance.now() >= end;
}

/**
 * A token has the permissions of the moment it was made: what the App was given since comes with a new one. Where there is none to
 * be had the old one is good, too, for all that matters more.
 */
async function takeUpPermissions({ loop: { permissions }, forge, context }: ServedRepo): Promise<void> {
  if (!permissions.mayHaveChanged) return;
  try {
    await forge.gitCredentials({ renew: true });
    permissions.renewed();
  } catch (error) {
    context.log.warn(
      { error: describeError(error) },
      "new permissions cannot be taken up yet: there is no new token; the next look tries again",
    );
  }
}

/** Knows which repos had a first round, well or not: one that cannot be looked at must not keep the others from being ready. */
export function openFirstRounds(isServed: (repository: string) => boolean): {
  done(repository: string): void;
  of(repositories: string[]): Promise<void>;
} {
  const started = new Set<string>();
  let wake = (): void => undefined;
  return {
    done(repository) {
      started.add(repository);
      wake();
    },
    of: (repositories) =>
      new Promise((resolve) => {
        wake = () => {
          if (repositories.every((one) => started.has(one) || !isServed(one))) resolve();
        };
        wake();
      }),
  };
}
