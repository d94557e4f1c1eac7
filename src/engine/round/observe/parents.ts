/**
 * Who is to look before the spec of a target can change: the Application that applies its ApplicationSet from Git, and the set's
 * controller. Each is asked once for a merge, and again only where nothing came of it for a minute; one that has looked since, or was asked by
 * whoever ran before us, is not asked. Called by `judge-targets.ts` where a target's spec is not as its change wants it.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { committedSources } from "../../../core/argocd/decode/source.ts";
import { dayOf } from "../../../core/argocd/liveness/moment.ts";
import { type Awaited, awaitedFor, worthAsking } from "../../../core/argocd/parent.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import { type IsBase, inRepo, takesFile } from "../../../core/argocd/source-files.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { filesOf } from "../../../core/plan/plan-types.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import { givenTo, type SpecsByPlane } from "../../config-repo/rendered.ts";
import { type Refresher, setKey } from "../guard/refresh.ts";
import type { Facts } from "./facts.ts";

/** A target of a batch that has merged. */
export interface Waiting {
  plane: ControlPlane;
  application: ApplicationView | undefined;
  merged: NonNullable<Batch["merged"]>;
  repoURL: string;
}

/** undefined: its spec waits for nobody that is known. */
export function observeParent({ plane, application, merged, repoURL }: Waiting, facts: Facts): Awaited | undefined {
  if (application === undefined) return undefined;
  const { owner, namespace } = application;
  return awaitedFor({
    application,
    set: owner === undefined ? undefined : plane.applicationSet(namespace, owner.name),
    repoURL,
    find: (space, name) => plane.application(space, name),
    contains: (revision) => facts.ancestry(revision, merged.commit) === "contains",
  });
}

/**
 * What Git gives a target with its change, where that is asked. Values of the chart by which the parent makes it, or its set, reach it by its
 * spec only, too.
 */
export function whatGitGives(
  {
    plane,
    application,
    namespace,
    name,
    target,
    repoURL,
  }: Waiting & { namespace: string; name: string; target: Pick<BatchTarget, "edits"> },
  specs: SpecsByPlane | undefined,
): ReturnType<typeof givenTo> {
  const given = givenTo(specs, plane.name, name);
  if (specs === undefined || application === undefined) return given;
  const set = application.owner && plane.applicationSet(namespace, application.owner.name);
  const by = (application.owner === undefined ? application : set)?.appliedBy;
  const parent = by && plane.application(by.namespace ?? namespace, by.name);
  const sources = parent === undefined || parent.uid === application.uid ? [] : committedSources(parent.spec);
  const isBase: IsBase = (source) => source.chart === undefined && normalRepo(source.repoURL) === normalRepo(repoURL);
  const own = sources.filter(isBase).map(({ path = "" }) => inRepo(`${path}/values.yaml`));
  const isTaken = (file: string) => own.includes(file) || sources.some((source) => takesFile(sources, source, file, isBase));
  const values = target.edits.flatMap((edit) => filesOf(edit).filter(isTaken));
  return values.length === 0 ? given : { generatePaths: given?.generatePaths, madeFrom: new Set([...(given?.madeFrom ?? []), ...values]) };
}

/** Says in the assessment who is waited for, and whom to ask. */
export function awaitParent(
  assessment: Assessment,
  awaited: Awaited,
  { plane, merged }: Waiting,
  { refresher, now }: { refresher: Refresher; now: number },
): Assessment {
  const { step, parent, parentName, set } = awaited;
  const reason = `spec of ${merged.commit}`;
  const asks = worthAsking(awaited);
  const keyOf = ({ namespace, name }: { namespace: string; name: string }) => `${plane.name}/${namespace}/${name}`;
  const applications = asks.parent === undefined ? [] : [keyOf(asks.parent)];
  const silent = step === "generate" && asks.set !== undefined && plane.refreshSet === undefined;
  const mute = silent || (step === "compare" && plane.refresh === undefined);
  const sets = asks.set === undefined || plane.refreshSet === undefined ? [] : [keyOf(asks.set)];
  const due = [...applications, ...sets.map(setKey)].map((key) => refresher.want(key, reason));
  const asked = step === "compare" ? parent && keyOf(parent) : set && setKey(keyOf(set));
  const sentence = livenessReason("SPEC_AWAITS", {
    because: assessment.sentence,
    step,
    parent: parentName,
    set: set?.name,
    asked: asked === undefined || silent ? undefined : refresher.last(asked, reason),
    mute: mute || undefined,
    day: dayOf(now),
  });
  const again = Math.min(
    ...due.filter((at) => at > now),
    assessment.lookAgainAt === undefined ? Number.POSITIVE_INFINITY : epoch(assessment.lookAgainAt),
  );
  const lookAgainAt = Number.isFinite(again) ? iso(again) : assessment.lookAgainAt;
  return { ...assessment, sentence, lookAgainAt, asksFirst: due.length === 0 ? undefined : { applications, sets } };
}
