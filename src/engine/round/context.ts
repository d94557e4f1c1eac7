import type { AnalysisService } from "../../adapters/analysis/port.ts";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { Cell } from "../../adapters/cell/port.ts";
import type { Forge } from "../../adapters/forge/port.ts";
import type { Journal } from "../../adapters/git/journal/port.ts";
import type { CommitWriter, Mirror } from "../../adapters/git/port.ts";
import type { HookCaller } from "../../adapters/hooks/port.ts";
import type { Notifier } from "../../adapters/notify/port.ts";
import type { Clock } from "../../core/base/time.ts";
import type { PageOf } from "../../core/report/page-places.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Freeze } from "../../core/spec/windows-binding.ts";
import type { Attention } from "./attention.ts";
import type { CommandSource } from "./observe/command-source.ts";
import type { Grants } from "./observe/grants.ts";
import type { Within } from "./within.ts";

/** What one repo's rounds work with. One object lives as long as the process serves the repo. */
export interface RepoContext {
  /** `owner/name`. */
  repository: string;
  forge: Forge;
  mirror: Mirror;
  journal: Journal;
  journalBranch: string;
  /** Writes the commits of batches, as the journal's writer does its own. Absent: unsigned ones, pushed from the mirror. */
  writer?: CommitWriter | undefined;
  commands: CommandSource;
  /** Ids of the deliveries that were heard of the repo since this was asked last. */
  deliveries?: (() => readonly string[]) | undefined;
  /** Absent: the repo's loop opens its own. */
  attention?: Attention | undefined;
  /** Where the page shows its runs. Absent: nobody said where the page is. */
  page?: PageOf | undefined;
  /** By name. */
  planes: ReadonlyMap<string, ControlPlane>;
  /** Where the operator grants this repo some control planes and projects only: `planes` shows no others. */
  grants?: Grants | undefined;
  /** Windows of the server's configuration: they bind every run of every repo. */
  freezes?: readonly Freeze[] | undefined;
  /** Runs merge by themselves though others may write to the journal's branch and to those of batches: the operator has said so. */
  allowUnprotected?: boolean | undefined;
  /** Judges pull requests apart from this process. Absent: they are judged in it, as for who reads files of his own. */
  cell?: Cell | undefined;
  /** Reads and renders what takes long of what is merged. Absent: that is done in this process. */
  readingCell?: Cell | undefined;
  /** Runs analyses. Absent: none can be, and one that is wanted says so. */
  analysis?: AnalysisService | undefined;
  /** Asks hooks. Absent: none is asked, and one that is wanted says so. */
  hooks?: HookCaller | undefined;
  /** Tells people. Absent: nobody is told anything. */
  notifier?: Notifier | undefined;
  /**
   * Told of each run that was recorded, and of what the journal had of it before (`undefined`: it begins): by the one process whose commit
   * it was, and never again after a restart. Must not throw.
   */
  onRecorded?: ((before: Run | undefined, run: Run) => void) | undefined;
  /** What is done is named to the log and to traces. Absent: it is just done. */
  within?: Within | undefined;
  clock: Clock;
  log: Log;
  /** Of the commits the bot makes. */
  author: { name: string; email: string };
  /** Spells the config repo as Applications' `repoURL` may: matched after normalising. */
  repoURL: string;
}

/** Constant message, then fields; never a token (pino's shape). */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
