import type { Time } from "../../base/time.ts";

/** What `/promote` ends. pull: an open pull request that wants an approval, or somebody to have it merged. */
export interface PromotableWait {
  kind: "bake" | "step" | "pull";
  batch: number;
  since: Time;
}

/** A wait of which people could read on the run's page, from when and until when: GitHub's times of the edits. */
export interface ShownWait extends PromotableWait {
  shownAt: Time;
  overAt?: Time | undefined;
}
