import { changeFor } from "../argocd/change.ts";
import { assess } from "../argocd/liveness.ts";
import type { ApplicationView, ControlPlane, DestinationView, SourceView } from "../argocd/port.ts";
import type { Batch, BatchTarget, Run } from "../rollout/run.ts";
import type { Assessment } from "../rollout/world.ts";
import type { RenderedSpecs } from "./appset-in-git.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { sameRepo } from "./repo-url.ts";

/** What a batch's change is, seen from Git: SPEC §9.12. */
export interface MergedChange {
  commit: string;
  mergedAt: string;
}

/** The specs the ApplicationSet yields by Application name; undefined where it cannot be rendered offline. */
export interface Intended {
  atChange: RenderedSpecs | undefined;
  atBase: RenderedSpecs | undefined;
}

/**
 * The verdict on one moved target: what Argo CD shows of its Application, against the change. undefined where the control
 * plane cannot be seen now: nothing is concluded then, good or bad.
 */
export function assessTarget(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  target: BatchTarget,
  change: MergedChange,
  intended: Intended,
  ancestry: (seen: string) => "contains" | "missing" | "unknown",
): Assessment | undefined {
  const [planeName = "", namespace = "", name = ""] = target.key.split("/");
  const plane = context.planes.get(planeName);
  if (plane === undefined || !plane.state().fresh) return undefined;
  const application = plane.application(namespace, name);
  const previous = rememberRead(memory, target.key, application);
  const spec = specToExpect(application, intended, name);
  const cluster = clusterOf(plane, application);
  return assess({
    application,
    ...(previous === undefined ? {} : { previous }),
    change: changeFor({
      target,
      mergedAt: change.mergedAt,
      commit: change.commit,
      repoURL: context.repoURL,
      kind: run.spec.source.kind,
      intended: spec,
    }),
    ...(cluster === undefined ? {} : { cluster }),
    now: context.clock.now(),
    settleMs: run.spec.settleMs,
    graceMs: run.spec.graceMs,
    ...(target.firstSeenAt === undefined ? {} : { firstSeenAt: target.firstSeenAt }),
    ancestry,
    ...(spec === undefined ? {} : { intended: spec }),
  });
}

/** Keeps the last two different reads of an Application. */
function rememberRead(memory: RepoMemory, key: string, application: ApplicationView | undefined): ApplicationView | undefined {
  const known = memory.reads.get(key);
  if (application === undefined) {
    memory.reads.delete(key);
    return undefined;
  }
  if (known === undefined || known.newest.uid !== application.uid) {
    memory.reads.set(key, { newest: application });
    return undefined;
  }
  if (known.newest.resourceVersion === application.resourceVersion) return known.previous;
  memory.reads.set(key, { newest: application, previous: known.newest });
  return known.newest;
}

/**
 * The base may have moved on by changes of others that Argo CD has or has not seen yet: a live spec that equals either the
 * one at the change or the one at today's base is as Git wants it, and the pin itself is checked at the base apart.
 */
function specToExpect(
  application: ApplicationView | undefined,
  intended: Intended,
  name: string,
): { sources: SourceView[]; destination: DestinationView } | undefined {
  const atBase = intended.atBase?.get(name);
  const atChange = intended.atChange?.get(name);
  if (application === undefined || atBase === undefined) return atChange ?? atBase;
  return JSON.stringify(atBase.sources) === JSON.stringify(application.spec.sources) ? atBase : (atChange ?? atBase);
}

function clusterOf(plane: ControlPlane, application: ApplicationView | undefined) {
  if (application === undefined) return undefined;
  const { name, server } = application.spec.destination;
  return plane.clusters().find((c) => (name !== undefined && name !== "" ? c.name === name : c.server === server));
}

/** Applications whose sources lie in the config repo itself are judged by its commits. */
export function readsConfigRepo(application: ApplicationView, repoURL: string): boolean {
  return application.spec.sources.some((source) => sameRepo(source.repoURL, repoURL));
}

export function movedBatches(run: Run): Batch[] {
  return run.batches.filter((batch) => batch.phase === "Merged" || batch.phase === "Baking" || batch.phase === "Settled");
}
