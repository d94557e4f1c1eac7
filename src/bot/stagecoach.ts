import type { AnalysisService } from "../analysis/service.ts";
import type { ControlPlane } from "../argocd/port.ts";
import { ForgeError } from "../forge/port.ts";
import { GitError } from "../git/port.ts";
import type { HookCaller } from "../hooks/port.ts";
import { memoryQueue } from "../queue/memory.ts";
import type { Log } from "../reconcile/context.ts";
import { publishPlans } from "../reconcile/plan-pulls.ts";
import { round } from "../reconcile/round.ts";
import type { Run } from "../rollout/run.ts";
import type { Clock } from "../rollout/time.ts";
import type { Window } from "../rollout/windows.ts";
import { webRoutes } from "../web/server.ts";
import { coalesced } from "./coalesced.ts";
import type { CommitSigning } from "./commits.ts";
import { discover } from "./discover.ts";
import { hearing } from "./hear.ts";
import type { Metrics } from "./metrics.ts";
import type { GitHubApp } from "./octokits.ts";
import { onboard } from "./onboarding.ts";
import { openRepos } from "./repos.ts";
import { openServedRepo, removeMirror, type ServedRepo } from "./served-repo.ts";
import { startBotServer } from "./server.ts";
import { openSweeper } from "./sweeper.ts";
import { type TenancyRule, tenancy } from "./tenancy.ts";

export interface StagecoachOptions {
  app: GitHubApp;
  /** Ready or not: a plane that cannot be seen holds only what needs it. */
  planes: readonly ControlPlane[];
  /** Which repo may use which of them; absent: every one all. */
  tenancy?: readonly TenancyRule[];
  /** Who signs the commits of batches and of the journal. Default: nobody. */
  signing?: CommitSigning;
  /** Windows that bind every run of every repo. */
  freezes?: readonly Window[];
  /** What runs analyses and asks hooks; closed by who gave it. Absent: a run that wants one says that there is none. */
  analysis?: AnalysisService;
  hooks?: HookCaller;
  /** Where mirrors are kept: a cache, which may be deleted. */
  directory: string;
  clock: Clock & { readonly speed?: number };
  log: Log;
  host?: string;
  port?: number;
  /** See BotServerOptions. */
  inside?: { host: string; port: number };
  metrics?: Metrics;
  /** See BotServerOptions. */
  pacing?: boolean;
  /** Everything is looked at this often though nothing was heard. Default 5 minutes of the clock. */
  resyncMs?: number;
}

export interface Stagecoach {
  url: string;
  /** Where the page and the metrics are. */
  insideUrl: string;
  /** `owner/name` in lower case of the repos it looks after; those on hold are not among them. */
  repositories(): string[];
  /** The last run of each rollout, as of the last round. */
  runs(): { repository: string; run: Run }[];
  onChange(listener: () => void): () => void;
  /** Looks at everything now. */
  resync(): Promise<void>;
  /** Resolves when nothing is due. */
  idle(): Promise<void>;
  /** Takes nothing new, finishes the rounds under way (for at most `withinMs` of the wall's time, default 25 s) and stops. */
  close(options?: { withinMs?: number }): Promise<void>;
}

const RESYNC_MS = 5 * 60_000;
const DRAIN_MS = 25_000;
/** A plan, or what is said of it on GitHub, that could not be had is tried again after this. */
const PLANS_AGAIN_MS = 15_000;
const ONBOARD_AGAIN_MS = 30_000;

