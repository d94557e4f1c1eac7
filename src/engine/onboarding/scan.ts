import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import type { Figures, Undecided } from "../../core/report/onboarding/types.ts";
import { documentsAt, LARGEST_MANIFEST } from "../config-repo/set-files.ts";
import type { Manifest } from "./types.ts";

/** What a repo holds that a rollout can be about. */
export interface Scan {
  sets: Manifest[];
  applications: Manifest[];
  figures: Figures;
  undecided: Undecided[];
}

/** A repo with more YAML than this is looked at in part, and told so. */
const MOST_FILES = 20_000;
const MANIFEST = /\bkind["']?\s*:\s*["']?Application(?:Set)?\b/;

/** Looks for ApplicationSets and Applications in every YAML and JSON file, and counts what else versions live in. */
export function scanRepo(files: RepoFiles): Scan {
  const paths = files.paths().filter((path) => /\.(?:ya?ml|json)$/.test(path));
  const looked = paths.slice(0, MOST_FILES);
  const scan: Scan = { sets: [], applications: [], figures: figuresOf(files.paths()), undecided: [] };
  const templates = new Set<string>();
  for (const path of looked) scanFile(scan, templates, path, files);
  scan.undecided.push(...chartsTold(templates));
  scan.figures.applicationSets = scan.sets.length;
  scan.figures.applications = scan.applications.length;
  if (looked.length < paths.length) {
    scan.undecided.push({
      what: "the repo",
      file: ".",
      why: { kind: "TooManyFiles", files: paths.length, looked: MOST_FILES },
    });
  }
  return scan;
}

function scanFile(scan: Scan, templates: Set<string>, file: string, files: RepoFiles): void {
  const text = readOrNull(files, file);
  if (text === null || text.length > LARGEST_MANIFEST || !MANIFEST.test(text)) return;
  const documents = documentsAt(files, file, text);
  for (const [index, { value, problem, line }] of documents.entries()) {
    if (problem !== undefined) {
      if (text.includes("{{")) templates.add(file);
      else scan.undecided.push(unreadable(file, line, problem));
      continue;
    }
    if (!isRecord(value)) continue;
    const items = value["kind"] === "List" && Array.isArray(value["items"]) ? value["items"] : [value];
    for (const object of items) {
      if (!isRecord(object)) continue;
      const manifest = { file, document: index + 1, documents: documents.length, object };
      if (object["kind"] === "ApplicationSet") scan.sets.push(manifest);
      // What stands in a List has no path of its own that a pin could name plainly.
      else if (object["kind"] === "Application" && object === value && isArgoCd(object)) scan.applications.push(manifest);
    }
  }
}

function isArgoCd(object: Record<string, unknown>): boolean {
  return typeof object["apiVersion"] === "string" && object["apiVersion"].startsWith("argoproj.io/");
}

function unreadable(file: string, line: number, problem: string): Undecided {
  return { what: "an ApplicationSet or Application", file: `${file}:${line}`, why: { kind: "NotYaml", problem: firstLine(problem) } };
}

/** Files with templates of Helm's, a chart at a time. */
function chartsTold(templates: ReadonlySet<string>): Undecided[] {
  const charts = Map.groupBy(templates, (file) => /^(.*?)\/?templates\//.exec(file)?.[1] ?? file);
  return [...charts].map(([chart, files]) => ({
    what: `Applications or ApplicationSets of ${files[0] === chart ? "a template" : "a chart"}`,
    file: chart === "" ? "." : chart,
    why: { kind: "HelmTemplate", templates: files.length },
  }));
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, 200);
}

function figuresOf(paths: readonly string[]): Figures {
  const count = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).length;
  return {
    files: paths.length,
    applicationSets: 0,
    applications: 0,
    kustomizations: count(/(?:^|\/)kustomization\.ya?ml$/),
    charts: count(/(?:^|\/)Chart\.yaml$/),
    valuesFiles: count(/(?:^|\/)[\w.-]*values[\w.-]*\.ya?ml$/),
  };
}

/** A value on the way down keys, `undefined` where one is missing. */
export function dig(value: unknown, ...keys: (string | number)[]): unknown {
  let here = value;
  for (const key of keys) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

export function textAt(value: unknown, ...keys: (string | number)[]): string | undefined {
  const found = dig(value, ...keys);
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function listAt(value: unknown, ...keys: (string | number)[]): unknown[] {
  const found = dig(value, ...keys);
  return Array.isArray(found) ? found : [];
}
