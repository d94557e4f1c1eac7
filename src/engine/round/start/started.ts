import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { defined } from "../../../core/base/defined.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { iso, type Time } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Refused } from "../../../core/report/model/refused.ts";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { type FoundRelease, sameRelease } from "../../config-repo/releases.ts";
import type { RepoContext } from "../context.ts";

/** What starting the run of one rollout came to. */
export interface StartedRun {
  entry?: IndexEntry;
  /** New or superseded, to be recorded. */
  run?: Run;
  /** For the journal; `run`: number of the one it is about. */
  events: readonly { run?: number; reason: AnyReason }[];
  /** Why a release cannot start yet, shown on its PR. */
  refused?: Refused<Problem>;
  /** Said on the PR of a release that starts no run now. */
  notice?: { pull: number; body: string } | undefined;
  /** Look again soon although nothing was recorded. */
  waiting: boolean;
  /** Nor is it known whether something can start: what was said of it stands. */
  isUnsure?: true;
}

export interface Started extends StartedRun {
  rollout: string;
}

export const NOTHING: StartedRun = { events: [], waiting: false };

/** Of problems that are recorded: the PR's comment has them all. */
const MOST_PROBLEMS = 10;

/** There is no release any more that could be refused: it was taken back. */
export function saysNothing({ entry, run, refused, waiting }: StartedRun): boolean {
  return entry === undefined && run === undefined && refused === undefined && !waiting;
}

export function withoutRefused({ refused: _, ...entry }: IndexEntry): IndexEntry {
  return entry;
}

/** It is this very release, of this commit, that the journal has as refused. */
export function wasRefused({ refused }: IndexEntry, { release, commit }: Pick<FoundRelease, "release" | "commit">): boolean {
  return refused !== undefined && sameRelease(release, refused) && refused.commit === commit.sha;
}

/** What lasts is recorded, so that whoever looks at the journal sees it, and what comes of it is said. */
export function refusedBy(
  { clock, log, repository }: Pick<RepoContext, "clock" | "log" | "repository">,
  { rollout, entry }: { rollout: Rollout; entry: IndexEntry },
  { release, commit }: FoundRelease,
  pull: number | undefined,
  { problems, retry }: { problems: readonly Problem[]; retry: boolean },
): StartedRun {
  const { values, attempt } = release;
  const known = wasRefused(entry, { release, commit }) ? entry.refused : undefined;
  const at = known?.at ?? iso(clock.now());
  const shown = { ...NOTHING, waiting: retry, refused: { values, commit: commit.sha, pull, at: retry ? known?.at : at, problems } };
  const same = JSON.stringify(known?.problems) === JSON.stringify(problems.slice(0, MOST_PROBLEMS));
  if (retry || same) return shown;
  const said = problems.map((one) => sayProblem(one).message);
  const fields = { repository, rollout: rollout.name, commit: commit.sha, pull, problems: said };
  log.warn(fields, "a release was merged, and no run starts from it");
  const recorded = problems.slice(0, MOST_PROBLEMS).map((one) => ({ ...one }));
  const kept = defined({ values, attempt, commit: commit.sha, pull, at, problems: recorded });
  const events = [{ reason: engineReason("RELEASE_REFUSED", { values, count: problems.length }) }];
  return { ...shown, entry: { ...entry, refused: kept }, events };
}

/** `refusedAt`: since when nothing began from it. */
export function begunReason(values: Readonly<Record<string, string>>, refusedAt: Time | undefined) {
  return refusedAt === undefined ? engineReason("RUN_BEGUN", { values }) : engineReason("RUN_BEGUN_LATE", { values, since: refusedAt });
}
