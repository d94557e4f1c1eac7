import { join } from "node:path";
import type { ControlPlane } from "../argocd/port.ts";
import { openGitHubForge } from "../forge/github/index.ts";
import type { Forge } from "../forge/port.ts";
import { JOURNAL_BRANCH, openJournal } from "../git/journal.ts";
import { openMirror } from "../git/mirror.ts";
import { GitError } from "../git/port.ts";
import { memoryQueue } from "../queue/memory.ts";
import type { Log, RepoContext } from "../reconcile/context.ts";
import { type RepoMemory, repoMemory } from "../reconcile/memory.ts";
import { publishPlans } from "../reconcile/plan-pulls.ts";
import { published } from "../reconcile/publish.ts";
import { round } from "../reconcile/round.ts";
import type { Run } from "../rollout/run.ts";
import type { Clock } from "../rollout/time.ts";
import { webRoutes } from "../web/server.ts";
import { type CommandInbox, commandInbox } from "./command-inbox.ts";
import { type BotEvent, type GitHubApp, startBotServer } from "./server.ts";

export interface StagecoachOptions {
  app: GitHubApp;
  /** Ready or not: a plane that cannot be seen holds only what needs it. */
  planes: readonly ControlPlane[];
  /** Where mirrors are kept: a cache, which may be deleted. */
  directory: string;
  clock: Clock & { readonly speed?: number };
  log: Log;
  host?: string;
  port?: number;
  /** See BotServerOptions. */
  pacing?: boolean;
  /** Everything is looked at this often though nothing was heard. Default 5 minutes of the clock. */
  resyncMs?: number;
}

export interface Stagecoach {
  url: string;
  /** The last run of each rollout, as of the last round. */
  runs(): { repository: string; run: Run }[];
  onChange(listener: () => void): () => void;
  /** Looks at everything now. */
  resync(): Promise<void>;
  /** Resolves when nothing is due. */
  idle(): Promise<void>;
  /** Finishes the round under way and stops. */
  close(): Promise<void>;
}

interface Served {
  context: RepoContext;
  memory: RepoMemory;
  inbox: CommandInbox;
  forge: Forge;
  /** Ours. */
  login: string;
  baseBranch: string;
  runs: Map<string, Run>;
  /** Open PRs are looked at only where something may have changed. */
  pullsDirty: boolean;
}

const RESYNC_MS = 5 * 60_000;

