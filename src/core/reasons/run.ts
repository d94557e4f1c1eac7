import { type AnyReason, type ReasonsOf, reasonsOf } from "../base/reason.ts";
import type { BatchesReasons } from "./batches.ts";
import type { CheckReasons } from "./checks.ts";
import type { CommandReasons } from "./commands.ts";
import type { GatesReasons } from "./gates.ts";
import type { OutcomeReasons } from "./outcome.ts";
import type { StageReasons } from "./stages.ts";
import type { TargetReasons } from "./targets.ts";

/** Every code that a run tells of itself. */
export interface RunReasons
  extends GatesReasons,
    BatchesReasons,
    StageReasons,
    TargetReasons,
    CheckReasons,
    CommandReasons,
    OutcomeReasons {}

export type RunReason = ReasonsOf<RunReasons>;

/** Makes a reason of a run. */
export const runReason = reasonsOf<RunReasons>();

/** Makes a reason of what another program said, word for word. */
export function said(text: string): AnyReason {
  return runReason("SAID", { text });
}
