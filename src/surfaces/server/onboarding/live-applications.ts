/** What onboarding sees of Argo CD: what charts and kustomizations make of a repo is known there alone. Called by `onboard.ts`. */
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import type { RepoContext } from "../../../engine/round/context.ts";

/** A cell is told of so many. */
const MOST_APPLICATIONS = 5_000;

/** Gives the Applications that are made of this repo, as they live. Of several control planes nobody says which one is meant. */
export function applicationsHere({ planes, repoURL }: RepoContext): Record<string, unknown>[] {
  const [plane, other] = planes.values();
  if (plane === undefined || other !== undefined || !plane.state().fresh) return [];
  const own = plane.applications().filter(({ spec }) => spec.sources.some((source) => sameRepo(source.repoURL, repoURL)));
  return own.slice(0, MOST_APPLICATIONS).map(manifestOf);
}

function manifestOf({ name, namespace, labels, owner, spec }: ApplicationView): Record<string, unknown> {
  const sources = spec.sources.map(({ rest, ...source }) => ({ ...source, ...rest }));
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace, labels, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: {
      project: spec.project,
      ...(spec.multiSource ? { sources } : { source: sources[0] ?? {} }),
      destination: spec.destination,
      syncPolicy: spec.automated ? { automated: {} } : {},
    },
  };
}
