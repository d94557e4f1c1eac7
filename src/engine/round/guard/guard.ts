/**
 * docs/spec.md §9.4: a batch never deletes. Each ApplicationSet that the rollout's Applications come from is rendered on the base and on the
 * tree that the merge would produce; every Application must stay, under its name, on its destination, in its project, and only the batch's may
 * change. Nor may an Application outside the batch read a file that it changes, and every one of the batch must change (§9.2).
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { compareRenders } from "../../../core/appset/compare.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { type Edit, targetsOf } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import type { SourceRef } from "../../../core/spec/rollout.ts";
import { type ApplicationSetInGit, findApplicationSets, generatorClusters, renderApart } from "../../config-repo/appset-in-git.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { pinFilesOf, sameSetsAt, setsByPlane, together } from "../../config-repo/plane-sets.ts";
import { specDifference } from "../../config-repo/same-spec.ts";
import { noting, type Snapshot } from "../../config-repo/snapshot.ts";
import { outsideReader } from "../../lint/outside-readers.ts";
import { heldByLost, lostPlanes, planesFor } from "../../resolve/fleet.ts";
import { type SourceSet, setsEdited, setsOfRun } from "../../resolve/source-sets.ts";
import { editsOf } from "../act/batch-commit.ts";
import type { RepoContext } from "../context.ts";
import { type GuardProblem, judgeEdits, type RenderedSides } from "./edits.ts";
import { type GuardedAt, openGenerator } from "./generate-renders.ts";

/** Past this age the live side may have changed: the guard is asked again. */
const VOID_AFTER_MS = 60_000;
const MOST_KEPT = 1000;

/** Judges what a merge would do. Kept for the same base, head and live state while younger than half a minute. */
export type GuardBatch = (run: Run, batch: Batch, at: GuardedAt) => Promise<Guard>;

/** What merging gives, and what the ApplicationSets yield around it. */
interface Merged {
  tree: string;
  rendered: Map<string, RenderedSides>;
  /** Control plane, namespace and name of an Application → the set that makes it. */
  makers: Map<string, string>;
}

/** One set on one control plane. */
interface Judged extends Merged {
  ref: SourceRef;
  plane: ControlPlane;
  before: ApplicationSetInGit | undefined;
  after: ApplicationSetInGit | undefined;
  lost: boolean;
}

type Context = Pick<RepoContext, "planes" | "clock" | "log" | "repoURL"> & { mirror: Pick<Mirror, "mergeTree" | "commitInfo"> };

