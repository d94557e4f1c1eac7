/**
 * The parent Applications by which a rollout's sets and Applications are applied, and what Argo CD makes of them at the base and at the head of a
 * pull request that changes what they are made from. Called by the judge of pull requests. Nothing is asked about a fork's head.
 */
import type { ControlPlane, RenderedObject } from "../../adapters/argocd/port.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import type { RenderResult } from "../../core/appset/types.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import type { AppliedBy } from "../../core/argocd/decode/tracking.ts";
import { isPlainFolder, sourceReads } from "../../core/argocd/edit-effect.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { Rollout, SourceRef } from "../../core/spec/rollout.ts";
import { type ApplicationSetInGit, manifestIn } from "../config-repo/appset-in-git.ts";
import { makerOf } from "../config-repo/live-set.ts";
import { idOf, isAskable, type ParentRenders, parentOn, type RenderedObjects } from "../config-repo/parent-renders.ts";
import { together } from "../config-repo/plane-sets.ts";
import { manifestsAmong } from "../config-repo/set-files.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { isBaseOf, readsFile } from "../lint/outside-readers.ts";
import { applicationsOf, applicationsOn } from "../resolve/draft.ts";
import { type Planes, planesFor } from "../resolve/fleet.ts";
import { setsOfSource } from "../resolve/source-sets.ts";
import { applicationsIn } from "../round/guard/parent-objects.ts";
import { type ChangedSpec, changedSpec, idIn, renderChanged, type Untold } from "./parent-specs.ts";
import type { JudgedPull, PlanBase } from "./types.ts";

/** A parent, and what of the rollout it applies. */
export interface RolloutParent {
  plane: ControlPlane;
  parent: ApplicationView;
  objects: { kind: "ApplicationSet" | "Application"; namespace: string; name: string }[];
  /** Where the pull request changes what the parent itself is. */
  spec?: ChangedSpec;
}

/** What parents would make of a pull request, of what is the rollout's. */
export interface PullRenderings {
  /** By control plane, namespace and name. `after` undefined: it would be gone. */
  sets: ReadonlyMap<string, { by: string; before: ApplicationSetInGit; after: ApplicationSetInGit | undefined }>;
  /** By control plane: Applications that parents render themselves. */
  children: ReadonlyMap<string, { before: RenderResult; after: RenderResult }>;
  untold: Untold[];
}

interface BaseOfRepo {
  repoURL: string;
  baseBranch: string;
}

/** Those of a rollout whose spec a pull request changes, or whose sources, where Helm, kustomize or a plugin renders them. */
export async function touchedParents(
  all: Planes,
  rollout: Rollout,
  touched: readonly string[],
  snapshots: readonly (Snapshot | undefined)[],
  base: BaseOfRepo,
): Promise<RolloutParent[]> {
  const found = new Set<RolloutParent>();
  const own = new Set(writtenOut(all, rollout).map((one) => setKey({ name: one.plane }, one)));
  for (const one of parentsOf(all, rollout)) {
    // One that is a target itself is judged as such.
    const isTarget = own.has(setKey(one.plane, one.parent));
    const spec = isTarget ? undefined : await changedSpec(one.parent, touched, snapshots);
    const parent = spec === undefined ? one : { ...one, spec };
    if (spec !== undefined) found.add(parent);
    for (const snapshot of snapshots)
      if (snapshot !== undefined && (await snapshot.with((files) => touched.some(readsOf(parent, files, base))))) found.add(parent);
  }
  return [...found];
}

