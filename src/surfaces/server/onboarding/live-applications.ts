/** What onboarding sees of Argo CD: what charts and kustomizations make of a repo is known there alone. Called by `onboard.ts`. */
import { applicationManifest } from "../../../core/argocd/manifest.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import type { RepoContext } from "../../../engine/round/context.ts";

/** A cell is told of so many. */
const MOST_APPLICATIONS = 5_000;

/** Gives the Applications that are made of this repo, as they live. Of several control planes nobody says which one is meant. */
export function applicationsHere({ planes, repoURL }: RepoContext): Record<string, unknown>[] {
  const [plane, other] = planes.values();
  if (plane === undefined || other !== undefined || !plane.state().fresh) return [];
  const own = plane.applications().filter(({ spec }) => spec.sources.some((source) => sameRepo(source.repoURL, repoURL)));
  return own.slice(0, MOST_APPLICATIONS).map(applicationManifest);
}