/** The whole bot: webhooks, watches and timers wake it, the queue orders its rounds, the journal keeps its state. */
export async function startStagecoach(options: StagecoachOptions): Promise<Stagecoach> {
  const { clock, log, planes } = options;
  const served = new Map<string, Promise<Served>>();
  const ready = new Map<string, Served>();
  const listeners = new Set<() => void>();
  let started = false;
  const queue = memoryQueue({
    clock,
    handler: (repository) => look(repository),
    onError: (error, repository, retryInMs) =>
      log.error({ repository, error: describe(error), retryInMs }, "a round failed and will be tried again"),
  });
  const all = () => [...ready.values()].flatMap((s) => [...s.runs.values()].map((run) => ({ repository: s.context.repository, run })));
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const server = await startBotServer({
    app: options.app,
    log,
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.pacing === undefined ? {} : { pacing: options.pacing }),
    onEvent: (event) => hear(event),
    routes: webRoutes({ runs: all, onChange }, clock),
    isReady: () => started,
  });

  function hear(event: BotEvent): void {
    if (event.name.startsWith("installation")) {
      void resync().catch((error) => log.warn({ error: describe(error) }, "installations could not be listed"));
      return;
    }
    const repository = event.repository?.toLowerCase();
    if (repository === undefined || !served.has(repository)) return;
    const known = ready.get(repository);
    // What we did ourselves is looked at without being told.
    if (known !== undefined && event.sender === known.login) return;
    if (known !== undefined) {
      if (event.pull !== undefined && event.name === "issue_comment") known.inbox.touched(event.pull);
      // Whoever writes a command has often just put something right: it is judged by what is there now.
      known.memory.remote.dirty ||= event.name === "push" || event.name === "pull_request" || event.name === "issue_comment";
      known.pullsDirty ||= event.name === "pull_request" || event.name === "push";
    }
    queue.wake({ repository, rollout: null });
  }

  async function look(repository: string): Promise<void> {
    const s = await served.get(repository);
    if (s === undefined) return;
    const result = await round(s.context, s.memory, s.baseBranch).catch(async (error) => {
      // A token taken back before its time: the round that follows has another.
      if (error instanceof GitError && error.kind === "Unauthorized") await s.forge.gitCredentials({ renew: true });
      throw error;
    });
    for (const run of result.runs) s.runs.set(run.rollout, run);
    for (const listener of listeners) listener();
    if (s.pullsDirty) {
      s.pullsDirty = false;
      await publishPlans(s.context, s.memory, s.baseBranch);
    }
    if (result.wakeAt !== undefined) queue.wake({ repository, rollout: null }, result.wakeAt);
  }

  async function serve(fullName: string, installationId: number): Promise<Served> {
    const octokit = await server.octokit(installationId);
    const forge = openGitHubForge({ octokit, repository: fullName });
    const { defaultBranch, cloneUrl } = await forge.repo();
    const identity = await forge.identity();
    const mirror = await openMirror({
      directory: join(options.directory, `${fullName.replace("/", "__")}.git`),
      url: cloneUrl,
      credentials: () => forge.gitCredentials(),
    });
    await mirror.fetch([defaultBranch]);
    const inbox = commandInbox({ forge, clock, log });
    const context: RepoContext = {
      repository: fullName,
      forge,
      mirror,
      journal: openJournal({ mirror, app: identity.login }),
      journalBranch: JOURNAL_BRANCH,
      commands: inbox,
      planes: new Map(planes.map((plane) => [plane.name, plane])),
      clock,
      log,
      author: { name: identity.login, email: `${identity.id}+${identity.login}@users.noreply.github.com` },
      repoURL: cloneUrl,
    };
    const made: Served = {
      context,
      memory: repoMemory(mirror),
      inbox,
      forge,
      login: identity.login,
      baseBranch: defaultBranch,
      runs: new Map(),
      pullsDirty: true,
    };
    ready.set(fullName.toLowerCase(), made);
    return made;
  }

  /** Which repos the App is installed on: asked at the start, when told of a change, and at each resync. */
  async function discover(): Promise<void> {
    const app = await server.octokit();
    const installations = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 });
    for (const installation of installations) {
      const octokit = await server.octokit(installation.id);
      const repositories = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
      for (const { full_name: fullName, archived } of repositories) {
        const key = fullName.toLowerCase();
        if (archived || served.has(key)) continue;
        const serving = serve(fullName, installation.id);
        served.set(key, serving);
        serving.catch((error) => {
          served.delete(key);
          log.error({ repository: fullName, error: describe(error) }, "a repository cannot be served; trying again at the next resync");
        });
      }
    }
  }

  async function resync(): Promise<void> {
    await discover();
    for (const s of ready.values()) {
      s.pullsDirty = true;
      s.memory.remote.dirty = true;
    }
    for (const repository of served.keys()) queue.wake({ repository, rollout: null });
  }

  let stopped = false;
  let callOff = (): void => undefined;
  function again(): void {
    callOff = clock.after(options.resyncMs ?? RESYNC_MS, () => {
      if (stopped) return;
      resync()
        .catch((error) => log.warn({ error: describe(error) }, "resync failed"))
        .finally(again);
    });
  }
  const offs = planes.map((plane) =>
    plane.onChange(() => {
      for (const repository of ready.keys()) queue.wake({ repository, rollout: null });
    }),
  );
  await resync();
  // What is there at the first look is adopted: from here on a merge is seen as one.
  await queue.idle();
  started = true;
  again();

  return {
    url: server.url,
    runs: all,
    onChange,
    resync,
    idle: () => queue.idle(),
    async close() {
      stopped = true;
      callOff();
      for (const off of offs) off();
      await server.close();
      await queue.close();
      for (const s of ready.values()) {
        await published(s.memory);
        await s.context.mirror.close();
      }
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
