import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { compareRenders, type RenderResult } from "../../../core/appset/index.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Words } from "../../../core/base/reason.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import { planeOf } from "../../../core/run/targets/unseen.ts";
import { type ApplicationSetInGit, generatorClusters, renderAt } from "../../config-repo/appset-in-git.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { generateRenders } from "../../config-repo/generate-renders.ts";
import { pinFilesOf, sameSetsAt, setsByPlane } from "../../config-repo/plane-sets.ts";
import { specDifference } from "../../config-repo/same-spec.ts";
import { outsideReader } from "../../lint/outside-readers.ts";
import { heldByLost, lostPlanes, planesFor } from "../../resolve/fleet.ts";
import { editsOf } from "../act/batch-commit.ts";
import type { RepoContext } from "../context.ts";

/** Past this age the live side may have changed: the guard is asked again. */
const VOID_AFTER_MS = 60_000;

/**
 * docs/spec.md §9.4: a batch never deletes. The ApplicationSet is rendered on the base and on the tree that the merge would
 * produce; every Application must stay, under its name, on its destination, in its project, and only the batch's may
 * change. Nor may an Application outside the batch read a file that it changes (§9.2). Kept for the same base, head and live state while younger than a minute.
 */
export type GuardBatch = (run: Run, batch: Batch, at: GuardedAt) => Promise<Guard>;

/** What the merge would be of. */
export interface GuardedAt {
  base: string;
  baseBranch: string;
  head: string;
}

const MOST_KEPT = 1000;

export function openGuard(context: RepoContext, commits: Commits): GuardBatch {
  /** Branch → the last answer, and what it was an answer to. */
  const kept = new BoundedMap<string, { key: string; guard: Guard }>(MOST_KEPT);
  return async (run, batch, at) => {
    const { base, head } = at;
    const now = context.clock.now();
    const key = `${base} ${head} ${liveVersion(context, run)}`;
    const known = kept.get(batch.branch);
    if (known !== undefined && known.key === key && now - epoch(known.guard.at) < VOID_AFTER_MS / 2) return known.guard;
    const problem = await judgeBatch(context, commits, run, batch, at);
    const guard: Guard = problem === undefined ? { ok: true, base, at: iso(now) } : { ok: false, base, at: iso(now), ...problem };
    kept.set(batch.branch, { key, guard });
    return guard;
  };
}

async function judgeBatch(context: RepoContext, commits: Commits, run: Run, batch: Batch, at: GuardedAt): Promise<Problem | undefined> {
  const ofSet = run.spec.source.kind === "ApplicationSet" ? await judgeSet(context, commits, run, batch, at) : undefined;
  return ofSet ?? (await outsideReader(context, commits.snapshot(at.base), run, batch, at.baseBranch));
}

interface Problem {
  why: Words;
  /** May be different in a while without anybody changing the PR. */
  retry: boolean;
}

function liveVersion(context: RepoContext, run: Run): string {
  const { namespace, name } = run.spec.source;
  return planesFor(context, run.spec.source.controlPlanes)
    .map((plane) => (plane.state().fresh ? (plane.applicationSet(namespace, name)?.resourceVersion ?? "none") : "lost"))
    .join();
}

/** Where a batch is judged: what it would make of the tree, seen from each control plane. */
interface Judging {
  context: RepoContext;
  commits: Commits;
  run: Run;
  batch: Batch;
  /** Commits, and the tree that the merge would give. */
  base: string;
  head: string;
  tree: string;
  baseBranch: string;
}

