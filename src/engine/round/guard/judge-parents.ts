/**
 * docs/spec.md §9.4 for sets and Applications that a parent Application renders: what Argo CD makes of the base and of the batch's commit is
 * compared object by object. The batch's sets are judged by what they yield, its Applications may change, and nothing else may.
 *
 * Opened by the render guard for each merge that it judges: each parent is asked and judged once in it.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { committedSources, intendedOf } from "../../../core/argocd/decode/source.ts";
import type { AppliedBy } from "../../../core/argocd/decode/tracking.ts";
import { sourceReads } from "../../../core/argocd/edit-effect.ts";
import { standsIn } from "../../../core/argocd/liveness/change-for.ts";
import { equalIntent } from "../../../core/argocd/same.ts";
import { type IsBase, readersOf } from "../../../core/argocd/source-files.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import { filesOf } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { putsBack } from "../../../core/run/state/batch.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { SourceRef } from "../../../core/spec/rollout.ts";
import { type ApplicationSetInGit, manifestIn } from "../../config-repo/appset-in-git.ts";
import { makerOf } from "../../config-repo/live-set.ts";
import { idOf, onBase, type ParentAnswer, type ParentRenders, parentOn } from "../../config-repo/parent-renders.ts";
import { together } from "../../config-repo/plane-sets.ts";
import type { Snapshot } from "../../config-repo/snapshot.ts";
import { isBaseOf } from "../../lint/outside-readers.ts";
import type { GuardProblem, RenderedSides } from "./edits.ts";
import type { GuardedAt } from "./generate-renders.ts";
import { judgeRenders } from "./judge-renders.ts";
import { applicationsIn, judgeOthers, nameObject, type ParentSides, placedAt } from "./parent-objects.ts";

/** `unasked`: the live objects are what there is to go by. */
type Asked = { kind: "sides"; sides: ParentSides } | { kind: "unasked" } | { kind: "problem"; problem: GuardProblem };

/** A set as its parent renders it without the batch and with it. */
interface RenderedSet {
  before: ApplicationSetInGit;
  after: ApplicationSetInGit;
  parent: string;
}

export interface ParentsOfMerge {
  /** The set that a parent renders; undefined: no parent that may be asked does. */
  set(plane: ControlPlane, ref: SourceRef): Promise<{ sides: RenderedSet } | { problem: GuardProblem } | undefined>;
  /** The batch's Applications that a parent renders itself, from what they edit. undefined: nothing stands against them. */
  children(plane: ControlPlane, base: Snapshot): Promise<GuardProblem | undefined>;
  /** Whether an Application shows what its edits write, where that reaches it by its spec. */
  shows(plane: string, target: BatchTarget, parent: string, sides: RenderedSides): GuardProblem | undefined;
  /** What stands against the merge in what this Application renders. */
  reader(plane: ControlPlane, application: ApplicationView): Promise<GuardProblem | "noParent" | "unasked" | undefined>;
  /** By plane, the Applications themselves among what parents render. */
  rendered(plane: ControlPlane): { before: RenderResult; after: RenderResult } | undefined;
}

interface Merge {
  repoURL: string;
  batch: Batch;
  at: GuardedAt;
  /** Sets that are judged by what they yield: `namespace/name`. */
  sets: ReadonlySet<string>;
}

/** What is known while one merge is judged. */
interface Work extends Merge {
  renders: ParentRenders;
  mirror: Pick<Mirror, "commitInfo">;
  isBase: IsBase;
  /** By plane and parent. */
  asked: Map<string, Promise<Asked>>;
  /** By plane. */
  seen: Map<string, { before: RenderResult; after: RenderResult }>;
}

export function openParentsOfMerge(renders: ParentRenders, mirror: Pick<Mirror, "commitInfo">, merge: Merge): ParentsOfMerge {
  const isBase = isBaseOf({ repoURL: merge.repoURL, baseBranch: merge.at.baseBranch });
  const work: Work = { ...merge, renders, mirror, isBase, asked: new Map(), seen: new Map() };
  return {
    set: (plane, ref) => judgeSet(work, plane, ref),
    children: (plane, base) => judgeChildren(work, plane, base),
    shows: (plane, target, parent, sides) => judgeShown(work, plane, target, parent, sides),
    reader: (plane, application) => judgeReader(work, plane, application),
    rendered: (plane) => (merge.at.unpushed === true ? undefined : work.seen.get(plane.name)),
  };
}

