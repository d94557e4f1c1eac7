import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import type { Planned } from "../../core/report/model/schema/plan.ts";
import type { PlanCheckWords } from "../../core/report/plan/plan-check.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Command } from "../../core/spec/commands.ts";
import type { Project } from "../config-repo/project.ts";
import type { Bypass } from "./bypass.ts";
import type { Reads } from "./judge-pull-reads.ts";

/** What a PR is judged against: the base, and what goes on there. */
export interface PlanBase {
  commit: string;
  branch: string;
  project: Project;
  /** Pull requests of forks are planned unasked. */
  plansForks: boolean;
  runs: ReadonlyMap<string, Run>;
  index: ReadonlyMap<string, IndexEntry>;
  journal: string | undefined;
}

/** A PR, as far as it is judged. */
export interface JudgedPull {
  number: number;
  head: string;
  /** Its head lies in another repository, or in none any more: anybody may have pushed it. */
  isFork: boolean;
  bypass: Bypass;
  touched: readonly string[];
  /** The tree that merging it gives; undefined: it conflicts. */
  tree: string | undefined;
  /** Why its head is not looked into. */
  unread?: AnyReason | undefined;
}

/** As GitHub lists it. */
export type Head = Pick<JudgedPull, "number" | "head" | "isFork">;

/** What a PR changes; `tree`: what merging it gives, unless it conflicts, or `unread` says why its head is not looked into. */
export interface Touched {
  files: readonly string[];
  tree: string | undefined;
  unread?: AnyReason | undefined;
}

/** What one PR was judged to be. */
export interface Verdict {
  check: PlanCheckWords;
  /** Marker → the body that our comment is to have. */
  comments: Map<string, string>;
  /** The same as the comments say, as data. */
  planned: Planned[];
  /** It concerns a rollout: commands on it are for us. */
  concerns: boolean;
  /** What cannot be seen now is looked at again soon. */
  retry: boolean;
  /** It has no error any more: a comment that says so is no longer true. */
  readable: boolean;
  /** All that it does is known: a plan that is not among the comments is no longer true. */
  settled: boolean;
  reads: Reads;
  /** It was not judged, for this. */
  withheld?: AnyReason | undefined;
}

/** What is known of one open PR. */
export interface KnownPull {
  head: string;
  /** As it was judged with. */
  bypass?: Bypass;
  /** Of this head, as of the first base it was seen with. */
  touched?: (Touched & { base: string }) | undefined;
  verdict?: { of: Verdict; base: string; at: number };
  /** What its check last said, where it was sent. */
  check?: string;
  /** Our comments by marker, as sent; undefined: it is not known yet which there are. */
  comments?: Map<string, string> | undefined;
}

/** A PR as of one pass. */
export interface Judged {
  number: number;
  known: KnownPull;
  commands: readonly Command[];
  /** It could not be judged, or not for good. */
  owed: boolean;
}
