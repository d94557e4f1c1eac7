/** What is shown of the repositories that are served: their runs, and what stands still in them. */
import type { ProbotOctokit } from "probot";
import { openCommentAs } from "../../../adapters/forge/github/comment-as.ts";
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import { openTokenLogin, openTokenSight } from "../../../adapters/forge/github/token-sight.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { Journal, JournalReader } from "../../../adapters/git/journal/port.ts";
import { openJournalReader } from "../../../adapters/git/journal/reader.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import { GitError, type MirrorLimits } from "../../../adapters/git/port.ts";
import type { Breakers } from "../../../adapters/outbound/breaker.ts";
import type { CheckedClock } from "../../../adapters/outbound/checked-clock.ts";
import { hostFetch } from "../../../adapters/outbound/host-fetch.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Standing, WebSource } from "../../web/source.ts";
import { commandText } from "../comments/write-command.ts";
import { whole } from "../deliveries/uncaught.ts";
import { historyDirectory, idleMirror } from "./idle-mirror.ts";
import type { InstalledRepo } from "./installed-repos.ts";
import type { MirrorRoom } from "./mirror-room.ts";
import type { Repos } from "./repos.ts";
import type { SharedViews } from "./shared-views.ts";

/** The last run of each rollout, with how long the runs before it took. */
export function runsOf(repos: Repos): { repository: string; run: Run; history: History }[] {
  return repos
    .opened()
    .flatMap(({ context, runs, loop: { pastRuns } }) =>
      [...runs.values()].map((run) => ({ repository: context.repository, run, history: pastRuns.of(run) })),
    );
}

/** Of each repository that is not well: what needs attention, and which releases started no run. */
export function standingOf(repos: Repos): Standing[] {
  return repos.opened().flatMap(({ context: { repository, attention }, refused }) => {
    const needs = (attention?.told() ?? []).map((reason) => sentenceOf(reason));
    return needs.length + refused.length === 0 ? [] : [{ repository, attention: needs, refused }];
  });
}

/** What was read of comments, by the pull requests they stand on. */
function heardOf(views: SharedViews): NonNullable<WebSource["heard"]> {
  return (repository, rollout, pulls) => {
    const all = views.of(repository)?.heard ?? [];
    const isMine = ({ pull, text }: (typeof all)[number]) =>
      pulls.includes(pull) && (/ --rollout[ =](\S+)/.exec(text)?.[1] ?? rollout) === rollout;
    return all.filter(isMine).map(({ pull: _, ...one }) => one);
  };
}

/** The journal of a repository as history: as of the last round, where it was opened already. One object as long as it stays open. */
function journalOf(repos: Repos, views: SharedViews, ofOthers: ReturnType<typeof openShownJournals>): NonNullable<WebSource["journal"]> {
  const readers = new WeakMap<Journal, JournalReader>();
  return (repository) => {
    const key = repository.toLowerCase();
    const { mirror, journal, journalBranch } = repos.get(key)?.context ?? {};
    if (mirror === undefined || journal === undefined || journalBranch === undefined || journal.head() === undefined) {
      const place = repos.placeOf(key);
      const isThere = place !== undefined && views.of(key)?.journalHead !== undefined;
      if (isThere) return ofOthers(place, () => views.of(key)?.journalHead);
    }
    if (mirror === undefined || journal === undefined || journalBranch === undefined) return undefined;
    const known = readers.get(journal);
    if (known !== undefined) return known;
    const reader = openJournalReader(mirror, async () => {
      const head = journal.head();
      // GitHub makes the commits of the journal: what was just recorded may not lie here yet.
      if (head !== undefined && (await mirror.commitInfo(head)) === undefined) await mirror.fetch([journalBranch]);
      return head;
    });
    readers.set(journal, reader);
    return reader;
  };
}

/** A run that is shown nowhere is one that somebody has to look at. */
function brokenTo(log: Log): NonNullable<WebSource["onBroken"]> {
  return (repository, error) =>
    log.error({ repository, ...whole(error) }, "a run that cannot be drawn; please report it. The others are shown");
}

