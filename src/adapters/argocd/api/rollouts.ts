/**
 * Reads the Rollouts of an Application through Argo CD, in whichever cluster they run, and runs the actions that it offers for one.
 * Called by `index.ts`.
 */
import { child, type Fields, fields, list, own, word, words } from "../../../core/argocd/decode/lenient.ts";
import { decodeRollout, MOST_ROLLOUTS, type RolloutSurroundings } from "../../../core/argocd/decode/rollout.ts";
import type { ApplicationView, RolloutRef, RolloutView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import type { ActionOffer, ActionOutcome, RolloutAction, RolloutsOutcome } from "../port.ts";
import { reasonOf, statusOf } from "../wire/http.ts";
import type { Shape } from "../wire/shape.ts";
import type { ArgoClient, Query } from "./client.ts";

const GROUP = "argoproj.io";
const VERSION = "v1alpha1";
const TREE: Shape = {
  "*": false,
  nodes: {
    "*": false,
    group: true,
    version: true,
    kind: true,
    namespace: true,
    name: true,
    images: true,
    parentRefs: { "*": false, kind: true, name: true, namespace: true },
    health: { "*": false, status: true },
  },
};

/** How Argo CD finds an Application: with its project a missing one is 404, without it 403. */
export function applicationQuery({ namespace, spec }: ApplicationView): Query {
  return defined({ appNamespace: namespace, project: spec.project === "" ? undefined : spec.project });
}

export function applicationPath(name: string): string {
  return `/api/v1/applications/${encodeURIComponent(name)}`;
}

/** The Rollouts in an Application's tree, whichever cluster they run in. `unavailable`: they cannot be read now. */
export async function readRollouts(client: ArgoClient, application: ApplicationView): Promise<RolloutsOutcome> {
  const query = applicationQuery(application);
  const path = applicationPath(application.name);
  try {
    const tree = await client.get(`${path}/resource-tree`, query, { shape: TREE });
    const nodes = list(fields(tree), "nodes").map(fields);
    const found: RolloutView[] = [];
    const rollouts = nodes.filter((node) => word(node, "kind") === "Rollout" && word(node, "group") === GROUP);
    if (rollouts.length > MOST_ROLLOUTS) return { tooMany: rollouts.length };
    for (const node of rollouts) {
      const ref = { namespace: word(node, "namespace") ?? "", name: word(node, "name") ?? "" };
      const resource = await client.get(`${path}/resource`, { ...query, ...resourceQuery(ref, word(node, "version") ?? VERSION) });
      const view = decodeRollout(parsed(own(fields(resource), "manifest")), surroundings(nodes, ref));
      if (view !== undefined) found.push(view);
    }
    return found;
  } catch {
    return "unavailable";
  }
}

function resourceQuery({ namespace, name }: RolloutRef, version: string): Query {
  return { namespace, resourceName: name, group: GROUP, version, kind: "Rollout" };
}

function parsed(manifest: unknown): unknown {
  if (typeof manifest !== "string") return undefined;
  try {
    return JSON.parse(manifest) as unknown;
  } catch {
    return undefined;
  }
}

/** The pods of a Rollout by the hash that its ReplicaSets carry in their names. */
function surroundings(nodes: readonly Fields[], rollout: RolloutRef): RolloutSurroundings {
  const images = new Map<string, string[]>();
  const available = new Map<string, number>();
  for (const node of nodes) {
    if (word(node, "kind") !== "Pod" || word(node, "namespace") !== rollout.namespace) continue;
    const parent = list(node, "parentRefs")
      .map(fields)
      .find((ref) => word(ref, "kind") === "ReplicaSet");
    const set = parent === undefined ? undefined : word(parent, "name");
    if (set === undefined || !set.startsWith(`${rollout.name}-`)) continue;
    const hash = set.slice(rollout.name.length + 1);
    images.set(hash, [...new Set([...(images.get(hash) ?? []), ...words(node, "images")])]);
    const healthy = word(child(node, "health"), "status") === "Healthy" ? 1 : 0;
    available.set(hash, (available.get(hash) ?? 0) + healthy);
  }
  return { images, available };
}

/** Asks which actions Argo CD offers for a Rollout now. */
export async function offersAction(
  client: ArgoClient,
  application: ApplicationView,
  rollout: RolloutRef,
  action: RolloutAction,
): Promise<ActionOffer> {
  try {
    const query = { ...applicationQuery(application), ...resourceQuery(rollout, VERSION) };
    const offered = await client.get(actionsPath(application), query);
    const known = list(fields(offered), "actions").map(fields);
    const found = known.find((one) => word(one, "name") === action);
    if (found !== undefined && own(found, "disabled") !== true) return { kind: "offered" };
    const what = { action, rollout: `${rollout.namespace}/${rollout.name}`, known: found !== undefined };
    return { kind: "notOffered", why: reason("ACTION_NOT_OFFERED", what) };
  } catch (error) {
    return refusedAction(error, action);
  }
}

/** Runs an action on a Rollout, if Argo CD offers it now. */
export async function runAction(
  client: ArgoClient,
  application: ApplicationView,
  rollout: RolloutRef,
  action: RolloutAction,
): Promise<ActionOutcome> {
  const offer = await offersAction(client, application, rollout, action);
  if (offer.kind !== "offered") return offer;
  try {
    const resource = resourceQuery(rollout, VERSION);
    await client.post(`${actionsPath(application)}/v2`, { ...applicationQuery(application), ...resource, action });
    return { kind: "done" };
  } catch (error) {
    return refusedAction(error, action);
  }
}

function actionsPath({ name }: ApplicationView): string {
  return `${applicationPath(name)}/resource/actions`;
}

function refusedAction(error: unknown, action: RolloutAction): { kind: "forbidden" | "failed"; why: AnyReason } {
  const because = reasonOf(error);
  if (statusOf(error) !== 403 && statusOf(error) !== 401) return { kind: "failed", why: because };
  const grant = `p, ACCOUNT, applications, action/${GROUP}/Rollout/${action}, PROJECT/*, allow`;
  return { kind: "forbidden", why: reason("GRANT_WANTED", { because, grant }) };
}
