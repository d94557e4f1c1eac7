/**
 * docs/spec.md §9.2: every target of a batch is changed by it, and Argo CD renders it anew. Part of the render guard, which
 * proves that nothing else is changed. What puts pins back is not held up: a target that it leaves as it is was not moved either.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { compareRenders } from "../../../core/appset/compare.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { generatePathsOf } from "../../../core/argocd/decode/application.ts";
import { committedSources, intendedOf } from "../../../core/argocd/decode/source.ts";
import { GENERATE_PATHS } from "../../../core/argocd/generate-paths.ts";
import { readersOf } from "../../../core/argocd/source-files.ts";
import { changesBetween, folderIn, printFolder } from "../../../core/base/folder.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import type { RepoFiles } from "../../../core/base/repo-files.ts";
import { filesOf } from "../../../core/plan/plan-types.ts";
import type { ProblemReason } from "../../../core/reasons/problems/problem.ts";
import { putsBack } from "../../../core/run/state/batch.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import { planeOf } from "../../../core/run/targets/unseen.ts";
import type { Snapshot } from "../../config-repo/snapshot.ts";
import { declaredDiffers, type EditedApplication, isWithoutEffect, missedPaths, overrideOf, withTexts } from "../../lint/edited.ts";
import { isBaseOf } from "../../lint/outside-readers.ts";
import { namesOf } from "../../resolve/copies.ts";
import { applicationAt } from "../../resolve/fleet.ts";
import { readPin } from "../../resolve/pin-values.ts";

/** What stands against a merge. `retry`: may be different in a while without anybody changing the PR. */
export interface GuardProblem {
  why: AnyReason;
  retry: boolean;
}

/** What a control plane's ApplicationSet yields without the batch and with it. */
export interface RenderedSides {
  before: RenderResult;
  after: RenderResult;
  /** Files that it was rendered from. */
  madeFrom: ReadonlySet<string>;
}

interface Question {
  run: Run;
  batch: Batch;
  /** The base, and what merging gives. */
  before: Snapshot;
  after: Snapshot;
  /** By control plane; one that could not be rendered is left out. */
  rendered: ReadonlyMap<string, RenderedSides>;
  base: { repoURL: string; baseBranch: string };
}

export async function judgeEdits(planes: ReadonlyMap<string, ControlPlane>, question: Question): Promise<GuardProblem | undefined> {
  const { run, batch, before, after } = question;
  if (putsBack(batch) || run.kind === "Rollback") return undefined;
  const edits = batch.targets.flatMap((target) => target.edits);
  const texts = new Map<string, string | null>();
  for (const file of new Set(edits.flatMap((edit) => (edit.kind === "copy" ? [] : filesOf(edit))))) texts.set(file, await after.read(file));
  for (const folder of new Set(edits.flatMap(({ kind, file }) => (kind === "copy" ? [file] : [])))) {
    const [was, is] = await Promise.all([before, after].map((side) => side.with((files) => folderIn(files, folder))));
    texts.set(`${folder}/`, is === null || is === undefined ? null : printFolder(is));
    for (const path of namesOf(changesBetween(was ?? null, is ?? null)))
      texts.set(`${folder}/${path}`, await readOrNone(after, `${folder}/${path}`));
  }
  return before.with((sync) => judgeTargets(planes, question, sync, withTexts(sync, texts)));
}

/** A link has no text, and is none of what Argo CD renders by itself. */
async function readOrNone(snapshot: Snapshot, path: string): Promise<string | null> {
  try {
    return await snapshot.read(path);
  } catch {
    return null;
  }
}

function judgeTargets(
  planes: ReadonlyMap<string, ControlPlane>,
  question: Question,
  before: RepoFiles,
  after: RepoFiles,
): GuardProblem | undefined {
  const sides = { before, after, isBase: isBaseOf(question.base) };
  const changes = changesOf(question.rendered);
  for (const target of question.batch.targets) {
    const files = writtenFiles(target, before, after);
    // What is there already is done, and not without effect.
    const one = files.length === 0 ? undefined : editedOf(planes, question, { target, files, changes, before, after });
    if (one === undefined) continue;
    const applications = [target.application];
    const missed = missedPaths(one, sides);
    if (missed !== undefined) return refusal({ code: "PATHS_NOT_COVERED", applications, annotation: GENERATE_PATHS, ...missed });
    if (isWithoutEffect(one, sides)) return refusal({ code: "PIN_WITHOUT_EFFECT", applications, files, override: overrideOf(one, sides) });
  }
  return undefined;
}

/** What lint said before it. */
function refusal(why: ProblemReason): GuardProblem {
  return { why, retry: false };
}

/** By control plane, the names of the Applications that it yields both times: whether their specs differ. */
function changesOf(rendered: Question["rendered"]): ReadonlyMap<string, ReadonlyMap<string, boolean>> {
  const all = new Map<string, ReadonlyMap<string, boolean>>();
  for (const [plane, { before, after }] of rendered) {
    const changed = new Set(compareRenders(before, after).changed.map(({ name }) => name));
    all.set(plane, new Map(after.applications.map(({ metadata: { name } }) => [name, changed.has(name)])));
  }
  return all;
}

/** Files in which a pin of the target has another value after the merge. */
function writtenFiles({ edits }: BatchTarget, before: RepoFiles, after: RepoFiles): string[] {
  const written = edits.filter((edit) => {
    if (edit.kind === "copy") return readPin(before, edit) !== readPin(after, edit);
    if (edit.kind === "branch" || before.read(edit.file) === after.read(edit.file)) return false;
    return readPin(before, edit) !== readPin(after, edit);
  });
  const names = written.flatMap((edit) => {
    if (edit.kind !== "copy") return filesOf(edit);
    return namesOf(changesBetween(folderIn(before, edit.file), folderIn(after, edit.file))).map((name) => `${edit.file}/${name}`);
  });
  return [...new Set(names)];
}

interface Written {
  target: BatchTarget;
  files: readonly string[];
  changes: ReturnType<typeof changesOf>;
  before: RepoFiles;
  after: RepoFiles;
}

function editedOf(
  planes: ReadonlyMap<string, ControlPlane>,
  { run, rendered, base }: Question,
  { target, files, changes, before, after }: Written,
): EditedApplication | undefined {
  const plane = planeOf(target.key);
  const { namespace, name, application: live } = applicationAt(planes, target.key);
  const sides = rendered.get(plane);
  const yielded = sides?.after.applications.find((one) => one.metadata.name === name);
  const spec = yielded === undefined ? live?.spec : intendedOf(yielded.spec);
  if (spec === undefined) return undefined;
  const sources = committedSources(spec);
  const annotations = [live?.generatePaths, yielded && generatePathsOf(yielded.metadata.annotations ?? {})];
  const generated = run.spec.source.kind === "ApplicationSet" || live?.owner?.kind === "ApplicationSet";
  const madeFrom = generated || yielded !== undefined ? (sides?.madeFrom ?? new Set<string>()) : new Set<string>();
  const own = { name: target.application, sources, annotations, files, madeFrom };
  if (generated || yielded !== undefined) return { ...own, specDiffers: changes.get(plane)?.get(name) };
  const declared = declaredDiffers({ name, namespace }, files, { before, after });
  const isRead = files.some((file) => readersOf(sources, file, isBaseOf(base)).length > 0);
  return { ...own, specDiffers: declared ?? (isRead ? false : undefined) };
}
