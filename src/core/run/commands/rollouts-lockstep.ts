import { defined } from "../../base/defined.ts";
import type { RunReason } from "../../reasons/run.ts";
import type { OrderedRollout, RolloutAction, RolloutState } from "../state/run.ts";

export interface TargetRollouts {
  target: string;
  cluster: string;
  rollouts: readonly RolloutState[];
}

/** `go`: those the action is for. `left`: those it is not for, as they stand. `refuse`: why nothing is done at all. */
type Lockstep = { go: OrderedRollout[]; left: RunReason[] } | { refuse: RunReason };

interface Member extends TargetRollouts {
  rollout: RolloutState;
}

/**
 * On which Rollouts of a batch an action is run, so that its clusters move in lockstep. Rollouts of one name go together;
 * where every Application has just one, those do, whatever they are called.
 *
 * - `resume`: those at the lowest step, and only where every one of them is paused there. One that still works towards it
 *   holds all: they would not be at one step afterwards. Those ahead are left, so that the others catch up with them.
 * - `promote-full`: all under way, and only where none of them is aborted or degraded.
 * - `abort`, `retry`: all under way; all that are aborted or degraded. Neither waits for the others: each is a way to safety.
 */
export function lockstep(action: RolloutAction, targets: readonly TargetRollouts[]): Lockstep {
  const go: Member[] = [];
  const left: Member[] = [];
  for (const group of groups(targets)) {
    const chosen = choose(action, group);
    if ("refuse" in chosen) return chosen;
    for (const member of group) (chosen.go.includes(member) ? go : left).push(member);
  }
  if (go.length === 0) return { refuse: nothing(action, left) };
  return { go: go.map(ordered), left: left.map(stateOf) };
}

function groups(targets: readonly TargetRollouts[]): Member[][] {
  const members = targets.flatMap((one) => one.rollouts.map((rollout): Member => ({ ...one, rollout })));
  if (targets.every((one) => one.rollouts.length <= 1)) return [members];
  return [...Map.groupBy(members, ({ rollout }) => rollout.name).values()];
}

function choose(action: RolloutAction, group: readonly Member[]): { go: Member[] } | { refuse: RunReason } {
  const open = group.filter(({ rollout }) => !isComplete(rollout));
  if (action === "abort") return { go: open.filter(({ rollout }) => !isBroken(rollout)) };
  const broken = open.filter(({ rollout }) => isBroken(rollout));
  if (action === "retry") return { go: broken };
  if (action === "resume") return resumable(open);
  if (broken.length === 0) return { go: open };
  return { refuse: { code: "ROLLOUTS_BROKEN", ...list(broken) } };
}

function resumable(open: readonly Member[]): { go: Member[] } | { refuse: RunReason } {
  const lowest = Math.min(...open.map(stepOf));
  const there = open.filter((member) => stepOf(member) === lowest);
  const paused = there.filter(({ rollout }) => rollout.paused);
  if (paused.length === there.length || open.every(({ rollout }) => !rollout.paused)) return { go: paused };
  const laggards = there.filter(({ rollout }) => !rollout.paused);
  return { refuse: { code: "ROLLOUTS_BEHIND", ...list(laggards) } };
}

function stepOf({ rollout }: Member): number {
  return rollout.step ?? 0;
}

function nothing(action: RolloutAction, left: readonly Member[]): RunReason {
  const wanted = { resume: "paused", "promote-full": "under way", abort: "under way", retry: "aborted or degraded" }[action];
  return left.length === 0 ? { code: "ROLLOUTS_NONE" } : { code: "ROLLOUTS_NONE_SUCH", wanted, ...list(left) };
}

/** Nothing of it is under way any more. */
function isComplete(rollout: RolloutState): boolean {
  return rollout.phase === "Healthy" && !rollout.paused;
}

function isBroken(rollout: RolloutState): boolean {
  return rollout.phase === "Degraded" || rollout.phase === "InvalidSpec" || rollout.phase === "Error";
}

function ordered({ target, rollout }: Member): OrderedRollout {
  const { namespace, name, step } = rollout;
  return { target, namespace, name, step };
}

const MOST_TOLD = 8;

function list(members: readonly Member[]): { rollouts: RunReason[]; more: number } {
  return { rollouts: members.slice(0, MOST_TOLD).map(stateOf), more: Math.max(0, members.length - MOST_TOLD) };
}

function stateOf({ cluster, rollout: { name, phase, paused, step, steps } }: Member): RunReason {
  return defined({ code: "ROLLOUT_STATE" as const, cluster, name, phase, paused, step, steps });
}

/**
 * Whether a Rollout is past what an order wanted of it: then the action was run, perhaps by a process that ended before it
 * could say so, or somebody else did it. For `promote-full` only its end shows it.
 */
export function hasMoved(action: RolloutAction, before: Pick<OrderedRollout, "step">, now: RolloutState): boolean {
  switch (action) {
    case "resume":
      return !now.paused || now.step !== before.step;
    case "promote-full":
      return isComplete(now);
    case "abort":
      return isBroken(now);
    case "retry":
      return !isBroken(now);
  }
}
