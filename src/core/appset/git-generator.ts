import { compareText } from "../base/compare-text.ts";
import { globMatcher } from "../base/glob.ts";
import type { RepoFiles } from "../base/repo-files.ts";
import type { Environment } from "./environment.ts";
import { filesParams } from "./git-files.ts";
import { type PathPattern, pathPrefix, patterns } from "./git-spec.ts";
import { addValues, pathParams } from "./params.ts";
import { failure } from "./problem.ts";
import type { ParamSet } from "./types.ts";

/** `git`: directories win where both are given, as in Argo CD. */
export function gitParams(raw: Record<string, unknown>, environment: Environment, where: string): ParamSet[] {
  const directories = patterns(raw["directories"], `${where}.directories`);
  const files = patterns(raw["files"], `${where}.files`);
  if (directories.length === 0 && files.length === 0) {
    throw failure(
      "INVALID",
      where,
      "the git generator names neither directories nor files",
      "give it directories: [{path: …}] or files: [{path: …}]",
    );
  }
  const repo = openRepo(raw, environment, where);
  if (directories.length > 0) return directoryParams(repo, directories, raw, environment, where);
  return filesParams(repo, files, raw, environment, where);
}

function openRepo(raw: Record<string, unknown>, environment: Environment, where: string): RepoFiles {
  const url = raw["repoURL"];
  if (typeof url !== "string" || url === "")
    throw failure("INVALID", `${where}.repoURL`, "repoURL is missing or not text", "name the repository to read");
  const revision = typeof raw["revision"] === "string" ? raw["revision"] : "";
  const repo = environment.context.repo?.(url, revision);
  if (repo !== undefined) return repo;
  const at = revision === "" ? "" : ` at ${revision}`;
  throw failure("NO_REPO", where, `the repository ${url}${at} is not at hand`, "give a checkout of it (--repo DIR)");
}

function directoryParams(
  repo: RepoFiles,
  wanted: readonly PathPattern[],
  raw: Record<string, unknown>,
  environment: Environment,
  where: string,
): ParamSet[] {
  // A malformed pattern matches nothing there, and stops nothing.
  const tests = wanted.map((pattern) => ({ exclude: pattern.exclude, matches: globMatcher(pattern.path, "go") ?? (() => false) }));
  return directoriesOf(repo.paths())
    .filter(
      (directory) =>
        tests.some((test) => !test.exclude && test.matches(directory)) && !tests.some((test) => test.exclude && test.matches(directory)),
    )
    .map((directory) => {
      const params: ParamSet = {};
      pathParams(params, { directory }, pathPrefix(raw), environment.templating.go);
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
