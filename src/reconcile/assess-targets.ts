import { changeFor } from "../argocd/change-for.ts";
import { type Ancestry, assess, equalSources, type Intended } from "../argocd/liveness.ts";
import type { ApplicationView, ControlPlane } from "../argocd/port.ts";
import type { Batch, BatchTarget, Run } from "../rollout/run.ts";
import type { Assessment } from "../rollout/world.ts";
import type { RenderedSpecs } from "./appset-in-git.ts";
import type { RepoContext } from "./context.ts";

/** What the ApplicationSet yields, by Application name; undefined where it cannot be rendered offline or is not needed. */
export interface RenderedAround {
  /** At the first parent of the merge commit. */
  before: RenderedSpecs | undefined;
  atChange: RenderedSpecs | undefined;
  atBase: RenderedSpecs | undefined;
}

/**
 * The verdict on one moved target: what Argo CD shows of its Application, against the change. undefined where the control
 * plane cannot be seen now: nothing is concluded then, good or bad. What a fresh plane holds in memory is a read as of now:
 * its watch would have said otherwise.
 */
export function assessTarget(
  context: RepoContext,
  run: Run,
  batch: Batch,
  target: BatchTarget,
  rendered: RenderedAround,
  ancestry: (change: string, seen: string) => Ancestry,
): Assessment | undefined {
  const [planeName = "", namespace = "", name = ""] = target.key.split("/");
  const plane = context.planes.get(planeName);
  if (batch.merged === undefined || plane === undefined || !plane.state().fresh) return undefined;
  const application = plane.application(namespace, name);
  const after = specToExpect(application, rendered, name);
  const chosen = changeFor({
    edits: target.edits,
    commit: batch.merged.commit,
    mergedAt: batch.merged.at,
    repoURL: context.repoURL,
    // A target that was at the release already has no before: its spec as it stands is the sign.
    before: target.edits.every((edit) => edit.from === edit.to) ? undefined : rendered.before?.get(name),
    after,
    live: application === undefined ? undefined : { sources: application.spec.sources, destination: application.spec.destination },
  });
  const cluster = clusterOf(plane, application);
  return assess({
    application,
    change: chosen.change,
    also: chosen.also,
    ...(cluster === undefined ? {} : { cluster }),
    now: context.clock.now(),
    settleMs: run.spec.settleMs,
    graceMs: run.spec.graceMs,
    ...(target.firstSeenAt === undefined ? {} : { firstSeenAt: target.firstSeenAt }),
    ancestry: (seen, commit) => ancestry(commit, seen),
    ...(chosen.intended === undefined ? {} : { intended: chosen.intended }),
  });
}

/**
 * The base may have moved on by changes of others that Argo CD has or has not seen yet: a live spec that equals either the
 * one at the change or the one at today's base is as Git wants it, and the pin itself is checked at the base apart.
 */
function specToExpect(application: ApplicationView | undefined, rendered: RenderedAround, name: string): Intended | undefined {
  const atBase = rendered.atBase?.get(name);
  const atChange = rendered.atChange?.get(name);
  if (application === undefined || atBase === undefined) return atChange ?? atBase;
  return equalSources(atBase.sources, application.spec.sources) ? atBase : (atChange ?? atBase);
}

function clusterOf(plane: ControlPlane, application: ApplicationView | undefined) {
  if (application === undefined) return undefined;
  const { name, server } = application.spec.destination;
  return plane.clusters().find((c) => (name !== undefined && name !== "" ? c.name === name : c.server === server));
}
