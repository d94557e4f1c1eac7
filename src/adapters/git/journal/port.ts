import type { AnyReason } from "../../../core/base/reason.ts";
import type { Time } from "../../../core/base/time.ts";
import type { JournalFileFault, JournalReason } from "../../../core/reasons/journal.ts";
import type { Run } from "../../../core/run/state/run.ts";

/** The journal branch (docs/spec.md §8, §9.23): the state of all runs of a repo. */
export interface Journal {
  /**
   * Fetches and reads; cheap where the head has not moved. `remote`: the branch's head on the remote, where the caller has
   * just asked for it; undefined as its head: the branch is not there.
   */
  read(remote?: { head: string | undefined }): Promise<JournalState>;
  /**
   * Records what changed in one commit, with compare-and-swap against the head of the last read.
   * `lost`: another replica was faster; read again and decide anew. Writes only the files that differ.
   */
  record(change: JournalChange): Promise<"recorded" | "lost">;
  /** The commit that was last read or recorded here; undefined: there is no journal, or nobody looked. */
  head(): string | undefined;
  /** Anchors what was last recorded. Nothing is lost where that fails: the anchor then lags behind. */
  anchor(): Promise<void>;
  /** Says whether what is anchored now lies at or below the head; where not, the next read says what is wrong. */
  isAnchored(): Promise<boolean>;
}

/** The newest head that is known outside of the reach of those who write to the repository. */
export interface Anchored {
  sequence: number;
  head: string;
}

/** Keeps it. It may lag behind the journal, and is never ahead of it: a head is anchored once it is on the branch. */
export interface Anchor {
  /** undefined: nothing is anchored, or it cannot be here. `afresh`: another process may have written. */
  read(options?: { afresh?: boolean }): Promise<Anchored | undefined>;
  write(anchored: Anchored): Promise<void>;
}

/** A run whose files cannot be used. */
export interface Broken {
  run: number;
  file: string;
  why: string | JournalFileFault;
}

/** What stands on the branch, or did, and why it is not taken for ours. */
export interface Suspicion {
  commit: string;
  why: JournalReason;
}

export interface JournalState {
  /** undefined: the branch does not exist yet. */
  head: string | undefined;
  index: ReadonlyMap<string, IndexEntry>;
  /** The last run of each rollout. */
  runs: ReadonlyMap<string, Run>;
  /** Runs that cannot be read: by hand broken, unknown format. Each stops alone. */
  broken: ReadonlyMap<string, Broken>;
  /** A foreign commit or a rewritten branch: every run of the repo stops until it is accepted. */
  tampered?: Suspicion;
}

export interface IndexEntry {
  /** Number of the last run; 0: none yet. */
  lastRun: number;
  /** Release values as adopted or last run. */
  lastRelease: Record<string, string>;
  attempt: number;
  /** A release that was merged while a run was in progress, under `onNewRelease: Reject`. `/retry` on its PR starts it. */
  rejected?: { values: Record<string, string>; attempt: number; commit: string; pull?: number | undefined; at: Time } | undefined;
  /** A release that was merged though no run can start from it: why, until one does or it is taken back. */
  refused?: RefusedEntry | undefined;
  /** First-parent commit of the base up to which releases were looked for. */
  cursor: string;
}

interface RefusedEntry {
  values: Record<string, string>;
  attempt: number;
  commit: string;
  pull?: number | undefined;
  at: Time;
  /** As they were then; more than ten are left out. */
  problems: readonly AnyReason[];
}

/** An open PR of a run. */
export interface Trace {
  pull: number;
  rollout: string;
  run: number;
}

export interface JournalChange {
  index?: ReadonlyMap<string, IndexEntry>;
  runs: readonly Run[];
  /** In words: `payments #42: batch 3 of 9 merged`. */
  subject: string;
  trailers: Record<string, string>;
  at: number;
}

export interface ListedRun {
  number: number;
  phase: string;
  /** Empty: it cannot be read. */
  startedAt: Time;
  endedAt?: Time;
  release: string;
}

/** With when something of it was recorded, in epoch milliseconds and in order. */
export interface RecordedRun extends ListedRun {
  rollout: string;
  recorded: readonly number[];
}

/** The journal as it was at a time. */
interface JournalThen {
  commit: string;
  /** Of each rollout the last run that had begun. */
  runs: ReadonlyMap<string, Run>;
  broken: ReadonlyMap<string, Broken>;
}

/** For `list`, `get`, `history` and the dashboard: any run, from the journal alone. */
export interface JournalReader {
  runs(rollout: string): Promise<ListedRun[]>;
  run(rollout: string, number: number): Promise<Run | undefined>;
  /** Commits that touched this run, oldest first. */
  log(rollout: string, number: number): Promise<{ sha: string; at: Time; subject: string; trailers: Record<string, string> }[]>;
  /**
   * The journal as it was at a time, in epoch milliseconds; undefined: nothing of then is known. `only`: of this rollout alone, or of one run
   * of it.
   */
  stateAt(time: number, only?: { rollout: string; number?: number | undefined }): Promise<JournalThen | undefined>;
  /** Runs, of one rollout or all, that began next to a time, so many before and as many after it, in order; each as it ended or stands. */
  runsAround(time: number, most: number, rollout?: string): Promise<RecordedRun[]>;
}