export function openGuard({ mirror, planes: all, clock, log, repoURL }: Context, commits: Pick<Commits, "snapshot">): GuardBatch {
  /** Branch → the last answer, and what it was an answer to. */
  const kept = new BoundedMap<string, { key: string; guard: Guard }>(MOST_KEPT);
  const generate = openGenerator({ mirror, log, repoURL });

  function liveVersion(run: Run): string {
    const sets = setsOfRun(all, run).flatMap(({ ref: { namespace, name }, planes }) =>
      planes.map((plane) => `${name}:${plane.state().fresh ? (plane.applicationSet(namespace, name)?.resourceVersion ?? "none") : "lost"}`),
    );
    return sets.join();
  }

  async function judgeMerge(run: Run, batch: Batch, at: GuardedAt): Promise<GuardProblem | undefined> {
    const merged = await mirror.mergeTree(at.base, at.head);
    if ("conflicts" in merged) return { why: engineReason("GUARD_CONFLICTS", { files: merged.conflicts.slice(0, 3) }), retry: true };
    const rendered = new Map<string, RenderedSides>();
    const { base, baseBranch } = at;
    const before = commits.snapshot(base);
    return (
      (await judgeSets(run, batch, at, { tree: merged.tree, rendered, makers: new Map() })) ??
      (await outsideReader({ planes: all, repoURL }, before, run, batch, baseBranch)) ??
      (await judgeEdits(all, { run, batch, before, after: commits.snapshot(merged.tree), rendered, base: { repoURL, baseBranch } }))
    );
  }

  async function judgeSets(run: Run, batch: Batch, at: GuardedAt, merged: Merged): Promise<GuardProblem | undefined> {
    const planes = planesFor(all, run.spec.source.controlPlanes);
    const held = heldByLost(lostPlanes(planes), planes, batch);
    if (held !== undefined) return { why: held, retry: true };
    const sets = setsOfRun(all, run);
    const edited = await setsEdited(sets, planes, run, editsOf(batch), commits.snapshot(at.base));
    for (const set of [...sets, ...edited]) {
      const problem = await judgeSet(run, batch, at, set, merged);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async function judgeSet(run: Run, batch: Batch, at: GuardedAt, { ref, planes }: SourceSet, merged: Merged) {
    const likely = editsOf(batch).map((edit) => edit.file);
    const edits = [...editsOf(batch), ...targetsOf(run.plan).flatMap((target) => target.edits)];
    const asked = { ref, likely, planes, pinned: pinFilesOf(run.plan), edits };
    const before = await setsByPlane(commits.snapshot(at.base), asked);
    const after = await sameSetsAt(commits.snapshot(merged.tree), asked, before);
    const lost = lostPlanes(planes);
    for (const plane of planes) {
      // Nothing of the batch is there: that it stays so is seen by what was last read of it.
      if (lost.has(plane.name) && !after.has(plane.name)) continue;
      const sides = { before: before.get(plane.name), after: after.get(plane.name) };
      const problem = await judgePlane(batch, at, { ...merged, ...sides, ref, plane, lost: lost.has(plane.name) });
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** A plane that is lost is judged by what its set would yield from its clusters as last read; what lives there is left out. */
  async function judgePlane(batch: Batch, at: GuardedAt, judged: Judged): Promise<GuardProblem | undefined> {
    const { ref, plane, tree, before, after, lost } = judged;
    if (before === undefined || after === undefined) return await undeclared(ref, plane, commits.snapshot(at.base));
    const unproven = unprovenSet(plane, before, editsOf(batch));
    if (unproven !== undefined) return ref.unverified && !lost ? judgeLive(plane, ref, before, undefined) : unproven;
    const clusters = generatorClusters([plane]);
    const madeFrom = new Set([before.file, after.file]);
    const render = (id: string, set: ApplicationSetInGit) =>
      commits.snapshot(id).with((files) => renderApart(set, clusters, noting(files, madeFrom), repoURL, at.baseBranch));
    const offline = { before: await render(at.base, before), after: await render(tree, after) };
    const place = `${plane.name}/${ref.namespace}/`;
    const applications = batch.targets.flatMap(({ key }) => (key.startsWith(place) ? [key.slice(place.length)] : []));
    if (offline.before.ok && offline.after.ok) {
      note(judged, { ...offline, madeFrom });
      const twice = madeTwice(applications, judged, offline.after);
      if (twice !== undefined) return twice;
      const stay = new Set(offline.after.applications.map((one) => one.metadata.name));
      return judgeRenders(applications, offline.before, offline.after) ?? (lost ? undefined : judgeLive(plane, ref, before, stay));
    }
    const renders = [offline.before, offline.after];
    if (lost) return { why: unrendered(renders, engineReason("PLANE_NOT_ASKED", { plane: plane.name })), retry: true };
    const generated = await generate(ref, batch, at, plane, before, after);
    if (!generated.ok && ref.unverified) return judgeLive(plane, ref, before, undefined);
    if (!generated.ok) return { why: unrendered(renders, generated.why), retry: generated.retry };
    note(judged, { ...generated, madeFrom });
    const twice = madeTwice(applications, judged, generated.after);
    if (twice !== undefined) return twice;
    return judgeRenders(applications, generated.before, generated.after) ?? judgeLive(plane, ref, before, generated.kept);
  }

  return async (run, batch, at) => {
    const { base, head } = at;
    const now = clock.now();
    const key = `${base} ${head} ${liveVersion(run)}`;
    const known = kept.get(batch.branch);
    if (known !== undefined && known.key === key && now - epoch(known.guard.at) < VOID_AFTER_MS / 2) return known.guard;
    const problem = await judgeMerge(run, batch, at);
    const guard: Guard = problem === undefined ? { ok: true, base, at: iso(now) } : { ok: false, base, at: iso(now), ...problem };
    kept.set(batch.branch, { key, guard });
    return guard;
  };
}

/** What a plane's sets yield together. What a kustomization or a chart makes of an edit is not seen in what Git declares. */
function note({ rendered, plane, before: set }: Judged, { before, after, madeFrom }: RenderedSides): void {
  if (set?.made !== undefined) return;
  const known = rendered.get(plane.name);
  rendered.set(plane.name, {
    before: together(known?.before, before),
    after: together(known?.after, after),
    madeFrom: new Set([...(known?.madeFrom ?? []), ...madeFrom]),
  });
}

/** Argo CD leaves such a one to the set that made it first: what a batch writes for the other would reach nobody. */
function madeTwice(mine: readonly string[], { plane, ref, makers }: Judged, { applications }: RenderResult): GuardProblem | undefined {
  for (const { metadata } of applications.filter((one) => mine.includes(one.metadata.name))) {
    const key = `${plane.name}/${ref.namespace}/${metadata.name}`;
    const other = makers.get(key);
    if (other !== undefined && other !== ref.name)
      return { why: engineReason("GUARD_TWICE", { application: metadata.name, sets: [other, ref.name] }), retry: false };
    makers.set(key, ref.name);
  }
  return undefined;
}

async function undeclared(source: SourceRef, plane: ControlPlane, base: Snapshot): Promise<GuardProblem | undefined> {
  if (source.unverified) return undefined;
  const files = (await findApplicationSets(base, source)).map(({ file }) => file);
  const named = source.controlPlanes.length > 1 || files.length > 0 ? plane.name : undefined;
  // Of several the one is its own that the live set equals, once its parent has synced.
  return { why: engineReason("GUARD_UNDECLARED", { set: setName(source), plane: named, files }), retry: files.length > 0 };
}

/** What would come of the change is not known where the set is not applied as it stands, and no pin of it is seen in the live one. */
function unprovenSet({ name }: ControlPlane, { file, made }: ApplicationSetInGit, edits: readonly Edit[]): GuardProblem | undefined {
  if (made === undefined) return undefined;
  const data = { plane: name, declaredIn: file, by: made.by };
  const fed = edits.find((edit) => edit.kind !== "branch" && edit.file === made.fed)?.file;
  if (fed !== undefined) return { why: engineReason("GUARD_SET_MADE", { ...data, changed: fed }), retry: false };
  return made.lost === undefined ? undefined : { why: engineReason("GUARD_PIN_NOT_LIVE", { ...data, field: made.lost }), retry: true };
}

function setName({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}

function unrendered(renders: readonly RenderResult[], because: AnyReason): AnyReason {
  const problem = renders.find((render) => !render.ok)?.problems[0];
  return engineReason("GUARD_UNRENDERED", { problem, because });
}

function judgeRenders(applications: readonly string[], before: RenderResult, after: RenderResult): GuardProblem | undefined {
  const { removed, added, changed } = compareRenders(before, after);
  if (removed.length > 0) return { why: engineReason("GUARD_DELETES", { applications: removed }), retry: false };
  if (added.length > 0) return { why: engineReason("GUARD_CREATES", { applications: added }), retry: false };
  for (const { name, paths } of changed) {
    if (!applications.includes(name)) return { why: engineReason("GUARD_CHANGES", { application: name }), retry: false };
    const moved = paths.find((path) => /^(metadata\.name|spec\.(destination|project))\b/.test(path));
    if (moved !== undefined) return { why: engineReason("GUARD_MOVES", { application: name, field: moved }), retry: false };
  }
  return undefined;
}

/**
 * Every live Application of the set must be among those it would yield: else the merge is what makes the controller delete it.
 * `stay` undefined: that is not checked, by `unverified`.
 */
function judgeLive(
  plane: ControlPlane,
  ref: SourceRef,
  before: ApplicationSetInGit,
  stay: ReadonlySet<string> | undefined,
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
    return { why: engineReason("GUARD_SET_DIFFERS", { plane: plane.name, declaredIn: before.file, field: place }), retry: true };
  if (stay === undefined) return undefined;
  const gone = plane
    .applications({ namespace, name })
    .find((application) => application.deletionTimestamp === undefined && !stay.has(application.name));
  return gone && { why: engineReason("GUARD_LOSES", { application: gone.name, plane: plane.name }), retry: false };
}
