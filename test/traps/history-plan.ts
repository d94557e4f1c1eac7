import type { Change, LivenessInput } from "../../src/core/argocd/liveness/types.ts";
import type { Random } from "../../src/simulate/generate/random.ts";

export type Raw = Record<string, unknown>;
export type Manifests = "old" | "new";
export type Health = "Healthy" | "Progressing" | "Degraded" | "Suspended";

/** It never comes. */
export const EVER = Number.POSITIVE_INFINITY;

/** One second after the other, as Argo CD's controllers and a workload live through them. Seconds count from the merge. */
export interface History {
  seed: number;
  change: Change;
  /** What the API server holds from `at` on. */
  writes: { at: number; raw: Raw | null }[];
  /** The first second in which the change truly ran and was healthy, for as long as it was. Infinity: it never was. */
  liveFrom: number;
  /** The first second in which something was truly wrong. */
  badFrom: number;
  /** Nothing goes wrong in it, so it must come out as live. */
  calm: boolean;
  intended: NonNullable<LivenessInput["intended"]>;
  ancestry: NonNullable<LivenessInput["ancestry"]>;
  connection(second: number): "Successful" | "Failed";
  /** What stands beside the manifests on the synced branch. */
  hydrated: NonNullable<LivenessInput["hydrated"]>;
}

/** What a history is drawn with: what changes, who is late or away, and what fails. */
export interface Plan {
  /** hydrated: a commit in a dry source. dry: the ApplicationSet changes that dry source itself. */
  kind: "commit" | "revision" | "generator" | "hydrated" | "dry";
  /** The commit changes no manifest of this Application. */
  noop: boolean;
  /** The cluster's clock, in seconds ahead of everybody else's. */
  skew: number;
  setLag: number;
  cacheAge: number;
  laterAt: number;
  webhook: boolean;
  /** After apply: healthy for a moment, then on the way, then this. */
  flash: number;
  starting: number;
  outcome: Health;
  mends: number;
  tries: ("ok" | "fails")[];
  hook: number;
  /** That hook fails, after everything was applied. */
  hookFails: boolean;
  /** When the last sync before had failed, for something else. */
  failedAt: number | undefined;
  hydrationFails: number;
  notes: boolean;
  cutOff: number;
  /** Argo CD notices only some time after, but sooner than a target settles: later than that nothing could tell. */
  noticed: number;
  /** It is cut off in the very moment of the apply, while everything still looks healthy. */
  cutAtApply: boolean;
  /** No automated sync begins before. */
  windowOpens: number;
  deletedAt: number;
  away: [number, number];
}

export function planOf(dice: Random): Plan {
  const kind = dice.pick(["commit", "commit", "revision", "generator", "hydrated", "dry"] as const);
  const away = dice.chance(0.2) ? dice.int(-60, 120) : EVER;
  const cutAtApply = dice.chance(0.08);
  const cutOff = dice.chance(0.06) ? dice.int(-100, 200) : EVER;
  const hydrated = kind === "hydrated" || kind === "dry";
  return {
    kind,
    noop: (kind === "commit" || kind === "hydrated") && dice.chance(0.2),
    skew: dice.chance(0.4) ? (dice.chance(0.3) ? dice.int(-200, 200) : dice.int(-40, 40)) : 0,
    setLag: dice.int(1, 180),
    cacheAge: dice.chance(0.4) ? dice.int(1, 120) : 0,
    laterAt: dice.chance(0.3) ? dice.int(5, 200) : EVER,
    webhook: dice.chance(0.5),
    flash: cutAtApply || dice.chance(0.4) ? dice.int(1, 4) : 0,
    starting: dice.int(0, 100),
    outcome: dice.chance(0.8) ? "Healthy" : dice.pick(["Degraded", "Suspended", "Progressing"] as const),
    mends: dice.chance(0.5) ? dice.int(20, 150) : EVER,
    tries: dice.chance(0.8)
      ? ["ok"]
      : dice.pick([
          ["fails", "ok"],
          ["fails", "fails", "ok"],
          ["fails", "fails", "fails"],
        ] as ("ok" | "fails")[][]),
    hook: dice.chance(0.3) ? dice.int(5, 60) : 0,
    hookFails: dice.chance(0.15),
    failedAt: dice.chance(0.15) ? (hydrated ? -1000 : dice.int(-1000, -1)) : undefined,
    hydrationFails: dice.chance(0.15) ? dice.int(1, 3) : 0,
    notes: dice.chance(0.5),
    cutOff,
    noticed: cutOff + dice.int(0, 8),
    cutAtApply,
    windowOpens: dice.chance(0.15) ? dice.int(0, 250) : -EVER,
    deletedAt: dice.chance(0.08) ? dice.int(0, 150) : EVER,
    away: [away, away + dice.int(20, 200)],
  };
}

export function isCalm(plan: Plan): boolean {
  const well = plan.outcome === "Healthy" || plan.mends <= 150;
  const hook = plan.hook === 0 || !plan.hookFails;
  return (
    well &&
    hook &&
    // What changes no manifest is never written to the branch, so nothing can prove it.
    !(plan.kind === "hydrated" && plan.noop) &&
    plan.tries.at(-1) === "ok" &&
    plan.hydrationFails < 2 &&
    !plan.cutAtApply &&
    plan.cutOff === EVER &&
    plan.deletedAt === EVER
  );
}
