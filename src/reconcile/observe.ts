import { findPin } from "../pins/index.ts";
import type { Cluster } from "../rollout/plan-types.ts";
import type { Batch, BatchTarget, Run } from "../rollout/run.ts";
import type { Command, Guard, ObservedPull, ObservedTarget, World } from "../rollout/world.ts";
import { findApplicationSet, generatorClusters, type RenderedSpecs, renderAt, specsOf } from "./appset-in-git.ts";
import { assessTarget, movedBatches } from "./assess-targets.ts";
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
  const ancestry = await ancestryOf(context, memory, run);
  const rendered = await renderer(context, memory, run, baseBranch);
  const atBase = await rendered(base);
  for (const batch of run.batches) {
    if (batch.phase === "Closed") continue;
    const pins = await pinsAt(memory, base, batch);
    const change = batch.merged;
    // A settled batch is held against today's base; only one still being judged needs the spec as it was at its merge.
    const around = change !== undefined && batch.phase !== "Settled" ? await renderAround(context, rendered, change.commit) : {};
    const inHistory =
      change === undefined
        ? undefined
        : await fact(memory, `${change.commit} in ${base}`, async () => (await context.mirror.isAncestor(change.commit, base)) === true);
    for (const target of batch.targets) {
      const values = pins.get(target.key);
      const assessment =
        change === undefined
          ? undefined
          : assessTarget(context, run, batch, target, { before: undefined, atChange: undefined, ...around, atBase }, ancestry);
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
async function pinsAt(memory: RepoMemory, base: string, batch: Batch): Promise<Map<string, (string | null)[]>> {
  const key = `${base} ${batch.branch}`;
  const known = memory.pins.get(key);
  if (known !== undefined) return known;
  const values = await memory.snapshot(base).with((files) => readPins(files, batch));
  memory.pins.set(key, values);
  const oldest = memory.pins.keys().next().value;
  if (memory.pins.size > 500 && oldest !== undefined) memory.pins.delete(oldest);
  return values;
}

function readPins(files: SyncFiles, batch: Batch): Map<string, (string | null)[]> {
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

/** Whether a revision Argo CD has seen contains a change. Asked in bulk first, so that liveness itself stays synchronous. */
async function ancestryOf(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
): Promise<(change: string, seen: string) => "contains" | "missing" | "unknown"> {
  const answers = new Map<string, "contains" | "missing" | "unknown">();
  for (const batch of movedBatches(run)) {
    const change = batch.merged?.commit;
    if (change === undefined) continue;
    for (const revision of seenRevisions(context, batch)) {
      const key = `${change} ${revision}`;
      if (answers.has(key)) continue;
      answers.set(key, await ancestor(context, memory, change, revision));
    }
  }
  return (change, seen) => answers.get(`${change} ${seen}`) ?? "unknown";
}

function seenRevisions(context: RepoContext, batch: Batch): Set<string> {
  const revisions = new Set<string>();
  for (const target of batch.targets) {
    const [plane = "", namespace = "", name = ""] = target.key.split("/");
    const status = context.planes.get(plane)?.application(namespace, name)?.status;
    const operation = status?.operation;
    const hydrated = [status?.hydrator?.current?.drySHA, status?.hydrator?.last?.drySHA, status?.hydrator?.lastComparedDryRevision];
    for (const sha of [
      ...(status?.sync.revisions ?? []),
      ...(operation?.appliedRevisions ?? []),
      ...(operation?.requestedRevisions ?? []),
      ...hydrated,
    ]) {
      if (sha !== undefined && /^[0-9a-f]{40}$/.test(sha)) revisions.add(sha);
    }
  }
  return revisions;
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
