/** `git` generators: directories by globs of Go's `path.Match`, files by git's pathspec or, with the new globbing, by doublestar. */
import { compareText } from "../base/compare-text.ts";
import { errorText } from "../base/error-text.ts";
import { globMatcher } from "../base/glob.ts";
import { isRecord } from "../base/is-record.ts";
import { spendOfPass } from "../base/pass.ts";
import type { RepoFiles } from "../base/repo-files.ts";
import { parseYaml } from "../base/yaml-read.ts";
import { baseName, dirName } from "../gotemplate/sprig-names.ts";
import { addValues, flatten, pathParams } from "./params.ts";
import { failure, setKey, tryEach } from "./problem.ts";
import type { Environment } from "./templating.ts";
import type { ParamSet } from "./types.ts";

type Fields = Record<string, unknown>;
type Matcher = (path: string) => boolean;

/** An entry of `directories` or `files`. */
interface PathPattern {
  path: string;
  exclude: boolean;
}

/** Directories win where both are given, as in Argo CD. */
export function gitParams(raw: Fields, environment: Environment, where: string): ParamSet[] {
  const directories = readPatterns(raw["directories"], `${where}.directories`);
  const files = readPatterns(raw["files"], `${where}.files`);
  if (directories.length === 0 && files.length === 0) throw failure("INVALID", where, { kind: "GitOfNothing" });
  const repo = openRepo(raw, environment, where);
  if (directories.length > 0) return directoryParams(repo, directories, raw, environment, where);
  return filesParams(repo, files, raw, environment, where);
}

function readPatterns(raw: unknown, where: string): PathPattern[] {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) throw failure("INVALID", where, { kind: "NoPathList" });
  return raw.map((item, index) => {
    const path = isRecord(item) ? item["path"] : undefined;
    if (typeof path !== "string") throw failure("INVALID", `${where}[${index}].path`, { kind: "NoPath" });
    return { path, exclude: item["exclude"] === true };
  });
}

function openRepo(raw: Fields, environment: Environment, where: string): RepoFiles {
  const { repoURL, revision: given } = raw;
  if (typeof repoURL !== "string" || repoURL === "") throw failure("INVALID", `${where}.repoURL`, { kind: "NoRepoURL" });
  const revision = typeof given === "string" ? given : "";
  const repo = environment.context.repo?.(repoURL, revision);
  if (repo === undefined) throw failure("NO_REPO", where, { repoURL, revision });
  return repo;
}

/** Paths that one pattern includes and none excludes. */
function choose(paths: readonly string[], patterns: readonly PathPattern[], compile: (glob: string) => Matcher): string[] {
  const tests = patterns.map(({ path, exclude }) => ({ exclude, matches: compile(path) }));
  const fits = (path: string, out: boolean) => tests.some(({ exclude, matches }) => exclude === out && matches(path));
  spendOfPass(paths.length * patterns.length);
  return paths.filter((path) => fits(path, false) && !fits(path, true));
}

/** What the path parameters are named below: `PREFIX.path`. */
function prefixOf(raw: Fields): string {
  return typeof raw["pathParamPrefix"] === "string" ? raw["pathParamPrefix"] : "";
}

function directoryParams(
  repo: RepoFiles,
  patterns: readonly PathPattern[],
  raw: Fields,
  environment: Environment,
  where: string,
): ParamSet[] {
  // A malformed pattern matches nothing there, and stops nothing.
  return choose(directoriesOf(repo.paths()), patterns, (glob) => globMatcher(glob, "go") ?? (() => false)).map((directory) => {
    const params: ParamSet = {};
    pathParams(params, { directory }, prefixOf(raw), environment.templating.go);
    addValues(params, raw["values"], environment.templating, where);
    return params;
  });
}

/** Every directory that holds something, in the order of a walk; those whose name begins with a dot, and all below, are skipped. */
function directoriesOf(files: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const directory = file.slice(0, end);
      if (found.has(directory)) break;
      found.add(directory);
    }
  }
  return [...found].filter((directory) => !/(^|\/)\./.test(directory)).sort(walkOrder);
}

function walkOrder(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = compareText(left[index] ?? "", right[index] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Each file that is chosen, once, in the order of paths; an item of a list is a set. */
function filesParams(repo: RepoFiles, patterns: readonly PathPattern[], raw: Fields, environment: Environment, where: string): ParamSet[] {
  const chosen = choose(repo.paths(), patterns, (glob) => fileMatcher(glob, environment, `${where}.files`)).sort(compareText);
  // All are read before any is judged: a caller that fetches what is asked for needs one round, not one per file.
  const contents = chosen.map((name) => ({ name, ...readFile(repo, name) }));
  const sets: ParamSet[] = [];
  tryEach(contents, ({ name, content, said }) => {
    if (content === null) throw failure("PARAM_ERROR", where, { kind: "Unreadable", name, said });
    for (const data of objectsOf(name, content, where)) sets.push(paramsOfFile(name, data, raw, environment, where));
  });
  return sets;
}

function fileMatcher(glob: string, { context }: Environment, where: string): Matcher {
  const isNew = context.newGitFileGlobbing === true;
  if (!isNew && /^[/:]/.test(glob)) throw failure("PARAM_ERROR", where, { kind: "OutsideRepo", glob });
  const matches = isNew ? globMatcher(glob.replace(/^(\.?\/)+/, ""), "doublestar") : pathspecMatcher(glob.replace(/^(\.\/)+/, ""));
  if (matches === undefined) throw failure("PARAM_ERROR", where, { kind: "BadGlob", glob });
  return matches;
}

/** Git's own pathspec: a pattern that names a directory takes all below it. */
function pathspecMatcher(pattern: string): Matcher {
  const literal = pattern.replace(/(?<!\/)\/+$/, "");
  const glob = globMatcher(pattern, "pathspec");
  return (path) => path === pattern || literal === "" || literal === "." || path.startsWith(`${literal}/`) || glob?.(path) === true;
}

/** A snapshot may refuse a file (a link out of the repo), with the reason as message. */
function readFile(repo: RepoFiles, file: string): { content: string | null; said?: string | undefined } {
  try {
    return { content: repo.read(file) };
  } catch (error) {
    return { content: null, said: error instanceof Error ? error.message : undefined };
  }
}

/** What Argo CD takes a file for: a map, or a list of maps; nothing is an empty map. */
function objectsOf(name: string, content: string, where: string): Fields[] {
  let parsed: unknown;
  try {
    parsed = parseYaml(content) ?? {};
  } catch (error) {
    throw failure("PARAM_ERROR", where, { kind: "FileNotYaml", name, said: errorText(error) });
  }
  const items: unknown[] = Array.isArray(parsed) ? parsed.map((item) => item ?? {}) : [parsed];
  if (items.every(isRecord)) return items;
  throw failure("PARAM_ERROR", where, { kind: "FileNoMap", name });
}

function paramsOfFile(name: string, data: Fields, raw: Fields, { templating }: Environment, where: string): ParamSet {
  const params: ParamSet = {};
  for (const [key, value] of Object.entries(templating.go ? data : flatten(data))) setKey(params, key, value);
  pathParams(params, { directory: dirName(name), filename: baseName(name) }, prefixOf(raw), templating.go);
  addValues(params, raw["values"], templating, where);
  return params;
}
