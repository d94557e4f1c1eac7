/**
 * The actions on Argo Rollouts of one repo: writes to Argo CD, as syncs are.
 *
 * Each Rollout is read again right before, so that one which was moved already, by a try that broke off or by a person, is not moved
 * twice. A refusal for want of a right ends the order where nothing was done yet: lockstep is all or none.
 */
import type { ActionOffer, ActionOutcome } from "../../../adapters/argocd/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { errorText } from "../../../core/base/error-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { epoch } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { said } from "../../../core/reasons/run.ts";
import { actionKey } from "../../../core/run/commands/rollouts.ts";
import { hasMoved } from "../../../core/run/commands/rollouts-lockstep.ts";
import type { OrderedRollout, RolloutOrder, RolloutOutcome, RolloutState, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { fewAtOnce } from "../few-at-once.ts";
import { type RolloutReader, whyNotAct } from "../observe/rollouts-seen.ts";

/** An order lapses 2 minutes after it was journalled; nothing of it is begun this late. */
const BEGINS_BY_MS = 90_000;
/** What failed for a reason that may pass is tried so often. */
const MOST_TRIES = 3;
/** Of one control plane and all others. */
const MOST_AT_ONCE = 8;
const MOST_KEPT = 200;

interface Tried {
  outcomes: Map<string, RolloutOutcome>;
  tries: Map<string, number>;
  /** Argo CD offered the action for every one of them. */
  checked: boolean;
  checks: number;
}

interface Refusal {
  kind: Exclude<ActionOffer["kind"], "offered">;
  why: AnyReason;
}

export interface RolloutActions {
  /** What came of the orders of a run as far as this process has tried them. */
  outcomes(run: Run): Map<string, ReadonlyMap<string, RolloutOutcome>>;
  /** Tries the actions of one order that have no outcome yet. False: some are to be tried again. */
  run(run: Run, command: string): Promise<boolean>;
}

interface Deps extends Pick<RepoContext, "planes" | "log"> {
  reader: RolloutReader;
}

export function openRolloutActions(
  { planes, clock, log }: Pick<RepoContext, "planes" | "clock" | "log">,
  reader: RolloutReader,
): RolloutActions {
  const orders = new BoundedMap<string, Tried>(MOST_KEPT);
  const deps = { planes, log, reader };

  return {
    outcomes(run) {
      const commands = (run.rolloutOrders ?? []).map(({ command }) => command);
      return new Map(commands.flatMap((command) => (orders.has(command) ? [[command, orders.get(command)?.outcomes ?? new Map()]] : [])));
    },
    async run(run, command) {
      const order = run.rolloutOrders?.find((one) => one.command === command);
      if (order === undefined || clock.now() >= epoch(order.at) + BEGINS_BY_MS) return true;
      const tried = orders.get(command) ?? { outcomes: new Map(), tries: new Map(), checked: false, checks: 0 };
      orders.set(command, tried);
      if (await mayBegin(deps, order, tried)) await tryAll(deps, run, order, tried);
      return order.rollouts.every((one) => one.outcome !== undefined || tried.outcomes.has(actionKey(one)));
    },
  };
}

function placeOf({ target }: OrderedRollout): { plane: string; namespace: string; name: string } {
  const [plane = "", namespace = "", name = ""] = target.split("/");
  return { plane, namespace, name };
}

function stateIn(seen: readonly RolloutState[], { namespace, name }: OrderedRollout): RolloutState | undefined {
  return seen.find((one) => one.namespace === namespace && one.name === name);
}

function unreadable(rollout: OrderedRollout): { kind: "failed"; why: AnyReason } {
  const { plane, name } = placeOf(rollout);
  return { kind: "failed", why: engineReason("ROLLOUTS_UNREADABLE", { application: name, plane, how: "now" }) };
}

async function attempt(run: () => Promise<ActionOutcome>): Promise<ActionOutcome> {
  try {
    return await run();
  } catch (error) {
    return { kind: "failed", why: said(errorText(error)) };
  }
}

function nothingDone(order: RolloutOrder, tried: Tried): boolean {
  const before = order.rollouts.some((one) => one.outcome?.kind === "done");
  return !before && ![...tried.outcomes.values()].some((outcome) => outcome.kind === "done");
}

function giveUp(order: RolloutOrder, tried: Tried, { kind, why }: Refusal): void {
  for (const rollout of order.rollouts) {
    const key = actionKey(rollout);
    if (rollout.outcome === undefined && !tried.outcomes.has(key))
      tried.outcomes.set(key, { kind, why: engineReason("NOT_TRIED_TOGETHER", { because: why }) });
  }
}

/**
 * Whether anything may be done: where the batch moves together Argo CD is asked of every Rollout first whether it offers the action,
 * so that none is moved where one could not follow. What is a way to safety waits for nobody, and neither does what was begun.
 */
async function mayBegin(deps: Deps, order: RolloutOrder, tried: Tried): Promise<boolean> {
  const together = order.action === "resume" || order.action === "promote-full";
  if (tried.checked || !together || order.rollouts.some((one) => one.outcome !== undefined)) return true;
  let refused: Refusal | undefined;
  // One has moved already, by a try that broke off or by somebody: the others have to follow.
  let begun = false;
  await fewAtOnce(order.rollouts, MOST_AT_ONCE, async (rollout) => {
    const offer = await offerOf(deps, order, rollout);
    if (offer === "moved") begun = true;
    // What will not change by asking again says more than what may.
    else if (offer !== "offered" && (refused === undefined || refused.kind === "failed")) refused = offer;
  });
  tried.checked = refused === undefined || begun;
  if (refused === undefined || begun) return true;
  tried.checks += 1;
  const { kind } = refused as Refusal;
  if (kind !== "failed" || tried.checks >= MOST_TRIES) giveUp(order, tried, refused);
  return false;
}

/** Asks whether the action could be run on a Rollout now; nothing is written. */
async function offerOf(
  { reader, planes }: Pick<Deps, "reader" | "planes">,
  { action }: RolloutOrder,
  rollout: OrderedRollout,
): Promise<Refusal | "offered" | "moved"> {
  const { plane: planeName, namespace, name: application } = placeOf(rollout);
  const seen = await reader.now(rollout.target);
  if (seen === undefined) return unreadable(rollout);
  const now = stateIn(seen, rollout);
  if (now === undefined)
    return { kind: "notOffered", why: engineReason("ROLLOUT_GONE", { application, name: `${rollout.namespace}/${rollout.name}` }) };
  if (hasMoved(action, rollout, now)) return "moved";
  const plane = planes.get(planeName);
  const cannot = plane === undefined ? engineReason("PLANE_MISSING", { plane: planeName }) : whyNotAct(plane);
  if (cannot !== undefined) return { kind: "forbidden", why: cannot };
  try {
    const offer = await plane?.offersAction?.(
      { namespace, name: application },
      { namespace: rollout.namespace, name: rollout.name },
      action,
    );
    if (offer === undefined || offer.kind === "offered") return "offered";
    return { kind: offer.kind, why: engineReason("SAID_OF", { application, because: offer.why }) };
  } catch (error) {
    return { kind: "failed", why: said(errorText(error).slice(0, 300)) };
  }
}

async function tryAll(deps: Deps, run: Run, order: RolloutOrder, tried: Tried): Promise<void> {
  const { reader, log } = deps;
  for (const rollout of order.rollouts) {
    const key = actionKey(rollout);
    if (rollout.outcome !== undefined || tried.outcomes.has(key)) continue;
    const outcome = await tryOne(deps, order, rollout);
    reader.forget(rollout.target);
    const { action, actor: by } = order;
    log.info({ rollout: run.rollout, action, by, of: key, outcome: outcome.kind }, "acted on an Argo Rollout");
    const tries = (tried.tries.get(key) ?? 0) + 1;
    tried.tries.set(key, tries);
    if (outcome.kind === "failed" && tries < MOST_TRIES) continue;
    tried.outcomes.set(key, outcome);
    if (outcome.kind !== "forbidden" || outcome.why === undefined || !nothingDone(order, tried)) continue;
    giveUp(order, tried, { kind: "forbidden", why: outcome.why });
    return;
  }
}

async function tryOne(deps: Deps, { action }: RolloutOrder, rollout: OrderedRollout): Promise<RolloutOutcome> {
  const { planes } = deps;
  const { plane: planeName, namespace, name } = placeOf(rollout);
  const plane = planes.get(planeName);
  const moved = await hasBeen(deps, action, rollout);
  if (moved === undefined) return unreadable(rollout);
  if (moved) return { kind: "done" };
  if (plane?.runAction === undefined)
    return {
      kind: "forbidden",
      why:
        plane === undefined
          ? engineReason("PLANE_MISSING", { plane: planeName })
          : engineReason("ACTIONS_NOT_ALLOWED", { plane: planeName }),
    };
  const runAction = plane.runAction.bind(plane);
  const outcome = await attempt(() => runAction({ namespace, name }, { namespace: rollout.namespace, name: rollout.name }, action));
  if (outcome.kind === "done") return { kind: "done" };
  // Not offered any more, or no answer: somebody may have been faster, or it was done all the same.
  if (outcome.kind !== "forbidden" && (await hasBeen(deps, action, rollout)) === true) return { kind: "done" };
  return { kind: outcome.kind, why: outcome.why };
}

/** undefined: cannot be told. A Rollout that is gone has nothing left to move. */
async function hasBeen(
  { reader }: Pick<Deps, "reader">,
  action: RolloutOrder["action"],
  rollout: OrderedRollout,
): Promise<boolean | undefined> {
  const seen = await reader.now(rollout.target);
  const now = seen && stateIn(seen, rollout);
  return seen && now !== undefined && hasMoved(action, rollout, now);
}
