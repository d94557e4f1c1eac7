import { BoundedSet } from "../../core/base/bounded.ts";
import type { PlanCheckWords } from "../../core/report/plan/plan-check.ts";
import type { Reads } from "./plan-check-reads.ts";

/** What one PR was judged to be. */
export interface Verdict {
  check: PlanCheckWords;
  /** Marker → the body that our comment is to have. */
  comments: Map<string, string>;
  /** It concerns a rollout: commands on it are for us. */
  concerns: boolean;
  /** What cannot be seen now is looked at again soon. */
  retry: boolean;
  /** It has no error any more: a comment that says so is no longer true. */
  readable: boolean;
  /** All that it does is known: a plan that is not among the comments is no longer true. */
  settled: boolean;
  reads: Reads;
}

/** What is known of one open PR. */
export interface KnownPull {
  head: string;
  bypass: boolean;
  /** Of this head, as of the first base it was seen with. */
  touched?: { files: readonly string[]; tree: string | undefined; base: string };
  verdict?: { of: Verdict; base: string; at: number };
  /** What its check last said, where it was sent. */
  check?: string;
  /** Our comments by marker, as sent; undefined: it is not known yet which there are. */
  comments?: Map<string, string>;
}

export interface Plans {
  pulls: Map<number, KnownPull>;
  /** Merge group's commit → what its check says. */
  groups: Map<string, string>;
  /** Commits of batches' PRs that have their check. */
  own: Set<string>;
}

export function noPlans(): Plans {
  return { pulls: new Map(), groups: new Map(), own: new BoundedSet(MOST_OWN) };
}

const MOST_OWN = 5000;
