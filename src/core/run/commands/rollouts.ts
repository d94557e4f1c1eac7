/**
 * `--rollouts`: what people want of the Argo Rollouts of a batch. The order is journalled before Argo CD is asked for
 * anything; the shell tries it, its outcomes come back with the world, and the command is answered once all are known.
 */
import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { type RunReason, said } from "../../reasons/run.ts";
import { type Command, type CommandName, hasPermission } from "../../spec/commands.ts";
import { change, type Draft, wakeAt } from "../state/draft.ts";
import { clustersOf, liveTargets, pullRef } from "../state/names.ts";
import { type Reply, refuse, tooEarly } from "../state/reply.ts";
import type { Batch, OrderedRollout, RolloutAction, RolloutOrder, Run } from "../state/run.ts";
import { lockstep, type TargetRollouts } from "./rollouts-lockstep.ts";

/** After this an order is not tried any more: who gave it has to look again. */
export const ORDER_MS = 2 * 60_000;
const MOST_ORDERED = 1000;
const NOT_TRIED: RunReason = { code: "ROLLOUT_NOT_TRIED" };

const ACTIONS: Partial<Record<CommandName, RolloutAction>> = { resume: "resume", promote: "resume", abort: "abort", retry: "retry" };

export function wantsRollouts(command: Command): boolean {
  return command.flags.rollouts !== undefined && ACTIONS[command.name] !== undefined;
}

/** How the outcome of one Rollout of an order is found. */
export function actionKey({ target, namespace, name }: Pick<OrderedRollout, "target" | "namespace" | "name">): string {
  return `${target} ${namespace}/${name}`;
}

/** The batches whose Rollouts a command means: that of its PR, else those in flight, else the last one merged. */
export function batchesMeant(run: Run, command: Pick<Command, "batch">): Batch[] {
  const merged = run.batches.filter((batch) => batch.merged !== undefined);
  if (command.batch !== undefined) return merged.filter((batch) => batch.number === command.batch);
  const flying = merged.filter((batch) => batch.phase !== "Settled");
  return flying.length > 0 ? flying : merged.slice(-1);
}

/** Judges such a command; `also`: what it did besides. The answer comes once Argo CD has been asked. */
export function rolloutsCommand(draft: Draft, command: Command, also?: AnyReason): Reply {
  const { run } = draft;
  const full = command.name === "promote" && command.flags.full !== undefined;
  const action = full ? "promote-full" : ACTIONS[command.name];
  if (action === undefined) return refuse({ code: "NOT_OF_ROLLOUTS", command: command.name });
  if (full && !hasPermission(command.permission, "maintain")) return refuse({ code: "FULL_NEEDS_MAINTAIN", rollouts: true });
  const [first, ...others] = batchesMeant(run, command);
  if (first === undefined) return refuse({ code: "ROLLOUTS_NOT_MERGED" });
  const early = [first, ...others].find((batch) => batch.merged !== undefined && tooEarly(command, batch.merged.at));
  if (early !== undefined) return refuse({ code: "COMMAND_BEFORE_PULL", pull: pullRef(early.pull) });
  const known = gather(draft, [first, ...others], action);
  if (known === "later") return "later";
  if ("refuse" in known) return refuse(known.refuse);
  const chosen = lockstep(action, known.targets);
  if ("refuse" in chosen) return refuse(chosen.refuse);
  if (chosen.go.length > MOST_ORDERED) return refuse({ code: "ROLLOUTS_TOO_MANY", count: chosen.go.length });
  const order: RolloutOrder = {
    command: command.id,
    text: command.text,
    actor: command.actor,
    at: draft.at,
    action,
    also,
    left: [...known.left, ...chosen.left].slice(0, 20),
    rollouts: chosen.go,
  };
  const clusters = clustersOf(targetsOf(run, chosen.go));
  change(
    draft,
    { rolloutOrders: [...(run.rolloutOrders ?? []), order] },
    { code: "ROLLOUTS_ORDERED", by: command.actor, action, clusters },
  );
  draft.effects.push({ kind: "RolloutActions", command: command.id });
  wakeAt(draft, draft.now + ORDER_MS);
  return "later";
}

