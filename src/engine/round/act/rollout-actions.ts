import type { ActionOutcome } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { epoch } from "../../../core/base/time.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { actionKey } from "../../../core/run/commands/rollouts.ts";
import { hasMoved } from "../../../core/run/commands/rollouts-lockstep.ts";
import type { OrderedRollout, RolloutOrder, RolloutOutcome, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { checkOffers } from "../observe/rollout-offers.ts";
import { type RolloutReader, rolloutsNow, whyNotAct } from "../observe/rollouts-seen.ts";

/** An order lapses 2 minutes after it was journalled; nothing of it is begun this late. */
const BEGINS_BY_MS = 90_000;
/** What failed for a reason that may pass is tried so often. */
const MOST_TRIES = 3;

interface Tried {
  outcomes: Map<string, RolloutOutcome>;
  tries: Map<string, number>;
  /** Argo CD offered the action for every one of them. */
  checked: boolean;
  checks: number;
}

/** The actions on Argo Rollouts of one repo. */
export interface RolloutActions {
  /** What came of the orders of a run as far as this process has tried them. */
  outcomes(run: Run): Map<string, ReadonlyMap<string, RolloutOutcome>>;
  /** Tries what has no outcome yet. False: some are to be tried again. */
  run(run: Run, command: string): Promise<boolean>;
}

const MOST_KEPT = 200;

export function openRolloutActions(context: RepoContext, reader: Pick<RolloutReader, "forget">): RolloutActions {
  const orders = new BoundedMap<string, Tried>(MOST_KEPT);
  return { outcomes: (run) => outcomesOf(orders, run), run: (run, command) => runRolloutActions(context, reader, orders, run, command) };
}

function outcomesOf(orders: ReadonlyMap<string, Tried>, run: Run): Map<string, ReadonlyMap<string, RolloutOutcome>> {
  const found = new Map<string, ReadonlyMap<string, RolloutOutcome>>();
  for (const { command } of run.rolloutOrders ?? []) {
    const tried = orders.get(command);
    if (tried !== undefined) found.set(command, tried.outcomes);
  }
  return found;
}

/**
 * Tries the actions of one order that have no outcome yet: the only write to Argo CD there is. Each Rollout is read again
 * right before, so that one which was moved already, by a try that broke off or by a person, is not moved twice. A refusal for want of a
 * right ends the order where nothing was done yet: lockstep is all or none. False: some are to be tried again.
 */
async function runRolloutActions(
  context: RepoContext,
  reader: Pick<RolloutReader, "forget">,
  orders: Map<string, Tried>,
  run: Run,
  command: string,
): Promise<boolean> {
  const order = run.rolloutOrders?.find((one) => one.command === command);
  if (order === undefined || context.clock.now() >= epoch(order.at) + BEGINS_BY_MS) return true;
  const tried = orders.get(command) ?? { outcomes: new Map(), tries: new Map(), checked: false, checks: 0 };
  orders.set(command, tried);
  if (!(await mayBegin(context, order, tried))) return isThrough(order, tried);
  for (const rollout of order.rollouts) {
    const key = actionKey(rollout);
    if (rollout.outcome !== undefined || tried.outcomes.has(key)) continue;
    const outcome = await tryOne(context, order, rollout);
    reader.forget(rollout.target);
    context.log.info(
      { rollout: run.rollout, action: order.action, by: order.actor, of: key, outcome: outcome.kind },
      "acted on an Argo Rollout",
    );
    const tries = (tried.tries.get(key) ?? 0) + 1;
    tried.tries.set(key, tries);
    if (outcome.kind === "failed" && tries < MOST_TRIES) continue;
    tried.outcomes.set(key, outcome);
    if (outcome.kind !== "forbidden" || !nothingDone(order, tried)) continue;
    giveUp(order, tried, outcome);
    return true;
  }
  return isThrough(order, tried);
}

function isThrough(order: RolloutOrder, tried: Tried): boolean {
  return order.rollouts.every((one) => one.outcome !== undefined || tried.outcomes.has(actionKey(one)));
}

/**
 * Whether anything may be done: where the batch moves together Argo CD is asked of every Rollout first whether it offers the action,
 * so that none is moved where one could not follow. What is a way to safety waits for nobody, and neither does what was begun.
 */
async function mayBegin(context: RepoContext, order: RolloutOrder, tried: Tried): Promise<boolean> {
  const together = order.action === "resume" || order.action === "promote-full";
  if (tried.checked || !together || order.rollouts.some((one) => one.outcome !== undefined)) return true;
  const { refused, begun } = await checkOffers(context, order);
  if (refused === undefined || begun) {
    tried.checked = true;
    return true;
  }
  tried.checks += 1;
  if (refused.kind !== "failed" || tried.checks >= MOST_TRIES) giveUp(order, tried, refused);
  return false;
}

async function tryOne(context: RepoContext, { action }: RolloutOrder, rollout: OrderedRollout): Promise<RolloutOutcome> {
  const [planeName = "", namespace = "", name = ""] = rollout.target.split("/");
  const plane = context.planes.get(planeName);
  const moved = await hasBeen(context, action, rollout);
  if (moved === undefined) return { kind: "failed", why: `its Rollouts cannot be read through control plane ${planeName} now` };
  if (moved) return { kind: "done" };
  if (plane?.runAction === undefined)
    return { kind: "forbidden", why: plane === undefined ? `there is no control plane ${planeName}` : (whyNotAct(plane) ?? "") };
  const outcome = await attempt(() => plane.runAction?.({ namespace, name }, { namespace: rollout.namespace, name: rollout.name }, action));
  // Not offered any more, or no answer: somebody may have been faster, or it was done all the same.
  if (outcome.kind !== "done" && outcome.kind !== "forbidden" && (await hasBeen(context, action, rollout)) === true)
    return { kind: "done" };
  return outcome.kind === "done" ? { kind: "done" } : { kind: outcome.kind, why: outcome.why };
}

async function attempt(run: () => Promise<ActionOutcome> | undefined): Promise<ActionOutcome> {
  try {
    return (await run()) ?? { kind: "forbidden", why: "it is not configured" };
  } catch (error) {
    return { kind: "failed", why: error instanceof Error ? error.message : String(error) };
  }
}

/** undefined: cannot be told. A Rollout that is gone has nothing left to move. */
async function hasBeen(context: RepoContext, action: RolloutOrder["action"], rollout: OrderedRollout): Promise<boolean | undefined> {
  const seen = await rolloutsNow(context, rollout.target);
  const now = seen?.find((one) => one.namespace === rollout.namespace && one.name === rollout.name);
  if (seen === undefined) return undefined;
  return now === undefined ? false : hasMoved(action, rollout, now);
}

function nothingDone(order: RolloutOrder, tried: Tried): boolean {
  const before = order.rollouts.some((one) => one.outcome?.kind === "done");
  return !before && ![...tried.outcomes.values()].some((outcome) => outcome.kind === "done");
}

function giveUp(order: RolloutOrder, tried: Tried, refused: RolloutOutcome): void {
  for (const rollout of order.rollouts) {
    const key = actionKey(rollout);
    const why = `not tried, since the batch moves together: ${sentenceOf(refused.why ?? "")}`.slice(0, 500);
    if (rollout.outcome === undefined && !tried.outcomes.has(key)) tried.outcomes.set(key, { kind: refused.kind, why });
  }
}