function faultTo(log: Log): NonNullable<WebSource["onFault"]> {
  return (error) => log.error(whole(error), "a request of the page or the API failed; please report it");
}

interface Shown extends Pick<WebSource, "publicUrl" | "anonymous" | "visitor"> {
  app: { baseUrl?: string | undefined };
  directory: string;
  limits?: MirrorLimits | undefined;
  clock: CheckedClock;
  breakers: Breakers;
  log: Log;
}

/** What is and what was, what is read of comments, who may see it, and as whom they comment. */
export function shownOf(
  { repos, views, ...github }: Pick<ShownJournalsOptions, "octokit" | "room"> & { repos: Repos; views: SharedViews },
  { publicUrl, anonymous, visitor, app: { baseUrl }, directory, limits, clock, breakers, log }: Shown,
) {
  const asked = { sightOf: openTokenSight(baseUrl), loginOf: openTokenLogin(baseUrl) };
  const commentAs = { ...openCommentAs(baseUrl, hostFetch(clock, breakers, fetch)), textOf: commandText };
  const journal = journalOf(repos, views, openShownJournals({ ...github, directory, limits, breakers, clock }));
  const now = {
    runs: () => views.all().flatMap(({ repository, runs }) => runs.map((one) => ({ repository, ...one }))),
    standing: () => views.all().filter(({ attention, refused }) => attention.length + refused.length > 0),
    repositories: () => views.all(),
    ...{ heard: heardOf(views), journal, look: views.look },
  };
  return { ...asked, ...now, publicUrl, anonymous, visitor, commentAs, onBroken: brokenTo(log), onFault: faultTo(log) };
}

// The journals of repositories that another replica looks after, as history: each in a mirror of its branch alone, which is opened when
// somebody looks, and never written to.

const MOST_OPEN = 100;
/** A commit that was not there is not looked for again within so long. */
const MISSING_MS = 30_000;

interface ShownJournalsOptions {
  octokit(installationId: number): Promise<ProbotOctokit>;
  directory: string;
  limits?: MirrorLimits | undefined;
  room?: MirrorRoom | undefined;
  breakers: Breakers;
  clock: Clock;
}

/** `head`: the commit that its owner goes by; undefined: there is no journal. */
function openShownJournals(options: ShownJournalsOptions) {
  const readers = new BoundedMap<string, { place: InstalledRepo; reader: JournalReader }>(MOST_OPEN);
  return function journalOf(place: InstalledRepo, head: () => string | undefined): JournalReader {
    const known = readers.get(place.fullName);
    if (known?.place === place) return known.reader;
    const reader = openOne(place, options, head);
    readers.set(place.fullName, { place, reader });
    return reader;
  };
}

function openOne(place: InstalledRepo, options: ShownJournalsOptions, head: () => string | undefined) {
  const { octokit, limits, room, breakers, clock } = options;
  const directory = historyDirectory(options.directory, place.fullName);
  const credentials = async () =>
    await openGitHubForge({ octokit: await octokit(place.installationId), repository: place.fullName }).gitCredentials();
  const mirror = idleMirror(
    () => openMirror(defined({ directory, url: place.cloneUrl, limits, breakers, credentials })),
    clock,
    room && { directory, room },
  );
  let missing: { commit: string; until: number } | undefined;
  return openJournalReader(mirror, async () => {
    const commit = head();
    if (commit === undefined || (await mirror.commitInfo(commit)) !== undefined) return commit;
    const isLate = missing?.commit === commit && clock.now() < missing.until;
    if (!isLate) await mirror.fetch([JOURNAL_BRANCH]);
    if (!isLate && (await mirror.commitInfo(commit)) !== undefined) return commit;
    if (!isLate) missing = { commit, until: clock.now() + MISSING_MS };
    throw new GitError("NotFound", `the journal's branch has no commit ${commit}`);
  });
}
