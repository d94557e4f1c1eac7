import { parseDocument } from "yaml";
import { globMatcher } from "../../core/base/glob.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import { duplicateKeys, expandsTooFar, LINEAR, yamlMarks } from "../../core/base/yaml-bounds.ts";

/** A workflow of GitHub Actions, as far as it matters which checks it reports where. */
export interface Workflow {
  file: string;
  /** Whether this name of a check is one of its jobs'. */
  reports(check: string): boolean;
  /** Whether a pull request that changes these files makes it run. What cannot be judged counts as yes. */
  runsFor(pull: { files: readonly string[]; base: string; branch: string }): boolean;
}

const FOLDER = /^\.github\/workflows\/[^/]+\.ya?ml$/;
const LARGEST = 1024 * 1024;
/** Nobody writes so many brackets, colons and lines into a workflow. */
const MOST_MARKS = 60_000;
/** Events that report nothing on a pull request's head by themselves. Of others that are not judged below nobody knows. */
const ELSEWHERE = ["schedule", "release", "merge_group", "workflow_call", "workflow_dispatch", "create", "delete", "page_build"];
const ON_PULLS = ["pull_request", "pull_request_target"];

export function isWorkflow(path: string): boolean {
  return FOLDER.test(path);
}

/** undefined: it is none, or cannot be read as one. */
export function readWorkflow(file: string, text: string): Workflow | undefined {
  if (text.length > LARGEST || yamlMarks(text) > MOST_MARKS) return undefined;
  const document = parseDocument(text, LINEAR);
  if (document.errors.length > 0 || duplicateKeys(document).length > 0 || expandsTooFar(document)) return undefined;
  const object: unknown = document.toJS({ maxAliasCount: -1 });
  if (!isRecord(object) || !isRecord(object["jobs"])) return undefined;
  const names = Object.entries(object["jobs"]).flatMap(([id, job]) => (isRecord(job) ? [checkNames(id, job)] : []));
  const events = eventsOf(object["on"]);
  return {
    file,
    reports: (check) => names.some((matches) => matches(check)),
    runsFor: (pull) => [...events].some(([event, filter]) => fires(event, filter, pull)),
  };
}

/** GitHub takes no name that is nearly as long. */
const MOST_OF_A_NAME = 5000;

/** A job's check has its name; a matrix adds ` (VALUES)`, a reusable workflow ` / JOB`. Expressions can be anything. */
function checkNames(id: string, job: Record<string, unknown>): (check: string) => boolean {
  const name = typeof job["name"] === "string" ? job["name"] : id;
  if (name.length > MOST_OF_A_NAME) return () => true;
  const parts = name.split(/\$\{\{[^}]*\}\}/);
  const text = parts.map((part) => part.replace(/[\\*?[{]/g, "\\$&")).join("*");
  const matrix = isRecord(job["strategy"]) ? "{, (*)}" : "";
  const inner = typeof job["uses"] === "string" ? " / *" : "";
  return globMatcher(`${text}${matrix}${inner}`, "gobwas") ?? (() => true);
}

/** `on` is one event, a list, or a map from events to their filters. */
function eventsOf(on: unknown): Map<string, Record<string, unknown>> {
  if (typeof on === "string") return new Map([[on, {}]]);
  if (Array.isArray(on)) return new Map(on.map((event) => [String(event), {}]));
  return new Map(Object.entries(isRecord(on) ? on : {}).map(([event, filter]) => [event, isRecord(filter) ? filter : {}]));
}

function fires(event: string, filter: Record<string, unknown>, pull: { files: readonly string[]; base: string; branch: string }): boolean {
  if (ELSEWHERE.includes(event)) return false;
  if (event === "push") {
    const tagsAlone =
      (filter["tags"] ?? filter["tags-ignore"]) !== undefined && (filter["branches"] ?? filter["branches-ignore"]) === undefined;
    return !tagsAlone && takesBranch(filter, pull.branch) && takesFiles(filter, pull.files);
  }
  return !ON_PULLS.includes(event) || (takesBranch(filter, pull.base) && takesFiles(filter, pull.files));
}

function takesBranch(filter: Record<string, unknown>, branch: string): boolean {
  const [wanted, ignored] = [texts(filter["branches"]), texts(filter["branches-ignore"])];
  return (wanted === undefined || pathMatcher(wanted)(branch)) && (ignored === undefined || !pathMatcher(ignored)(branch));
}

/** `paths`: one changed file that matches is enough. `paths-ignore`: one that does not. */
function takesFiles(filter: Record<string, unknown>, files: readonly string[]): boolean {
  const [wanted, ignored] = [texts(filter["paths"]), texts(filter["paths-ignore"])];
  return (wanted === undefined || files.some(pathMatcher(wanted))) && (ignored === undefined || !files.every(pathMatcher(ignored)));
}

function texts(list: unknown): string[] | undefined {
  if (typeof list === "string") return [list];
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : undefined;
}
