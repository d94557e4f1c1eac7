/** The queue with what its rounds do, and what becomes of one that failed. Opened by `stagecoach.ts`. */
import { ForgeError } from "../../../adapters/forge/port.ts";
import { GitError } from "../../../adapters/git/port.ts";
import type { Notifier } from "../../../adapters/notify/port.ts";
import { embeddedQueue } from "../../../adapters/queue/embedded.ts";
import { ROUND_LIMITS } from "../../../adapters/queue/in-process.ts";
import { type RoundLimits, RoundOverdue, type SharedQueue, type SharingOptions } from "../../../adapters/queue/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Telemetry } from "../telemetry/scope.ts";
import type { Repos } from "../tenancy/repos.ts";
import { isBusy, type ServedRepo } from "../tenancy/served-repo.ts";
import { wallClock } from "../wall-clock.ts";
import { describeError, type Resync } from "./resync.ts";

interface RoundsOptions {
  clock: Clock;
  log: Log;
  metrics?: Metrics | undefined;
  notifier?: Notifier | undefined;
  telemetry: Pick<Telemetry, "fields">;
  roundLimits?: RoundLimits | undefined;
  openQueue?: ((options: SharingOptions) => SharedQueue) | undefined;
}

interface Work {
  repos: Repos;
  look(served: ServedRepo, givenUp: number): Promise<void>;
  onDelivery: SharingOptions["onDelivery"];
  /** A round has ended, or takes long, or none will come here. */
  onRound(repository: string): void;
  resync(): Resync;
}

/** Of the wall. Deliveries were turned away for so long: what they told is looked for at once. */
const MISSED_MS = 20_000;

export function openRounds(options: RoundsOptions, { repos, look, onDelivery, onRound, resync }: Work): SharedQueue {
  return (options.openQueue ?? embeddedQueue)({
    clock: options.clock,
    // Rounds are measured in the wall's time, as calls to the outside are.
    ...{ limits: options.roundLimits ?? ROUND_LIMITS, after: wallClock().after, onLong: onRound },
    handler: (repository, _, over) => repos.work(repository, look, over).finally(() => onRound(repository)),
    onError: (error, repository, retryInMs) => roundFailed(options, resync(), { error, repository, retryInMs }),
    onDelivery,
    async onLeft(repository) {
      await repos.leave(repository);
      await options.notifier?.leave(repository);
      onRound(repository);
    },
    onLost(repository, why) {
      repos.abandon(repository, why);
      void options.notifier?.leave(repository);
      onRound(repository);
    },
    onRegained: (awayMs) => awayMs > MISSED_MS && resync().soon(),
    isBusy(repository) {
      const served = repos.get(repository);
      return isBusy(served) || served?.inbox.isAnswering() === true;
    },
  });
}

function roundFailed(
  { log, metrics, telemetry }: RoundsOptions,
  resync: Resync,
  { error, repository, retryInMs }: { error: unknown; repository: string; retryInMs: number },
): void {
  const isOverdue = error instanceof RoundOverdue;
  metrics?.round(isOverdue ? "given-up" : "failed", 0);
  const what = isOverdue ? "a round did not end; it was given up and will be tried again" : "a round failed and will be tried again";
  log.error({ ...telemetry.fields(error), repository, error: describeError(error), retryInMs }, what);
  // Perhaps it is no longer ours to look at: GitHub knows.
  if (isShut(error)) void resync.rediscover().catch(() => undefined);
}

function isShut(error: unknown): boolean {
  if (error instanceof ForgeError) return error.kind === "NotFound" || error.kind === "Forbidden" || error.kind === "Unauthorized";
  return error instanceof GitError && (error.kind === "NotFound" || error.kind === "Unauthorized");
}
