import type { Ancestry } from "../argocd/liveness.ts";
import { findPin } from "../pins/index.ts";
import type { Cluster, PlannedTarget } from "../rollout/plan-types.ts";
import type { Batch, BatchTarget, Run } from "../rollout/run.ts";
import type { Command, Guard, ObservedPull, ObservedTarget, World } from "../rollout/world.ts";
import { findApplicationSet, generatorClusters, type RenderedSpecs, renderAt, specsOf } from "./appset-in-git.ts";
import { assessTarget } from "./assess-targets.ts";
import { editsOf } from "./batch-commit.ts";
import type { RepoContext } from "./context.ts";
import { clustersOf } from "./fleet.ts";
import { guardBatch } from "./guard.ts";
import { fact, type RepoMemory } from "./memory.ts";
import { observePull } from "./observe-pull.ts";
import type { SyncFiles } from "./snapshot.ts";

export interface ObserveInput {
  run: Run;
  /** Head of the base branch. */
  base: string;
  baseBranch: string;
  commands: readonly Command[];
}

/** Looks at everything a run depends on. What cannot be seen is left out of the world, never filled in. */
export async function observe(context: RepoContext, memory: RepoMemory, input: ObserveInput): Promise<World> {
  const { run, base, baseBranch } = input;
  const pulls = await observePulls(context, memory, run);
  const guards = await observeGuards(context, memory, input, pulls);
  const fleet = clustersOf(context, run.spec.source.controlPlanes);
  return {
    base: { commit: base },
    pulls,
    guards,
    targets: await observeTargets(context, memory, run, base, baseBranch),
    clusters: new Map<string, Cluster>(fleet.clusters.map((cluster) => [cluster.key, cluster])),
    clustersKnown: fleet.known,
    commands: input.commands,
  };
}

function needsPull(batch: Batch): boolean {
  return batch.phase === "Proposing" || batch.phase === "Open" || batch.phase === "Merging";
}

async function observePulls(context: RepoContext, memory: RepoMemory, run: Run): Promise<Map<number, ObservedPull | null>> {
  const pulls = new Map<number, ObservedPull | null>();
  for (const batch of run.batches) {
    if (needsPull(batch)) pulls.set(batch.number, await observePull(context, memory, run, batch));
  }
  return pulls;
}

async function observeGuards(
  context: RepoContext,
  memory: RepoMemory,
  input: ObserveInput,
  pulls: ReadonlyMap<number, ObservedPull | null>,
): Promise<Map<number, Guard>> {
  const guards = new Map<number, Guard>();
  for (const batch of input.run.batches) {
    const pull = pulls.get(batch.number);
    if (pull?.state !== "open" || !pull.headIsOurs) continue;
    guards.set(batch.number, await guardBatch(context, memory, input.run, batch, input.base, input.baseBranch, pull.head));
  }
  return guards;
}

async function observeTargets(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  base: string,
  baseBranch: string,
): Promise<Map<string, ObservedTarget>> {
  const seen = new Map<string, ObservedTarget>();
  const rendered = await renderer(context, memory, run, baseBranch);
  const atBase = await rendered(base);
  for (const upcoming of upcomingBatches(run)) {
    for (const [key, pins] of await pinsAt(memory, base, upcoming)) seen.set(key, { pins });
  }
  for (const batch of run.batches) {
    if (batch.phase === "Closed") continue;
    const pins = await pinsAt(memory, base, batch);
    const change = batch.merged;
    // A settled batch is held against today's base; only one still being judged needs the spec as it was at its merge.
    const around = change !== undefined && batch.phase !== "Settled" ? await renderAround(context, rendered, change.commit) : {};
    const specs = { before: undefined, atChange: undefined, ...around, atBase };
    const inHistory = change === undefined ? undefined : await isInHistory(context, memory, change.commit, base);
    const assessments = await withAncestry(context, memory, (ancestry) =>
      batch.targets.map((target) => assessTarget(context, run, batch, target, specs, ancestry)),
    );
    for (const [index, target] of batch.targets.entries()) {
      const values = pins.get(target.key);
      const assessment = assessments[index];
      const drift = change === undefined ? undefined : await driftOf(context, base, target, values, change.commit);
      seen.set(target.key, {
        ...(assessment === undefined ? {} : { assessment }),
        ...(values === undefined ? {} : { pins: values }),
        ...(drift === undefined ? {} : { drift }),
        ...(inHistory === undefined ? {} : { inHistory }),
      });
    }
  }
  return seen;
}