function parentsOf(all: Planes, rollout: Rollout): RolloutParent[] {
  const found = new Map<string, RolloutParent>();
  const add = (plane: ControlPlane, by: AppliedBy | undefined, object: RolloutParent["objects"][number]) => {
    const parent = parentOn(plane, object.namespace, by);
    if (parent === undefined || (object.kind === "Application" && isItself(parent, object))) return;
    const key = `${plane.name}/${parent.namespace}/${parent.name}`;
    const one = found.get(key) ?? { plane, parent, objects: [] };
    found.set(key, one);
    one.objects.push(object);
  };
  for (const { ref, planes } of setsOfSource(all, rollout))
    for (const plane of planes) {
      const { namespace, name } = ref;
      add(plane, plane.applicationSet(namespace, name)?.appliedBy, { kind: "ApplicationSet", namespace, name });
    }
  if (rollout.source.kind === "ApplicationSet") return [...found.values()];
  const planes = planesFor(all, rollout.source.controlPlanes);
  for (const { controlPlane, view } of applicationsOf(rollout, applicationsOn(planes, rollout))) {
    const plane = all.get(controlPlane);
    const { namespace, name, owner, appliedBy } = view;
    if (plane !== undefined && owner === undefined) add(plane, appliedBy, { kind: "Application", namespace, name });
  }
  return [...found.values()];
}

function isItself(parent: ApplicationView, { namespace, name }: Pick<ApplicationView, "namespace" | "name">): boolean {
  return parent.namespace === namespace && parent.name === name;
}

/** Tells the files that a parent is made from. A plain folder gives what stands in it, which is seen in Git. */
function readsOf({ parent }: Pick<RolloutParent, "parent">, files: RepoFiles, base: BaseOfRepo): (file: string) => boolean {
  const isBase = isBaseOf(base);
  const sources = committedSources(parent.spec);
  const rendered = sources.filter((source) => source.chart !== undefined || !isBase(source) || !isPlainFolder(source, files));
  if (!rendered.some((source) => source.ref === undefined || source.path !== undefined)) return () => false;
  return (file) =>
    readsFile(sources, file, base, files) || rendered.some((source) => isBase(source) && sourceReads(source, file, files) === true);
}

export interface PullQuestion {
  base: PlanBase;
  pull: JudgedPull;
  before: Snapshot;
  after: Snapshot;
}

interface Asking {
  planes: Planes;
  renders: ParentRenders;
  mirror: Pick<Mirror, "changedPaths">;
  repoURL: string;
}

/** What Argo CD makes of the base and of the pull request, for each parent. */
export async function renderParents(
  asking: Asking,
  rollout: Rollout,
  parents: readonly RolloutParent[],
  question: PullQuestion,
): Promise<PullRenderings> {
  const sets: Map<string, { by: string; before: ApplicationSetInGit; after: ApplicationSetInGit | undefined }> = new Map();
  const children = new Map<string, { before: RenderResult; after: RenderResult }>();
  const untold: Untold[] = [];
  const add = (plane: string, before: RenderResult, after: RenderResult) => {
    const known = children.get(plane);
    children.set(plane, { before: together(known?.before, before), after: together(known?.after, after) });
  };
  for (const one of parents) {
    const found = await (one.spec === undefined ? askParent(asking, one, question) : renderChanged(asking, one, one.spec, question));
    if ("why" in found) {
      untold.push(found);
      continue;
    }
    const { plane, parent, objects } = one;
    for (const { kind, namespace, name } of objects.filter((object) => object.kind === "ApplicationSet")) {
      const [was, is] = [found.before, found.after].map((side) => side.get(idIn(kind, { namespace, name }))?.argo?.object);
      const after = is && { file: "", object: is };
      if (was !== undefined) sets.set(setKey(plane, { namespace, name }), { by: parent.name, before: { file: "", object: was }, after });
    }
    const own = new Set(objects.flatMap((object) => (object.kind === "Application" ? idIn(object.kind, object) : [])));
    if (own.size > 0) add(plane.name, childrenIn(found.before, own), childrenIn(found.after, own));
  }
  const rendered = new Set(parents.flatMap(({ plane, objects }) => objects.map((object) => setKey(plane, object))));
  const written = writtenOut(asking.planes, rollout).filter((one) => !rendered.has(setKey({ name: one.plane }, one)));
  for (const [plane, own] of Map.groupBy(written, (one) => one.plane)) {
    const { before, after, made } = await declaredBy(question, own);
    const kept = (side: RenderResult): RenderResult => {
      return { ...side, applications: side.applications.filter(({ metadata }) => !made.has(metadata.name)) };
    };
    if (before.applications.length > 0) add(plane, kept(before), kept(after));
  }
  return { sets, children, untold };
}

