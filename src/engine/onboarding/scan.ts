import { GitError } from "../../adapters/git/port.ts";
import { dig, isRecord } from "../../core/base/is-record.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Figures, Undecided } from "../../core/report/onboarding/types.ts";
import { documentsAt, isManifestFile } from "../config-repo/set-files.ts";
import type { Manifest } from "./types.ts";

/** What a repo holds that a rollout can be about. */
export interface Scan {
  sets: Manifest[];
  applications: Manifest[];
  figures: Figures;
  undecided: Undecided[];
  /** Files that are too large to be read. */
  unread: { file: string; bytes: number }[];
}

/** A repo with more YAML than this is looked at in part, and told so. */
const MOST_FILES = 20_000;
const MANIFEST = /\bkind["']?\s*:\s*["']?Application(?:Set)?\b/;

/** Looks for ApplicationSets and Applications in every YAML and JSON file, and counts what else versions live in. */
export function scanRepo(files: RepoFiles): Scan {
  const paths = files.paths().filter(isManifestFile);
  const looked = paths.slice(0, MOST_FILES);
  const scan: Scan = { sets: [], applications: [], figures: figuresOf(files.paths()), undecided: [], unread: [] };
  const templates = new Set<string>();
  const beyond: string[] = [];
  for (const path of looked) {
    const text = readTold(files, path, (bytes) => {
      if (bytes === undefined) beyond.push(path);
      else scan.unread.push({ file: path, bytes });
    });
    if (text !== null) scanFile(scan, templates, path, text, files);
  }
  scan.undecided.push(...chartsTold(templates));
  for (const { file, bytes } of scan.unread) scan.undecided.push({ what: "a file", file, why: { kind: "TooLarge", bytes } });
  if (beyond.length > 0) scan.undecided.push({ what: "the repo", file: ".", why: { kind: "TooMuchText", files: beyond.length } });
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

/** As `readOrNull`, and says so where a file is too large; undefined: not it, but all that is read of one commit. */
function readTold(files: RepoFiles, path: string, isTooLarge: (bytes: number | undefined) => void): string | null {
  try {
    return files.read(path);
  } catch (error) {
    if (error instanceof GitError && error.kind === "TooLarge") isTooLarge(error.bytes);
    return null;
  }
}

function scanFile(scan: Scan, templates: Set<string>, file: string, text: string, files: RepoFiles): void {
  if (!MANIFEST.test(text)) return;
  const documents = documentsAt(files, file, text);
  for (const [index, { value, problem, line }] of documents.entries()) {
    if (problem !== undefined) {
      if (isOfHelm(file, text)) templates.add(file);
      else scan.undecided.push(unreadable(file, line, problem));
      continue;
    }
    if (!isRecord(value)) continue;
    const list = value["kind"] === "List" && Array.isArray(value["items"]) ? value["items"] : undefined;
    for (const [item, object] of (list ?? [value]).entries()) {
      if (!isRecord(object)) continue;
      const manifest = { file, document: index + 1, documents: documents.length, object, ...(list === undefined ? {} : { item }) };
      if (object["kind"] === "ApplicationSet") scan.sets.push(manifest);
      else if (object["kind"] === "Application" && isArgoCd(object) && !isLive(object, list)) scan.applications.push(manifest);
    }
  }
}

/** Of a chart's templates; elsewhere only what no ApplicationSet says: theirs are full of `{{`, too. */
function isOfHelm(file: string, text: string): boolean {
  if (/(?:^|\/)templates\//.test(file)) return text.includes("{{");
  return !file.endsWith(".json") && /\{\{[^}]*\.(?:Values|Release|Chart|Capabilities|Files)\b|^\s*\{\{/m.test(text);
}

function isArgoCd(object: Record<string, unknown>): boolean {
  return typeof object["apiVersion"] === "string" && object["apiVersion"].startsWith("argoproj.io/");
}

/** What kubectl prints of a cluster is such a List, too: it tells of Applications, and declares none. */
function isLive(object: Record<string, unknown>, list: unknown[] | undefined): boolean {
  const marks = [object["status"], dig(object, "metadata", "uid"), dig(object, "metadata", "ownerReferences")];
  return list !== undefined && marks.some((mark) => mark !== undefined);
}

function unreadable(file: string, line: number, problem: string): Undecided {
  return {
    what: "an ApplicationSet or Application",
    file: `${file}:${line}`,
    why: { kind: "Broken", is: file.endsWith(".json") ? "JSON" : "YAML", problem: firstLine(problem) },
  };
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
