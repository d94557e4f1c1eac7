import { refusalByWords } from "../../../src/adapters/forge/github/merge-refusal.ts";
import { fullRef, remoteUrl, repositoryPath } from "../../../src/adapters/git/names.ts";
import { parseCommit, parseTrailers } from "../../../src/adapters/git/signing/commit-object.ts";
import { evaluate } from "../../../src/core/analysis/expr/evaluate.ts";
import { parseExpression } from "../../../src/core/analysis/expr/parse.ts";
import { firstAt, parsePath } from "../../../src/core/analysis/json-path.ts";
import { isUnderPaths, pathsMissed, refreshPaths } from "../../../src/core/argocd/generate-paths.ts";
import { firstLine } from "../../../src/core/argocd/liveness/moment.ts";
import { normalRepo, plainServer } from "../../../src/core/argocd/same.ts";
import { ownersOf, parseCodeowners } from "../../../src/core/base/codeowners.ts";
import { redact } from "../../../src/core/base/error-text.ts";
import { matchesGlob } from "../../../src/core/base/glob.ts";
import { nearest } from "../../../src/core/base/nearest.ts";
import { isLabelKey, isLabelValue } from "../../../src/core/base/selector.ts";
import { parseDuration } from "../../../src/core/base/time.ts";
import { readPart } from "../../../src/core/pins/part.ts";
import { parsePinPath } from "../../../src/core/pins/path.ts";
import { cell, code, html, prose } from "../../../src/core/report/escape.ts";
import { parseBranch } from "../../../src/core/run/state/branch-name.ts";
import { isBatchMerge } from "../../../src/engine/config-repo/releases.ts";
import { versionOfTag } from "../../../src/engine/config-repo/releases-tags.ts";
import { sameRepo } from "../../../src/engine/config-repo/repo-url.ts";
import { parseComment } from "../../../src/surfaces/server/comments/parse.ts";
import { isOwnHost } from "../../../src/surfaces/server/deliveries/http.ts";

export interface Parser {
  name: string;
  parse: (text: string) => unknown;
  /** Where longer ones cannot come from: of characters. */
  most?: number;
}

/** Kubernetes takes no more of all annotations of an object together. */
const ANNOTATION = 256 * 1024;
/** The file that it stands in may be no longer. */
const ROLLOUT = 256 * 1024;
/** Node refuses longer ones. */
const HEADERS = 16 * 1024;
const ID = "0".repeat(40);
const SOURCES = [{ repoURL: "https://github.com/acme/config", path: "apps/a" }] as Parameters<typeof pathsMissed>[0]["sources"];

/** Comments, names, addresses and messages: what people and control planes send that is read where everybody waits. */
export const PARSERS: readonly Parser[] = [
  { name: "a comment", parse: parseComment },
  { name: "a comment with a command", parse: (text) => parseComment(`/pause\n${text}`) },
  { name: "a comment as long as GitHub takes", parse: parseComment, most: 65_536 },
  { name: "a comment that is still read", parse: (text) => parseComment(`/pause\n\n${text}`), most: 1990 },
  { name: "a title in a table", parse: cell },
  { name: "a title as code", parse: code },
  { name: "a title in HTML", parse: html },
  { name: "a title in a sentence", parse: prose },
  { name: "an error of the outside", parse: redact },
  { name: "a message of Argo CD", parse: firstLine },
  { name: "GitHub's reason against a merge", parse: refusalByWords },
  { name: "the Host of a request", parse: (host) => isOwnHost({ headers: { host } }, ["a.example"]), most: HEADERS },
  { name: "a number of a metric", parse: (text) => evaluate(parseExpression("asFloat(result) < 1"), { result: text }) },
  {
    name: "the address of a repository",
    parse: (text) => [normalRepo(text), normalRepo(`https://${text}`), sameRepo(text, `https://${text}`)],
  },
  { name: "the address of a cluster", parse: plainServer },
  { name: "the address of a remote", parse: (text) => remoteUrl(`https://${text}`, false), most: 65_536 },
  { name: "an annotation of paths", parse: (text) => isUnderPaths(refreshPaths(text, "apps/a"), "apps/a/b.yaml"), most: ANNOTATION },
  {
    name: "an annotation of paths that misses a file",
    parse: (annotation) => pathsMissed({ annotation, sources: SOURCES, files: ["z/y"], isBase: () => true }),
    most: ANNOTATION,
  },
  { name: "a tag", parse: (text) => [versionOfTag(text, undefined), versionOfTag(`v1.2.3-${text}`, undefined)] },
  {
    name: "the message of a commit",
    parse: (text) => [parseTrailers(text), isBatchMerge({ subject: `Merge pull request #1 from ${text}`, body: text })],
  },
  { name: "the author of a commit", parse: (text) => parseCommit(ID, Buffer.from(`tree ${ID}\nauthor ${text}\n\nx`)) },
  { name: "a commit", parse: (text) => parseCommit(ID, Buffer.from(`tree ${ID}\n\n${text}`)) },
  { name: "a branch", parse: (text) => parseBranch(`stagecoach-run/${text}`) },
  { name: "a ref", parse: (text) => fullRef(`refs/heads/${text}`) },
  { name: "a path", parse: repositoryPath },
  { name: "a label", parse: (text) => [isLabelKey(text), isLabelKey(`${text.slice(0, 250)}/a`), isLabelValue(text)] },
  { name: "an image", parse: (text) => [readPart(text, "tag"), readPart(text, "ref")] },
  { name: "a duration", parse: parseDuration },
  { name: "a misspelt word", parse: (text) => nearest(text, ["promote", "requeue", "rollback"]) },
  {
    name: "a glob",
    parse: (text) =>
      (["pathspec", "doublestar", "go", "gobwas", "paths"] as const).map((dialect) => matchesGlob(text, dialect, "apps/a.yaml")),
  },
  {
    name: "a glob as long as is read",
    parse: (text) => (["doublestar", "gobwas"] as const).map((dialect) => matchesGlob(text, dialect, "apps/a.yaml")),
    most: 10_000,
  },
  {
    name: "a path filter as long as is read",
    parse: (text) => matchesGlob(text, "paths", "apps/a.yaml"),
    most: 10_000,
  },
  { name: "the owners of code", parse: (text) => ownersOf(parseCodeowners(text), "apps/a.yaml") },
  { name: "a pin's path", parse: parsePinPath, most: ROLLOUT },
  { name: "a path that a glob is asked of", parse: (text) => matchesGlob("**/*a*b*c", "doublestar", text), most: 4096 },
  { name: "a condition", parse: (text) => parseExpression(text) },
  { name: "a condition as long as is read", parse: (text) => parseExpression(text), most: 4000 },
  { name: "a JSONPath", parse: (text) => parsePath(text) },
  { name: "a JSONPath as long as is read", parse: (text) => parsePath(text), most: 1000 },
  { name: "an answer that a path is asked of", parse: (text) => firstAt("{..a}", { a: { a: text }, b: [...text.slice(0, 100_000)] }) },
  {
    name: "an answer that a condition is asked of",
    parse: (text) => evaluate(parseExpression("result contains 'ab' || len(result) > 1"), { result: text }),
  },
  { name: "a delivery's JSON", parse: (text) => JSON.parse(`{"comment":{"body":${JSON.stringify(text)}}}`) },
];
