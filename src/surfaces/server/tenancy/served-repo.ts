import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ProbotOctokit } from "probot";
import type { AnalysisService } from "../../../adapters/analysis/port.ts";
import { isOver } from "../../../adapters/analysis/port.ts";
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import type { Forge } from "../../../adapters/forge/port.ts";
import { tracesOf } from "../../../adapters/forge/traces.ts";
import { JOURNAL_BRANCH, openJournal } from "../../../adapters/git/journal/journal.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { HookCaller } from "../../../adapters/hooks/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Window } from "../../../core/spec/windows.ts";
import type { Log, RepoContext } from "../../../engine/round/context.ts";
import { type RepoMemory, repoMemory } from "../../../engine/round/memory.ts";
import { published } from "../../../engine/round/publish/publish.ts";
import { policyOf } from "../comments/authority.ts";
import { type CommandInbox, commandInbox } from "../comments/inbox.ts";
import { type CommitSigning, commitsOf } from "../commits.ts";
import { restingMirror } from "./idle-mirror.ts";
import type { RepoPlace } from "./installed-repos.ts";
import type { RepoRights } from "./tenancy.ts";

/** One repository the bot looks after, with everything its rounds work with. */
export interface ServedRepo {
  context: RepoContext;
  memory: RepoMemory;
  inbox: CommandInbox;
  forge: Forge;
  /** Ours. */
  login: string;
  baseBranch: string;
  /** Of the App, that it is looked after by. */
  installationId: number;
  /** The last run of each rollout, as of the last round. */
  runs: Map<string, Run>;
  /** Open PRs are looked at only where something may have changed. */
  pullsDirty: boolean;
  /** The last round wants another one by itself. */
  waiting: boolean;
  /** Whether an onboarding pull request is wanted is settled. */
  onboarded: boolean;
  close(): Promise<void>;
}

export interface ServedRepoOptions {
  octokit(installationId: number): Promise<ProbotOctokit>;
  /** Where mirrors are kept. */
  directory: string;
  clock: Clock;
  log: Log;
  rights(repository: string): RepoRights;
  signing: CommitSigning;
  /** Of the server: they bind every repo. */
  freezes: readonly Window[];
  analysis?: AnalysisService;
  hooks?: HookCaller;
  /** Something it waits for changed in Argo CD. */
  onChange(repository: string): void;
}

/** Asks GitHub who we are and makes the mirror; nothing is fetched yet, the first round does that. */
export async function openServedRepo(place: RepoPlace, options: ServedRepoOptions): Promise<ServedRepo> {
  const { clock, log } = options;
  const { fullName, baseBranch, cloneUrl } = place;
  const octokit = await options.octokit(place.installationId);
  const forge = openGitHubForge({ octokit, repository: fullName });
  const identity = await forge.identity();
  const directory = mirrorDirectory(options.directory, fullName);
  const open = () => openMirror({ directory, url: cloneUrl, credentials: () => forge.gitCredentials() });
  const mirror = restingMirror(open, clock);
  const policy = policyOf(mirror, () => served.baseBranch);
  const inbox = commandInbox({ forge, clock, log, policy, again: (ms) => void clock.after(ms, () => options.onChange(fullName)) });
  const { planes, grants } = options.rights(fullName);
  const author = { name: identity.login, email: `${identity.id}+${identity.login}@users.noreply.github.com` };
  const { writer, judge } = commitsOf(options.signing, { octokit, forge, mirror, login: identity.login, author });
  const signed = { ...(writer === undefined ? {} : { writer }), ...(judge === undefined ? {} : { judge }) };
  const context: RepoContext = {
    repository: fullName,
    forge,
    mirror,
    journal: openJournal({ mirror, app: identity.login, ...signed, traces: () => tracesOf(forge), keep: () => served.memory.journalKeep }),
    journalBranch: JOURNAL_BRANCH,
    ...(writer === undefined ? {} : { writer }),
    commands: inbox,
    planes,
    ...(grants === undefined ? {} : { grants }),
    clock,
    log,
    freezes: options.freezes,
    ...(options.analysis === undefined ? {} : { analysis: options.analysis }),
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
    author,
    repoURL: cloneUrl,
  };
  const served: ServedRepo = {
    context,
    memory: repoMemory(context),
    inbox,
    forge,
    login: identity.login,
    baseBranch,
    installationId: place.installationId,
    runs: new Map(),
    pullsDirty: true,
    waiting: true,
    onboarded: false,
    async close() {
      for (const off of offs) off();
      await published(served.memory);
      await mirror.close();
    },
  };
  // A repo whose runs have all ended waits for nothing in Argo CD: it is left alone however much goes on there.
  const offs = [
    ...[...planes.values()].map((plane) => plane.onChange(() => isBusy(served) && options.onChange(fullName))),
    ...hearGates(fullName, options),
  ];
  return served;
}

/** What was measured or answered for this repo: looked at when there is something to decide. */
function hearGates(fullName: string, { analysis, hooks, onChange }: ServedRepoOptions): (() => void)[] {
  const mine = `${fullName.toLowerCase()}:`;
  const offs: (() => void)[] = [];
  if (analysis !== undefined) {
    const { engine } = analysis;
    offs.push(
      engine.onChange((id) => {
        const state = id.startsWith(mine) ? engine.state(id) : undefined;
        if (state !== undefined && isOver(state)) onChange(fullName);
      }),
    );
  }
  if (hooks !== undefined) offs.push(hooks.onChange((key) => void (key.startsWith(mine) && onChange(fullName))));
  return offs;
}

function isBusy({ runs, waiting }: ServedRepo): boolean {
  return waiting || [...runs.values()].some((run) => !isEnded(run));
}

function mirrorDirectory(directory: string, fullName: string): string {
  return join(directory, `${fullName.replace("/", "__")}.git`);
}

/** What was fetched of a repository the App has no access to any more is not kept. */
export async function removeMirror(directory: string, fullName: string): Promise<void> {
  await rm(mirrorDirectory(directory, fullName), { recursive: true, force: true, maxRetries: 5 });
}
