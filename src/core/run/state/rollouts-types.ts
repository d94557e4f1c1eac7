import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";

/** An Argo Rollout as `kubectl argo rollouts get rollout` shows it. */
export interface RolloutState {
  namespace: string;
  name: string;
  phase: string;
  message: string;
  paused: boolean;
  /** From 0; the step under way. */
  step?: number | undefined;
  steps?: number | undefined;
  setWeight?: number | undefined;
  actualWeight?: number | undefined;
  stableImages: string[];
  canaryImages: string[];
  replicas: { desired: number; updated: number; ready: number; available: number };
}

export type RolloutAction = "resume" | "promote-full" | "abort" | "retry";

/** `notOffered`: Argo CD does not offer it now. */
export interface RolloutOutcome {
  kind: "done" | "notOffered" | "forbidden" | "failed";
  why?: AnyReason | undefined;
}

/** `/promote --rollouts` and the like: journalled before Argo CD is asked for anything, answered once every outcome is known. */
export interface RolloutOrder {
  /** Id of the command. */
  command: string;
  text: string;
  actor: string;
  at: Time;
  action: RolloutAction;
  /** What the command did besides, told with the answer. */
  also?: AnyReason | undefined;
  /** Rollouts that are left alone, and why, told with the answer. */
  left: AnyReason[];
  rollouts: OrderedRollout[];
}

/** A Rollout as it was when the order was given: one that is not so any more has been moved already. */
export interface OrderedRollout {
  /** Key of its target. */
  target: string;
  namespace: string;
  name: string;
  step?: number | undefined;
  outcome?: RolloutOutcome | undefined;
}
