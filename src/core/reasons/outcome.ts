import type { Words } from "../base/reason.ts";
import type { CheckRef } from "./refs.ts";

/** How a run came out. */
export interface OutcomeReasons {
  /** Every stage is through. `failed`: tolerated, unless the phase says otherwise. */
  RUN_THROUGH: {
    phase: "Succeeded" | "RolledBack" | "Failed";
    checks: readonly CheckRef[];
    failed: readonly string[];
    skipped: readonly string[];
    quarantined: readonly string[];
  };
  RUN_ENDED: { phase: "Succeeded" | "RolledBack" | "Failed"; because: Words };
}