/** Those of a rollout's Applications that no set makes: they may stand written out in Git. */
export function writtenOut(all: Planes, rollout: Rollout): { plane: string; namespace: string; name: string }[] {
  if (rollout.source.kind === "ApplicationSet") return [];
  const planes = planesFor(all, rollout.source.controlPlanes);
  return applicationsOf(rollout, applicationsOn(planes, rollout)).flatMap(({ controlPlane, view: { owner, namespace, name } }) =>
    owner === undefined ? { plane: controlPlane, namespace, name } : [],
  );
}

/** Applications as they stand in what a pull request touches; `made`: those that kustomize or a chart changes on their way. */
async function declaredBy(
  { pull, before, after }: PullQuestion,
  own: readonly Pick<ApplicationView, "namespace" | "name">[],
): Promise<{ before: RenderResult; after: RenderResult; made: Set<string> }> {
  const made = new Set<string>();
  const read = (snapshot: Snapshot) =>
    snapshot.with((files) => {
      const found: RenderedObject[] = [];
      for (const file of manifestsAmong(pull.touched)) {
        const text = readOrNull(files, file);
        for (const one of own) {
          const object = manifestIn(text, "Application", [one]);
          if (object === undefined) continue;
          found.push({ ...one, kind: "argoproj.io/Application", digest: "", argo: { kind: "Application", object } });
          if (makerOf(files, file) !== undefined) made.add(one.name);
        }
      }
      return applicationsIn(new Map(found.map((object) => [idOf(object), object])));
    });
  return { before: await read(before), after: await read(after), made };
}

export function setKey(plane: Pick<ControlPlane, "name">, { namespace, name }: Pick<SourceRef, "namespace" | "name">): string {
  return `${plane.name}/${namespace}/${name}`;
}

function childrenIn(objects: RenderedObjects, own: ReadonlySet<string>): RenderResult {
  return applicationsIn(new Map([...objects].filter(([id]) => own.has(id))));
}

/** A head that lacks what the base has changed of the parent would show more than a merge of it. */
async function askParent(
  { renders, mirror, repoURL }: Asking,
  { plane, parent, objects }: RolloutParent,
  { base, pull, before, after }: PullQuestion,
): Promise<{ before: RenderedObjects; after: RenderedObjects } | Untold> {
  const untold = (kind: "Unasked" | "Fork" | "Behind" | "Missing" | "Empty", object = "", waits = false): Untold => {
    return { why: engineReason("UNSTAGED_UNTOLD", { plane: plane.name, parent: parent.name, kind, object }), waits };
  };
  const at = { repoURL, baseBranch: base.branch };
  if (!isAskable(plane, parent, at)) return untold("Unasked");
  // Rendering runs what a commit brings: nobody's but of those who may push here.
  if (pull.isFork) return untold("Fork");
  const moved = pull.tree === undefined ? [] : await mirror.changedPaths(pull.head, pull.tree);
  for (const snapshot of [before, after]) {
    const behind = await snapshot.with((files) => moved.find(readsOf({ parent }, files, at)));
    if (behind !== undefined) return untold("Behind", behind, true);
  }
  const sides: RenderedObjects[] = [];
  for (const commit of [base.commit, pull.head]) {
    const answer = await renders.at(plane, parent, commit, base.branch);
    if (answer.kind === "unasked") return untold("Unasked");
    if (answer.kind === "failed") return { why: answer.why, waits: true };
    sides.push(answer.objects);
  }
  const [old, made] = sides as [RenderedObjects, RenderedObjects];
  const missing = objects.find(({ kind, ...place }) => old.get(idIn(kind, place))?.argo === undefined);
  if (missing !== undefined) return untold("Missing", `${missing.kind} ${missing.namespace}/${missing.name}`);
  return made.size === 0 ? untold("Empty", "", true) : { before: old, after: made };
}
