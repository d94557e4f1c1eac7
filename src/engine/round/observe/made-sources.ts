/**
 * The sources of an Application that a parent renders, before a merge and with it, as Argo CD itself renders them: Git does not declare
 * them as they live. Called by `mirror-facts.ts` for what the bot is to sync; whoever compares them with what lives and with what is
 * deployed finds an answer of another commit out.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { intendedOf } from "../../../core/argocd/decode/source.ts";
import type { ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import { openParentRenders, parentOn } from "../../config-repo/parent-renders.ts";
import type { RepoContext } from "../context.ts";
import { applicationsIn, placedAt } from "../guard/parent-objects.ts";
import type { Merge } from "./facts.ts";

export interface MadeSources {
  before: readonly SourceView[];
  after: readonly SourceView[];
}

/** undefined: no parent makes it, or what it makes of one of the two commits cannot be told now. */
type AskMade = (plane: ControlPlane, application: ApplicationView, merge: Merge, baseBranch: string) => Promise<MadeSources | undefined>;

export function openMadeSources(context: Pick<RepoContext, "clock" | "log" | "repoURL">): AskMade {
  const renders = openParentRenders(context);
  return async (plane, application, { commit, parent }, baseBranch) => {
    const { namespace, name, appliedBy } = application;
    const maker = parentOn(plane, namespace, appliedBy);
    if (maker === undefined) return undefined;
    const sourcesAt = async (at: string) => {
      const answer = await renders.at(plane, maker, at, baseBranch);
      const made = answer.kind === "rendered" ? placedAt(applicationsIn(answer.objects), `${plane.name}/${namespace}/${name}`) : undefined;
      return made && intendedOf(made.spec).sources;
    };
    const [before, after] = await Promise.all([sourcesAt(parent), sourcesAt(commit)]);
    return before && after && { before, after };
  };
}
