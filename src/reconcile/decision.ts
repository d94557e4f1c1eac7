import type { Run } from "../rollout/run.ts";
import type { Advanced, World } from "../rollout/world.ts";

/** What one round found out about one run, and what it decided. */
export interface Decision {
  /** See ActScope. */
  decidedAt: number;
  now: number;
  before: Run;
  world: World;
  advanced: Advanced<Run>;
  /** A bug of ours kept it from being judged. */
  stoodStill?: true;
}
