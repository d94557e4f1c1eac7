import type { ActionOffer } from "../../../adapters/argocd/port.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { hasMoved } from "../../../core/run/commands/rollouts-lockstep.ts";
import type { OrderedRollout, RolloutOrder } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { rolloutsNow, whyNotAct } from "./rollouts-seen.ts";

type Refusal = Exclude<ActionOffer, { kind: "offered" }>;

/** Of one control plane and all others. */
const MOST_AT_ONCE = 8;

/**
 * Asks of every Rollout of an order whether the action could be run on it now; nothing is written. `refused`: why it could not on one.
 * `begun`: one has moved already, by a try that broke off or by somebody, so the others have to follow.
 */
export async function checkOffers(context: RepoContext, order: RolloutOrder): Promise<{ refused: Refusal | undefined; begun: boolean }> {
  const queue = [...order.rollouts];
  let refused: Refusal | undefined;
  let begun = false;
  async function work(): Promise<void> {
    for (let rollout = queue.shift(); rollout !== undefined; rollout = queue.shift()) {
      const offer = await offerOf(context, order, rollout);
      if (offer === "moved") begun = true;
      // What will not change by asking again says more than what may.
      else if (offer.kind !== "offered" && (refused === undefined || refused.kind === "failed")) refused = offer;
    }
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work));
  return { refused, begun };
}

async function offerOf(context: RepoContext, { action }: RolloutOrder, rollout: OrderedRollout): Promise<ActionOffer | "moved"> {
  const [planeName = "", namespace = "", name = ""] = rollout.target.split("/");
  const seen = await rolloutsNow(context, rollout.target);
  if (seen === undefined) return { kind: "failed", why: `the Rollouts of ${name} cannot be read through control plane ${planeName} now` };
  const now = seen.find((one) => one.namespace === rollout.namespace && one.name === rollout.name);
  if (now === undefined) return { kind: "notOffered", why: `${name} has no Rollout ${rollout.namespace}/${rollout.name} any more` };
  if (hasMoved(action, rollout, now)) return "moved";
  const plane = context.planes.get(planeName);
  if (plane === undefined) return { kind: "forbidden", why: `there is no control plane ${planeName}` };
  const cannot = whyNotAct(plane);
  if (cannot !== undefined) return { kind: "forbidden", why: cannot };
  try {
    const offer = await plane.offersAction?.({ namespace, name }, { namespace: rollout.namespace, name: rollout.name }, action);
    return offer === undefined || offer.kind === "offered"
      ? { kind: "offered" }
      : { kind: offer.kind, why: `${name}: ${sentenceOf(offer.why)}` };
  } catch (error) {
    return { kind: "failed", why: error instanceof Error ? error.message.slice(0, 300) : String(error) };
  }
}