async function renderAround(context: RepoContext, rendered: (commit: string) => Promise<RenderedSpecs | undefined>, commit: string) {
  const parent = (await context.mirror.commitInfo(commit))?.parents[0];
  return { before: parent === undefined ? undefined : await rendered(parent), atChange: await rendered(commit) };
}

/** The pins' values at the base, by target key; a target whose file cannot be read or whose pin is ambiguous is left out. */
async function pinsAt(
  memory: RepoMemory,
  base: string,
  batch: { branch: string; targets: readonly PlannedTarget[] },
): Promise<Map<string, (string | null)[]>> {
  const key = `${base} ${batch.branch}`;
  const known = memory.pins.get(key);
  if (known !== undefined) return known;
  const values = await memory.snapshot(base).with((files) => readPins(files, batch));
  memory.pins.set(key, values);
  const oldest = memory.pins.keys().next().value;
  if (memory.pins.size > 500 && oldest !== undefined) memory.pins.delete(oldest);
  return values;
}

function readPins(files: SyncFiles, batch: { targets: readonly PlannedTarget[] }): Map<string, (string | null)[]> {
  const values = new Map<string, (string | null)[]>();
  for (const target of batch.targets) {
    const found = target.edits.map((edit) => {
      if (edit.kind !== "value") return edit.to;
      const text = files.read(edit.file);
      if (text === null) return null;
      const result = findPin(text, {
        path: edit.path,
        ...(edit.part === undefined ? {} : { part: edit.part }),
        ...(edit.create === undefined ? {} : { create: edit.create }),
      });
      if (result.ok) return result.found.value;
      return result.error.code === "PIN_NOT_FOUND" ? null : undefined;
    });
    if (found.every((value) => value !== undefined)) values.set(target.key, found);
  }
  return values;
}

/** The latest commit since the merge that touched a pin's file, where the pin is not what it should be. */
async function driftOf(
  context: RepoContext,
  base: string,
  target: BatchTarget,
  values: readonly (string | null)[] | undefined,
  merged: string,
): Promise<ObservedTarget["drift"]> {
  if (values === undefined || merged === base) return undefined;
  const at = target.edits.findIndex((edit, index) => values[index] !== edit.to);
  const edit = target.edits[at];
  if (edit === undefined) return undefined;
  let drift: ObservedTarget["drift"];
  let previous = merged;
  for (const commit of await context.mirror.firstParentLog(merged, base, 1000)) {
    const touched = await context.mirror.changedPaths(previous, commit.sha);
    if (touched.includes(edit.file)) drift = { commit: commit.sha, author: commit.author, subject: commit.subject };
    previous = commit.sha;
  }
  return drift;
}

/** The batches that may be made next, so that making one and proposing it takes one round: their pins are read ahead. */
function upcomingBatches(run: Run): { branch: string; targets: readonly PlannedTarget[] }[] {
  const moved = new Set(run.batches.flatMap((batch) => (batch.phase === "Closed" ? [] : batch.targets.map((target) => target.key))));
  const upcoming: { branch: string; targets: readonly PlannedTarget[] }[] = [];
  for (const index of [run.stage, run.stage + 1]) {
    const stage = run.plan.stages[index];
    const next = stage?.batches.findIndex((batch) => batch.targets.some((target) => !moved.has(target.key))) ?? -1;
    const batch = stage?.batches[next];
    if (batch !== undefined) upcoming.push({ branch: `upcoming ${run.rollout}/${run.number}/${index}-${next}`, targets: batch.targets });
    if (stage !== undefined && stage.requeuedTargets.length > 0) {
      upcoming.push({ branch: `requeued ${run.rollout}/${run.number}/${index}`, targets: stage.requeuedTargets.slice(0, 1000) });
    }
  }
  return upcoming;
}