/** Its sides, judged but for what is the batch's own. */
function ask(work: Work, plane: ControlPlane, parent: ApplicationView): Promise<Asked> {
  const key = `${plane.name}/${parent.namespace}/${parent.name}`;
  const found = work.asked.get(key) ?? askAndJudge(work, plane, parent);
  work.asked.set(key, found);
  return found;
}

async function askAndJudge(work: Work, plane: ControlPlane, parent: ApplicationView): Promise<Asked> {
  const { seen, sets, batch } = work;
  const found = await sidesOf(work, plane, parent);
  if (found.kind !== "sides") return found;
  const own = { before: applicationsIn(found.sides.before), after: applicationsIn(found.sides.after) };
  const known = seen.get(plane.name);
  seen.set(plane.name, { before: together(known?.before, own.before), after: together(known?.after, own.after) });
  const names = batch.targets.flatMap(({ key }) =>
    key.startsWith(`${plane.name}/`) ? (placedAt(own.before, key)?.metadata.name ?? []) : [],
  );
  const problem = judgeOthers(plane, found.sides, sets) ?? judgeRenders(names, own.before, own.after);
  return problem === undefined ? found : { kind: "problem", problem };
}

async function judgeSet(work: Work, plane: ControlPlane, { namespace, name }: SourceRef): ReturnType<ParentsOfMerge["set"]> {
  const parent = parentOn(plane, namespace, plane.applicationSet(namespace, name)?.appliedBy);
  const found = parent === undefined ? undefined : await ask(work, plane, parent);
  if (found === undefined || found.kind === "unasked") return undefined;
  if (found.kind === "problem") return found;
  const id = idOf({ kind: "argoproj.io/ApplicationSet", namespace, name });
  const [before, after] = [found.sides.before, found.sides.after].map((side) => side.get(id)?.argo?.object);
  const { name: by } = found.sides.parent;
  if (before !== undefined && after !== undefined)
    return { sides: { before: { file: "", object: before }, after: { file: "", object: after }, parent: by } };
  const said = { plane: plane.name, parent: by, object: `ApplicationSet ${namespace}/${name}`, does: "removes" } as const;
  return { problem: { why: engineReason("PARENT_CHANGES", said), retry: before === undefined } };
}

