import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Project } from "../config-repo/project.ts";

/** What a PR is judged against: the base, and what goes on there. */
export interface PlanBase {
  commit: string;
  branch: string;
  project: Project;
  runs: ReadonlyMap<string, Run>;
  index: ReadonlyMap<string, IndexEntry>;
  journal: string | undefined;
}

/** A PR, as far as it is judged. */
export interface JudgedPull {
  number: number;
  head: string;
  /** Labelled stagecoach/bypass. */
  bypass: boolean;
  touched: readonly string[];
  /** The tree that merging it gives; undefined: it conflicts. */
  tree: string | undefined;
}
