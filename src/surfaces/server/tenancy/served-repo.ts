/** One repository with everything its rounds work with; opened at its first round, closed when it is dropped. */
import type { ProbotOctokit } from "probot";
import { type AnalysisService, isOver } from "../../../adapters/analysis/port.ts";
import type { Cell } from "../../../adapters/cell/port.ts";
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import type { Forge } from "../../../adapters/forge/port.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { SealKeys } from "../../../adapters/git/journal/seal.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { MirrorLimits } from "../../../adapters/git/port.ts";
import type { HookCaller } from "../../../adapters/hooks/port.ts";
import type { Notifier } from "../../../adapters/notify/port.ts";
import type { Breakers } from "../../../adapters/outbound/breaker.ts";
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import { applicationLinks } from "../../../core/report/links.ts";
import type { GivenToDraw } from "../../../core/report/model/context.ts";
import type { RefusedModel } from "../../../core/report/model/refused.ts";
import { pagesOf } from "../../../core/report/page-places.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Freeze } from "../../../core/spec/windows-binding.ts";
import { openAttention } from "../../../engine/round/attention.ts";
import type { Log, RepoContext } from "../../../engine/round/context.ts";
import { fenceForge } from "../../../engine/round/fence.ts";
import { openRepo, type RepoLoop } from "../../../engine/round/open-repo.ts";
import { withPatience } from "../../../engine/round/patience.ts";
import type { JournalSides } from "../../../engine/round/round.ts";
import { serverCells } from "../cell/open.ts";
import type { Answering } from "../comments/answering.ts";
import { policyOf } from "../comments/authority.ts";
import { type CommandInbox, commandInbox } from "../comments/inbox.ts";
import { type CommitSigning, writerOf } from "../commits.ts";
import type { Telemetry } from "../telemetry/scope.ts";
import { idleMirror, mirrorDirectory } from "./idle-mirror.ts";
import type { InstalledRepo } from "./installed-repos.ts";
import type { MirrorRoom } from "./mirror-room.ts";
import { openRepoJournal } from "./repo-journal.ts";
import type { RepoRights } from "./tenancy.ts";

/** One repository the bot looks after, with everything its rounds work with. */
export interface ServedRepo {
  context: RepoContext;
  loop: RepoLoop;
  inbox: CommandInbox;
  /** An event of this delivery was heard of it. */
  hear(delivery: string): void;
  /** The deliveries that its next round is for. */
  heard(): readonly string[];
  forge: Forge;
  /** Ours. */
  login: string;
  baseBranch: string;
  /** Of the App, that it is looked after by. */
  installationId: number;
  /** The last run of each rollout, as of the last round. */
  runs: Map<string, Run>;
  /** Releases that were merged and started no run, as of the last round that looked. */
  refused: readonly RefusedModel[];
  /** What its journal has besides, as of the last round that looked; absent: none did. */
  journal?: JournalSides | undefined;
  /** Open PRs are looked at only where something may have changed. */
  pullsNeedFetch: boolean;
  /** The last round wants another one by itself. */
  waiting: boolean;
  /** Whether an onboarding pull request is wanted is settled. */
  onboarded: boolean;
  close(): Promise<void>;
  /** Its round hangs: whatever is under way fails at once, and it can do nothing more. */
  abandon(why: Error): void;
}

interface ServedRepoOptions {
  octokit(installationId: number): Promise<ProbotOctokit>;
  /** Where mirrors are kept. */
  directory: string;
  limits?: MirrorLimits;
  /** Keeps all mirrors together below a bound. */
  room?: MirrorRoom | undefined;
  breakers: Breakers;
  clock: Clock;
  log: Log;
  rights: RepoRights;
  signing: CommitSigning;
  sealKeys: SealKeys;
  /** Of the server: they bind every repo. */
  freezes: readonly Freeze[];
  /** Where people reach the page. */
  publicUrl?: string | undefined;
  /** See RepoContext. */
  allowUnprotected?: boolean;
  analysis?: AnalysisService;
  hooks?: HookCaller;
  notifier?: Notifier;
  /** Absent: those of this process. */
  cell?: Cell | undefined;
  /** A place in the installation's line of answers. */
  answering(installationId: number): Answering;
  /** A run of it was recorded: see `RepoContext.onRecorded`. */
  recorded?: ((repository: string, before: Run | undefined, run: Run) => void) | undefined;
  telemetry: Telemetry;
  /** Something it waits for changed in Argo CD. */
  onChange(repository: string, at?: number): void;
  /** Something is to be told of a command. */
  onHeard?: (() => void) | undefined;
}

/** What of git asks the remote. */
const REMOTE = ["fetch", "fetchFork", "deepen", "remoteHead", "remoteHeads", "remoteBelow", "remoteCommits", "push"] as const;
/** Deliveries between two rounds: for the log alone. */
const MOST_HEARD = 50;

function openHeard(): Pick<ServedRepo, "hear" | "heard"> & { deliveries: () => string[] } {
  const all = new BoundedSet<string>(MOST_HEARD);
  return {
    hear: (delivery) => void all.add(delivery),
    heard: () => [...all],
    deliveries: () => [...all].filter((delivery) => all.delete(delivery)),
  };
}

