/** Which files of a repo may declare an ApplicationSet. Called by `appset-in-git.ts` and by lint, once for each rollout. */
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readYamlDocuments, type YamlDocument } from "../../core/base/yaml-read.ts";

/** Files larger than this hold no ApplicationSet a person wrote; generated ones stay below it too. */
export const LARGEST_MANIFEST = 10 * 1024 * 1024;

/** A YAML file that says ApplicationSet somewhere. */
interface SetFile {
  path: string;
  text: string;
  /** Read when they are first asked for. */
  documents(): readonly YamlDocument[];
}

/** Returns every such file, in the order of paths. */
export function setFiles(files: RepoFiles): readonly SetFile[] {
  return madeOnce(files, findSetFiles);
}

function findSetFiles(files: RepoFiles): SetFile[] {
  return files.paths().flatMap((path) => {
    const text = /\.ya?ml$/.test(path) ? readOrNull(files, path) : null;
    if (text === null || text.length > LARGEST_MANIFEST || !text.includes("ApplicationSet")) return [];
    return [{ path, text, documents: () => documentsAt(files, path, text) }];
  });
}

/** A file's documents, read once where files do not change. */
export function documentsAt(files: RepoFiles, path: string, text: string): readonly YamlDocument[] {
  const read = madeOnce(files, noDocuments);
  const known = read.get(path) ?? readYamlDocuments(text);
  read.set(path, known);
  return known;
}

function noDocuments(): Map<string, readonly YamlDocument[]> {
  return new Map();
}

/** Of a pull request with more files the first so many are looked into. */
const MOST_LOOKED_INTO = 300;

/** Which of the files that a pull request touches are looked into for sets and Applications. */
export function manifestsAmong(touched: readonly string[]): string[] {
  return touched.filter((path) => /\.ya?ml$/.test(path)).slice(0, MOST_LOOKED_INTO);
}
