/**
 * docs/spec.md §9.4: a batch never deletes. Each ApplicationSet that the rollout's Applications come from is rendered on the base and on the
 * tree that the merge would produce; every Application must stay, under its name, on its destination, in its project, and only the batch's may
 * change. Nor may an Application outside the batch read a file that it changes, and every one of the batch must change (§9.2).
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { filesOf, targetsOf } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import type { SourceRef } from "../../../core/spec/rollout.ts";
import { type ApplicationSetInGit, generatorClusters } from "../../config-repo/appset-in-git.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { openParentRenders } from "../../config-repo/parent-renders.ts";
import { pinFilesOf, sameSetsAt, setsByPlane, together } from "../../config-repo/plane-sets.ts";
import { renderApart } from "../../config-repo/render-set.ts";
import { noting, type Snapshot } from "../../config-repo/snapshot.ts";
import { outsideReader } from "../../lint/outside-readers.ts";
import { heldByLost, lostPlanes, planesFor } from "../../resolve/fleet.ts";
import { type SourceSet, setsEdited, setsOfRun } from "../../resolve/source-sets.ts";
import { editsOf } from "../act/batch-commit.ts";
import type { RepoContext } from "../context.ts";
import { type GuardProblem, judgeEdits, type RenderedSides } from "./edits.ts";
import { type GuardedAt, openGenerator } from "./generate-renders.ts";
import { findUndeclared, judgeLive, liveVersion, setName, unprovenSet, whyUnrendered } from "./judge-live.ts";
import { openParentsOfMerge, type ParentsOfMerge } from "./judge-parents.ts";
import { judgeRenders } from "./judge-renders.ts";

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
  parents: ParentsOfMerge;
}

/** One set on one control plane. */
interface Judged extends Merged {
  ref: SourceRef;
  plane: ControlPlane;
  before: ApplicationSetInGit | undefined;
  after: ApplicationSetInGit | undefined;
  /** The Application that renders both of them. */
  parent?: string | undefined;
  lost: boolean;
}

type Context = Pick<RepoContext, "planes" | "clock" | "log" | "repoURL"> & { mirror: Pick<Mirror, "mergeTree" | "commitInfo"> };

export function openGuard(context: Context, commits: Pick<Commits, "snapshot">): GuardBatch {
  const guards = new Guards(context, commits);
  return (run, batch, at) => guards.guard(run, batch, at);
}

class Guards {
  readonly #context: Context;
  readonly #commits: Pick<Commits, "snapshot">;
  readonly #generate: ReturnType<typeof openGenerator>;
  readonly #renders: ReturnType<typeof openParentRenders>;
  /** Branch → the last answer, and what it was an answer to. */
  readonly #kept = new BoundedMap<string, { key: string; guard: Guard }>(MOST_KEPT);

  constructor(context: Context, commits: Pick<Commits, "snapshot">) {
    this.#context = context;
    this.#commits = commits;
    this.#generate = openGenerator(context);
    this.#renders = openParentRenders(context);
  }

  async guard(run: Run, batch: Batch, at: GuardedAt): Promise<Guard> {
    const { base, head } = at;
    const now = this.#context.clock.now();
    // What Argo CD could not be asked about before the PR was there is judged now.
    const key = `${base} ${head} ${at.unpushed === true ? "unpushed" : "pushed"} ${liveVersion(this.#context.planes, run, batch)}`;
    const known = this.#kept.get(batch.branch);
    if (known !== undefined && known.key === key && now - epoch(known.guard.at) < VOID_AFTER_MS / 2) return known.guard;
    const problem = await this.#judgeMerge(run, batch, at);
    const guard: Guard = problem === undefined ? { ok: true, base, at: iso(now) } : { ok: false, base, at: iso(now), ...problem };
    this.#kept.set(batch.branch, { key, guard });
    return guard;
  }

