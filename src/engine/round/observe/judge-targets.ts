/**
 * The verdicts on the moved targets of a batch: what Argo CD shows of each Application, against the change.
 *
 * In three steps, so that looking decides nothing and deciding reads nothing: what memory holds is gathered, it is judged, and what the
 * verdict wants (another comparison, a read by name) is begun. What a fresh plane holds in memory makes a target pending or failing;
 * live it is only by a read of its own, after it has settled and again when a bake ends, since what a watch or stream did not bring
 * cannot be seen.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { changeFor } from "../../../core/argocd/liveness/change-for.ts";
import { assess } from "../../../core/argocd/liveness/liveness.ts";
import type { ChildSeen, Intended, OwnerTrouble } from "../../../core/argocd/liveness/types.ts";
import type { Awaited } from "../../../core/argocd/parent.ts";
import { equalIntent } from "../../../core/argocd/same.ts";
import type { ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { epoch, iso, type Time } from "../../../core/base/time.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import type { SpecsByPlane } from "../../config-repo/rendered.ts";
import { applicationAt, clusterOf } from "../../resolve/fleet.ts";
import type { RepoContext } from "../context.ts";
import type { Refresher } from "../guard/refresh.ts";
import type { TargetReader } from "../guard/reread.ts";
import type { Syncer } from "../guard/syncer.ts";
import { askForChildren, type Children } from "./children.ts";
import { type Contents, contentOf } from "./contents.ts";
import type { Facts, WithFacts } from "./facts.ts";
import { hydrationOf, type LookUpHydrated, openHydrated } from "./hydrated.ts";
import { awaitParent, observeParent, whatGitGives } from "./parents.ts";
import { endIsPast, refreshReason } from "./refresh-key.ts";
import type { Stability, TroubleOfOwner } from "./stability.ts";

/** What the ApplicationSet yields on each control plane; undefined where it cannot be rendered offline or is not needed. */
export interface RenderedAround {
  /** The first parent of the merge commit, and what it yields there. */
  parent?: string | undefined;
  before?: SpecsByPlane | undefined;
  atChange?: SpecsByPlane | undefined;
  atBase?: SpecsByPlane | undefined;
}

/** In the order of the batch's targets; undefined where the control plane cannot be seen now: nothing is concluded then, good or bad. */
export type JudgeTargets = (run: Run, batch: Batch, rendered: RenderedAround) => Promise<(Assessment | undefined)[]>;

interface JudgeParts {
  withFacts: WithFacts;
  stability: Stability;
  troubleOfOwner: TroubleOfOwner;
  refresher: Refresher;
  reader: TargetReader;
  contents: Contents;
  syncer: Pick<Syncer, "of">;
  children: Children;
}

/** One target, as it is judged. */
interface Gathered {
  run: Run;
  batch: Batch;
  merged: NonNullable<Batch["merged"]>;
  target: BatchTarget;
  plane: ControlPlane;
  namespace: string;
  name: string;
  application: ApplicationView | undefined;
  cluster: ClusterView | undefined;
  owner: OwnerTrouble | undefined;
  /** What is asked: by it what was seen before is found again. */
  question: string;
  held: NonNullable<Assessment["held"]>;
  now: number;
  repoURL: string;
}

export function openJudge(
  { planes, clock, repoURL }: Pick<RepoContext, "planes" | "clock" | "repoURL">,
  { withFacts, stability, troubleOfOwner, refresher, reader, contents, syncer, children }: JudgeParts,
): JudgeTargets {
  function gather(run: Run, batch: Batch, target: BatchTarget): Gathered | undefined {
    const { merged } = batch;
    const { plane, namespace, name, application } = applicationAt(planes, target.key);
    if (merged === undefined || plane === undefined) return undefined;
    const question = `${target.key} ${merged.commit} ${application?.uid ?? ""}`;
    const cluster = clusterOf(plane, application);
    const owner = application && troubleOfOwner(plane, application);
    const seen = { plane, namespace, name, application, cluster, owner };
    return {
      run,
      batch,
      merged,
      target,
      ...seen,
      question,
      held: { ...goodBefore(target, application), ...stability.of(question) },
      now: clock.now(),
      repoURL,
    };
  }

  /** Nobody else would come back to ask again. */
  function follow(gathered: Gathered, { judged: { wantsRead, ...assessment }, awaited, wants }: Verdict): Assessment {
    const { target, question, application, now } = gathered;
    stability.note(question, assessment.held);
    if (awaited !== undefined) return awaitParent(assessment, awaited, gathered, { refresher, now });
    askForChildren(assessment, wants, { refresher, reader, now });
    if (assessment.wantsRefresh) {
      const due = refresher.want(target.key, `${question} ${refreshReason(application, assessment)}`, endIsPast(application, now));
      const { lookAgainAt } = assessment;
      if (due > now && (lookAgainAt === undefined || due < epoch(lookAgainAt))) assessment.lookAgainAt = iso(due);
    }
    const said = wantsRead === true ? reader.readSoon(target.key) : undefined;
    return said === undefined
      ? assessment
      : { ...assessment, sentence: livenessReason("READ_FAILED", { because: assessment.sentence, problem: said }) };
  }

  return async (run, batch, rendered) => {
    const gathered = batch.targets.map((target) => gather(run, batch, target));
    const memory = { hydrated: openHydrated(), contents, syncer, children };
    const judged = await withFacts((facts) => gathered.map((one) => one && judge(one, rendered, facts, memory)));
    return gathered.map((one, index) => {
      const verdict = judged[index];
      return one && verdict && follow(one, verdict);
    });
  };
}

