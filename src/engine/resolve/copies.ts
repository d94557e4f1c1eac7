/**
 * Pins that copy a directory: what they mean at a commit, and what two of them, or one and another pin, would write over one another. What
 * stands in a directory is the id of its tree, so that a copy is exact, can be told from any other, and is put back to the last byte.
 */
import { foldersAbove } from "../../core/base/clean-path.ts";
import { errorText } from "../../core/base/error-text.ts";
import { changesBetween, EMPTY_TREE, type Folder, type FolderChanges, folderIn, overlapOf } from "../../core/base/folder.ts";
import { nearest } from "../../core/base/nearest.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Copied, Edit } from "../../core/plan/plan-types.ts";
import type { ProblemData } from "../../core/reasons/problems/problem.ts";
import type { Draft } from "./draft.ts";
import type { ProblemList } from "./targets-problems.ts";

/** Of those that a copy changes so many are named with it. */
const MOST_NAMED = 100;

type ReadFile = RepoFiles["read"];
type FolderProblem = ProblemData<"COPY_FOLDER">;

/** Reads what each target's copy stands at and would become, directory by directory. */
export function readCopies(index: number, drafts: readonly Draft[], read: ReadFile, problems: ProblemList): void {
  const place = ["spec", "pins", index, "copy"];
  const known = new Map<string, ReadCopy>();
  for (const draft of drafts) {
    const edit = draft.edits[index];
    if (edit === undefined) continue;
    const key = `${edit.path}\n${edit.file}`;
    const copy = known.get(key) ?? readCopy(edit, read);
    known.set(key, copy);
    if (copy.ok) draft.edits[index] = { ...edit, ...copy.values };
    else {
      draft.edits[index] = undefined;
      problems.add({ code: "COPY_FOLDER", ...copy.problem, path: [...place, copy.end], oneCause: true }, draft.seen.view.name);
    }
  }
}

type ReadCopy =
  | { ok: true; values: Pick<Edit, "from" | "to"> & { copied: Copied } }
  | { ok: false; end: "from" | "to"; problem: FolderProblem };

function readCopy({ path: from, file: to }: Edit, read: ReadFile): ReadCopy {
  const source = readSource(from, read);
  if (!source.ok) return { ...source, end: "from" };
  const there = readWhole(to, read, true);
  if (!there.ok) return { ...there, end: "to" };
  const changes = changesBetween(there.folder, source.folder);
  const names = namesOf(changes);
  const files = namedOf(names.length > 0 ? names : source.folder.files.map(({ path }) => path)).map((name) => `${to}/${name}`);
  const [added, changed, removed] = [changes.added.length, changes.changed.length, changes.removed.length];
  const values = { from: there.folder?.id ?? EMPTY_TREE, to: source.folder.id, copied: { added, changed, removed, files } };
  return { ok: true, values };
}

function readSource(folder: string, read: ReadFile): { ok: true; folder: Folder } | { ok: false; problem: FolderProblem } {
  const source = readWhole(folder, read);
  if (!source.ok || source.folder !== null) return source as { ok: true; folder: Folder };
  return { ok: false, problem: { kind: "Missing", folder } };
}

/** Why a directory cannot be copied; undefined: it can be. */
export function faultOfSource(folder: string, read: ReadFile): FolderProblem | undefined {
  const source = readSource(folder, read);
  return source.ok ? undefined : source.problem;
}

type Whole = { ok: true; folder: Folder | null } | { ok: false; problem: FolderProblem };

/** `isReplaced`: links in it go with it, wherever they lead. */
function readWhole(folder: string, read: ReadFile, isReplaced = false): Whole {
  try {
    const found = folderIn({ read }, folder);
    const above = found === null ? fileAbove(folder, read) : undefined;
    if (above !== undefined) return { ok: false, problem: { kind: "File", folder: above } };
    const fault = found?.fault;
    if (fault === undefined || (isReplaced && fault.kind === "Link")) return { ok: true, folder: found };
    return { ok: false, problem: { ...fault, folder } };
  } catch (error) {
    return { ok: false, problem: { kind: "Unread", folder, said: errorText(error) } };
  }
}

/** A file that a directory would have to be made in. */
function fileAbove(folder: string, read: ReadFile): string | undefined {
  return foldersAbove(folder).findLast((one) => folderIn({ read }, one)?.fault?.kind === "File");
}

export function namesOf({ added, changed, removed }: FolderChanges): string[] {
  return [...added, ...changed, ...removed];
}

