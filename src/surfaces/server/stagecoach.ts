/** The bot put together: repositories, queue, doors and resync. Called by the server, the demo and journeys of tests. */
import type { AnalysisService } from "../../adapters/analysis/port.ts";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { Cell } from "../../adapters/cell/port.ts";
import { type SealKeys, sealKey } from "../../adapters/git/journal/seal.ts";
import type { MirrorLimits } from "../../adapters/git/port.ts";
import type { HookCaller } from "../../adapters/hooks/port.ts";
import type { Notifier } from "../../adapters/notify/port.ts";
import { type Breakers, openBreakers } from "../../adapters/outbound/breaker.ts";
import { type CheckedClock, checkedClock, isChecked } from "../../adapters/outbound/checked-clock.ts";
import { hostFetch } from "../../adapters/outbound/host-fetch.ts";
import type { RoundLimits, SharedQueue, SharingOptions } from "../../adapters/queue/port.ts";
import { defined } from "../../core/base/defined.ts";
import type { Clock } from "../../core/base/time.ts";
import type { History } from "../../core/report/plan/duration.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Freeze } from "../../core/spec/windows-binding.ts";
import type { Log } from "../../engine/round/context.ts";
import { webRoutes } from "../web/server.ts";
import type { WebSource } from "../web/source.ts";
import { openAnswerLines } from "./comments/answering.ts";
import type { CommitSigning } from "./commits.ts";
import { openHearing, permissionIn } from "./deliveries/held-repos.ts";
import { concerns, deliveryHandler, deliveryOf } from "./deliveries/on-event.ts";
import { openFirstRounds, reconciler } from "./deliveries/reconcile.ts";
import { Resync } from "./deliveries/resync.ts";
import { openRounds } from "./deliveries/rounds.ts";
import { type BotServer, startBotServer } from "./deliveries/server.ts";
import { type Audience, seenFrom } from "./seen-from.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import { openTelemetry, type Telemetry } from "./telemetry/scope.ts";
import { removeMirror } from "./tenancy/idle-mirror.ts";
import { MirrorRoom } from "./tenancy/mirror-room.ts";
import type { GitHubApp } from "./tenancy/octokits.ts";
import { Repos } from "./tenancy/repos.ts";
import { openServedRepo } from "./tenancy/served-repo.ts";
import { openSharedViews, type SharedViews } from "./tenancy/shared-views.ts";
import { runsOf, shownOf, standingOf } from "./tenancy/shown-repos.ts";
import { matchesRepository, type TenancyRule, tenancy } from "./tenancy/tenancy.ts";

export interface StagecoachOptions extends Audience {
  app: GitHubApp;
  /** Ready or not: a plane that cannot be seen holds only what needs it. */
  planes: readonly ControlPlane[];
  /** Which repo may use which of them; absent: every one all, as long as the App is installed for one account. */
  tenancy?: readonly TenancyRule[];
  /** Who signs the commits of batches and of the journal. Default: nobody. */
  signing?: CommitSigning;
  /** What the journal's commits are sealed with. Default: one key, derived from the App's. */
  sealKeys?: SealKeys;
  /** Windows that bind every run of every repo. */
  freezes?: readonly Freeze[];
  /** Whose runs merge by themselves though others may write to the bot's own branches: all (true), or the repositories of these globs. Default: nobody's. */
  allowUnprotected?: boolean | readonly string[];
  /** What runs analyses and asks hooks; closed by who gave it. Absent: a run that wants one says that there is none. */
  analysis?: AnalysisService;
  hooks?: HookCaller;
  /** Tells people; closed by who gave it. */
  notifier?: Notifier | undefined;
  /** Where mirrors are kept: a cache, which may be deleted. */
  directory: string;
  /** How many bytes each may hold. */
  limits?: MirrorLimits;
  /** How many all of them may hold together. Default: no bound. */
  mostMirrored?: number;
  /** In which what strangers send is judged. Default: the one of this process. */
  cell?: Cell;
  clock: Clock & { readonly speed?: number };
  log: Log;
  host?: string;
  port?: number;
  /** See BotServerOptions. */
  inside?: { host: string; port: number; hosts?: readonly string[] };
  /** See WebSource. */
  visitor?: WebSource["visitor"];
  metrics?: Metrics;
  /** What lines of the log and traces tell of. Default: there are no traces. */
  telemetry?: Telemetry;
  /** See BotServerOptions. */
  pacing?: boolean;
  /** Everything is looked at this often though nothing was heard. Default 5 minutes of the clock. */
  resyncMs?: number;
  /** In the wall's time, as the limits of calls to the outside are. */
  roundLimits?: RoundLimits;
  /** Who looks after which repository, and when. Default: this process after all. */
  openQueue?: (options: SharingOptions) => SharedQueue;
  /** A start that waits for GitHub ends with it. */
  stopping?: AbortSignal;
}

