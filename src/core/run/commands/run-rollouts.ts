/**
 * `--rollouts`: what people want of the Argo Rollouts of a batch. The order is journalled before Argo CD is asked for
 * anything; the shell tries it, its outcomes come back with the world, and the command is answered once all are known.
 */

import { text } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { Command, CommandName } from "../../spec/command.ts";
import { hasPermission } from "../../spec/commands.ts";
import type { Batch, OrderedRollout, RolloutAction, RolloutOrder, Run } from "../state/run.ts";
import { change, type Draft, wakeAt } from "../state/run-draft.ts";
import { clusterName, clustersOf, liveTargets, nameList, pullName } from "../state/run-names.ts";
import { lockstep, type TargetRollouts } from "./rollouts-lockstep.ts";
import { type Reply, refused } from "./run-obey.ts";
import { tooEarly } from "./run-steer.ts";

/** After this an order is not tried any more: who gave it has to look again. */
export const ORDER_MS = 2 * 60_000;
const MOST_ORDERED = 1000;

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
export function rolloutsCommand(draft: Draft, command: Command, also?: string): Reply {
  const { run } = draft;
  const full = command.name === "promote" && command.flags.full !== undefined;
  const action = full ? "promote-full" : ACTIONS[command.name];
  if (action === undefined) return refused(`/${command.name} has nothing to do with Argo Rollouts`);
  if (full && !hasPermission(command.permission, "maintain")) return refused("/promote --rollouts --full needs maintain permission");
  const [first, ...others] = batchesMeant(run, command);
  if (first === undefined) return refused("nothing of it is merged yet, so its Argo Rollouts are those of the release before");
  const early = [first, ...others].find((batch) => batch.merged !== undefined && tooEarly(command, batch.merged.at));
  if (early !== undefined) return refused(`it was written before ${pullName(early.pull)} was merged`);
  const known = gather(draft, [first, ...others], action);
  if (known === "later") return "later";
  if ("refuse" in known) return refused(known.refuse);
  const chosen = lockstep(action, known.targets);
  if ("refuse" in chosen) return refused(chosen.refuse);
  if (chosen.go.length > MOST_ORDERED)
    return refused(`${chosen.go.length} Rollouts are more than one command acts on: give it on a batch's PR`);
  const order: RolloutOrder = {
    command: command.id,
    text: command.text,
    actor: command.actor,
    at: draft.at,
    action,
    ...(also === undefined ? {} : { also }),
    left: [...known.left, ...chosen.left].slice(0, 20),
    rollouts: chosen.go,
  };
  const clusters = clustersOf(targetsOf(run, chosen.go));
  change(
    draft,
    { rolloutOrders: [...(run.rolloutOrders ?? []), order] },
    `${command.actor}: ${action} the Rollouts of ${nameList(run, clusters)}`,
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

type Gathered = "later" | { refuse: string } | { targets: TargetRollouts[]; left: string[] };

/** What is known of the Rollouts of these batches. Only `abort` goes on without those that cannot be seen or acted on. */
function gather(draft: Draft, batches: readonly Batch[], action: RolloutAction): Gathered {
  const targets: TargetRollouts[] = [];
  const left: string[] = [];
  for (const target of batches.flatMap(liveTargets)) {
    const cluster = clusterName(draft.run, target.cluster);
    const looked = draft.world.targets.get(target.key)?.rollouts;
    // This round did not know yet that it would be asked for.
    if (looked === undefined) return "later";
    const cannot = looked.unseen ?? ((looked.seen?.length ?? 0) > 0 ? looked.cannotAct : undefined);
    if (cannot === undefined) targets.push({ target: target.key, cluster, rollouts: looked.seen ?? [] });
    else if (action === "abort") left.push(`${cluster}: ${cannot}`);
    else return { refuse: `nothing was done, since the clusters of a batch move together, and of ${cluster}: ${cannot}` };
  }
  if (targets.every((one) => one.rollouts.length === 0) && left.length > 0) return { refuse: left.join("; ") };
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
    const outcome = found?.get(actionKey(one)) ?? (lapsed ? { kind: "failed" as const, why: "it could not be tried in time" } : undefined);
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
  change(draft, { commands: [...draft.run.commands, { id, text, actor, at: draft.at, ...reply }] }, `${actor}: ${text}: ${reply.outcome}`);
}

const DONE: Record<RolloutAction, string> = {
  resume: "resumed",
  "promote-full": "promoted to the end",
  abort: "aborted",
  retry: "tried again",
};

function answerOf(run: Run, { action, also, left, rollouts }: RolloutOrder): Exclude<Reply, "later"> {
  const good = rollouts.filter((one) => one.outcome?.kind === "done");
  const parts = also === undefined ? [] : [also];
  if (good.length > 0)
    parts.push(
      `${DONE[action]}: ${good.length} Argo ${good.length === 1 ? "Rollout" : "Rollouts"} on ${nameList(run, clustersOf(targetsOf(run, good)))}`,
    );
  for (const one of rollouts.filter((rollout) => rollout.outcome?.kind !== "done").slice(0, 8)) {
    const [target] = targetsOf(run, [one]);
    const cluster = target === undefined ? one.target : clusterName(run, target.cluster);
    parts.push(`not ${DONE[action]}: ${cluster} ${one.name}: ${text(one.outcome?.why ?? one.outcome?.kind ?? "")}`);
  }
  if (left.length > 0) parts.push(`left as they are: ${left.slice(0, 8).join("; ")}`);
  const message = parts.join("; ").slice(0, 2000);
  return { outcome: good.length === rollouts.length ? "done" : "refused", message };
}
