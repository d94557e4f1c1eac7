/** Which files of a repo may declare what is applied. Called by `appset-in-git.ts`, by lint, once for each rollout, and by `init`. */
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readYamlDocuments, type YamlDocument } from "../../core/base/yaml-read.ts";

/** Files larger than this hold no ApplicationSet a person wrote; generated ones stay below it too. */
export const LARGEST_MANIFEST = 10 * 1024 * 1024;

/** Whether a file may hold manifests, as Argo CD and kubectl take them from a folder. */
export function isManifestFile(path: string): boolean {
  return isYaml(path) || path.endsWith(".json");
}

function isYaml(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

/**
 * The files that may hold manifests, in two parts, each in the order of paths: YAML, and JSON. What YAML declares is not looked for in
 * JSON: of that a repo may have much that is no manifest, and what is read of one commit is bounded.
 */
export function manifestFiles(paths: readonly string[]): [yaml: string[], json: string[]] {
  return [paths.filter(isYaml), mostOf(paths.filter((path) => path.endsWith(".json")))];
}

const MOST_JSON = 1000;

/** No more than are looked into, as many of each folder: one of dashboards must not hide the next. */
function mostOf(paths: string[]): string[] {
  if (paths.length <= MOST_JSON) return paths;
  const folders = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf("/") + 1));
  const ranked = [...folders.values()].flatMap((own) => own.map((path, rank) => ({ path, rank })));
  const most = new Set(
    ranked
      .sort((a, b) => a.rank - b.rank)
      .slice(0, MOST_JSON)
      .map(({ path }) => path),
  );
  return paths.filter((path) => most.has(path));
}

/** A file that says ApplicationSet somewhere. */
interface SetFile {
  path: string;
  text: string;
  /** Read when they are first asked for. */
  documents(): readonly YamlDocument[];
}

/** Returns every such file of YAML. */
export function setFiles(files: RepoFiles): readonly SetFile[] {
  return madeOnce(files, findYaml);
}

/** The same of JSON. */
export function setFilesOfJson(files: RepoFiles): readonly SetFile[] {
  return madeOnce(files, findJson);
}

function findYaml(files: RepoFiles): SetFile[] {
  return setsAmong(files, manifestFiles(files.paths())[0]);
}

function findJson(files: RepoFiles): SetFile[] {
  return setsAmong(files, manifestFiles(files.paths())[1]);
}

function setsAmong(files: RepoFiles, paths: readonly string[]): SetFile[] {
  return paths.flatMap((path) => {
    const text = readOrNull(files, path);
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
  return manifestFiles(touched).flat().slice(0, MOST_LOOKED_INTO);
}
