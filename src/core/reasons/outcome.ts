import type { AnyReason } from "../base/reason.ts";
import type { CheckRef } from "./refs.ts";

/** How a run came out, and what failures do to it. Clusters are keys. */
export interface OutcomeReasons {
  /** Every stage is through. `failed`: tolerated, unless the phase says otherwise. */
  RUN_THROUGH: {
    phase: "Succeeded" | "RolledBack" | "Failed";
    checks: readonly CheckRef[];
    failed: readonly string[];
    skipped: readonly string[];
    quarantined: readonly string[];
  };
  RUN_ENDED: { phase: string; because: AnyReason };
  TOO_MANY_FAILED: { clusters: readonly string[]; most: number; because: AnyReason };
  WAITED_TOO_LONG: { cluster: string; forMs: number; because: AnyReason };
  RUN_ROLLED_BACK: { because: AnyReason };
  /** cannot: why it is not rolled back. */
  ROLLBACK_IMPOSSIBLE: { because: AnyReason; cannot: AnyReason };

  ROLLBACK_OF_BRANCHES: Record<never, never>;
  /** moved: it has moved clusters, and none can be put back. */
  ROLLBACK_OF_NOTHING: { moved: boolean };
  /** `--to` of a release of several values names none of them. */
  ROLLBACK_VALUE: { given: string; known: readonly string[]; near?: string | undefined };
  PIN_NOT_PLAIN: { file: string; path: string };
  /** `changed`: it could be taken away, but that somebody has changed what stands around it. */
  PIN_MADE_BY_RUN: { file: string; path: string; changed?: true | undefined };

  /** `last`: it can be put back, to be tried last. */
  ASK_FAILED: { cluster: string; last?: true | undefined };
  ASK_WAITED: { cluster: string };
  ASK_ACCEPT_FAILURES: Record<never, never>;
  /** What may be done besides what is asked: so many clusters have moved. */
  WAY_BACK: { clusters: number; branches?: true };
}
