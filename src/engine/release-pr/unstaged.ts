import { compareRenders } from "../../core/appset/compare.ts";
import type { RenderResult } from "../../core/appset/types.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { compareText } from "../../core/base/compare-text.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { namesRef } from "../../core/base/ref-name.ts";
import { filesOf, type Plan, type PlannedTarget, type Release, targetsOf } from "../../core/plan/plan-types.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { PlanFindings } from "../../core/report/plan/plan-check.ts";
import { unstagedLine } from "../../core/report/plan/plan-unstaged.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { generatorClusters } from "../config-repo/appset-in-git.ts";
import { openParentRenders } from "../config-repo/parent-renders.ts";
import { joinPlanes, sameSetsAt, setsByPlane, together } from "../config-repo/plane-sets.ts";
import { renderAt } from "../config-repo/render-set.ts";
import { isBaseRevision, sameRepo } from "../config-repo/repo-url.ts";
import { readsFile } from "../lint/outside-readers.ts";
import { applicationSeen } from "../resolve/fleet.ts";
import type { MakePlan } from "../resolve/plan-now.ts";
import { setsOfSource } from "../resolve/source-sets.ts";
import type { RepoContext } from "../round/context.ts";
import type { Touches } from "./judge-pull-touched.ts";
import { type PullQuestion, type PullRenderings, renderParents, setKey } from "./pull-parents.ts";

interface UnstagedQuestion extends PullQuestion {
  touches: Touches;
  isRelease: boolean;
  /** As of the PR merged. */
  plan: Plan;
}

/** docs/spec.md §9.6 for one rollout and one PR that is not a batch's; undefined: it passes no stage by. */
type JudgeUnstaged = (rollout: Rollout, release: Release, question: UnstagedQuestion) => Promise<JudgedUnstaged | undefined>;

interface JudgedUnstaged {
  line?: string;
  refused?: boolean;
  /** Why it cannot be told yet. */
  waiting?: AnyReason | undefined;
  /** Why it cannot be told at all. */
  notes?: readonly AnyReason[];
}

type Context = Pick<RepoContext, "planes" | "repoURL" | "mirror" | "clock" | "log">;

export function openUnstagedJudge(context: Context, makePlan: MakePlan): JudgeUnstaged {
  const { planes: all, repoURL, mirror } = context;
  const parents = openParentRenders(context);

  return async (rollout, release, question) => {
    const { base, pull, before, touches, isRelease, plan } = question;
    if (!isRelease && !touches.set && !touches.pins && touches.parents === undefined) return undefined;
    const made = await makePlan(rollout, release, before, base.branch);
    const pinsAfter = new Map(targetsOf(plan).map((target) => [target.key, target.edits.map((edit) => edit.from)]));
    // The pins at the base cannot be read where this PR is what brings them.
    const targets = targetsOf(made.ok ? made.plan : plan).map((target) => {
      const application = applicationSeen(all, target.key);
      return { ...target, sources: application === undefined ? [] : committedSources(application.spec) };
    });
    const rendered = await renderParents({ planes: all, renders: parents, mirror, repoURL }, rollout, touches.parents ?? [], question);
    const unstaged = unstagedBy({
      rollout,
      targets,
      renders: await rendersOf(context, rollout, question, targets, rendered),
      pinsAfter: touches.pins && made.ok ? pinsAfter : undefined,
      touched: pull.touched,
      isRelease,
      repoURL,
      baseBranch: base.branch,
    });
    const isMeant = rollout.allowUnstaged || pull.bypass === "counts";
    const waiting = isMeant ? undefined : rendered.untold.find(({ waits }) => waits)?.why;
    const notes = rendered.untold.flatMap(({ why }) => (why === waiting ? [] : engineReason("NOTE_UNSTAGED_UNTOLD", { because: why })));
    if (unstaged.length === 0) return rendered.untold.length === 0 ? undefined : { waiting, notes };
    const held = rollout.allowUnstaged ? "allowed" : pull.bypass === "counts" ? "bypassed" : "refused";
    const against = pull.bypass === "counts" ? undefined : pull.bypass;
    return { line: unstagedLine(rollout.name, unstaged, { held, against }), refused: held === "refused", waiting, notes };
  };
}