interface Verdict {
  judged: ReturnType<typeof assess>;
  /** Whom its spec waits for. */
  awaited: Awaited | undefined;
  /** What its children want, as targets do. */
  wants: ReturnType<Children["of"]>["wants"];
}

/** What is looked at besides the facts of Git. */
interface Memory {
  hydrated: LookUpHydrated;
  contents: Contents;
  syncer: Pick<Syncer, "of">;
  children: Children;
}

function judge(gathered: Gathered, rendered: RenderedAround, facts: Facts, memory: Memory): Verdict {
  const choice = chooseChange(gathered, rendered, facts);
  const { seen, wants } = memory.children.of(gathered, facts, keptFor(gathered));
  const judged = assessOne(gathered, rendered, facts, memory, choice, seen);
  // Its automated sync is off, and the change is seen.
  if (judged.sentence.code === "SYNC_BY_HAND") judged.sync = memory.syncer.of({ ...gathered, ...rendered, ...choice.chosen, facts });
  const waits = judged.verdict === "pending" && judged.clause === "spec" && gathered.batch.phase !== "Settled";
  return { judged, wants, awaited: waits ? observeParent(gathered, facts) : undefined };
}

function assessOne(
  gathered: Gathered,
  rendered: RenderedAround,
  facts: Facts,
  memory: Memory,
  { written, chosen }: ReturnType<typeof chooseChange>,
  children: readonly ChildSeen[],
): ReturnType<typeof assess> {
  const { run, batch, target, plane, namespace, name, application, cluster, owner, held, now, repoURL } = gathered;
  // What has settled is held against the base: only where a verdict decides something is more looked up, and read anew.
  const isSettled = batch.phase === "Settled";
  const isBlocked = application?.status.sync.status === "OutOfSync" && application.spec.automated === true;
  return assess({
    application,
    change: chosen.change,
    also: chosen.also,
    now,
    settleMs: run.spec.settleMs,
    graceMs: run.spec.graceMs,
    held,
    ancestry: facts.ancestry,
    ...defined({
      cluster,
      owner,
      // They may be what it waits for.
      windows: isBlocked && !isSettled ? facts.windows(plane, namespace, name) : undefined,
      suspended: run.spec.suspended,
      firstSeenAt: target.firstSeenAt,
      firstComparedAt: target.firstComparedAt,
      kept: keptFor(gathered),
      children,
      seenPinDiffers: isSettled ? undefined : (seen: string) => facts.pinDiffers(batch, target, seen, application),
      ...(isSettled ? undefined : hydrationOf(gathered, [chosen.change, ...chosen.also], facts, memory.hydrated)),
      images: isSettled ? undefined : facts.images(batch, target),
      content: isSettled ? undefined : contentOf(gathered, [chosen.change, ...chosen.also], memory.contents),
      unchanged: written === 0 ? (true as const) : undefined,
      intended: chosen.intended,
      edited: chosen.files.length === 0 ? undefined : { files: chosen.files, repoURL, given: whatGitGives(gathered, rendered.atChange) },
    }),
  });
}

/** `written`: how many of its edits the commit has made. What stood there already, such as the version at a later weight, is no sign. */
function chooseChange(gathered: Gathered, rendered: RenderedAround, facts: Facts) {
  const { target, merged, plane, name, application, repoURL } = gathered;
  const written = target.edits.filter((edit) => edit.from !== edit.to);
  const chosen = changeFor({
    edits: written.length === 0 ? target.edits : written,
    commit: merged.commit,
    mergedAt: merged.at,
    repoURL,
    // A target that was at the release already has no before: its spec as it stands is the sign.
    before: written.length === 0 ? undefined : rendered.before?.get(plane.name)?.get(name),
    after: specToExpect(gathered, rendered),
    live: application?.spec,
    madeFrom: whatGitGives(gathered, rendered.atChange)?.madeFrom,
    resolve: facts.resolve,
  });
  return { written: written.length, chosen };
}

/** What an earlier process has seen counts where Argo CD would tell of every change since: it dates them from 3.0 on. */
function goodBefore({ goodSince }: BatchTarget, application: ApplicationView | undefined): NonNullable<Assessment["held"]> {
  return goodSince === undefined || application?.status.health.lastTransitionTime === undefined ? {} : { goodSince };
}

/** What has settled is held against the base, without reads of its own. */
function keptFor({ run, batch, target }: Gathered): { since?: Time } | undefined {
  return batch.phase === "Settled" ? undefined : defined({ since: bakeEnd(run, batch, target) });
}

/** From when on a confirmed target may count as baked: it has to be read anew then. */
function bakeEnd(run: Run, batch: Batch, target: BatchTarget): Time | undefined {
  if (target.phase !== "Healthy") return undefined;
  if (batch.phase === "Baking") return batch.bake?.until;
  const stage = run.spec.stages[batch.stage];
  if (stage?.batching !== "Rolling" || target.confirmedAt === undefined) return undefined;
  return iso(epoch(target.confirmedAt) + (stage.bakeMs ?? 0));
}

/**
 * The base may have moved on by changes of others that Argo CD has or has not seen yet: a live spec that equals either the
 * one at the change or the one at today's base is as Git wants it, and the pin itself is checked at the base apart.
 */
function specToExpect({ application, cluster, plane, name }: Gathered, rendered: RenderedAround): Intended | undefined {
  const atBase = rendered.atBase?.get(plane.name)?.get(name);
  const atChange = rendered.atChange?.get(plane.name)?.get(name);
  if (application === undefined || atBase === undefined) return atChange ?? atBase;
  return equalIntent(atBase, application.spec, cluster) ? atBase : (atChange ?? atBase);
}