/** Asks GitHub who we are and makes the mirror; nothing is fetched yet, the first round does that. */
export async function openServedRepo(place: InstalledRepo, options: ServedRepoOptions): Promise<ServedRepo> {
  const { clock, log, onChange, limits, breakers, telemetry } = options;
  const { fullName, baseBranch, cloneUrl: url, installationId } = place;
  const octokit = await options.octokit(installationId);
  const over = new AbortController();
  const plain = fenceForge(telemetry.spanned(openGitHubForge({ octokit, repository: fullName }), "github"), over.signal);
  const attention = openAttention({ forge: plain, clock, log }, fullName);
  const forge = withPatience(plain, attention, clock);
  const { login, id } = await forge.identity();
  const directory = mirrorDirectory(options.directory, fullName);
  const kept = defined({ directory, url, limits, breakers, credentials: () => forge.gitCredentials() });
  const idle = idleMirror(() => openMirror(kept), clock, options.room && { directory, room: options.room });
  const mirror = telemetry.spanned(idle, "git", REMOTE);
  const [policy, answering] = [policyOf(mirror, () => served.baseBranch), options.answering(installationId)];
  const again = (ms: number) => onChange(fullName, clock.now() + ms);
  const told = { given: (run: Run) => givenOf(served, run), again, onHeard: options.onHeard };
  const inbox = commandInbox({ ...{ forge, clock, log, policy, answering }, ...told });
  const author = { name: login, email: `${id}+${login}@users.noreply.github.com` };
  const writer = writerOf(options.signing, { octokit, forge, mirror, author });
  const journal = openRepoJournal(place, options, { octokit, forge, mirror, login, writer, keep: () => loop.settings.journalKeep });
  const { hear, heard, deliveries } = openHeard();
  const own = { deliveries, forge, attention, mirror, journal, commands: inbox, author, writer };
  const context = contextOf(place, options, own);
  const loop = openRepo(context);
  const served: ServedRepo = {
    context,
    loop,
    inbox,
    ...{ hear, heard },
    forge,
    login,
    baseBranch,
    installationId,
    runs: new Map(),
    refused: [],
    pullsNeedFetch: true,
    waiting: true,
    onboarded: false,
    async close() {
      for (const off of offs) off();
      await Promise.all([loop.comments.settled(), inbox.close()]);
      await mirror.close();
    },
    abandon(why) {
      over.abort(why);
      served.close().catch((error) => log.warn({ repository: fullName, error: String(error) }, "a repository could not be closed well"));
    },
  };
  const offs = onChanges(served, options);
  return served;
}

/** What is drawn of a run besides what its journal holds. */
function givenOf({ loop, context }: ServedRepo, run: Run): GivenToDraw {
  const linkTo = applicationLinks((plane) => context.planes.get(plane)?.uiUrl);
  return defined({ history: loop.pastRuns.of(run), linkTo, page: context.page });
}

function contextOf(
  { fullName, cloneUrl }: InstalledRepo,
  { clock, log, freezes, allowUnprotected, analysis, hooks, notifier, rights, cell, publicUrl, recorded, telemetry }: ServedRepoOptions,
  own: Pick<RepoContext, "forge" | "attention" | "deliveries" | "mirror" | "journal" | "commands" | "author" | "writer">,
): RepoContext {
  const { planes, grants } = rights;
  return {
    ...own,
    ...defined({ grants, analysis, hooks, notifier }),
    repository: fullName,
    onRecorded: recorded && ((before, run) => recorded(fullName, before, run)),
    within: telemetry.within,
    page: pagesOf(publicUrl, fullName),
    repoURL: cloneUrl,
    journalBranch: JOURNAL_BRANCH,
    planes,
    clock,
    log,
    freezes,
    allowUnprotected,
    cell: cell ?? serverCells().judging.of(fullName),
    readingCell: cell ?? serverCells().reading.of(fullName),
  };
}

/** Listens to what a round may wait for outside of GitHub; gives what ends it. */
function onChanges(served: ServedRepo, { analysis, hooks, onChange }: ServedRepoOptions): (() => void)[] {
  const { repository, planes, clock } = served.context;
  const mine = `${repository.toLowerCase()}:`;
  const look = lookApart(clock, (at) => onChange(repository, at));
  // A repo whose runs have all ended waits for nothing in Argo CD: it is left alone however much goes on there.
  const offs = [...planes.values()].map((plane) => plane.onChange(() => void (isBusy(served) && look())));
  if (analysis !== undefined) {
    const { engine } = analysis;
    const off = engine.onChange((id) => {
      const state = id.startsWith(mine) ? engine.state(id) : undefined;
      if (state !== undefined && isOver(state)) onChange(repository);
    });
    offs.push(off);
  }
  if (hooks !== undefined) offs.push(hooks.onChange((key) => void (key.startsWith(mine) && onChange(repository))));
  return offs;
}

/** Thousands of Applications never rest, and each look at a repo reads what GitHub says of its pull requests. */
const APART_MS = 1000;

/** Looks at the first change at once, and at those that follow within a second together at its end. */
export function lookApart(clock: Clock, look: (at: number) => void): () => void {
  let due = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.now();
    const isSoonAfter = now >= due && now < due + APART_MS;
    if (isSoonAfter) due += APART_MS;
    // One that is still to come sees this change, too; a clock that was set back makes nobody wait for it.
    else if (now >= due || due > now + APART_MS) due = now;
    look(due);
  };
}

/** Whether something may go on there without being told. */
export function isBusy(served: Pick<ServedRepo, "runs" | "waiting"> | undefined): boolean {
  return served !== undefined && (served.waiting || [...served.runs.values()].some((run) => !isEnded(run)));
}