async function judgeSet(
  context: RepoContext,
  commits: Commits,
  run: Run,
  batch: Batch,
  { base, baseBranch, head }: GuardedAt,
): Promise<Problem | undefined> {
  const ref = run.spec.source;
  const merged = await context.mirror.mergeTree(base, head);
  if ("conflicts" in merged) return { why: `merging it would conflict in ${merged.conflicts.slice(0, 3).join(", ")}`, retry: true };
  const planes = planesFor(context, ref.controlPlanes);
  const likely = editsOf(batch).map((edit) => edit.file);
  const before = await setsByPlane(commits.snapshot(base), ref, likely, planes, pinFilesOf(run.plan));
  const after = await sameSetsAt(commits.snapshot(merged.tree), ref, before);
  const judging: Judging = { context, commits, run, batch, base, head, tree: merged.tree, baseBranch };
  const lost = lostPlanes(planes);
  const held = heldByLost(lost, planes, batch);
  if (held !== undefined) return { why: held, retry: true };
  for (const plane of planes) {
    // Nothing of the batch is there: that it stays so is seen by what was last read of it.
    if (lost.has(plane.name) && !after.has(plane.name)) continue;
    const problem = await judgePlane(judging, plane, {
      before: before.get(plane.name),
      after: after.get(plane.name),
      lost: lost.has(plane.name),
    });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A plane that is lost is judged by what its set would yield from its clusters as last read; what lives there is left out. */
async function judgePlane(
  judging: Judging,
  plane: ControlPlane,
  { before, after, lost }: { before: ApplicationSetInGit | undefined; after: ApplicationSetInGit | undefined; lost: boolean },
): Promise<Problem | undefined> {
  const { context, commits, run, base, tree, baseBranch } = judging;
  if (before === undefined || after === undefined) return undeclared(judging, plane);
  const clusters = generatorClusters([plane]);
  const offline = {
    before: await commits.snapshot(base).with((files) => renderAt(before, clusters, files, context.repoURL, baseBranch)),
    after: await commits.snapshot(tree).with((files) => renderAt(after, clusters, files, context.repoURL, baseBranch)),
  };
  const applications = judging.batch.targets.filter((target) => planeOf(target.key) === plane.name).map((target) => target.application);
  if (offline.before.ok && offline.after.ok) {
    const kept = new Set(offline.after.applications.map((one) => one.metadata.name));
    return judgeRenders(applications, offline.before, offline.after) ?? (lost ? undefined : judgeLive(plane, run, before, kept));
  }
  if (lost) return { why: cannotTell([offline.before, offline.after], `control plane ${plane.name} cannot be asked now`), retry: true };
  const generated = await generateRenders(judging, plane, before, after);
  if (!generated.ok && run.spec.source.unverified) return judgeLive(plane, run, before, undefined);
  if (!generated.ok) return { why: cannotTell([offline.before, offline.after], generated.why), retry: generated.retry };
  return judgeRenders(applications, generated.before, generated.after) ?? judgeLive(plane, run, before, generated.kept);
}

function undeclared({ run }: Judging, plane: ControlPlane): Problem | undefined {
  const { namespace, name, unverified, controlPlanes } = run.spec.source;
  if (unverified) return undefined;
  const where = controlPlanes.length > 1 ? ` that ${plane.name} follows` : "";
  return {
    why: `no file of the repo declares ApplicationSet ${namespace}/${name}${where}, so nobody can say what the change would delete; set sourceRef.unverified: true to go on without that check`,
    retry: false,
  };
}

function cannotTell(renders: readonly RenderResult[], generated: string): string {
  const problem = renders.find((render) => !render.ok)?.problems[0];
  const offline = `what it would change cannot be worked out: ${problem?.where ?? "spec"}: ${problem === undefined ? "unknown reason" : sayRender(problem).message}`;
  return `${offline}; ${generated}; set sourceRef.unverified: true to go on without that check`;
}

function judgeRenders(applications: readonly string[], before: RenderResult, after: RenderResult): Problem | undefined {
  const difference = compareRenders(before, after);
  if (difference.removed.length > 0) return { why: `it would delete ${names(difference.removed)} and their workloads`, retry: false };
  if (difference.added.length > 0)
    return { why: `it would create ${names(difference.added)}, which is not part of this batch`, retry: false };
  const mine = new Set(applications);
  for (const change of difference.changed) {
    if (!mine.has(change.name)) return { why: `it would change ${change.name}, which is not part of this batch`, retry: false };
    const moved = change.paths.find((path) => /^(metadata\.name|spec\.(destination|project))\b/.test(path));
    if (moved !== undefined) return { why: `it would change ${moved} of ${change.name}`, retry: false };
  }
  return undefined;
}

/**
 * Every live Application of the set must be among those it would yield: else the merge is what makes the controller delete it.
 * `kept` undefined: that is not checked, by `unverified`.
 */
function judgeLive(plane: ControlPlane, run: Run, before: ApplicationSetInGit, kept: ReadonlySet<string> | undefined): Problem | undefined {
  const { namespace, name } = run.spec.source;
  const live = plane.applicationSet(namespace, name);
  if (live === undefined)
    return { why: `ApplicationSet ${namespace}/${name} is not in ${plane.name}: nothing there would follow the change`, retry: true };
  if (live.deletionTimestamp !== undefined)
    return { why: `ApplicationSet ${namespace}/${name} is being deleted in ${plane.name}`, retry: true };
  const place = specDifference(live.spec, before.object["spec"]);
  if (place !== undefined) {
    return {
      why: `the ApplicationSet in ${plane.name} is not Git's yet (${before.file} on the base): ${place} differs; its parent Application has still to sync, or somebody edited it in the cluster`,
      retry: true,
    };
  }
  if (kept === undefined) return undefined;
  for (const application of plane.applications({ namespace, name })) {
    if (application.deletionTimestamp === undefined && !kept.has(application.name)) {
      return { why: `${application.name} is live in ${plane.name} and would be gone after the merge`, retry: false };
    }
  }
  return undefined;
}

function names(list: readonly string[]): string {
  return list.length <= 3 ? list.join(", ") : `${list.slice(0, 3).join(", ")} and ${list.length - 3} more`;
}
