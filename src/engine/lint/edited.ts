/**
 * docs/spec.md §9.2 for one Application whose pins are edited: Argo CD renders something else for it, and does so at all.
 * Called by the render guard for each target of a batch, and by lint for each target of a plan.
 */
import { effectOfFiles, overridesOf, sourceReads } from "../../core/argocd/edit-effect.ts";
import { type PathsMissed, pathsMissed } from "../../core/argocd/generate-paths.ts";
import { kustomizationIn, kustomizeReads } from "../../core/argocd/kustomize-reads.ts";
import { type IsBase, readersOf } from "../../core/argocd/source-files.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { foldersAbove, joinPath } from "../../core/base/clean-path.ts";
import { madeOnce, type RepoFiles } from "../../core/base/repo-files.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { manifestIn } from "../config-repo/appset-in-git.ts";
import { applyEdits } from "../resolve/apply-edits.ts";

export interface EditedApplication {
  name: string;
  /** What is committed to, with the edit made. */
  sources: readonly SourceView[];
  /** `manifest-generate-paths` as it stands in the cluster, and in Git. */
  annotations: readonly (string | undefined)[];
  /** Files in which its edits change something. */
  files: readonly string[];
  /** Its spec is another one with the edit; undefined: that is not known. */
  specDiffers: boolean | undefined;
  /** Files that its spec is made from. */
  madeFrom: ReadonlySet<string>;
}

/** The repo without the edit and with it. */
export interface Sides {
  before: RepoFiles;
  after: RepoFiles;
  isBase: IsBase;
}

/** The files it edits that Argo CD would not render anew for; undefined: none. */
export function missedPaths(one: EditedApplication, { after, isBase }: Sides): PathsMissed | undefined {
  const annotations = one.annotations.filter((annotation) => annotation !== undefined);
  if (annotations.length === 0) return undefined;
  const reads = (source: SourceView, file: string) => sourceReads(source, file, after) === true;
  const isRead = (file: string) =>
    readersOf(one.sources, file, isBase).length > 0 || one.sources.some((source) => isBase(source) && reads(source, file));
  const files = one.files.filter((file) => isRead(file) || (one.specDiffers === false && !one.madeFrom.has(file)));
  for (const annotation of annotations) {
    const missed = pathsMissed({ annotation, sources: one.sources, files, isBase, reads });
    if (missed !== undefined) return missed;
  }
  return undefined;
}

/** Whether nothing that Argo CD renders for it comes out otherwise, as far as that can be known. */
export function isWithoutEffect(one: EditedApplication, sides: Sides): boolean {
  if (one.specDiffers !== false || one.files.length === 0) return false;
  // Another branch, or a repo that may be ours by another name: others say what is wrong with that.
  const elsewhere = (file: string) => readersOf(one.sources, file, () => true).length > readersOf(one.sources, file, sides.isBase).length;
  if (one.files.some(elsewhere)) return false;
  // Not even a plugin reads the ApplicationSet that made its Application.
  const files = one.files.filter((file) => !one.madeFrom.has(file) || readersOf(one.sources, file, sides.isBase).length > 0);
  return files.length === 0 || effectOfFiles({ ...sides, name: one.name, sources: one.sources, files }) === "none";
}

/** The file beside its manifests for which an edit is without effect; undefined: it would be without that file, too. */
export function overrideOf(one: EditedApplication, sides: Sides): string | undefined {
  const overrides = overridesOf({ ...sides, ...one }, sides.after);
  const isWhy = (files: readonly string[]) => {
    const gone = new Map(files.map((file) => [file, null]));
    return !isWithoutEffect(one, { ...sides, before: withTexts(sides.before, gone), after: withTexts(sides.after, gone) });
  };
  return overrides.find((file) => isWhy([file])) ?? (isWhy(overrides) ? overrides[0] : undefined);
}

