import { isRecord } from "../../core/base/is-record.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { labelMatcher, OPERATORS } from "../../core/base/selector.ts";
import { readManifests } from "../../core/base/yaml-read.ts";

/** One `applicationRefs` entry of an ImageUpdater (argocd-image-updater 1.0 and later), which names images by itself. */
export interface ImageUpdaterRef {
  file: string;
  /** Of the ImageUpdater. */
  name: string;
  /** Whose Applications it looks at; undefined: those of wherever it is applied. */
  namespace: string | undefined;
  takes(application: { name: string; labels: Readonly<Record<string, string>> }): boolean;
}

const LARGEST = 1024 * 1024;

/** Every ImageUpdater that the repo declares. Those that leave it to annotations say nothing that the annotations do not. */
export function imageUpdatersIn(files: RepoFiles): readonly ImageUpdaterRef[] {
  return madeOnce(files, readUpdaters);
}

function readUpdaters(files: RepoFiles): ImageUpdaterRef[] {
  return files
    .paths()
    .filter((path) => /\.ya?ml$/.test(path))
    .flatMap((path) => updatersOf(path, readOrNull(files, path)));
}

function updatersOf(file: string, text: string | null): ImageUpdaterRef[] {
  if (text === null || text.length > LARGEST || !/^kind:\s*["']?ImageUpdater\b/m.test(text)) return [];
  return readManifests(text).flatMap(({ kind, metadata, spec }) => {
    if (kind !== "ImageUpdater" || !isRecord(metadata) || !isRecord(spec)) return [];
    const name = String(metadata["name"] ?? "");
    // Up to 1.0 the spec could name another namespace than its own.
    const namespace = [spec["namespace"], metadata["namespace"]].find((one) => typeof one === "string");
    const refs = Array.isArray(spec["applicationRefs"]) ? spec["applicationRefs"].filter(isRecord) : [];
    return refs
      .filter((ref) => ref["useAnnotations"] !== true && Array.isArray(ref["images"]) && ref["images"].length > 0)
      .map((ref) => ({ file, name, namespace, takes: taker(ref) }));
  });
}

function taker(ref: Record<string, unknown>): ImageUpdaterRef["takes"] {
  const byName = pathMatcher([typeof ref["namePattern"] === "string" ? ref["namePattern"] : "*"]);
  const selector = isRecord(ref["labelSelectors"]) ? ref["labelSelectors"] : {};
  const matchLabels = Object.fromEntries(
    Object.entries(isRecord(selector["matchLabels"]) ? selector["matchLabels"] : {}).map(([key, value]) => [key, String(value)]),
  );
  const matchExpressions = (Array.isArray(selector["matchExpressions"]) ? selector["matchExpressions"] : [])
    .filter(isRecord)
    .flatMap(expression);
  const byLabels = labelMatcher({ matchLabels, matchExpressions });
  return ({ name, labels }) => byName(name) && byLabels(labels);
}

function expression({ key, operator, values }: Record<string, unknown>) {
  const known = OPERATORS.find((one) => one === operator);
  if (typeof key !== "string" || known === undefined) return [];
  return [{ key, operator: known, values: (Array.isArray(values) ? values : []).map(String) }];
}
