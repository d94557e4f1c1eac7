/** What is shown of the repositories that are served: their runs, and what stands still in them. */
import type { Journal, JournalReader } from "../../../adapters/git/journal/port.ts";
import { openJournalReader } from "../../../adapters/git/journal/reader.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Standing, WebSource } from "../../web/source.ts";
import { whole } from "../deliveries/uncaught.ts";
import type { Repos } from "./repos.ts";

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

/** The journal of a repository as history, where it was opened already: as of the last round. One object as long as it stays open. */
export function journalOf(repos: Repos): NonNullable<WebSource["journal"]> {
  const readers = new WeakMap<Journal, JournalReader>();
  return (repository) => {
    const { mirror, journal, journalBranch } = repos.get(repository.toLowerCase())?.context ?? {};
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
export function brokenTo(log: Log): NonNullable<WebSource["onBroken"]> {
  return (repository, error) =>
    log.error({ repository, ...whole(error) }, "a run that cannot be drawn; please report it. The others are shown");
}
