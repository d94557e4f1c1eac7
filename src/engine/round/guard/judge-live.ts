/**
 * What stands against a merge by how a set lives: it must be there as the base has it, and every live Application of it must be among those that
 * it would yield. And what cannot be told of a set that is not applied as it stands in Git. Called by the render guard.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { sha256 } from "../../../core/base/hash.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type Edit, filesOf } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { planeOf } from "../../../core/run/targets/unseen.ts";
import type { SourceRef } from "../../../core/spec/rollout.ts";
import { type ApplicationSetInGit, findApplicationSets } from "../../config-repo/appset-in-git.ts";
import { parentOn } from "../../config-repo/parent-renders.ts";
import { specDifference } from "../../config-repo/same-spec.ts";
import type { Snapshot } from "../../config-repo/snapshot.ts";
import { applicationSeen, type Planes } from "../../resolve/fleet.ts";
import { setsOfRun } from "../../resolve/source-sets.ts";
import type { GuardProblem } from "./edits.ts";

export async function findUndeclared(source: SourceRef, plane: ControlPlane, base: Snapshot): Promise<GuardProblem | undefined> {
  if (source.unverified) return undefined;
  const files = (await findApplicationSets(base, source)).map(({ file }) => file);
  const named = source.controlPlanes.length > 1 || files.length > 0 ? plane.name : undefined;
  // Of several the one is its own that the live set equals, once its parent has synced.
  return { why: engineReason("GUARD_UNDECLARED", { set: setName(source), plane: named, files }), retry: files.length > 0 };
}

/** Says that nobody knows what comes of a change where the set is not applied as it stands and lives without a pin of it. */
export function unprovenSet({ name }: ControlPlane, { file, made }: ApplicationSetInGit, edits: readonly Edit[]): GuardProblem | undefined {
  if (made === undefined) return undefined;
  const data = { plane: name, declaredIn: file, by: made.by };
  const fed = edits.flatMap(filesOf).find((file) => file === made.fed);
  if (fed !== undefined) return { why: engineReason("GUARD_SET_MADE", { ...data, changed: fed }), retry: false };
  return made.lost === undefined ? undefined : { why: engineReason("GUARD_PIN_NOT_LIVE", { ...data, field: made.lost }), retry: true };
}

export function setName({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}

export function whyUnrendered(renders: readonly RenderResult[], because: AnyReason): AnyReason {
  const problem = renders.find((render) => !render.ok)?.problems[0];
  return engineReason("GUARD_UNRENDERED", { problem, because });
}

/**
 * Every live Application of the set must be among those it would yield: else the merge is what makes the controller delete it.
 * `stay` undefined: that is not checked, by `unverified`.
 */
export function judgeLive(
  plane: ControlPlane,
  ref: SourceRef,
  before: ApplicationSetInGit,
  stay: ReadonlySet<string> | undefined,
  parent?: string,
): GuardProblem | undefined {
  const { namespace, name } = ref;
  const set = setName(ref);
  const live = plane.applicationSet(namespace, name);
  if (live === undefined) return { why: engineReason("GUARD_NO_SET", { set, plane: plane.name }), retry: true };
  if (live.deletionTimestamp !== undefined) return { why: engineReason("GUARD_SET_LEAVES", { set, plane: plane.name }), retry: true };
  const place = specDifference(live.spec, before.object["spec"]);
  if (place !== undefined && before.made !== undefined)
    return {
      why: engineReason("GUARD_PIN_NOT_LIVE", { plane: plane.name, declaredIn: before.file, by: before.made.by, field: place }),
      retry: true,
    };
  if (place !== undefined)
    return {
      why: engineReason("GUARD_SET_DIFFERS", defined({ plane: plane.name, declaredIn: before.file, field: place, parent })),
      retry: true,
    };
  if (stay === undefined) return undefined;
  const gone = plane
    .applications({ namespace, name })
    .find((application) => application.deletionTimestamp === undefined && !stay.has(application.name));
  return gone && { why: engineReason("GUARD_LOSES", { application: gone.name, plane: plane.name }), retry: false };
}

/** What lives of what a merge is judged by: sets, the parents of sets and of the batch's Applications, and those themselves. */
export function liveVersion(all: Planes, run: Run, batch: Batch): string {
  const parentOf = (plane: ControlPlane, namespace: string, by: ApplicationView["appliedBy"]) =>
    specVersion(parentOn(plane, namespace, by));
  const sets = setsOfRun(all, run).flatMap(({ ref: { namespace, name }, planes }) =>
    planes.map((plane) => {
      const set = plane.applicationSet(namespace, name);
      return `${name}:${plane.state().fresh ? `${set?.resourceVersion ?? "none"} ${parentOf(plane, namespace, set?.appliedBy)}` : "lost"}`;
    }),
  );
  const own = batch.targets.map(({ key }) => {
    const [plane, view] = [all.get(planeOf(key)), applicationSeen(all, key)];
    if (plane === undefined || view?.owner !== undefined) return "";
    return `${specVersion(view)} ${view === undefined ? "" : parentOf(plane, view.namespace, view.appliedBy)}`;
  });
  return sha256([...sets, ...own].join());
}

/** What the judge goes by of an Application, and what others may change. */
function specVersion(view: ApplicationView | undefined): string {
  return view === undefined ? "none" : JSON.stringify([view.uid, view.appliedBy, view.spec, view.status.sync.revisions]);
}