/** The first of each directory, then the others: who reads a directory is told by any file of it. */
function namedOf(names: readonly string[]): string[] {
  const folders = Map.groupBy(names, (name) => name.slice(0, name.lastIndexOf("/") + 1));
  const first = new Set([...folders.values()].map(([name = ""]) => name));
  return [...first, ...names.filter((name) => !first.has(name))].slice(0, MOST_NAMED);
}

/**
 * Directories that lie in one another, or that are to be copies of two: a batch would move more than its own, or the last one wins. A
 * directory that is copied from one which another batch writes would bring what stood there before.
 */
export function refuseSharedCopies(drafts: readonly Draft[], problems: ProblemList): void {
  const copied = editsIn(drafts, "copy");
  if (copied.length === 0) return;
  const copies = new Map<string, string>();
  for (const { edit } of copied) {
    if (edit.path !== edit.file) copies.set(edit.file, copies.get(edit.file) ?? edit.path);
  }
  const sources = new Map([...copies].toReversed().map(([to, from]) => [from, to]));
  const holders = new Set([...copies.keys()].flatMap(foldersAbove));
  for (const { draft, index, edit } of editsIn(drafts)) {
    const told = sharedBy(edit, { copies, holders, sources });
    if (told === undefined) continue;
    draft.edits[index] = undefined;
    const application = draft.seen.view.name;
    problems.add({ code: "COPY_SHARED", ...told, application, path: ["spec", "pins", index], oneCause: true }, application);
  }
}

type Shared = Omit<ProblemData<"COPY_SHARED">, "application">;

interface CopyFolders {
  /** Directory that is written → the one it is a copy of. */
  copies: ReadonlyMap<string, string>;
  /** Directories above those that copies write. */
  holders: ReadonlySet<string>;
  /** Directory that is copied from → one that it is copied to. */
  sources: ReadonlyMap<string, string>;
}

function sharedBy(edit: Edit, { copies, holders, sources }: CopyFolders): Shared | undefined {
  const { file, path } = edit;
  const inside = file === "" ? undefined : foldersAbove(file).find((one) => copies.has(one));
  if (inside !== undefined) return { kind: "Inside", folder: inside, other: file };
  if (edit.kind !== "copy") return sourceChanged(file, sources);
  if (path === file) return { kind: "Itself", folder: file, other: path };
  const first = copies.get(file);
  if (first !== undefined && first !== path) return { kind: "Sources", folder: file, other: path };
  const overlap = overlapOf(path, file);
  if (overlap !== undefined) return { kind: "Chain", folder: file, other: path };
  const written = holders.has(path) ? path : [path, ...foldersAbove(path)].find((one) => copies.has(one));
  return written === undefined ? undefined : { kind: "Chain", folder: file, other: written };
}

/** A pin in a directory that is copied from: the copy is made of what stood there when the run was planned. */
function sourceChanged(file: string, sources: ReadonlyMap<string, string>): Shared | undefined {
  const from = file === "" ? undefined : foldersAbove(file).find((one) => sources.has(one));
  return from === undefined ? undefined : { kind: "Chain", folder: sources.get(from) ?? "", other: from };
}

function editsIn(drafts: readonly Draft[], kind?: Edit["kind"]): { draft: Draft; index: number; edit: Edit }[] {
  return drafts.flatMap((draft) =>
    [...draft.edits.entries()].flatMap(([index, edit]) =>
      edit === undefined || (kind !== undefined && edit.kind !== kind) ? [] : [{ draft, index, edit }],
    ),
  );
}

/** The directory that was most likely meant. */
export function nearFolder(folder: string, paths: readonly string[]): string | undefined {
  return nearest(folder, [...new Set(paths.flatMap(foldersAbove))]);
}

/** The text of every file that copies write, and null for those they remove: for whoever renders what would come of them. */
export function copiedTexts(edits: readonly Edit[], files: Pick<RepoFiles, "read">): Map<string, string | null> {
  const texts = new Map<string, string | null>();
  for (const edit of edits) {
    const source = edit.kind === "copy" && edit.from !== edit.to ? folderIn(files, edit.path) : null;
    if (source === null || source.id !== edit.to) continue;
    const there = new Set(source.files.map(({ path }) => `${edit.file}/${path}`));
    for (const { path } of folderIn(files, edit.file)?.files ?? [])
      if (!there.has(`${edit.file}/${path}`)) texts.set(`${edit.file}/${path}`, null);
    for (const { path, mode } of source.files)
      if (mode.startsWith("100")) texts.set(`${edit.file}/${path}`, files.read(`${edit.path}/${path}`));
    texts.set(`${edit.file}/`, files.read(`${edit.path}/`));
  }
  return texts;
}
