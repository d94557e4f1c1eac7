import type { WindowOwner } from "../refs.ts";

export type CronField = "minute" | "hour" | "day" | "month" | "weekday";

/** `Value`: it is none of the field. `Range`: it runs backwards. `Part`: anything else. `near`: what was likely meant, or says the same. */
export interface ScheduleFault {
  fault: "Value" | "Range" | "Part";
  field: CronField;
  given: string;
  near?: string | undefined;
}

/** Windows, bakes, hooks and steps of a rollout that no run could go by. */
export interface PaceProblems {
  BAD_WINDOW: { fault: "Fields" | "Schedule" } | { fault: "Zone"; zone: string } | ScheduleFault;
  /** `Shut`, `Apart`: of a release PR, with the freezes of the repo and of the server. */
  WINDOW_NEVER_OPENS:
    | { kind: "Alone" }
    | { kind: "Together"; whose: readonly WindowOwner[]; settings: string }
    | { kind: "Shut" | "Apart"; whose: readonly WindowOwner[] };
  LONG_BAKE: { bake: string };
  HOOK_URL: { fault: "NoAddress" | "Credentials" };
  HOOK_TIMEOUT: { given: string };
  STEP_KIND: { used: readonly string[] };
  STEP_WEIGHT: { kind: "None" | "WaitFirst"; stage: string } | { kind: "NotMore"; weight: number; before: number };
  STEPS_BATCHING: { kind: "Rolling" | "Commit"; stage: string };
  WEIGHT_PINS:
    | { kind: "Missing"; stage: string }
    | { kind: "NoSteps" | "NoReplicas" | "UnusedReplicas" | "SameAlways" }
    | { kind: "Twin"; pin: number };
  /** Named by notifications, a window, a freeze or a limit. `own`: by the rollout itself. */
  UNKNOWN_STAGE: { name: string; known: readonly string[]; near?: string | undefined; own?: true };
}