async function rendersOf(
  { planes: all, repoURL }: Pick<Context, "planes" | "repoURL">,
  rollout: Rollout,
  { base, before, after }: UnstagedQuestion,
  targets: readonly TargetBefore[],
  rendered: PullRenderings,
): Promise<UnstagedInput["renders"]> {
  const edits = targets.flatMap((target) => target.edits);
  const keys = targets.map((target) => target.key);
  // A set may yield more than a selector takes: the rest is not of this rollout.
  const isOwn = rollout.source.kind === "ApplicationSet" ? undefined : new Set(keys);
  const renders = { before: new Map<string, RenderResult>(), after: new Map<string, RenderResult>() };
  const sets = setsOfSource(all, rollout, keys);
  for (const { ref, planes } of sets) {
    const asked = { ref, likely: new Set(edits.flatMap(filesOf)), planes, edits };
    const old = await setsByPlane(before, asked);
    const fresh = await sameSetsAt(after, asked, old);
    for (const plane of planes) {
      const made = rendered.sets.get(setKey(plane, ref));
      const [was, is] = made === undefined ? [old.get(plane.name), fresh.get(plane.name)] : [made.before, made.after];
      if (was === undefined || (is === undefined && made === undefined)) continue;
      const clusters = generatorClusters([plane]);
      const sides = {
        before: await before.with((files) => renderAt(was, clusters, files, repoURL, base.branch)),
        after: is === undefined ? NONE : await after.with((files) => renderAt(is, clusters, files, repoURL, base.branch)),
      };
      if (made !== undefined && !(sides.before.ok && sides.after.ok)) {
        const said = { plane: plane.name, parent: made.by, kind: "Generators", object: `ApplicationSet ${ref.name}` } as const;
        rendered.untold.push({ why: engineReason("UNSTAGED_UNTOLD", said), waits: false });
      }
      // Of several sets one that cannot be rendered hides nothing of the others.
      if ((isOwn !== undefined || sets.length > 1) && !(sides.before.ok && sides.after.ok)) continue;
      for (const side of ["before", "after"] as const)
        renders[side].set(plane.name, together(renders[side].get(plane.name), ownOf(sides[side], `${plane.name}/${ref.namespace}`, isOwn)));
    }
  }
  for (const [plane, { before: was, after: is }] of rendered.children) {
    renders.before.set(plane, together(renders.before.get(plane), was));
    renders.after.set(plane, together(renders.after.get(plane), is));
  }
  return renders.before.size === 0 ? undefined : { before: joinPlanes(renders.before), after: joinPlanes(renders.after) };
}

/** Puts what was judged among what is found of a pull request. */
export function addUnstaged(
  findings: Pick<PlanFindings, "waiting"> & { against: string[]; fails: boolean; notes: AnyReason[] },
  judged: JudgedUnstaged | undefined,
): void {
  if (judged?.line !== undefined) findings.against.push(judged.line);
  findings.fails ||= judged?.refused === true;
  if (judged?.waiting !== undefined) findings.waiting ??= judged.waiting;
  findings.notes.push(...(judged?.notes ?? []));
}

/** Of a set that would be gone. */
const NONE: RenderResult = { ok: true, applications: [], generators: [], problems: [] };

function ownOf(result: RenderResult, place: string, isOwn: ReadonlySet<string> | undefined): RenderResult {
  if (isOwn === undefined) return result;
  return { ...result, applications: result.applications.filter(({ metadata }) => isOwn.has(`${place}/${metadata.name}`)) };
}

/** An Application that a PR would change past the stages, the moment it is merged. */
interface Unstaged {
  application: string;
  /** Cluster key; "" where it is not known. */
  cluster: string;
  why: AnyReason;
}

/** A target as it is before the PR. */
export interface TargetBefore extends PlannedTarget {
  /** Of its live Application. */
  sources: readonly SourceView[];
}