/** Whether this round has looked at the Rollouts a command means. */
export function rolloutsLooked(draft: Draft, command: Command): boolean {
  const targets = batchesMeant(draft.run, command).flatMap(liveTargets);
  return targets.every((target) => draft.world.targets.get(target.key)?.rollouts !== undefined);
}

type Gathered = "later" | { refuse: RunReason } | { targets: TargetRollouts[]; left: RunReason[] };

/** What is known of the Rollouts of these batches. Only `abort` goes on without those that cannot be seen or acted on. */
function gather(draft: Draft, batches: readonly Batch[], action: RolloutAction): Gathered {
  const targets: TargetRollouts[] = [];
  const left: RunReason[] = [];
  for (const target of batches.flatMap(liveTargets)) {
    const { cluster } = target;
    const looked = draft.world.targets.get(target.key)?.rollouts;
    // This round did not know yet that it would be asked for.
    if (looked === undefined) return "later";
    const cannot = looked.unseen ?? ((looked.seen?.length ?? 0) > 0 ? looked.cannotAct : undefined);
    if (cannot === undefined) targets.push({ target: target.key, cluster, rollouts: looked.seen ?? [] });
    else if (action === "abort") left.push({ code: "ROLLOUT_UNSEEN", cluster, because: cannot });
    else return { refuse: { code: "ROLLOUTS_UNSEEN", cluster, because: cannot } };
  }
  if (targets.every((one) => one.rollouts.length === 0) && left.length > 0) return { refuse: { code: "ROLLOUTS_ALL_UNSEEN", left } };
  return { targets, left };
}

function targetsOf(run: Run, rollouts: readonly OrderedRollout[]) {
  const keys = new Set(rollouts.map((one) => one.target));
  return run.batches.flatMap((batch) => batch.targets.filter((target) => keys.has(target.key)));
}

/** Takes in what came of orders and has the rest tried. Those that are through are answered as every handled command is. */
export function followOrders(draft: Draft): void {
  for (const order of draft.run.rolloutOrders ?? []) followOrder(draft, order);
}

function followOrder(draft: Draft, order: RolloutOrder): void {
  const lapsed = draft.now >= epoch(order.at) + ORDER_MS;
  const found = draft.world.actions?.get(order.command);
  const rollouts = order.rollouts.map((one): OrderedRollout => {
    if (one.outcome !== undefined) return one;
    const outcome = found?.get(actionKey(one)) ?? (lapsed ? { kind: "failed" as const, why: NOT_TRIED } : undefined);
    return outcome === undefined ? one : { ...one, outcome };
  });
  const open = rollouts.filter((one) => one.outcome === undefined);
  if (open.length > 0) {
    draft.effects.push({ kind: "RolloutActions", command: order.command });
    wakeAt(draft, epoch(order.at) + ORDER_MS);
    return;
  }
  finish(draft, { ...order, rollouts });
}

function finish(draft: Draft, order: RolloutOrder): void {
  const { rolloutOrders, ...rest } = draft.run;
  const others = (rolloutOrders ?? []).filter((one) => one.command !== order.command);
  const reply = answerOf(draft.run, order);
  const { command: id, text, actor } = order;
  draft.run = others.length === 0 ? rest : { ...rest, rolloutOrders: others };
  change(
    draft,
    { commands: [...draft.run.commands, { id, text, actor, at: draft.at, ...reply }] },
    { code: "COMMAND_ENDED", by: actor, text, outcome: reply.outcome },
  );
}

function answerOf(run: Run, { action, also, left, rollouts }: RolloutOrder): Exclude<Reply, "later"> {
  const good = rollouts.filter((one) => one.outcome?.kind === "done");
  const failed = rollouts.filter((one) => one.outcome?.kind !== "done").slice(0, 8);
  const message: RunReason = defined({
    code: "ROLLOUTS_DONE" as const,
    action,
    also,
    done: good.length,
    clusters: clustersOf(targetsOf(run, good)),
    failed: failed.map((one) => ({
      cluster: ownerOf(run, one),
      name: one.name,
      because: one.outcome?.why ?? said(one.outcome?.kind ?? ""),
    })),
    left: left.slice(0, 8),
  });
  return { outcome: good.length === rollouts.length ? "done" : "refused", message };
}

function ownerOf(run: Run, rollout: OrderedRollout): string {
  const [target] = targetsOf(run, [rollout]);
  return target?.cluster ?? rollout.target;
}
