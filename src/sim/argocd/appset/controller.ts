/**
 * The ApplicationSet controller: it renders a set when it, its clusters or its repositories change, and puts back what others did to its
 * Applications. `startArgoCd` starts it.
 */
import { isDeepStrictEqual } from "node:util";
import type { RenderContext, RenderResult } from "../../../core/appset/types.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";
import { kubeTime, type Store } from "../../kubernetes/store.ts";
import type { KubeObject, StoreEvent } from "../../kubernetes/types.ts";
import { type Lag, randomFor } from "../application/lag.ts";
import { type ClusterIndex, clustersOfGenerators, isClusterSecret } from "../clusters.ts";
import { type Push, pushMeans } from "../git/push.ts";
import { RepoError, type Repositories } from "../git/repositories.ts";
import { renderWithFiles } from "../git/snapshots.ts";
import type { Scheduler } from "../scheduler.ts";
import { applyRendered, isOwnedBy } from "./apply.ts";
import { type GeneratorEntry, generatorsIn, outcomeConditions, requeueOf, type SetCondition } from "./conditions.ts";

const REFRESH = "argocd.argoproj.io/application-set-refresh";

export type Render = (applicationSet: unknown, context: RenderContext) => RenderResult;

interface ApplicationSetController {
  push(push: Push): void;
  /** Has a set's generators fail with these words; null: no longer. */
  fail(name: string, message: string | null): void;
  /** Stops the controller, or starts it again: it looks at every set then. */
  setDown(down: boolean): void;
  close(): void;
}

interface ApplicationSetOptions {
  store: Store;
  scheduler: Scheduler;
  lag: Lag;
  clusters: ClusterIndex;
  repositories: Repositories;
  render: Render;
  seed: number;
}

interface SetActor {
  namespace: string;
  name: string;
  random: () => number;
  waiting: { at: number; force: boolean; stop: () => void } | undefined;
  running: boolean;
  requeue: () => void;
}

/** The controller with what it remembers. */
interface Controller extends ApplicationSetOptions {
  actors: Map<string, SetActor>;
  /** Sets whose generators fail, with their words. */
  broken: Map<string, string>;
  /** It writes itself: what it hears then is its own doing. */
  writing: boolean;
  stopped: boolean;
}

