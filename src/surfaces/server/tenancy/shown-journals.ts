/**
 * The journals of repositories that another replica looks after, as history: each in a mirror of its branch alone, which is opened when somebody
 * looks, and never written to. Called by `shown-repos.ts`.
 */
import type { ProbotOctokit } from "probot";
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { JournalReader } from "../../../adapters/git/journal/port.ts";
import { openJournalReader } from "../../../adapters/git/journal/reader.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import { GitError, type MirrorLimits } from "../../../adapters/git/port.ts";
import type { Breakers } from "../../../adapters/outbound/breaker.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import { historyDirectory, idleMirror } from "./idle-mirror.ts";
import type { InstalledRepo } from "./installed-repos.ts";
import type { MirrorRoom } from "./mirror-room.ts";

const MOST_OPEN = 100;
/** A commit that was not there is not looked for again within so long. */
const MISSING_MS = 30_000;

export interface ShownJournalsOptions {
  octokit(installationId: number): Promise<ProbotOctokit>;
  directory: string;
  limits?: MirrorLimits | undefined;
  room?: MirrorRoom | undefined;
  breakers: Breakers;
  clock: Clock;
}

/** `head`: the commit that its owner goes by; undefined: there is no journal. */
export function openShownJournals(options: ShownJournalsOptions) {
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
