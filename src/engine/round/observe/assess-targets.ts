import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { changeFor } from "../../../core/argocd/liveness/change-for.ts";
import { assess, healthIssuesOf } from "../../../core/argocd/liveness/liveness.ts";
import type { Intended, LivenessInput } from "../../../core/argocd/liveness/types.ts";
import { equalIntent, plainServer } from "../../../core/argocd/same.ts";
import type { ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import { epoch, iso, type Time } from "../../../core/base/time.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import type { SpecsByPlane } from "../../config-repo/rendered.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import type { Facts } from "./mirror-facts.ts";
import { ownerTrouble } from "./owner-trouble.ts";

/** What the ApplicationSet yields on each control plane; undefined where it cannot be rendered offline or is not needed. */
export interface RenderedAround {
  /** At the first parent of the merge commit. */
  before: SpecsByPlane | undefined;
  atChange: SpecsByPlane | undefined;
  atBase: SpecsByPlane | undefined;
}

/**
 * The verdict on one moved target: what Argo CD shows of its Application, against the change. undefined where the control
 * plane cannot be seen now: nothing is concluded then, good or bad. What a fresh plane holds in memory makes it pending or
 * failing; live it is only by a read of its own, after it has settled and again when a bake ends, since what a watch or stream
 * did not bring cannot be seen.
 */
export function assessTarget(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  batch: Batch,
  target: BatchTarget,
  rendered: RenderedAround,
  facts: Facts,
): Assessment | undefined {
  const { plane, namespace, name } = placeOf(context, target.key);
  if (batch.merged === undefined || plane === undefined) return undefined;
  const application = plane.application(namespace, name);
  const after = specToExpect(application, clusterOf(plane, application), rendered, plane.name, name);
  // What stood there already, such as the version at a later weight, is no sign of this change.
  const written = target.edits.filter((edit) => edit.from !== edit.to);
  const chosen = changeFor({
    edits: written.length === 0 ? target.edits : written,
    commit: batch.merged.commit,
    mergedAt: batch.merged.at,
    repoURL: context.repoURL,
    // A target that was at the release already has no before: its spec as it stands is the sign.
    before: written.length === 0 ? undefined : rendered.before?.get(plane.name)?.get(name),
    after,
    live: application?.spec,
    resolve: facts.resolve,
  });
  const settled = batch.phase === "Settled";
  const since = settled ? undefined : bakeEnd(run, batch, target);
  const question = `${target.key} ${batch.merged.commit} ${application?.uid ?? ""}`;
  const { wantsRead, ...assessment } = assess({
    application,
    change: chosen.change,
    also: chosen.also,
    ...surroundings(plane, application, settled ? undefined : facts),
    now: context.clock.now(),
    settleMs: run.spec.settleMs,
    graceMs: run.spec.graceMs,
    ...(run.spec.suspended === undefined ? {} : { suspended: run.spec.suspended }),
    ...(target.firstSeenAt === undefined ? {} : { firstSeenAt: target.firstSeenAt }),
    held: memory.stability.of(question),
    // What has settled is read anew right before the next merge.
    ...(settled ? {} : { kept: since === undefined ? {} : { since } }),
    ancestry: facts.ancestry,
    // What has settled is held against the base: only where a verdict decides something is more looked up.
    ...(settled ? {} : { seenPinDiffers: (seen: string) => facts.pinDiffers(batch, target, seen) }),
    ...(chosen.intended === undefined ? {} : { intended: chosen.intended }),
  });
  memory.stability.note(question, assessment.held);
  if (assessment.wantsRefresh) noteRefresh(context, memory, target, assessment, question, application);
  const problem = wantsRead === true ? memory.reader.readSoon(target.key) : undefined;
  return problem === undefined
    ? assessment
    : { ...assessment, sentence: livenessReason("READ_FAILED", { because: assessment.sentence, problem }) };
}

/** Times of Argo CD are whole seconds. */
const SECOND_MS = 1000;

/** What a comparison that Argo CD has not made yet would be of: the end of an operation, another spec. */
function refreshReason(application: ApplicationView | undefined): string {
  const { sources = [], sourceHydrator } = application?.spec ?? {};
  const { operation, reconciledAt } = application?.status ?? {};
  // Made in the second of the end, which is not known to be after it: one of the next second is another.
  const tied = operation?.finishedAt !== undefined && operation.finishedAt === reconciledAt;
  return `${operation?.finishedAt ?? ""} ${tied ? "tied" : ""} ${JSON.stringify([sources, sourceHydrator])}`;
}

/** When the second is over in which its operation ended: asked before, the comparison is most likely of that very second. */
function endIsPast(application: ApplicationView | undefined, now: number): number {
  const { finishedAt } = application?.status.operation ?? {};
  const past = finishedAt === undefined ? 0 : epoch(finishedAt) + SECOND_MS;
  // Of a clock that runs ahead of ours it is not waited for.
  return past <= now + SECOND_MS ? past : 0;
}

/** Nobody else would come back to ask again. */
function noteRefresh(
  { clock }: RepoContext,
  memory: RepoMemory,
  target: BatchTarget,
  assessment: Assessment,
  question: string,
  application: ApplicationView | undefined,
): void {
  const reason = `${question} ${refreshReason(application)}`;
  const due = memory.refresher.want(target.key, reason, endIsPast(application, clock.now()));
  const { lookAgainAt } = assessment;
  if (due > clock.now() && (lookAgainAt === undefined || due < epoch(lookAgainAt))) assessment.lookAgainAt = iso(due);
}

/** From when on a confirmed target may count as baked: it has to be read anew then. */
function bakeEnd(run: Run, batch: Batch, target: BatchTarget): Time | undefined {
  if (target.phase !== "Healthy") return undefined;
  if (batch.phase === "Baking") return batch.bake?.until;
  const stage = run.spec.stages[batch.stage];
  if (stage?.batching !== "Rolling" || target.confirmedAt === undefined) return undefined;
  return iso(epoch(target.confirmedAt) + (stage.bakeMs ?? 0));
}

/** What is wrong with a target's Application, whatever changed; undefined where it cannot be seen now. */
export function healthIssuesOfTarget(context: RepoContext, key: string): string[] | undefined {
  const { plane, namespace, name } = placeOf(context, key);
  if (plane === undefined) return undefined;
  const application = plane.application(namespace, name);
  return healthIssuesOf(application, clusterOf(plane, application));
}

/**
 * How targets are that nobody is known to have moved, read before their pull requests are: of one that is open after that this is how
 * it was without the change, however soon after somebody merges it.
 */
export function healthIssuesBefore(context: RepoContext, run: Run): Map<string, string[]> {
  const before = new Map<string, string[]>();
  if (run.spec.baseline !== "Tolerate") return before;
  for (const { key } of run.batches.flatMap((batch) => (batch.merged === undefined ? batch.targets : []))) {
    const healthIssues = healthIssuesOfTarget(context, key);
    if (healthIssues !== undefined) before.set(key, healthIssues);
  }
  return before;
}

/** The plane is undefined where it cannot be believed now. */
function placeOf(context: RepoContext, key: string): { plane: ControlPlane | undefined; namespace: string; name: string } {
  const [planeName = "", namespace = "", name = ""] = key.split("/");
  const plane = context.planes.get(planeName);
  return { plane: plane?.state().fresh === true ? plane : undefined, namespace, name };
}

/** What stands around an Application: its cluster, what owns it, and its sync windows where these may be what it waits for. */
function surroundings(
  plane: ControlPlane,
  application: ApplicationView | undefined,
  facts: Facts | undefined,
): Pick<LivenessInput, "cluster" | "owner" | "windows"> {
  if (application === undefined) return {};
  const cluster = clusterOf(plane, application);
  const owner = ownerTrouble(plane, application);
  const { status } = application.status.sync;
  const windows =
    status === "OutOfSync" && application.spec.automated ? facts?.windows(plane, application.namespace, application.name) : undefined;
  return {
    ...(cluster === undefined ? {} : { cluster }),
    ...(owner === undefined ? {} : { owner }),
    ...(windows === undefined ? {} : { windows }),
  };
}

/**
 * The base may have moved on by changes of others that Argo CD has or has not seen yet: a live spec that equals either the
 * one at the change or the one at today's base is as Git wants it, and the pin itself is checked at the base apart.
 */
function specToExpect(
  application: ApplicationView | undefined,
  cluster: ClusterView | undefined,
  rendered: RenderedAround,
  plane: string,
  name: string,
): Intended | undefined {
  const atBase = rendered.atBase?.get(plane)?.get(name);
  const atChange = rendered.atChange?.get(plane)?.get(name);
  if (application === undefined || atBase === undefined) return atChange ?? atBase;
  return equalIntent(atBase, application.spec, cluster) ? atBase : (atChange ?? atBase);
}

function clusterOf(plane: ControlPlane, application: ApplicationView | undefined): ClusterView | undefined {
  if (application === undefined) return undefined;
  const { name, server } = application.spec.destination;
  if (name !== undefined) return plane.clusters().find((cluster) => cluster.name === name);
  return server === undefined ? undefined : plane.clusters().find((cluster) => plainServer(cluster.server) === plainServer(server));
}