export interface UnstagedInput {
  rollout: Pick<Rollout, "release" | "pins">;
  targets: readonly TargetBefore[];
  /** The ApplicationSet rendered at the base and with the PR merged; undefined: it has none, or cannot be rendered. */
  renders: { before: RenderResult; after: RenderResult } | undefined;
  /** Target key → values of its pins with the PR merged, in the order of its edits; undefined: the PR touches no pin. */
  pinsAfter: ReadonlyMap<string, readonly (string | null)[]> | undefined;
  /** Files the PR changes. */
  touched: readonly string[];
  /** It asks for another release: then no target may read what it changes from the base branch either. */
  isRelease: boolean;
  repoURL: string;
  baseBranch: string;
}

/** docs/spec.md §9.6: what the PR itself would change, each Application once, with the first reason. In the order of names. */
export function unstagedBy(input: UnstagedInput): Unstaged[] {
  const clusters = new Map(input.targets.map((target) => [target.application, target.cluster]));
  const found = new Map<string, Unstaged>();
  for (const { application, why } of [...byRender(input), ...byPins(input), ...(input.isRelease ? byFiles(input) : [])])
    if (!found.has(application)) found.set(application, { application, cluster: clusters.get(application) ?? "", why });
  return [...found.values()].sort((a, b) => compareText(a.application, b.application));
}

type Found = Pick<Unstaged, "application" | "why">;

function byRender({ renders }: UnstagedInput): Found[] {
  if (renders === undefined || !renders.before.ok || !renders.after.ok) return [];
  const { removed, changed } = compareRenders(renders.before, renders.after);
  return [
    ...removed.map((application) => ({ application, why: engineReason("UNSTAGED_DELETED") })),
    ...changed.map(({ name, paths }) => ({ application: name, why: engineReason("UNSTAGED_CHANGED", { places: paths.slice(0, 2) }) })),
  ];
}

function byPins({ targets, pinsAfter }: UnstagedInput): Found[] {
  if (pinsAfter === undefined) return [];
  return targets.flatMap((target): Found[] => {
    const after = pinsAfter.get(target.key);
    const at = target.edits.findIndex((edit, index) => after !== undefined && edit.kind !== "branch" && after[index] !== edit.from);
    const edit = target.edits[at];
    if (edit === undefined) return [];
    const why = engineReason("UNSTAGED_PIN", {
      pinFile: edit.kind === "copy" ? `${edit.file}/` : edit.file,
      from: edit.from ?? undefined,
      to: after?.[at] ?? undefined,
    });
    return [{ application: target.application, why }];
  });
}

/** Targets that read from the base branch what the PR changes, and with `commit` those that follow that branch at all. */
function byFiles({ rollout, targets, touched, repoURL, baseBranch }: UnstagedInput): Found[] {
  const files = touched.filter((file) => !/^(rollouts|\.github)\//.test(file));
  const commit = rollout.release?.kind === "commit";
  // Hundreds of Applications have the same sources but for the revision.
  const reads = new Map<string, string | undefined>();
  return targets.flatMap((target): Found[] => {
    const copies = target.edits.some(({ kind }) => kind === "copy");
    if (commit && !copies && target.sources.some((source) => tracksBase(source, repoURL, baseBranch)))
      return [{ application: target.application, why: engineReason("UNSTAGED_FOLLOWS", { branch: baseBranch }) }];
    if (commit && !followsPin(target, repoURL)) return [{ application: target.application, why: engineReason("UNSTAGED_NO_PIN") }];
    const key = JSON.stringify(target.sources);
    const file = reads.has(key) ? reads.get(key) : files.find((one) => readsFile(target.sources, one, { repoURL, baseBranch }));
    reads.set(key, file);
    return file === undefined
      ? []
      : [{ application: target.application, why: engineReason("UNSTAGED_READS", { changed: file, branch: baseBranch }) }];
  });
}

function tracksBase(source: SourceView, repoURL: string, baseBranch: string): boolean {
  return source.chart === undefined && sameRepo(source.repoURL, repoURL) && isBaseRevision(source.targetRevision, baseBranch);
}

function followsPin(target: TargetBefore, repoURL: string): boolean {
  // What it reads is a copy, which only a batch changes.
  if (target.edits.some(({ kind }) => kind === "copy")) return true;
  return target.sources.some(
    ({ repoURL: url, targetRevision }) =>
      sameRepo(url, repoURL) &&
      target.edits.some((edit) => (edit.kind === "branch" ? namesRef(targetRevision, edit.path) : edit.from === targetRevision)),
  );
}
