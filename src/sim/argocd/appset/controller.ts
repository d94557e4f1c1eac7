import { isDeepStrictEqual } from "node:util";
import type { RenderContext, RenderResult } from "../../../core/appset/types.ts";
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

export function startApplicationSetController({
  store,
  scheduler,
  lag,
  clusters,
  repositories,
  render,
  seed,
}: ApplicationSetOptions): ApplicationSetController {
  const actors = new Map<string, SetActor>();
  const broken = new Map<string, string>();
  let writing = false;
  let stopped = false;

  function actorOf({ metadata }: KubeObject): SetActor {
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

  function request(actor: SetActor, ms: number, force: boolean): void {
    const at = scheduler.now() + ms * (1 + lag.spread * actor.random());
    const { waiting } = actor;
    if (waiting !== undefined && waiting.at <= at && (waiting.force || !force)) return;
    waiting?.stop();
    const sooner = Math.min(at, waiting?.at ?? at);
    const stop = scheduler.after(sooner - scheduler.now(), () => {
      actor.waiting = undefined;
      if (stopped) return;
      if (actor.running) return request(actor, lag.applicationSet, force);
      actor.running = true;
      scheduler.track(
        reconcile(actor, force).finally(() => {
          actor.running = false;
        }),
      );
    });
    actor.waiting = { at: sooner, force: force || waiting?.force === true, stop };
  }

  /** Whatever a generator fails at: nothing is created, updated or deleted. */
  async function reconcile(actor: SetActor, asked: boolean): Promise<void> {
    const set = store.get("applicationsets", actor.namespace, actor.name);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const force = asked || set.metadata.annotations?.[REFRESH] !== undefined;
    const known = clustersOfGenerators(clusters);
    let error = broken.get(actor.name);
    let result: RenderResult | undefined;
    try {
      if (error === undefined) result = await renderWithFiles((repo) => render(set, { clusters: known, repo }), repositories, force);
      if (result?.ok === false) error = result.problems.map(({ message }) => message).join("; ");
    } catch (problem) {
      if (!(problem instanceof RepoError)) throw problem;
      error = problem.message;
    }
    const requeue = requeueOf(set, lag);
    actor.requeue();
    if (requeue !== undefined) actor.requeue = scheduler.after(requeue, () => request(actor, 0, false));
    const now = store.get("applicationsets", actor.namespace, actor.name);
    if (scheduler.closed || stopped || now === undefined || now.metadata.uid !== set.metadata.uid) return;
    write(() => {
      if (error === undefined && result !== undefined) applyRendered(store, set, result.applications);
      finish(actor, set, error);
    });
    // The set changed while it was rendered: what was applied is of the older one.
    if (now["spec"] !== set["spec"]) request(actor, lag.applicationSet, false);
  }

  /** Events of its own writes do not wake the controller. */
  function write(task: () => void): void {
    writing = true;
    try {
      task();
    } finally {
      writing = false;
    }
  }

  function finish(actor: SetActor, asOf: KubeObject, error: string | undefined): void {
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

  function onSet({ type, object, previous }: StoreEvent): void {
    const actor = actorOf(object);
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
    if (refresh || respecified) request(actor, lag.applicationSet, refresh);
  }

  /** Somebody edited or deleted a generated Application: it is put back. */
  function onApplication({ type, object, previous }: StoreEvent): void {
    if (writing || type === "ADDED") return;
    const owner = object.metadata.ownerReferences?.find(({ kind }) => kind === "ApplicationSet");
    const actor = owner === undefined ? undefined : actors.get(`${object.metadata.namespace}/${owner.name}`);
    if (actor === undefined) return;
    const same = (field: "labels" | "annotations" | "finalizers" | "ownerReferences") =>
      isDeepStrictEqual(previous?.metadata[field], object.metadata[field]);
    const touched =
      type === "DELETED" ||
      (previous?.["spec"] !== object["spec"] && !isDeepStrictEqual(previous?.["spec"], object["spec"])) ||
      !(same("labels") && same("annotations") && same("finalizers") && same("ownerReferences"));
    if (touched) request(actor, lag.applicationSet, false);
  }

  function each(concerned: (generator: GeneratorEntry) => boolean, ms: number, force: boolean): void {
    for (const actor of actors.values()) {
      const set = store.get("applicationsets", actor.namespace, actor.name);
      if (set !== undefined && generatorsIn(set).some(concerned)) request(actor, ms, force);
    }
  }

  function onSecret({ object, previous }: StoreEvent): void {
    if (isClusterSecret(object) || (previous !== undefined && isClusterSecret(previous)))
      each(({ clusters }) => clusters !== undefined, lag.applicationSet, false);
  }

  const stops = [
    store.subscribe("applicationsets", onSet),
    store.subscribe("applications", onApplication),
    store.subscribe("secrets", onSecret),
  ];
  for (const object of store.list("applicationsets")) onSet({ revision: store.revision(), type: "ADDED", object });

  return {
    push: (push) => each(({ git }) => git?.repoURL !== undefined && pushMeans(push, git.repoURL, git.revision), lag.webhook, true),
    fail(name, message) {
      if (message === null) broken.delete(name);
      else broken.set(name, message);
      for (const actor of actors.values()) if (actor.name === name) request(actor, lag.applicationSet, false);
    },
    setDown(down) {
      if (down === stopped) return;
      stopped = down;
      if (!down) for (const actor of actors.values()) request(actor, lag.applicationSet, false);
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}
