/**
 * Parent Applications whose own spec a pull request changes: another path, another revision, other Helm values. Argo CD renders an Application
 * by the spec that it has, so what becomes of the children is read from Git where folders give what stands in them, and asked of Argo CD
 * where revisions alone change. Called by `pull-parents.ts`.
 */
import type { ControlPlane, RenderedObject } from "../../adapters/argocd/port.ts";
import { committedSources, intendedOf } from "../../core/argocd/decode/source.ts";
import { plainManifests } from "../../core/argocd/edit-effect.ts";
import { equalDestination, equalSources } from "../../core/argocd/same.ts";
import type { IsBase } from "../../core/argocd/source-files.ts";
import type { ApplicationView, SourceView } from "../../core/argocd/views.ts";
import { isRecord } from "../../core/base/is-record.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { manifestIn, objectsIn } from "../config-repo/appset-in-git.ts";
import { idOf, type ParentRenders, type RenderedObjects } from "../config-repo/parent-renders.ts";
import { manifestsAmong } from "../config-repo/set-files.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { isBaseOf } from "../lint/outside-readers.ts";

/** What a pull request makes of a parent's manifest. `after` undefined: it goes, or is none that can be read. */
export interface ChangedSpec {
  file: string;
  before: Record<string, unknown>;
  after: Record<string, unknown> | undefined;
}

/** The change of where a parent takes its children from, or puts them; undefined: it changes neither. */
export async function changedSpec(
  parent: ApplicationView,
  touched: readonly string[],
  [before, after]: readonly (Snapshot | undefined)[],
): Promise<ChangedSpec | undefined> {
  const specIn = (snapshot: Snapshot | undefined, file: string) =>
    snapshot?.with((files) => {
      const spec = manifestIn(readOrNull(files, file), "Application", [parent])?.["spec"];
      return isRecord(spec) ? spec : undefined;
    });
  for (const file of manifestsAmong(touched)) {
    const was = await specIn(before, file);
    if (was === undefined || after === undefined) continue;
    const is = await specIn(after, file);
    if (is === undefined || !isSame(was, is)) return { file, before: was, after: is };
  }
  return undefined;
}

function isSame(was: Record<string, unknown>, is: Record<string, unknown>): boolean {
  const [one, other] = [intendedOf(was), intendedOf(is)];
  return equalSources(committedSources(one), committedSources(other)) && equalDestination(one.destination, other.destination);
}

interface Asking {
  renders: ParentRenders;
  repoURL: string;
}

interface Parent {
  plane: ControlPlane;
  parent: ApplicationView;
  /** What of a rollout it applies. */
  objects: readonly { kind: string; namespace: string; name: string }[];
}

interface Question {
  base: { commit: string; branch: string };
  pull: { head: string; isFork: boolean };
  before: Snapshot;
  after: Snapshot;
}

interface Sides {
  before: RenderedObjects;
  after: RenderedObjects;
}

/** What cannot be told of a pull request; `waits`: it may be soon, or once the branch is brought up to date. */
export interface Untold {
  why: AnyReason;
  waits: boolean;
}

/** What becomes of the children: as its folders stand in Git, or as Argo CD renders another revision of it. */
export async function renderChanged(asking: Asking, of: Parent, spec: ChangedSpec, question: Question): Promise<Sides | Untold> {
  const { plane, parent, objects } = of;
  const untold = (kind: "Spec" | "Fork" | "Missing", object = spec.file): Untold => {
    return { why: engineReason("UNSTAGED_UNTOLD", { plane: plane.name, parent: parent.name, kind, object }), waits: false };
  };
  const isBase = isBaseOf({ repoURL: asking.repoURL, baseBranch: question.base.branch });
  const found = (await standingBoth(spec, question, isBase)) ?? (await atRevisions(asking.renders, of, spec, question, isBase));
  if (typeof found === "string") return untold(found);
  if ("why" in found) return found;
  const missing = objects.find(({ kind, ...place }) => found.before.get(idIn(kind, place))?.argo === undefined);
  return missing === undefined ? found : untold("Missing", `${missing.kind} ${missing.namespace}/${missing.name}`);
}

async function standingBoth(spec: ChangedSpec, { before, after }: Question, isBase: IsBase): Promise<Sides | undefined> {
  const [was, is] = [spec.before, spec.after];
  if (is === undefined) return undefined;
  const old = await before.with((files) => standingIn(was, files, isBase));
  const made = await after.with((files) => standingIn(is, files, isBase));
  return old === undefined || made === undefined ? undefined : { before: old, after: made };
}

async function atRevisions(
  renders: ParentRenders,
  { plane, parent }: Parent,
  spec: ChangedSpec,
  { base, pull }: Question,
  isBase: IsBase,
): Promise<Sides | Untold | "Spec" | "Fork"> {
  const revisions = revisionsOf(spec, pull.head, isBase);
  if (revisions === undefined || plane.manifests === undefined) return "Spec";
  // Rendering runs what a commit brings: nobody's but of those who may push here.
  if (pull.isFork) return "Fork";
  const now = parent.spec.sources.map((source) => (isBase(source) ? base.commit : ""));
  const [old, made] = [await renders.atRevisions(plane, parent, now), await renders.atRevisions(plane, parent, revisions)];
  for (const answer of [old, made]) if (answer.kind === "failed") return { why: answer.why, waits: true };
  return old.kind === "rendered" && made.kind === "rendered" ? { before: old.objects, after: made.objects } : "Spec";
}

export function idIn(kind: string, place: { namespace: string; name: string }): string {
  return idOf({ ...place, kind: `argoproj.io/${kind}` });
}

/** Revisions to ask Argo CD for, by source, where nothing else of a spec changes; undefined: something does. */
function revisionsOf({ before, after }: ChangedSpec, head: string, isBase: IsBase): string[] | undefined {
  if (after === undefined) return undefined;
  const [was, is] = [intendedOf(before), intendedOf(after)];
  const bare = ({ targetRevision: _, ...source }: SourceView): SourceView => source;
  const isRevisionsAlone =
    was.sourceHydrator === undefined &&
    is.sourceHydrator === undefined &&
    equalSources(was.sources.map(bare), is.sources.map(bare)) &&
    equalDestination(was.destination, is.destination);
  return isRevisionsAlone ? is.sources.map((one) => (isBase(one) ? head : (one.targetRevision ?? "HEAD"))) : undefined;
}

/** The sets and Applications that stand in a spec's folders; undefined: something renders them. */
function standingIn(spec: Record<string, unknown>, files: RepoFiles, isBase: IsBase): RenderedObjects | undefined {
  const { sources, destination, sourceHydrator } = intendedOf(spec);
  if (sourceHydrator !== undefined) return undefined;
  const found: RenderedObject[] = [];
  for (const source of sources) {
    const manifests = isBase(source) ? plainManifests(source, files) : undefined;
    if (manifests === undefined) return undefined;
    for (const file of manifests)
      for (const object of objectsIn(readOrNull(files, file))) {
        const { kind, metadata } = object;
        if ((kind !== "Application" && kind !== "ApplicationSet") || !isRecord(metadata)) continue;
        const { name, namespace = destination.namespace } = metadata;
        const place = { name: String(name), namespace: String(namespace) };
        found.push({ ...place, kind: `argoproj.io/${kind}`, digest: JSON.stringify(object), argo: { kind, object } });
      }
  }
  return new Map(found.map((object) => [idOf(object), object]));
}
