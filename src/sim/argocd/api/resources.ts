import { defined } from "../../../core/base/defined.ts";
import { kubeTime } from "../../kubernetes/store.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import { type Application, sourcesOf } from "../types.ts";
import { grpcError, jsonBody, send } from "./answers.ts";
import { applicationOf, type Call } from "./parts.ts";
import { acted, offeredActions } from "./rollouts.ts";

const GROUP = "argoproj.io";

/** Health of a Rollout as Argo CD's check for it tells: a paused one is Suspended. */
function healthOf(rollout: KubeObject): { status: string; message?: string } {
  const { phase, message } = (rollout["status"] ?? {}) as { phase?: string; message?: string };
  const status = phase === "Paused" ? "Suspended" : phase === "Healthy" || phase === "Degraded" ? phase : "Progressing";
  return defined({ status, message });
}

function nodesOf(call: Call, app: Application, rollout: KubeObject): Record<string, unknown>[] {
  const { name, namespace = "", uid = "", resourceVersion = "" } = rollout.metadata;
  const at = { version: "v1", namespace };
  const root = { group: GROUP, version: "v1alpha1", kind: "Rollout", namespace, name, uid, resourceVersion, health: healthOf(rollout) };
  const pods = call.rollouts.pods(app, rollout);
  const sets = [...new Set(pods.map(({ hash }) => hash))].map((hash) => ({
    ...at,
    group: "apps",
    kind: "ReplicaSet",
    name: `${name}-${hash}`,
    uid: `${uid}-${hash}`,
    parentRefs: [{ group: GROUP, kind: "Rollout", namespace, name, uid }],
    health: { status: "Healthy" },
  }));
  const leaves = pods.map((pod) => ({
    ...at,
    kind: "Pod",
    name: pod.name,
    uid: `${uid}-${pod.name}`,
    parentRefs: [{ group: "apps", kind: "ReplicaSet", namespace, name: `${name}-${pod.hash}`, uid: `${uid}-${pod.hash}` }],
    images: pod.images,
    health: { status: pod.healthy ? "Healthy" : "Progressing" },
  }));
  return [root, ...sets, ...leaves];
}

export function getTree(call: Call): void {
  const app = applicationOf(call, call.names[0] ?? "", "get");
  const rollouts = call.rollouts.of(app);
  const managed = (app.status?.resources ?? [])
    .filter(({ kind }) => kind !== "Rollout")
    .map(({ group, version, kind, namespace, name }) => defined({ group, version, kind, namespace, name }));
  send(call.response, 200, { nodes: [...managed, ...rollouts.flatMap((rollout) => nodesOf(call, app, rollout))] });
}

/** The Rollout that a request names; other kinds are not kept. */
function rolloutOf(call: Call, app: Application, given: (key: string) => string): KubeObject {
  const found = call.rollouts
    .of(app)
    .find(({ metadata }) => metadata.name === given("resourceName") && metadata.namespace === given("namespace"));
  if (given("kind") !== "Rollout" || given("group") !== GROUP || found === undefined)
    throw grpcError(3, `${given("kind")} ${given("group")} ${given("resourceName")} not found as part of application ${app.metadata.name}`);
  return found;
}

/** From the cluster itself, whatever is remembered of it. Of other kinds than Rollouts no more than that they are there. */
export function getResource(call: Call): void {
  const app = applicationOf(call, call.names[0] ?? "", "get");
  const named = (key: string) => call.query.get(key) ?? "";
  const managed = app.status?.resources?.some(({ kind, name }) => kind === named("kind") && name === named("resourceName")) === true;
  if (managed && call.isCut?.(app) === true) throw grpcError(2, "error getting resource: dial tcp: i/o timeout");
  if (managed && named("kind") !== "Rollout") {
    const metadata = { name: named("resourceName"), namespace: named("namespace") };
    send(call.response, 200, { manifest: JSON.stringify({ kind: named("kind"), metadata }) });
    return;
  }
  const manifest = JSON.stringify(rolloutOf(call, app, (key) => call.query.get(key) ?? ""));
  send(call.response, 200, { manifest });
}

export function getActions(call: Call): void {
  const app = applicationOf(call, call.names[0] ?? "", "get");
  send(call.response, 200, { actions: offeredActions(rolloutOf(call, app, (key) => call.query.get(key) ?? "")) });
}

/** v2: everything stands in the body. Argo CD does not look whether the action is disabled: the script decides what it does. */
export async function postAction(call: Call): Promise<void> {
  const body = await jsonBody(call.request);
  const given = (key: string) => (typeof body[key] === "string" ? body[key] : "");
  const action = given("action");
  const right = `action/${given("group")}/${given("kind")}/${action}`;
  const fields = { appNamespace: given("appNamespace"), project: given("project") };
  const app = applicationOf(call, call.names[0] ?? "", right, fields);
  const next = acted(rolloutOf(call, app, given), action, kubeTime(call.clock.now()));
  if (next === undefined) throw grpcError(3, `no action "${action}" for ${given("kind")}`);
  call.rollouts.write(app, next);
  send(call.response, 200, {});
}

/** The states of objects, of before the cluster was lost where it is. */
export async function getManaged(call: Call): Promise<void> {
  const app = applicationOf(call, call.names[0] ?? "", "get");
  const { live = [], target = [] } = (await call.managed?.(app)) ?? {};
  const of = (text: string | undefined) => (text === undefined ? {} : JSON.parse(text)) as Partial<KubeObject>;
  const items = Array.from({ length: Math.max(live.length, target.length) }, (_, index) => {
    const { kind, metadata } = of(target[index] ?? live[index]);
    return { kind, name: metadata?.name, liveState: live[index] ?? "null", targetState: target[index] ?? "null" };
  });
  send(call.response, 200, { items });
}

/** One revision, or with several sources some of them by their positions. As since 2.11, it does not say of which revision they are. */
export async function getManifests(call: Call): Promise<void> {
  const app = applicationOf(call, call.names[0] ?? "", "get");
  const [revisions, positions] = [call.query.getAll("revisions"), call.query.getAll("sourcePositions").map(Number)];
  if (revisions.length !== positions.length) throw grpcError(3, "source positions length is not equal to revisions length");
  const wanted = sourcesOf(app.spec).map((_, index) => revisions[positions.indexOf(index + 1)] ?? "");
  const manifests = await call.manifests?.(app, app.spec.sources === undefined ? [call.query.get("revision") ?? ""] : wanted);
  send(call.response, 200, { manifests });
}