async function judgeChildren(work: Work, plane: ControlPlane, base: Snapshot): Promise<GuardProblem | undefined> {
  for (const target of work.batch.targets) {
    const [, namespace = "", name = ""] = target.key.split("/");
    const live = target.key.startsWith(`${plane.name}/`) ? plane.application(namespace, name) : undefined;
    const parent = live?.owner === undefined ? parentOn(plane, namespace, live?.appliedBy) : undefined;
    if (live === undefined || parent === undefined || parent.uid === live.uid) continue;
    if (!(await base.with((files) => isMadeFrom(parent, live, target, files, work.isBase)))) continue;
    const found = await ask(work, plane, parent);
    if (found.kind === "problem") return found.problem;
    if (found.kind === "unasked") continue;
    const own = work.seen.get(plane.name);
    const problem =
      judgeChild(plane, live, found.sides) ?? (own && judgeShown(work, plane.name, target, parent.name, { ...own, madeFrom: new Set() }));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** An answer that does not say of which commit it is proves it by the batch's own values. */
function judgeShown(
  { batch, at, isBase }: Work,
  plane: string,
  target: BatchTarget,
  parent: string,
  { before, after, madeFrom }: RenderedSides,
): GuardProblem | undefined {
  if (at.unpushed === true || putsBack(batch)) return undefined;
  const [old, fresh] = [before, after].map((side) => placedAt(side, target.key)?.spec);
  if (old === undefined || fresh === undefined) return undefined;
  const own = intendedOf(fresh);
  const missing = target.edits.find((edit) => {
    if (edit.kind !== "value" || edit.from === edit.to || madeFrom.has(edit.file)) return false;
    return (
      readersOf(own.sources, edit.file, isBase).length === 0 && !standsIn(edit.removes === true ? edit : { from: null, to: edit.to }, own)
    );
  });
  if (missing === undefined) return undefined;
  return { why: engineReason("PARENT_SHOWS_NOTHING", { application: target.application, plane, parent, to: missing.to }), retry: true };
}

async function judgeReader(work: Work, plane: ControlPlane, application: ApplicationView): ReturnType<ParentsOfMerge["reader"]> {
  const isBy = (namespace: string, by: AppliedBy | undefined) =>
    by?.name === application.name && (by.namespace ?? namespace) === application.namespace;
  const applies = plane.applications().some((one) => one.uid !== application.uid && isBy(one.namespace, one.appliedBy));
  const makes = [...work.sets].some((set) => {
    const [namespace = "", name = ""] = set.split("/");
    return isBy(namespace, plane.applicationSet(namespace, name)?.appliedBy);
  });
  if (!applies && !makes) return "noParent";
  const found = await ask(work, plane, application);
  return found.kind === "unasked" ? "unasked" : found.kind === "problem" ? found.problem : undefined;
}

async function sidesOf({ renders, mirror, at }: Work, plane: ControlPlane, parent: ApplicationView): Promise<Asked> {
  const data = { plane: plane.name, parent: parent.name };
  const ask = (commit: string) => renders.at(plane, parent, commit, at.baseBranch);
  const now = await ask(at.base);
  if (now.kind !== "rendered") return unmade(now);
  if (now.objects.size === 0)
    return { kind: "problem", problem: { why: engineReason("PARENT_EMPTY", { ...data, with: "base" }), retry: true } };
  // Nobody can be asked about a commit that is not pushed: it is judged once its PR is there, before it is merged.
  if (at.unpushed === true) return { kind: "sides", sides: { parent, before: now.objects, after: now.objects } };
  const first = (await mirror.commitInfo(at.head))?.parents[0];
  if (first === undefined)
    return { kind: "problem", problem: { why: engineReason("COMMIT_UNREADABLE", { commit: at.head }), retry: true } };
  const old = first === at.base ? now : await ask(first);
  if (old.kind !== "rendered") return unmade(old);
  const made = await ask(at.head);
  if (made.kind !== "rendered") return unmade(made);
  if (made.objects.size === 0)
    return { kind: "problem", problem: { why: engineReason("PARENT_EMPTY", { ...data, with: "batch" }), retry: true } };
  const merged = onBase(old.objects, made.objects, now.objects);
  if ("both" in merged) {
    const why = engineReason("PARENT_MOVED", { ...data, object: nameObject(merged.both) });
    return { kind: "problem", problem: { why, retry: true } };
  }
  return { kind: "sides", sides: { parent, before: now.objects, after: merged.objects } };
}

function unmade(answer: Exclude<ParentAnswer, { kind: "rendered" }>): Asked {
  return answer.kind === "unasked" ? answer : { kind: "problem", problem: { why: answer.why, retry: true } };
}

/** Whether an Application that is not written out itself in what its pins edit comes of what its parent makes of those files. */
function isMadeFrom(parent: ApplicationView, live: ApplicationView, { edits }: BatchTarget, files: RepoFiles, isBase: IsBase): boolean {
  const edited = [...new Set(edits.filter(({ kind }) => kind === "value" || kind === "copy").flatMap(filesOf))];
  const stands = (file: string) =>
    manifestIn(readOrNull(files, file), "Application", [live]) !== undefined && makerOf(files, file) === undefined;
  const sources = committedSources(parent.spec);
  const reads = (file: string) =>
    readersOf(sources, file, isBase).length > 0 || sources.some((source) => isBase(source) && sourceReads(source, file, files) === true);
  return edited.some((file) => reads(file) && !stands(file));
}

/** An Application of the batch lives as its parent makes it of the base, and none of those beside it goes. */
function judgeChild(plane: ControlPlane, live: ApplicationView, { parent, before, after }: ParentSides): GuardProblem | undefined {
  const idIn = ({ namespace, name }: ApplicationView) => `argoproj.io/Application ${namespace}/${name}`;
  const was = before.get(idIn(live))?.argo?.object["spec"];
  const data = { application: live.name, plane: plane.name, parent: parent.name };
  if (!isRecord(was) || !equalIntent(intendedOf(was), live.spec)) return { why: engineReason("CHILD_DIFFERS", data), retry: true };
  const isOurs = (one: ApplicationView) => one.owner === undefined && parentOn(plane, one.namespace, one.appliedBy)?.uid === parent.uid;
  const gone = plane.applications().find((one) => one.deletionTimestamp === undefined && isOurs(one) && !after.has(idIn(one)));
  return gone && { why: engineReason("GUARD_LOSES", { application: gone.name, plane: plane.name }), retry: false };
}