/**
 * A commit that is in the history of a base is in that of every base that contains the former: one question a move of the
 * base, however many batches there are.
 */
async function isInHistory(context: RepoContext, memory: RepoMemory, commit: string, base: string): Promise<boolean> {
  const { previousBase } = memory;
  return fact(memory, `${commit} in ${base}`, async () => {
    if (previousBase !== undefined && previousBase !== base && memory.facts.get(`${commit} in ${previousBase}`) === true) {
      const moved = await fact(
        memory,
        `${previousBase} in ${base}`,
        async () => (await context.mirror.isAncestor(previousBase, base)) === true,
      );
      if (moved) return true;
    }
    return (await context.mirror.isAncestor(commit, base)) === true;
  });
}

/** Runs a synchronous judgement that asks whether one commit contains another; what is not known yet is asked for, and it is run again. */
async function withAncestry<T>(
  context: RepoContext,
  memory: RepoMemory,
  judge: (ancestry: (change: string, seen: string) => Ancestry) => T,
): Promise<T> {
  const asked = new Map<string, [string, string]>();
  const known = new Map<string, Ancestry>();
  const ancestry = (change: string, seen: string): Ancestry => {
    if (!/^[0-9a-f]{40}$/.test(seen)) return "unknown";
    const key = `${change} in ${seen}`;
    const answer = known.get(key) ?? remembered(memory, key);
    if (answer === undefined) asked.set(key, [change, seen]);
    return answer ?? "unknown";
  };
  const first = judge(ancestry);
  if (asked.size === 0) return first;
  for (const [key, [change, seen]] of asked) known.set(key, await ancestor(context, memory, change, seen));
  return judge(ancestry);
}

function remembered(memory: RepoMemory, key: string): Ancestry | undefined {
  const known = memory.facts.get(key);
  return known === undefined ? undefined : known ? "contains" : "missing";
}

async function ancestor(
  context: RepoContext,
  memory: RepoMemory,
  change: string,
  seen: string,
): Promise<"contains" | "missing" | "unknown"> {
  const known = memory.facts.get(`${change} in ${seen}`);
  if (known !== undefined) return known ? "contains" : "missing";
  const answer = await context.mirror.isAncestor(change, seen);
  // Only what the mirror knows for sure is kept: a commit unknown today may be fetched tomorrow.
  if (answer === undefined) return "unknown";
  return (await fact(memory, `${change} in ${seen}`, async () => answer)) ? "contains" : "missing";
}

async function renderer(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  baseBranch: string,
): Promise<(commit: string) => Promise<RenderedSpecs | undefined>> {
  if (run.spec.source.kind !== "ApplicationSet") return async () => undefined;
  const names = run.spec.source.controlPlanes;
  const planes = [...context.planes.values()].filter((plane) => names.length === 0 || names.includes(plane.name));
  const clusters = generatorClusters(planes);
  const fleet = JSON.stringify(clusters.map((c) => [c.name, c.server, c.labels]));
  const likely = run.batches.flatMap((batch) => editsOf(batch).map((edit) => edit.file)).slice(0, 50);
  return async (commit) => {
    const known = memory.renders.get(`${run.rollout} ${commit}`);
    if (known !== undefined && known.fleet === fleet) return known.specs;
    const snapshot = memory.snapshot(commit);
    const set = await findApplicationSet(snapshot, run.spec.source, likely);
    const specs =
      set === undefined ? undefined : specsOf(await snapshot.with((files) => renderAt(set, clusters, files, context.repoURL, baseBranch)));
    memory.renders.set(`${run.rollout} ${commit}`, { fleet, specs });
    const oldest = memory.renders.keys().next().value;
    if (memory.renders.size > 64 && oldest !== undefined) memory.renders.delete(oldest);
    return specs;
  };
}