export interface Stagecoach {
  url: string;
  /** Where the page and the metrics are. */
  insideUrl: string;
  /** `owner/name` in lower case of the repos it looks after; those on hold are not among them. */
  repositories(): string[];
  /** The last run of each rollout, as of the last round. */
  runs(): { repository: string; run: Run; history: History }[];
  onChange(listener: () => void): () => void;
  /** Looks at everything now. */
  resync(): Promise<void>;
  /** Resolves when nothing is due. */
  idle(): Promise<void>;
  /** Takes nothing new, finishes the rounds under way (for at most `withinMs` of the wall's time, default 25 s) and stops. */
  close(options?: { withinMs?: number }): Promise<void>;
}

const RESYNC_MS = 5 * 60_000;
const [DRAIN_MS, LEAVE_MS] = [25_000, 3500];
const afterMs = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref());

/** The whole bot: webhooks, watches and timers wake it, the queue orders its rounds, the journal keeps its state. */
export async function startStagecoach(given: StagecoachOptions): Promise<Stagecoach> {
  const options = checked(given);
  const { clock, log, planes, metrics, telemetry, resyncMs: everyMs = RESYNC_MS } = options;
  let state: "starting" | "ready" | "stopping" = "starting";
  const [room, { announce, onChange }] = [roomOf(options), openChanges()];
  const [octokit, runs, standing] = [(id?: number) => server.octokit(id), () => runsOf(repos), () => standingOf(repos)];
  const wake = (key: string, at?: number, heard?: boolean) =>
    telemetry.apart(() => queue.wake({ repository: key.toLowerCase(), rollout: null, heard }, at));
  const repos = reposOf(options, { onChange: wake, onHeard: announce, octokit, fence: (key) => queue.fence(key), room });
  const firstRounds = openFirstRounds((repository) => repos.has(repository) && queue.owns(repository));
  const look = reconciler(defined({ clock, wake, metrics, telemetry, changed: announce }));
  const spoken = openHearing({ waits: (key) => queue.waits(key), wake, permission: permissionIn(repos, octokit), clock, log });
  const hear = deliveryHandler({ repos, wake: spoken, rediscover: () => resync.rediscoverSoon() });
  const queue: SharedQueue = openRounds(options, { repos, look, onDelivery: hear, onRound: firstRounds.done, resync: () => resync });
  const resync = new Resync(defined({ octokit, repos, queue, wake, clock, log, metrics, everyMs }));
  const views = openSharedViews({ repos, board: queue.board, owns: queue.owns, log, announce, onChange });
  const server = await startBotServer({
    ...{ ...serverOptionsOf(options), turnToWrite: queue.turnToWrite },
    // Of what is not known here yet, another replica may look after what this tells of.
    onEvent: (event) => (!repos.hasListed(event.installationId) || concerns(event, repos) ? queue.keep(deliveryOf(event)) : undefined),
    routes: webRoutes({ ...shownOf({ repos, views, octokit, room }, options), ...seenFrom(options), onChange, planes }, clock),
    state: () => (resync.isWaiting() ? "waiting for GitHub" : state),
  });
  metrics?.watch({ now: clock.now, runs, standing, planes, ...{ repositories: repos.counts, queue: queue.depth, sharing: queue.sharing } });
  const close: Stagecoach["close"] = async ({ withinMs = DRAIN_MS } = {}) => {
    state = "stopping";
    await drain({ server, queue, repos, views, resync, room, log }, withinMs);
  };
  const first = await resync
    .first(options.stopping)
    .then(queue.start)
    .catch(async (error: unknown) => {
      await close();
      throw error;
    });
  // What is there at the first round is adopted: from here on a merge is seen as one. Runs are not waited for.
  await firstRounds.of(first);
  state = "ready";
  resync.start();
  const idle = () => resync.rediscover.settled().then(queue.idle);
  return { ...addressOf(server), repositories: repos.keys, runs, onChange, resync: () => resync.now(), idle, close };
}

