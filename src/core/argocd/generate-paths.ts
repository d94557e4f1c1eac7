/**
 * The annotation `argocd.argoproj.io/manifest-generate-paths`, read as Argo CD 3.5 does. Where no file that changed lies under its paths,
 * Argo CD gives the manifests it has the new revision's name and renders nothing: Synced, Healthy, the new `sync.revision`, and the old
 * version runs on. Called by liveness, the render guard, lint and the embedded Argo CD.
 */
import { cleanPath, joinPath } from "../base/clean-path.ts";
import { matchesGlob } from "../base/glob.ts";
import { fileNamed, helmFiles, type IsBase, inRepo, readersOf } from "./source-files.ts";
import type { SourceView } from "./views.ts";

export const GENERATE_PATHS = "argocd.argoproj.io/manifest-generate-paths";

/** The paths of a source, from the root of its repository; none: any change counts. */
export function refreshPaths(annotation: string | undefined, path: string | undefined): string[] {
  return (annotation ?? "")
    .split(";")
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map((item) => (item.startsWith("/") ? item.slice(1) : joinPath(path ?? "", item)));
}

/** Whether Argo CD takes a change of this file for one under these paths. */
export function isUnderPaths(paths: readonly string[], file: string): boolean {
  const changed = absolute(file);
  const folder = cleanPath(changed.slice(0, changed.lastIndexOf("/") + 1));
  return (
    paths.length === 0 ||
    paths.map(absolute).some((item) => changed === item || isAtOrBelow(cleanPath(item), folder) || matchesGlob(item, "go", changed))
  );
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}

function isAtOrBelow(root: string, folder: string): boolean {
  return root === "/" || folder === root || folder.startsWith(`${root}/`);
}

/** What of an Application its paths are judged by. */
interface PathsInput {
  annotation: string | undefined;
  sources: readonly SourceView[];
  /** Edited files that it reads. */
  files: readonly string[];
  isBase: IsBase;
  /** More files of the repo that a source is known to read, such as the bases of a kustomization. */
  reads?: ((source: SourceView, file: string) => boolean) | undefined;
}

/** An edited file that the paths leave out, and the annotation that would be right. */
export interface PathsMissed {
  changed: string;
  paths: string;
  right: string;
}

/**
 * The first of the edited files for which Argo CD would render nothing anew; undefined: none. Every source that reads a file has to have it
 * under its paths; one that none is known to read (a base of a kustomization) has to be under those of any source of the repo.
 */
export function pathsMissed(input: PathsInput): PathsMissed | undefined {
  if (refreshPaths(input.annotation, "").length === 0) return undefined;
  const missed = input.files.filter((file) => isMissed(input, file));
  const [changed] = missed;
  if (changed === undefined) return undefined;
  const kept = (input.annotation ?? "").replace(/(?<![;\s])[;\s]+$/, "");
  const right = [kept, ...new Set(missed.map((one) => `/${inRepo(one)}`))].join(";");
  return { changed, paths: input.annotation ?? "", right };
}

function isMissed({ annotation, sources, isBase, reads }: PathsInput, file: string): boolean {
  const under = ({ path }: SourceView) => isUnderPaths(refreshPaths(annotation, path), file);
  const known = readersOf(sources, file, isBase);
  const readers = sources.filter((source) => known.includes(source) || (isBase(source) && reads?.(source, file) === true));
  // Argo CD renames nothing of a source that bears a `ref` itself.
  if (readers.length > 0) return readers.some((source) => source.ref === undefined && !under(source));
  const own = sources.filter((source) => source.chart === undefined && source.ref === undefined && isBase(source));
  return own.length > 0 && !own.some(under);
}

/** The whole annotation for an Application that has none: its folders, its values files, and the edited files that stand elsewhere. */
export function wholePaths({ sources, files, isBase }: Pick<PathsInput, "sources" | "files" | "isBase">): string {
  const rendering = sources.filter((source) => source.path !== undefined || source.ref === undefined);
  const folders = rendering.filter((source) => isBase(source) && source.chart === undefined).map((source) => inRepo(source.path ?? ""));
  const named = sources.flatMap((source) => helmFiles(source).flatMap((name) => fileNamed(sources, source, name, isBase) ?? []));
  const outside = [...named, ...files].filter((file) => !folders.some((folder) => folder === "" || file.startsWith(`${folder}/`)));
  // Relative to a chart of a registry, `.` would be all of the repo.
  const own = folders.length === rendering.length ? ["."] : folders.map((folder) => `/${folder}`);
  return [...new Set([...own, ...outside.map((file) => `/${file}`)])].join(";");
}
