import { compareText } from "../base/compare-text.ts";
import { globMatcher } from "../base/glob.ts";
import { isRecord } from "../base/is-record.ts";
import type { RepoFiles } from "../base/repo-files.ts";
import { parseYaml } from "../base/yaml-read.ts";
import type { Environment } from "./environment.ts";
import { type PathPattern, pathPrefix } from "./git-spec.ts";
import { addValues, fileParams, flatten } from "./params.ts";
import { failure, RenderFailure, setKey } from "./problem.ts";
import type { ParamSet, RenderProblem } from "./types.ts";

/** `git.files`: each file that is included and not excluded, once, in the order of paths; an item of a list is a set. */
export function filesParams(
  repo: RepoFiles,
  patterns: readonly PathPattern[],
  raw: Record<string, unknown>,
  environment: Environment,
  where: string,
): ParamSet[] {
  const tests = patterns.map((pattern) => ({ exclude: pattern.exclude, matches: matcher(pattern.path, environment, where) }));
  const chosen = [...repo.paths()]
    .filter(
      (file) => tests.some((test) => !test.exclude && test.matches(file)) && !tests.some((test) => test.exclude && test.matches(file)),
    )
    .sort(compareText);
  // All are read before any is judged: a caller that fetches what is asked for needs one round, not one per file.
  const contents = chosen.map((file) => ({ file, ...readFile(repo, file) }));
  const problems: RenderProblem[] = [];
  const sets: ParamSet[] = [];
  for (const { file, content, refusal } of contents) {
    try {
      for (const data of objectsOf(file, content, refusal, where)) sets.push(paramsOf(file, data, raw, environment, where));
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new RenderFailure(problems);
  return sets;
}

function matcher(pattern: string, environment: Environment, where: string): (path: string) => boolean {
  const doublestar = environment.context.newGitFileGlobbing === true;
  if (!doublestar && (pattern.startsWith("/") || pattern.startsWith(":"))) {
    throw failure(
      "PARAM_ERROR",
      `${where}.files`,
      `git does not take ${JSON.stringify(pattern)} for a path inside the repository`,
      "write the path from the repository's root, without a leading / or :",
    );
  }
  const matches = doublestar
    ? globMatcher(pattern.replace(/^(\.?\/)+/, ""), "doublestar")
    : pathspecMatcher(pattern.replace(/^(\.\/)+/, ""));
  if (matches === undefined)
    throw failure(
      "PARAM_ERROR",
      `${where}.files`,
      `the pattern ${JSON.stringify(pattern)} is malformed`,
      "check its brackets and backslashes",
    );
  return matches;
}

/** Git's own pathspec: a pattern that names a directory takes all below it. */
function pathspecMatcher(pattern: string): (path: string) => boolean {
  const literal = pattern.replace(/\/+$/, "");
  const glob = globMatcher(pattern, "pathspec");
  return (path) => path === pattern || literal === "" || literal === "." || path.startsWith(`${literal}/`) || glob?.(path) === true;
}

/** A snapshot may refuse a file (a link out of the repo), with the reason as message. */
function readFile(repo: RepoFiles, file: string): { content: string | null; refusal: string } {
  try {
    return { content: repo.read(file), refusal: "" };
  } catch (error) {
    return { content: null, refusal: error instanceof Error ? `: ${error.message}` : "" };
  }
}

/** What Argo CD takes a file for: a map, or a list of maps; nothing is an empty map. */
function objectsOf(file: string, content: string | null, refusal: string, where: string): Record<string, unknown>[] {
  if (content === null) throw failure("PARAM_ERROR", where, `${file} cannot be read${refusal}`, "is it a plain file of this revision?");
  let parsed: unknown;
  try {
    parsed = parseYaml(content);
  } catch (error) {
    throw failure(
      "PARAM_ERROR",
      where,
      `${file}: not YAML: ${error instanceof Error ? error.message : "unknown reason"}`,
      "one broken file stops the whole set: mend it or exclude it",
    );
  }
  if (parsed === null || parsed === undefined) return [{}];
  if (isRecord(parsed)) return [parsed];
  if (Array.isArray(parsed) && parsed.every((item) => item === null || isRecord(item)))
    return parsed.map((item) => (isRecord(item) ? item : {}));
  throw failure(
    "PARAM_ERROR",
    where,
    `${file}: neither a map nor a list of maps`,
    "one such file stops the whole set: mend it or exclude it",
  );
}

function paramsOf(
  file: string,
  data: Record<string, unknown>,
  raw: Record<string, unknown>,
  environment: Environment,
  where: string,
): ParamSet {
  const go = environment.templating.go;
  const params: ParamSet = {};
  for (const [key, value] of Object.entries(go ? data : flatten(data))) setKey(params, key, value);
  fileParams(params, file, pathPrefix(raw), go);
  addValues(params, raw["values"], environment.templating, where);
  return params;
}