function openChanges(): { announce(): void; onChange: Stagecoach["onChange"] } {
  const listeners = new Set<() => void>();
  return {
    announce() {
      for (const listener of listeners) listener();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

interface ReposGiven {
  onChange(repository: string, at?: number): void;
  onHeard(): void;
  octokit: BotServer["octokit"];
  fence(key: string): () => void;
  room: MirrorRoom | undefined;
}

function roomOf({ directory, limits, mostMirrored: most, clock, log }: Checked): MirrorRoom | undefined {
  return most === undefined ? undefined : new MirrorRoom(directory, { most, each: limits?.repository ?? most }, { clock, log });
}

/** The repositories, each opened with what it may see of the control planes. */
function reposOf(options: Checked, { onChange, onHeard, octokit, fence, room }: ReposGiven): Repos {
  const { clock, log, breakers, directory, limits, cell, signing = { kind: "none" }, freezes = [], analysis, hooks, publicUrl } = options;
  const rights = tenancy(options.tenancy, options.planes);
  const { sealKeys = [sealKey(options.app.privateKey)] } = options;
  const answering = openAnswerLines();
  const shared = defined({
    ...{ octokit, directory, limits, cell, breakers, clock, log, signing, sealKeys, freezes, analysis, hooks, notifier: options.notifier },
    ...{ room, publicUrl, onChange, onHeard, answering, telemetry: options.telemetry, recorded: options.metrics?.recorded },
  });
  return new Repos({
    ...{ log, fence },
    open: (place, isHome) =>
      openServedRepo(place, {
        ...{ ...shared, rights: rights(place.fullName, isHome) },
        allowUnprotected: names(options.allowUnprotected ?? false, place.fullName),
      }),
    forget: ({ fullName }) => removeMirror(directory, fullName, room),
  });
}

/** Whether a setting means this repository. */
function names(setting: boolean | readonly string[], repository: string): boolean {
  return typeof setting === "boolean" ? setting : setting.some((glob) => matchesRepository(glob, repository));
}

const addressOf = ({ url, insideUrl }: BotServer) => ({ url, insideUrl });

type Checked = StagecoachOptions & { clock: CheckedClock; breakers: Breakers; telemetry: Telemetry };

/** What every repository is looked after with: one clock, and one mind of which hosts are down. */
function checked({ clock: given, ...options }: StagecoachOptions): Checked {
  const clock = isChecked(given) ? given : checkedClock(given, { log: options.log });
  return { ...options, clock, breakers: openBreakers(clock, options.log), telemetry: options.telemetry ?? openTelemetry() };
}

function serverOptionsOf({ app, log, host, port, inside, publicUrl, pacing, metrics, clock, breakers, telemetry }: Checked) {
  const through = (send: typeof fetch) => hostFetch(clock, breakers, send);
  return defined({ app, log, host, port, inside, publicUrl, pacing, metrics, through, within: telemetry.delivery });
}

interface Draining {
  server: BotServer;
  queue: SharedQueue;
  repos: Repos;
  views: SharedViews;
  resync: Pick<Resync, "stop">;
  room: MirrorRoom | undefined;
  log: Log;
}

/** Takes nothing new, and lets what is under way end, for so long. */
async function drain({ server, queue, repos, views, resync, room, log }: Draining, withinMs: number) {
  resync.stop();
  const roomClosed = room?.close();
  const drained = (async () => {
    await Promise.all([server.close(), queue.close()]);
    await views.stop();
    await repos.close();
    // Others have what was this one's at once, however large the mirror that is just being thrown away.
    await queue.leave();
    await roomClosed;
  })();
  const ended = await Promise.race([drained.then(() => true), afterMs(withinMs).then(() => false)]);
  if (ended) return;
  log.warn({ withinMs }, "stopped before the rounds under way had ended; the next start takes them up");
  // From here on what goes on sends nothing more.
  await Promise.race([queue.leave({ isUnderWay: true }), afterMs(LEAVE_MS)]);
}
