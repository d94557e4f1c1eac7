/**
 * Which files of the config repo an Application takes its manifests from, by what its sources say. Called wherever a file that a batch
 * edits must have readers, or must have none.
 */
import { cleanPath, joinPath } from "../base/clean-path.ts";
import { matchesGlob } from "../base/glob.ts";
import { isRecord } from "../base/is-record.ts";
import type { SourceView } from "./views.ts";

/** Whether a source is of the repo, and at the revision, that a file stands in. */
export type IsBase = (source: SourceView) => boolean;

/** The sources that read a file for their manifests: below their path, or as a values file, their own or of another one they refer to. */
export function readersOf(sources: readonly SourceView[], file: string, isBase: IsBase): SourceView[] {
  return sources.filter(
    (source) => (isBase(source) && source.chart === undefined && isBelow(source, file)) || takesFile(sources, source, file, isBase),
  );
}

/** Whether a source names a file among its values files or those of its parameters. */
export function takesFile(sources: readonly SourceView[], source: SourceView, file: string, isBase: IsBase): boolean {
  return helmFiles(source).some((named) => {
    const found = fileNamed(sources, source, named, isBase);
    return found === file || (found !== undefined && isGlob(found) && matchesGlob(found, "doublestar", file));
  });
}

function isBelow(source: SourceView, file: string): boolean {
  // A source that is only referred to gives no manifests of its own.
  if (source.path === undefined && source.ref !== undefined) return false;
  const directory = inRepo(source.path ?? "");
  return directory === "" || file === directory || file.startsWith(`${directory}/`);
}

/** What a values file is called from the root of the repo; undefined: it stands in another one. */
export function fileNamed(sources: readonly SourceView[], source: SourceView, named: string, isBase: IsBase): string | undefined {
  const [, ref, rest = ""] = /^\$([^/]+)\/(.+)$/.exec(named) ?? [];
  if (ref !== undefined) {
    const meant = sources.find((other) => other.ref === ref);
    return meant !== undefined && isBase(meant) ? inRepo(rest) : undefined;
  }
  if (source.chart !== undefined || !isBase(source) || named.includes("://")) return undefined;
  return inRepo(named.startsWith("/") ? named : joinPath(source.path ?? "", named));
}

/** Argo CD takes values files by patterns, too. */
export function isGlob(name: string): boolean {
  return /[*?[{]/.test(name);
}

/** Values files and files of parameters, as a source names them. */
export function helmFiles(source: SourceView): string[] {
  return [...texts(helmOf(source)["valueFiles"]), ...parameterFiles(source)];
}

/** Files that parameters take whole. */
export function parameterFiles(source: SourceView): string[] {
  const { fileParameters } = helmOf(source);
  return texts(Array.isArray(fileParameters) ? fileParameters.map((one: unknown) => isRecord(one) && one["path"]) : []);
}

export function helmOf(source: SourceView): Readonly<Record<string, unknown>> {
  const helm = source.rest?.["helm"];
  return isRecord(helm) ? helm : {};
}

/** The texts of a list; none where it is no list. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** From the root of the repo, without `.` and slashes around it. */
export function inRepo(path: string): string {
  return cleanPath(`/${path}`).slice(1);
}
