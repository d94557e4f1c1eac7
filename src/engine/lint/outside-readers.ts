import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import { passesBy } from "../../core/argocd/edit-effect.ts";
import { type IsBase, readersOf } from "../../core/argocd/source-files.ts";
import type { ApplicationView, SourceView } from "../../core/argocd/views.ts";
import { folderIn } from "../../core/base/folder.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import { type Edit, filesOf } from "../../core/plan/plan-types.ts";
import { pinsOf } from "../../core/plan/steps.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { declares } from "../config-repo/appset-in-git.ts";
import { isBaseRevision, sameRepo } from "../config-repo/repo-url.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { heldByLost, lostPlanes, type Planes, planesFor } from "../resolve/fleet.ts";
import { setsOfRun } from "../resolve/source-sets.ts";
import type { RepoContext } from "../round/context.ts";

/** The config repo at the base branch, as Applications' sources name it. */
interface BaseOfRepo {
  repoURL: string;
  baseBranch: string;
}

/** What stands against a merge in what a reader renders, where it is a parent of others; undefined: nothing. */
type JudgeReader = (
  plane: ControlPlane,
  reader: ApplicationView,
) => Promise<{ why: AnyReason; retry: boolean } | "noParent" | "unasked" | undefined>;

/**
 * docs/spec.md §9.2: what a batch changes must be read by its own Applications only. The first that is not of the batch and reads
 * one of its files, as a problem of the render guard. A file whose pins are per item of it may be read by all, and so may
 * one that declares the rollout's own ApplicationSet or Applications: the parent that applies it is meant to read it. What another parent makes
 * of it is asked.
 */
export async function outsideReader(
  { planes: all, repoURL }: Pick<RepoContext, "planes" | "repoURL">,
  snapshot: Snapshot,
  run: Run,
  batch: Batch,
  { baseBranch, judge }: { baseBranch: string; judge: JudgeReader },
): Promise<{ why: AnyReason; retry: boolean } | undefined> {
  const files = await watchedFiles(all, snapshot, run, batch);
  if (files.length === 0) return undefined;
  const mine = new Set(batch.targets.map((target) => target.key));
  const planes = planesFor(all, run.spec.source.controlPlanes);
  const held = heldByLost(lostPlanes(planes), planes, batch);
  if (held !== undefined) return { why: held, retry: true };
  const others = planes.flatMap((plane) =>
    plane
      .applications()
      .filter((one) => !mine.has(`${plane.name}/${one.namespace}/${one.name}`))
      .map((one) => ({ plane, one, sources: committedSources(one.spec) })),
  );
  const found = await snapshot.with((repo) =>
    others.flatMap(({ plane, one, sources }) => {
      const changed = files.find((path) => readsFile(sources, path, { repoURL, baseBranch }, repo));
      return changed === undefined ? [] : [{ changed, one, plane }];
    }),
  );
  for (const { changed, one, plane } of found) {
    const judged = await judge(plane, one);
    const data = { changed, application: one.name, plane: plane.name };
    if (judged === "unasked") return { why: engineReason("GUARD_PARENT_READS", data), retry: false };
    if (judged === "noParent") return { why: engineReason("GUARD_READ_OUTSIDE", data), retry: false };
    if (judged !== undefined) return judged;
  }
  return undefined;
}

/** Files the batch changes that nobody else may read. */
async function watchedFiles(planes: Planes, snapshot: Snapshot, run: Run, batch: Batch): Promise<string[]> {
  const changed = new Set<string>();
  for (const { edits } of batch.targets) {
    for (const [index, edit] of edits.entries()) {
      if (edit.kind === "value" && edit.from !== edit.to && !isPerItem(run, index)) changed.add(edit.file);
      if (edit.kind !== "copy" || edit.from === edit.to) continue;
      // Also what is not changed: the directory is the batch's own, and what stands there may be otherwise than it was planned for.
      const there = await snapshot.with((files) => folderIn(files, edit.file));
      for (const file of [...filesOf(edit), ...(there?.files ?? []).map(({ path }) => `${edit.file}/${path}`)]) changed.add(file);
    }
  }
  const applications =
    run.spec.source.kind === "Application"
      ? batch.targets.map(({ key, application: name }) => ({ name, namespace: key.split("/")[1] ?? "" }))
      : [];
  const sets = setsOfRun(planes, run).map(({ ref }) => ref);
  const watched: string[] = [];
  for (const file of changed) {
    const isOwn = (await declares(snapshot, file, "Application", applications)) || (await declares(snapshot, file, "ApplicationSet", sets));
    if (!isOwn) watched.push(file);
  }
  return watched;
}

/** Edits stand in the order of the rollout's pins. A path that names the cluster, the Application or a parameter is per item. */
function isPerItem(run: Run, index: number): boolean {
  return ofItem(pinsOf(run.spec)[index]);
}

/** Per target, the files it edits that nobody else may read: all but those whose pin is per item of it. */
export function sharedFiles(rollout: Pick<Rollout, "pins" | "weightPins">, edits: readonly Edit[]): string[] {
  const pins = pinsOf(rollout);
  return edits.flatMap((edit, index) =>
    edit.kind === "copy" || (edit.kind === "value" && !ofItem(pins[index])) ? [...filesOf(edit)] : [],
  );
}

function ofItem(pin: ReturnType<typeof pinsOf>[number] | undefined): boolean {
  return pin?.kind === "value" && /\{\{\s*(cluster|application|params)\b/.test(pin.path);
}

/** Whether Argo CD reads this file of the config repo, at the base branch, for an Application with these sources. Without `files` all below a folder is read. */
export function readsFile(sources: readonly SourceView[], file: string, base: BaseOfRepo, files?: RepoFiles): boolean {
  const isBase = isBaseOf(base);
  const readers = readersOf(sources, file, isBase);
  return files === undefined ? readers.length > 0 : readers.some((source) => !passesBy(source, file, { sources, isBase }, files));
}

/** Tells the sources that read the config repo at the base branch. */
export function isBaseOf({ repoURL, baseBranch }: BaseOfRepo): IsBase {
  return (source) => sameRepo(source.repoURL, repoURL) && isBaseRevision(source.targetRevision, baseBranch);
}
