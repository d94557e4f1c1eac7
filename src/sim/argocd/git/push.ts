import { GENERATE_PATHS, isUnderPaths, refreshPaths } from "../../../core/argocd/generate-paths.ts";
import { type Application, type ApplicationSource, sourcesOf } from "../types.ts";
import { normalRepoURL } from "./git-source.ts";

/** A branch or tag that moved, as a webhook tells it. */
export interface Push {
  /** Every URL the repository is known by. */
  repoURLs: string[];
  /** Whether another URL means the same repository. Default: by host and path. */
  sameRepo?: (repoURL: string) => boolean;
  /** `refs/heads/main`, `refs/tags/v1`. */
  ref: string;
  /** The repository's default branch. */
  defaultBranch?: string;
  /** Files that changed; absent: not known, so all may have. */
  changed?: string[];
}

export function pushMeans(push: Push, repoURL: string, revision: string | undefined): boolean {
  const wanted = normalRepoURL(repoURL);
  const same = push.sameRepo?.(repoURL) === true || push.repoURLs.some((url) => normalRepoURL(url) === wanted);
  if (!same) return false;
  const name = push.ref.replace(/^refs\/(heads|tags)\//, "");
  if (revision === undefined || revision === "" || revision === "HEAD")
    return push.defaultBranch === undefined || push.defaultBranch === name;
  return revision === name || revision === push.ref;
}

/** Whether a changed file lies in what the annotation names; without one everything does. */
function touches(app: Application, source: ApplicationSource, changed: readonly string[] | undefined): boolean {
  const paths = refreshPaths(app.metadata.annotations?.[GENERATE_PATHS], source.path);
  return changed === undefined || changed.some((file) => isUnderPaths(paths, file));
}

/** Whether a push refreshes an Application at once. */
export function pushConcerns(app: Application, push: Push): boolean {
  const { sourceHydrator } = app.spec;
  const dry: ApplicationSource[] = sourceHydrator === undefined ? [] : [sourceHydrator.drySource];
  return [...sourcesOf(app.spec), ...dry].some(
    (source) => source.chart === undefined && pushMeans(push, source.repoURL, source.targetRevision) && touches(app, source, push.changed),
  );
}
