import type { Run } from "../../core/run/state/run.ts";
import type { Advanced, World } from "../../core/run/state/world.ts";

/** What one round found out about one run, and what it decided. */
export interface Decision {
  /** See ActScope. */
  decidedAt: number;
  now: number;
  before: Run;
  world: World;
  /** What people are told of it on the run's page beside its own words. */
  remarks: readonly string[];
  advanced: Advanced<Run>;
  /** A bug of ours kept it from being judged. */
  stoodStill?: true;
}
