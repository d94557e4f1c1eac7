import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import type { Time } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Refused } from "../../../core/report/model/refused.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { type FoundRelease, sameRelease } from "../../config-repo/releases.ts";

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

/** `refusedAt`: since when nothing began from it. */
export function begunReason(values: Readonly<Record<string, string>>, refusedAt: Time | undefined) {
  return refusedAt === undefined ? engineReason("RUN_BEGUN", { values }) : engineReason("RUN_BEGUN_LATE", { values, since: refusedAt });
}