/** The whole bot: webhooks, watches and timers wake it, the queue orders its rounds, the journal keeps its state. */
export async function startStagecoach(options: StagecoachOptions): Promise<Stagecoach> {
  const { clock, log, planes, metrics, directory } = options;
  const listeners = new Set<() => void>();
  let state: "starting" | "ready" | "stopping" = "starting";
  const rights = tenancy(options.tenancy, planes);
  const { signing = { kind: "none" }, freezes = [] } = options;
  const gates = {
    ...(options.analysis === undefined ? {} : { analysis: options.analysis }),
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
  };
  const wake = (repository: string, at?: number) => queue.wake({ repository: repository.toLowerCase(), rollout: null }, at);
  const repos = openRepos({
    log,
    open: (place) =>
      openServedRepo(place, { octokit: server.octokit, directory, clock, log, rights, signing, freezes, ...gates, onChange: wake }),
    forget: ({ fullName }) => removeMirror(directory, fullName),
  });
  const queue = memoryQueue({
    clock,
    handler: (repository) => repos.work(repository, look).finally(() => firstLooks.done(repository)),
    onError(error, repository, retryInMs) {
      metrics?.round("failed", 0);
      log.error({ repository, error: describe(error), retryInMs }, "a round failed and will be tried again");
      // Perhaps it is no longer ours to look at: GitHub knows.
      if (isShut(error)) void rediscover().catch(() => undefined);
    },
  });
  const firstLooks = lookedAt((repository) => repos.has(repository));
  const all = () => repos.opened().flatMap((s) => [...s.runs.values()].map((run) => ({ repository: s.context.repository, run })));
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const server = await startBotServer({
    app: options.app,
    log,
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.inside === undefined ? {} : { inside: options.inside }),
    ...(options.pacing === undefined ? {} : { pacing: options.pacing }),
    ...(metrics === undefined ? {} : { metrics }),
    onEvent: hearing({ repos, wake, rediscover: () => void rediscover().catch(warn("installations could not be listed")) }),
    routes: webRoutes({ runs: all, onChange }, clock),
    isReady: () => state === "ready",
  });
  metrics?.watch({ runs: all, repositories: () => repos.counts(), planes });
  const sweeper = openSweeper({ app: () => server.octokit(), clock, log });

  async function look(s: ServedRepo): Promise<void> {
    const started = performance.now();
    const result = await round(s.context, s.memory, s.baseBranch).catch(async (error) => {
      // A token taken back before its time: the round that follows has another.
      if (error instanceof GitError && error.kind === "Unauthorized") await s.forge.gitCredentials({ renew: true });
      throw error;
    });
    metrics?.round("done", (performance.now() - started) / 1000);
    // As the journal has them, ended ones and those of another replica, too; what this round saw may be newer.
    const recorded = await s.context.journal.read({ head: s.memory.remote.journal });
    s.runs = new Map([...recorded.runs, ...result.runs.map((run) => [run.rollout, run] as const)]);
    for (const listener of listeners) listener();
    const heard = s.pullsDirty;
    s.pullsDirty = false;
    if (await publishPlans(s.context, s.memory, s.baseBranch, heard)) {
      s.pullsDirty = true;
      wake(s.context.repository, clock.now() + PLANS_AGAIN_MS);
    }
    s.onboarded ||= (await onboard(s.context, s.baseBranch)) !== "later";
    if (!s.onboarded) wake(s.context.repository, clock.now() + ONBOARD_AGAIN_MS);
    s.waiting = result.wakeAt !== undefined;
    if (result.wakeAt !== undefined) wake(s.context.repository, result.wakeAt);
  }

  /** Which repos the App is installed on: asked at the start, when told of a change, and at each resync. */
  const rediscover = coalesced(async () => {
    const before = repos.keys();
    const fresh = repos.apply(await discover(server.octokit, log));
    for (const key of before) if (!repos.has(key)) queue.forget(key);
    for (const key of fresh) wake(key);
  });

  async function resync(): Promise<void> {
    await rediscover();
    for (const s of repos.opened()) {
      s.pullsDirty = true;
      s.memory.remote.dirty = true;
      s.inbox.resync();
    }
    for (const key of repos.keys()) wake(key);
    metrics?.resent(await sweeper.sweep());
  }

  function warn(message: string): (error: unknown) => void {
    return (error) => log.warn({ error: describe(error) }, message);
  }

  let callOff = (): void => undefined;
  function again(): void {
    callOff = clock.after(options.resyncMs ?? RESYNC_MS, () => {
      if (state !== "ready") return;
      resync().catch(warn("resync failed")).finally(again);
    });
  }

  async function close({ withinMs = DRAIN_MS }: { withinMs?: number } = {}): Promise<void> {
    state = "stopping";
    callOff();
    const drained = (async () => {
      await Promise.all([server.close(), queue.close()]);
      await repos.close();
    })();
    const ended = await Promise.race([drained.then(() => true), afterMs(withinMs).then(() => false)]);
    if (!ended) log.warn({ withinMs }, "stopped before the rounds under way had ended; the next start takes them up");
  }

  try {
    await resync();
  } catch (error) {
    await close();
    throw error;
  }
  // What is there at the first look is adopted: from here on a merge is seen as one. Waiting for the queue to be idle would
  // be waiting for all runs of all repos.
  await firstLooks.of(repos.keys());
  state = "ready";
  again();
  return {
    url: server.url,
    insideUrl: server.insideUrl,
    repositories: () => repos.keys(),
    runs: all,
    onChange,
    resync,
    async idle() {
      await rediscover.settled();
      await queue.idle();
    },
    close,
  };
}

/** Which repos were looked at once, well or not: one that cannot be looked at must not keep the others from being ready. */
function lookedAt(isServed: (repository: string) => boolean): {
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

function isShut(error: unknown): boolean {
  if (error instanceof ForgeError) return error.kind === "NotFound" || error.kind === "Forbidden" || error.kind === "Unauthorized";
  return error instanceof GitError && (error.kind === "NotFound" || error.kind === "Unauthorized");
}

function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
