import { FOREVER, type Script } from "../generate/scenario.ts";

export const FAULTS = ["degraded", "stuck", "unreachable", "flap"] as const;

export interface Fault {
  /** Key of the cluster; undefined: one that is drawn anew for each run. */
  cluster: string | undefined;
  kind: (typeof FAULTS)[number];
  /** From when batch number so many of the run has merged; undefined: from the cluster's own change on. */
  batch: number | undefined;
}

/** Longer than most runs. */
const DIPS = 1000;

/** What a target does under a fault, from when it begins. `healthyMs`: how long it takes to show. */
export function scriptOf(kind: Fault["kind"], showsAfterMs: number): Script {
  switch (kind) {
    case "degraded":
      return [
        { state: "Progressing", forMs: showsAfterMs },
        { state: "Degraded", forMs: FOREVER },
      ];
    case "stuck":
      return [{ state: "Progressing", forMs: FOREVER }];
    case "unreachable":
      return [{ state: "Unreachable", forMs: FOREVER }];
    case "flap":
      return [
        { state: "Progressing", forMs: showsAfterMs },
        ...Array.from({ length: DIPS }, (_, dip) =>
          dip % 2 === 0 ? { state: "Healthy" as const, forMs: 40_000 } : { state: "Degraded" as const, forMs: 30_000 },
        ),
      ];
  }
}
