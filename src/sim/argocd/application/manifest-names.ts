/**
 * What the repo server does with manifests it has rendered before (`UpdateRevisionForPaths` of Argo CD 3.5): where the Application bears
 * `manifest-generate-paths` and no file that changed lies under them, the manifests in its cache get the new revision's name, and nothing is
 * rendered. Called by `manifests.ts` for each source.
 */
import { isUnderPaths, refreshPaths } from "../../../core/argocd/generate-paths.ts";
import type { GitSource } from "../git/git-source.ts";
import type { ApplicationSource } from "../types.ts";

/** A source, and the revision it is rendered at. */
export interface Located {
  source: ApplicationSource;
  revision: string;
  git?: GitSource;
}

/** Of the Application whose manifests are asked for. */
export interface Naming {
  /** `namespace/name`. */
  app: string;
  annotation: string | undefined;
  hydrated: boolean;
  /** `status.sync.revisions`. */
  synced: readonly string[];
  /** A hard refresh renders anew, whatever is kept. */
  hard: boolean;
}

const MOST_KEPT = 20_000;

/** Gives the sources as they were when the manifests of one of them, of the names they bear now, were rendered. */
export function createManifestNames() {
  const kept = new Map<string, readonly Located[]>();
  return async (
    located: readonly Located[],
    index: number,
    { app, annotation, hydrated, synced, hard }: Naming,
  ): Promise<readonly Located[]> => {
    const one = located[index];
    const paths = hydrated ? [one?.source.path ?? ""] : refreshPaths(annotation, one?.source.path);
    if (one === undefined || one.source.ref !== undefined || (annotation ?? "") === "" || paths.length === 0) return located;
    const name = nameOf(app, located, index);
    const before = located.map((part, i) => ({ ...part, revision: synced[i] || part.revision }));
    const moved = hard ? undefined : await movedName(kept, { app, located, before, index, paths });
    const made = moved ?? (hard ? undefined : kept.get(name)) ?? located;
    kept.set(name, made);
    if (kept.size > MOST_KEPT) for (const old of [...kept.keys()].slice(0, MOST_KEPT / 4)) kept.delete(old);
    return made;
  };
}

interface Question {
  app: string;
  located: readonly Located[];
  /** At the revisions of the status. */
  before: readonly Located[];
  index: number;
  paths: readonly string[];
}

/** Takes away what bore the old name, where no file under the paths has changed; undefined: there is nothing to rename. */
async function movedName(
  kept: Map<string, readonly Located[]>,
  { app, located, before, index, paths }: Question,
): Promise<readonly Located[] | undefined> {
  const differ = [index, ...refsOf(located, index)].filter(
    (i) => located[i]?.git !== undefined && before[i]?.revision !== located[i]?.revision,
  );
  if (differ.length === 0) return undefined;
  for (const i of differ) {
    const [old, fresh] = [before[i], located[i]];
    if (old === undefined || fresh === undefined || !/^[0-9a-f]{40}$/.test(old.revision)) return undefined;
    if ((await changedFiles(old, fresh)).some((file) => isUnderPaths(paths, file))) return undefined;
  }
  const name = nameOf(app, before, index);
  const made = kept.get(name);
  kept.delete(name);
  return made;
}

/** The sources that its values files refer to. */
function refsOf(located: readonly Located[], index: number): number[] {
  const helm = located[index]?.source["helm"] as { valueFiles?: string[]; fileParameters?: { path?: string }[] } | undefined;
  const named = [...(helm?.valueFiles ?? []), ...(helm?.fileParameters ?? []).map(({ path = "" }) => path)];
  return located.flatMap(({ source }, i) => (named.some((file) => file.startsWith(`$${source.ref}/`)) ? [i] : []));
}

function nameOf(app: string, located: readonly Located[], index: number): string {
  const { repoURL: _url, targetRevision: _revision, ...inline } = located[index]?.source ?? {};
  return JSON.stringify([app, inline, located[index]?.revision, refsOf(located, index).map((i) => located[i]?.revision)]);
}

async function changedFiles(before: Located, after: Located): Promise<string[]> {
  const [old, fresh] = [await before.git?.tree(before.revision), await after.git?.tree(after.revision)];
  const names = new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])]);
  return [...names].filter((name) => {
    const [was, is] = [old?.get(name), fresh?.get(name)];
    return (was?.type === "blob" || is?.type === "blob") && was?.oid !== is?.oid;
  });
}
