import { compareRenders, type RenderResult } from "../appset/index.ts";
import type { Batch, Run } from "../rollout/run.ts";
import { epoch, iso } from "../rollout/time.ts";
import type { Guard } from "../rollout/world.ts";
import { type ApplicationSetInGit, findApplicationSet, generatorClusters, renderAt, specsOf } from "./appset-in-git.ts";
import { editsOf } from "./batch-commit.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { outsideReader } from "./outside-readers.ts";
import { specDifference } from "./same-spec.ts";

/** Past this age the live side may have changed: the guard is asked again. */
const VOID_AFTER_MS = 60_000;

/**
 * SPEC §9.4: a batch never deletes. The ApplicationSet is rendered on the base and on the tree that the merge would
 * produce; every Application must stay, under its name, on its destination, in its project, and only the batch's may
 * change. Nor may an Application outside the batch read a file that it changes (§9.2). Kept for the same base, head and live state while younger than a minute.
 */
export async function guardBatch(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  batch: Batch,
  base: string,
  baseBranch: string,
  head: string,
): Promise<Guard> {
  const now = context.clock.now();
  const key = `${base} ${head} ${liveVersion(context, run)}`;
  const known = memory.guards.get(batch.branch);
  if (known !== undefined && known.key === key && now - epoch(known.guard.at) < VOID_AFTER_MS / 2) return known.guard;
  const at = iso(now);
  const problem =
    (run.spec.source.kind === "ApplicationSet" ? await judgeSet(context, memory, run, batch, base, baseBranch, head) : undefined) ??
    (await outsideReader(context, memory.snapshot(base), run, batch, baseBranch));
  const guard: Guard = problem === undefined ? { ok: true, base, at } : { ok: false, base, at, ...problem };
  memory.guards.set(batch.branch, { key, guard });
  return guard;
}

interface Problem {
  why: string;
  /** May be different in a while without anybody changing the PR. */
  retry: boolean;
}

function liveVersion(context: RepoContext, run: Run): string {
  const { namespace, name } = run.spec.source;
  return planesOf(context, run)
    .map((plane) => plane.applicationSet(namespace, name)?.resourceVersion ?? "none")
    .join();
}

function planesOf(context: RepoContext, run: Run) {
  const names = run.spec.source.controlPlanes;
  const all = [...context.planes.values()];
  return names.length === 0 ? all : all.filter((plane) => names.includes(plane.name));
}

async function judgeSet(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  batch: Batch,
  base: string,
  baseBranch: string,
  head: string,
): Promise<Problem | undefined> {
  const ref = run.spec.source;
  const merged = await context.mirror.mergeTree(base, head);
  if ("conflicts" in merged) return { why: `merging it would conflict in ${merged.conflicts.slice(0, 3).join(", ")}`, retry: true };
  const likely = editsOf(batch).map((edit) => edit.file);
  const before = await findApplicationSet(memory.snapshot(base), ref, likely);
  const after = await findApplicationSet(memory.snapshot(merged.tree), ref, before === undefined ? likely : [before.file]);
  if (before === undefined || after === undefined) {
    if (ref.unverified) return undefined;
    return {
      why: `no file of the repo declares ApplicationSet ${ref.namespace}/${ref.name}, so nobody can say what the change would delete; set sourceRef.unverified: true to go on without that check`,
      retry: false,
    };
  }
  const clusters = generatorClusters(planesOf(context, run));
  const rendered = {
    before: await memory.snapshot(base).with((files) => renderAt(before, clusters, files, context.repoURL, baseBranch)),
    after: await memory.snapshot(merged.tree).with((files) => renderAt(after, clusters, files, context.repoURL, baseBranch)),
  };
  return judgeRenders(run, batch, rendered.before, rendered.after) ?? judgeLive(context, run, before, rendered.after);
}

function judgeRenders(run: Run, batch: Batch, before: RenderResult, after: RenderResult): Problem | undefined {
  const failed = [before, after].find((result) => !result.ok);
  if (failed !== undefined) {
    if (run.spec.source.unverified) return undefined;
    const problem = failed.problems[0];
    return {
      why: `what it would change cannot be worked out: ${problem?.where ?? "spec"}: ${problem?.message ?? "unknown reason"}; set sourceRef.unverified: true to go on without that check`,
      retry: false,
    };
  }
  const difference = compareRenders(before, after);
  if (difference.removed.length > 0) return { why: `it would delete ${names(difference.removed)} and their workloads`, retry: false };
  if (difference.added.length > 0)
    return { why: `it would create ${names(difference.added)}, which is not part of this batch`, retry: false };
  const mine = new Set(batch.targets.map((target) => target.application));
  for (const change of difference.changed) {
    if (!mine.has(change.name)) return { why: `it would change ${change.name}, which is not part of this batch`, retry: false };
    const moved = change.paths.find((path) => /^(metadata\.name|spec\.(destination|project))\b/.test(path));
    if (moved !== undefined) return { why: `it would change ${moved} of ${change.name}`, retry: false };
  }
  return undefined;
}

/** Every live Application of the set must be among those it would yield: else the merge is what makes the controller delete it. */
function judgeLive(context: RepoContext, run: Run, before: ApplicationSetInGit, after: RenderResult): Problem | undefined {
  const { namespace, name } = run.spec.source;
  const kept = specsOf(after);
  for (const plane of planesOf(context, run)) {
    const state = plane.state();
    if (!state.fresh) return { why: `control plane ${plane.name} cannot be seen: ${state.why ?? "no connection"}`, retry: true };
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
    for (const application of plane.applications({ namespace, name })) {
      if (application.deletionTimestamp === undefined && kept?.has(application.name) !== true) {
        return { why: `${application.name} is live in ${plane.name} and would be gone after the merge`, retry: false };
      }
    }
  }
  return undefined;
}

function names(list: readonly string[]): string {
  return list.length <= 3 ? list.join(", ") : `${list.slice(0, 3).join(", ")} and ${list.length - 3} more`;
}