export function startApplicationSetController(options: ApplicationSetOptions): ApplicationSetController {
  const { store } = options;
  const controller: Controller = { ...options, actors: new Map(), broken: new Map(), writing: false, stopped: false };
  const stops = [
    store.subscribe("applicationsets", (event) => onSet(controller, event)),
    store.subscribe("applications", (event) => onApplication(controller, event)),
    store.subscribe("secrets", (event) => onSecret(controller, event)),
  ];
  for (const object of store.list("applicationsets")) onSet(controller, { revision: store.revision(), type: "ADDED", object });

  return {
    push: (push) =>
      requestEach(
        controller,
        ({ git }) => git?.repoURL !== undefined && pushMeans(push, git.repoURL, git.revision),
        options.lag.webhook,
        true,
      ),
    fail(name, message) {
      if (message === null) controller.broken.delete(name);
      else controller.broken.set(name, message);
      for (const actor of controller.actors.values())
        if (actor.name === name) request(controller, actor, options.lag.applicationSet, false);
    },
    setDown(down) {
      if (down === controller.stopped) return;
      controller.stopped = down;
      if (!down) for (const actor of controller.actors.values()) request(controller, actor, options.lag.applicationSet, false);
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

function actorOf(controller: Controller, { metadata }: KubeObject): SetActor {
  const { seed, actors } = controller;
  const { namespace = "", name } = metadata;
  const key = `${namespace}/${name}`;
  const known = actors.get(key);
  if (known !== undefined) return known;
  const made: SetActor = {
    namespace,
    name,
    random: randomFor(seed, `set ${key}`),
    waiting: undefined,
    running: false,
    requeue: () => undefined,
  };
  actors.set(key, made);
  return made;
}

function request(controller: Controller, actor: SetActor, ms: number, force: boolean): void {
  const { scheduler, lag } = controller;
  const at = scheduler.now() + ms * (1 + lag.spread * actor.random());
  const { waiting } = actor;
  if (waiting !== undefined && waiting.at <= at && (waiting.force || !force)) return;
  waiting?.stop();
  const sooner = Math.min(at, waiting?.at ?? at);
  const stop = scheduler.after(sooner - scheduler.now(), () => {
    actor.waiting = undefined;
    if (controller.stopped) return;
    if (actor.running) return request(controller, actor, lag.applicationSet, force);
    actor.running = true;
    scheduler.track(
      reconcile(controller, actor, force).finally(() => {
        actor.running = false;
      }),
    );
  });
  actor.waiting = { at: sooner, force: force || waiting?.force === true, stop };
}

/** Whatever a generator fails at: nothing is created, updated or deleted. */
async function reconcile(controller: Controller, actor: SetActor, asked: boolean): Promise<void> {
  const { store, scheduler, lag, clusters, repositories, render, broken } = controller;
  const set = store.get("applicationsets", actor.namespace, actor.name);
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
  const force = asked || set.metadata.annotations?.[REFRESH] !== undefined;
  const known = clustersOfGenerators(clusters);
  let error = broken.get(actor.name);
  let result: RenderResult | undefined;
  try {
    if (error === undefined) result = await renderWithFiles((repo) => render(set, { clusters: known, repo }), repositories, force);
    if (result?.ok === false) error = result.problems.map((one) => sayRender(one).message).join("; ");
  } catch (problem) {
    if (!(problem instanceof RepoError)) throw problem;
    error = problem.message;
  }
  const requeue = requeueOf(set, lag);
  actor.requeue();
  if (requeue !== undefined) actor.requeue = scheduler.after(requeue, () => request(controller, actor, 0, false));
  const now = store.get("applicationsets", actor.namespace, actor.name);
  if (scheduler.closed || controller.stopped || now === undefined || now.metadata.uid !== set.metadata.uid) return;
  write(controller, () => {
    if (error === undefined && result !== undefined) applyRendered(store, set, result.applications);
    finish(controller, actor, set, error);
  });
  // The set changed while it was rendered: what was applied is of the older one.
  if (now["spec"] !== set["spec"]) request(controller, actor, lag.applicationSet, false);
}

/** Events of its own writes do not wake the controller. */
function write(controller: Controller, task: () => void): void {
  controller.writing = true;
  try {
    task();
  } finally {
    controller.writing = false;
  }
}

function finish(controller: Controller, actor: SetActor, asOf: KubeObject, error: string | undefined): void {
  const { store, scheduler } = controller;
  store.change("applicationsets", actor.namespace, actor.name, (set) => {
    const status = (set["status"] ?? {}) as { conditions?: SetCondition[] };
    const conditions = outcomeConditions(error, actor.name).map((next) => {
      const old = status.conditions?.find(({ type }) => type === next.type);
      const same = old?.status === next.status && old.message === next.message;
      return { ...next, lastTransitionTime: (same ? old.lastTransitionTime : undefined) ?? kubeTime(scheduler.now()) };
    });
    const asked = asOf.metadata.annotations?.[REFRESH];
    const { [REFRESH]: current, ...annotations } = set.metadata.annotations ?? {};
    const metadata = asked !== undefined && current === asked ? { ...set.metadata, annotations } : set.metadata;
    return { ...set, metadata, status: { ...status, conditions } };
  });
}

function onSet(controller: Controller, { type, object, previous }: StoreEvent): void {
  const { store, lag, actors } = controller;
  const actor = actorOf(controller, object);
  if (type === "DELETED") {
    actor.waiting?.stop();
    actor.requeue();
    actors.delete(`${actor.namespace}/${actor.name}`);
    // The garbage collector follows the ownerReferences.
    const owned = store.list("applications", actor.namespace).filter((app) => isOwnedBy(app, object));
    for (const { metadata } of owned) store.delete("applications", actor.namespace, metadata.name);
    return;
  }
  const asked = object.metadata.annotations?.[REFRESH];
  const refresh = asked !== undefined && asked !== previous?.metadata.annotations?.[REFRESH];
  const respecified = previous === undefined || !isDeepStrictEqual(previous["spec"], object["spec"]);
  if (refresh || respecified) request(controller, actor, lag.applicationSet, refresh);
}

/** Somebody edited or deleted a generated Application: it is put back. */
function onApplication(controller: Controller, { type, object, previous }: StoreEvent): void {
  const { lag, actors } = controller;
  if (controller.writing || type === "ADDED") return;
  const owner = object.metadata.ownerReferences?.find(({ kind }) => kind === "ApplicationSet");
  const actor = owner === undefined ? undefined : actors.get(`${object.metadata.namespace}/${owner.name}`);
  if (actor === undefined) return;
  const same = (field: "labels" | "annotations" | "finalizers" | "ownerReferences") =>
    isDeepStrictEqual(previous?.metadata[field], object.metadata[field]);
  const touched =
    type === "DELETED" ||
    (previous?.["spec"] !== object["spec"] && !isDeepStrictEqual(previous?.["spec"], object["spec"])) ||
    !(same("labels") && same("annotations") && same("finalizers") && same("ownerReferences"));
  if (touched) request(controller, actor, lag.applicationSet, false);
}

function requestEach(controller: Controller, concerned: (generator: GeneratorEntry) => boolean, ms: number, force: boolean): void {
  const { store, actors } = controller;
  for (const actor of actors.values()) {
    const set = store.get("applicationsets", actor.namespace, actor.name);
    if (set !== undefined && generatorsIn(set).some(concerned)) request(controller, actor, ms, force);
  }
}

function onSecret(controller: Controller, { object, previous }: StoreEvent): void {
  if (isClusterSecret(object) || (previous !== undefined && isClusterSecret(previous)))
    requestEach(controller, ({ clusters }) => clusters !== undefined, controller.lag.applicationSet, false);
}
