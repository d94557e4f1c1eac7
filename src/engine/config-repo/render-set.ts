/** What an ApplicationSet yields over files of the repo: rendered here, or elsewhere where it takes long. Called by whoever guards, lints, plans or proposes. */
import { endless, render } from "../../core/appset/render.ts";
import type { AppSetCluster, RenderContext, RenderResult } from "../../core/appset/types.ts";
import { apart, isWhole } from "../../core/base/pass.ts";
import { readOrNull } from "../../core/base/repo-files.ts";
import type { ApplicationSetInGit } from "./appset-in-git.ts";
import { sameRepo } from "./repo-url.ts";
import { noting, type SyncFiles } from "./snapshot.ts";

/** Of sets that read neither clusters nor files, such as those of a list: they come out the same however often they are looked at. */
const RENDERED = new WeakMap<object, RenderResult>();

/** As `render`, of an object that nobody changes: what comes of it is everybody's, too. */
export function renderOnce(object: Record<string, unknown>, { clusters, repo }: RenderContext): RenderResult {
  const known = RENDERED.get(object);
  if (known !== undefined) return known;
  let isAlone = true;
  const result = render(object, {
    get clusters() {
      isAlone = false;
      return clusters;
    },
    repo(url, revision) {
      isAlone = false;
      return repo?.(url, revision);
    },
  });
  if (isAlone && result.ok && isWhole()) RENDERED.set(object, result);
  return result;
}

/**
 * What the set yields with the repo as in this snapshot. Git generators read it where they name the config repo at the
 * base branch; other repositories are not at hand and make the render say so.
 */
export function renderAt(
  set: ApplicationSetInGit,
  clusters: readonly AppSetCluster[],
  files: SyncFiles,
  repoURL: string,
  base: string,
): RenderResult {
  return renderOnce(set.object, {
    clusters,
    repo(url, revision) {
      if (!sameRepo(url, repoURL) || (revision !== base && revision !== "HEAD" && revision !== "")) return undefined;
      return files;
    },
  });
}

/** What a rendering works with, as plain data; the files are those of the snapshot. */
export interface ApartRender {
  object: Record<string, unknown>;
  clusters: readonly AppSetCluster[];
  repoURL: string;
  base: string;
}

interface Rendered {
  result: RenderResult;
  /** Files that were read. */
  read: readonly string[];
}

/** As `renderAt`, of the very files of a snapshot: done elsewhere where it takes long. */
export function renderApart(
  { object }: ApplicationSetInGit,
  clusters: readonly AppSetCluster[],
  files: SyncFiles,
  repoURL: string,
  base: string,
): RenderResult {
  const rest: ApartRender = { object, clusters, repoURL, base };
  const nothing = { ok: false, applications: [], generators: [] };
  const { result, read } = apart<Rendered>({
    ...{ name: "render", text: "", rest, steps: 0 },
    here: () => renderNoting(rest, files),
    empty: { result: { ...nothing, problems: [] }, read: [] },
    tooMuch: { result: { ...nothing, problems: [endless()] }, read: [] },
  });
  // Who notes what is read is to hear of what was read elsewhere.
  for (const file of read) readOrNull(files, file);
  return result;
}

/** Renders a set, and tells which files it was made from. */
export function renderNoting({ object, clusters, repoURL, base }: ApartRender, files: SyncFiles): Rendered {
  const read = new Set<string>();
  return { result: renderAt({ file: "", object }, clusters, noting(files, read), repoURL, base), read: [...read] };
}