/** The file beside its manifests for which what edits have written counts for nothing; undefined: there is none, or that cannot be told. */
export function overrideSince(
  { isBase, ...own }: Pick<EditedApplication, "name" | "sources"> & Pick<Sides, "isBase">,
  edits: readonly Edit[],
  after: RepoFiles,
): string | undefined {
  const values = edits.filter(({ kind, removes }) => kind === "value" && removes !== true);
  const other = applyEdits(
    values,
    (path) => after.read(path),
    () => MARK,
  );
  if (!other.ok || values.length === 0) return undefined;
  const one = { ...own, annotations: [], files: [...other.files.keys()], specDiffers: false, madeFrom: new Set<string>() };
  const sides = { before: withTexts(after, other.files), after, isBase };
  return isWithoutEffect(one, sides) ? overrideOf(one, sides) : undefined;
}

/** Whether the Application that files declare is another one with the edit; undefined: none of them declares it. */
export function declaredDiffers(
  application: { name: string; namespace: string },
  files: readonly string[],
  { before, after }: Pick<Sides, "before" | "after">,
): boolean | undefined {
  let declared: boolean | undefined;
  for (const file of files) {
    const [was, is] = [before, after].map((side) => manifestIn(side.read(file), "Application", [application])?.["spec"]);
    if (was === undefined && is === undefined) continue;
    declared = declared === true || JSON.stringify(was) !== JSON.stringify(is);
  }
  return declared;
}

/** Whether a kustomization or a chart may make the ApplicationSet in `setFile` of another file, too: then its manifest tells too little. */
export function feedsSet(files: RepoFiles, setFile: string, file: string): boolean {
  if (foldersOf(setFile).some((folder) => files.read(joinPath(folder, "Chart.yaml")) !== null)) return true;
  const takes = (folder: string, one: string) => kustomizeReads(files, folder, one) !== false;
  return foldersOf(file).some((folder) => kustomizationIn(files, folder) !== undefined && takes(folder, setFile) && takes(folder, file));
}

/** Those that a file is in, from the inmost to the root. */
export function foldersOf(file: string): string[] {
  return [...foldersAbove(file), ""];
}

/** The repo with some texts of it replaced. */
export function withTexts(files: RepoFiles, texts: ReadonlyMap<string, string | null>): RepoFiles {
  const isNew = (path: string) => !path.endsWith("/") && files.read(path) === null;
  let paths: readonly string[] | undefined;
  const withNew = () => {
    const gone = new Set([...texts].flatMap(([path, text]) => (text === null ? [path] : [])));
    const added = [...texts].flatMap(([path, text]) => (text !== null && isNew(path) ? [path] : []));
    return gone.size + added.length === 0 ? files.paths() : [...files.paths().filter((path) => !gone.has(path)), ...added];
  };
  const read = (path: string) => (texts.has(path) ? (texts.get(path) ?? null) : files.read(path));
  return { paths: () => (paths ??= withNew()), read, made: files.made && new WeakMap() };
}

/** No version is like it, so that it is seen wherever it comes out. */
export const MARK = "0.0.0-stagecoach-lint";

interface MarkedRepo {
  edits: readonly Edit[];
  after: RepoFiles;
}

/** The repo as a proposal was proven over it last. */
function lastMarked(): { marked?: MarkedRepo } {
  return {};
}

/** Keeps the repo with what edits write in every pin, for lint of the same proposal. Of files that may change nothing is kept. */
export function keepMarked(files: RepoFiles, marked: MarkedRepo): void {
  if (files.made !== undefined) madeOnce(files, lastMarked).marked = marked;
}

/** That repo where it was made by these very edits, each with the mark; it is given once, since it is as large as the files. */
export function takeMarked(files: RepoFiles, edits: readonly Edit[]): RepoFiles | undefined {
  if (files.made === undefined) return undefined;
  const last = madeOnce(files, lastMarked);
  const { marked } = last;
  delete last.marked;
  if (marked === undefined || marked.edits.length !== edits.length) return undefined;
  const written = new Map(marked.edits.map((edit) => [`${edit.file}\n${edit.path}`, edit]));
  const isSame = ({ file, path, part, create }: Edit) => {
    const other = written.get(`${file}\n${path}`);
    return other?.to === MARK && other.part === part && other.create === create;
  };
  return edits.every(isSame) ? marked.after : undefined;
}