  async #judgeMerge(run: Run, batch: Batch, at: GuardedAt): Promise<GuardProblem | undefined> {
    const { mirror, planes: all, repoURL } = this.#context;
    const merged = await mirror.mergeTree(at.base, at.head);
    if ("conflicts" in merged) return { why: engineReason("GUARD_CONFLICTS", { files: merged.conflicts.slice(0, 3) }), retry: true };
    const rendered = new Map<string, RenderedSides>();
    const { base, baseBranch } = at;
    const before = this.#commits.snapshot(base);
    const planes = planesFor(all, run.spec.source.controlPlanes);
    const sets = [...setsOfRun(all, run), ...(await setsEdited(setsOfRun(all, run), planes, run, editsOf(batch), before))];
    const names = new Set(sets.map(({ ref }) => setName(ref)));
    const parents = openParentsOfMerge(this.#renders, mirror, { repoURL, batch, at, sets: names });
    const own = { tree: merged.tree, rendered, makers: new Map<string, string>(), parents };
    return (
      (await this.#judgeSets(run, batch, at, sets, own)) ??
      (await judgeChildren(planes, before, own, batch)) ??
      (await outsideReader({ planes: all, repoURL }, before, run, batch, { baseBranch, judge: readerOf(run, parents) })) ??
      (await judgeEdits(all, { run, batch, before, after: this.#commits.snapshot(merged.tree), rendered, base: { repoURL, baseBranch } }))
    );
  }

  async #judgeSets(run: Run, batch: Batch, at: GuardedAt, sets: readonly SourceSet[], merged: Merged): Promise<GuardProblem | undefined> {
    const planes = planesFor(this.#context.planes, run.spec.source.controlPlanes);
    const held = heldByLost(lostPlanes(planes), planes, batch);
    if (held !== undefined) return { why: held, retry: true };
    for (const set of sets) {
      const problem = await this.#judgeSet(run, batch, at, set, merged);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async #judgeSet(run: Run, batch: Batch, at: GuardedAt, { ref, planes }: SourceSet, merged: Merged) {
    const likely = editsOf(batch).flatMap(filesOf);
    const edits = [...editsOf(batch), ...targetsOf(run.plan).flatMap((target) => target.edits)];
    const asked = { ref, likely, planes, pinned: pinFilesOf(run.plan), edits };
    const before = await setsByPlane(this.#commits.snapshot(at.base), asked);
    const after = await sameSetsAt(this.#commits.snapshot(merged.tree), asked, before);
    const lost = lostPlanes(planes);
    for (const plane of planes) {
      // Nothing of the batch is there: that it stays so is seen by what was last read of it.
      if (lost.has(plane.name) && !after.has(plane.name)) continue;
      const sides = { before: before.get(plane.name), after: after.get(plane.name) };
      const made = sides.before === undefined || sides.before.made !== undefined;
      const asked = made && !lost.has(plane.name) ? await merged.parents.set(plane, ref) : undefined;
      const problem = asked !== undefined && "problem" in asked ? asked.problem : undefined;
      if (problem !== undefined && !(ref.unverified && problem.why.code === "PARENT_UNRENDERED")) return problem;
      const own = asked !== undefined && "sides" in asked ? asked.sides : sides;
      const refused = await this.#judgePlane(batch, at, { ...merged, ...own, ref, plane, lost: lost.has(plane.name) });
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  /** A plane that is lost is judged by what its set would yield from its clusters as last read; what lives there is left out. */
  async #judgePlane(batch: Batch, at: GuardedAt, judged: Judged): Promise<GuardProblem | undefined> {
    const { ref, plane, tree, before, after, parent, lost } = judged;
    if (before === undefined || after === undefined) return await findUndeclared(ref, plane, this.#commits.snapshot(at.base));
    const unproven = unprovenSet(plane, before, editsOf(batch));
    if (unproven !== undefined) return ref.unverified && !lost ? judgeLive(plane, ref, before, undefined) : unproven;
    const clusters = generatorClusters([plane]);
    const madeFrom = new Set([before.file, after.file]);
    const render = (id: string, set: ApplicationSetInGit) =>
      this.#commits.snapshot(id).with((files) => renderApart(set, clusters, noting(files, madeFrom), this.#context.repoURL, at.baseBranch));
    const offline = { before: await render(at.base, before), after: await render(tree, after) };
    const place = `${plane.name}/${ref.namespace}/`;
    const applications = batch.targets.flatMap(({ key }) => (key.startsWith(place) ? [key.slice(place.length)] : []));
    if (offline.before.ok && offline.after.ok) {
      noteSet(judged, batch, at, { ...offline, madeFrom });
      const twice = madeTwice(applications, judged, offline.after);
      if (twice !== undefined) return twice;
      const stay = new Set(offline.after.applications.map((one) => one.metadata.name));
      const problem =
        judgeRenders(applications, offline.before, offline.after) ?? (lost ? undefined : judgeLive(plane, ref, before, stay, parent));
      if (problem !== undefined || parent === undefined) return problem;
      for (const target of batch.targets.filter(({ key }) => key.startsWith(place))) {
        const hidden = judged.parents.shows(plane.name, target, parent, { ...offline, madeFrom });
        if (hidden !== undefined) return hidden;
      }
      return undefined;
    }
    const renders = [offline.before, offline.after];
    if (lost) return { why: whyUnrendered(renders, engineReason("PLANE_NOT_ASKED", { plane: plane.name })), retry: true };
    const generated = await this.#generate(ref, at, plane, before, after);
    if (!generated.ok && ref.unverified) return judgeLive(plane, ref, before, undefined);
    if (!generated.ok) return { why: whyUnrendered(renders, generated.why), retry: generated.retry };
    noteSet(judged, batch, at, { ...generated, madeFrom });
    const twice = madeTwice(applications, judged, generated.after);
    if (twice !== undefined) return twice;
    return judgeRenders(applications, generated.before, generated.after) ?? judgeLive(plane, ref, before, generated.kept, parent);
  }
}

/** With `unverified` a parent of which nobody can say what comes of the change is no hindrance. */
function readerOf({ spec }: Run, parents: ParentsOfMerge): ParentsOfMerge["reader"] {
  return async (plane, application) => {
    const judged = await parents.reader(plane, application);
    if (!spec.source.unverified || judged === undefined || judged === "noParent") return judged;
    return judged === "unasked" || judged.why.code === "PARENT_UNRENDERED" ? undefined : judged;
  };
}

/**
 * What a plane's sets yield. What a kustomization or a chart makes of an edit is not seen in what Git declares, nor in what a parent renders of a
 * commit that is not pushed yet.
 */
function noteSet({ rendered, plane, before: set, parent }: Judged, batch: Batch, at: GuardedAt, sides: RenderedSides): void {
  if (set?.made !== undefined || (parent !== undefined && at.unpushed === true)) return;
  const madeFrom = parent === undefined ? sides.madeFrom : new Set([...sides.madeFrom, ...filesOfBatch(batch)]);
  note({ rendered }, plane, { ...sides, madeFrom });
}

function note({ rendered }: Pick<Merged, "rendered">, plane: ControlPlane, { before, after, madeFrom }: RenderedSides): void {
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

function filesOfBatch(batch: Batch): Set<string> {
  return new Set(editsOf(batch).flatMap(filesOf));
}

async function judgeChildren(planes: readonly ControlPlane[], base: Snapshot, merged: Merged, batch: Batch) {
  const lost = lostPlanes(planes);
  for (const plane of planes.filter(({ name }) => !lost.has(name))) {
    const problem = await merged.parents.children(plane, base);
    if (problem !== undefined) return problem;
    const made = merged.parents.rendered(plane);
    if (made !== undefined) note(merged, plane, { ...made, madeFrom: filesOfBatch(batch) });
  }
  return undefined;
}
