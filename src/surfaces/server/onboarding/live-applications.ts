/** What onboarding sees of Argo CD: what charts and kustomizations make of a repo is known there alone. Called by `onboard.ts`. */
import { applicationManifest } from "../../../core/argocd/manifest.ts";
import { generatorClusters } from "../../../engine/config-repo/appset-in-git.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import type { InitPlane } from "../../../engine/onboarding/types.ts";
import type { RepoContext } from "../../../engine/round/context.ts";

/** A cell is told of so many. */
const MOST_APPLICATIONS = 5_000;

/** Gives the control planes that can be read now, each with the Applications on it that are made of this repo. */
export function planesHere({ planes, repoURL }: RepoContext): InitPlane[] {
  let left = MOST_APPLICATIONS;
  return [...planes.values()].flatMap((plane) => {
    if (!plane.state().fresh) return [];
    const own = plane.applications().filter(({ spec }) => spec.sources.some((source) => sameRepo(source.repoURL, repoURL)));
    const applications = own.slice(0, left).map(applicationManifest);
    left -= applications.length;
    return [{ name: plane.name, labels: plane.labels ?? {}, clusters: generatorClusters([plane]), applications }];
  });
}
