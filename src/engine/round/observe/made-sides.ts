/**
 * The sources of an Application that a parent renders, before a merge and with it, as Argo CD itself renders them: Git does not declare
 * them as they live. Called by `mirror-facts.ts` for what the bot is to sync; whoever compares them with what lives and with what is
 * deployed finds an answer of another commit out.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { intendedOf } from "../../../core/argocd/decode/source.ts";
import { equalSources } from "../../../core/argocd/same.ts";
import type { ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import { openParentRenders } from "../../config-repo/parent-renders.ts";
import type { RepoContext } from "../context.ts";
import { applicationsIn, placedAt } from "../guard/parent-objects.ts";
import type { Merge } from "./facts.ts";

/** The Applications that a parent makes at the first parent of a merge, and of the merge. */
export interface MadeSides {
  before: RenderResult;
  after: RenderResult;
}

/** undefined: what the parent makes of one of the two commits cannot be told now. */
type AskMade = (plane: ControlPlane, parent: ApplicationView, merge: Merge, baseBranch: string) => Promise<MadeSides | undefined>;

export function openMadeSides(context: Pick<RepoContext, "clock" | "log" | "repoURL">): AskMade {
  const renders = openParentRenders(context);
  return async (plane, parent, merge, baseBranch) => {
    const [before, after] = await Promise.all(
      [merge.parent, merge.commit].map(async (commit) => {
        const answer = await renders.at(plane, parent, commit, baseBranch);
        return answer.kind === "rendered" ? applicationsIn(answer.objects) : undefined;
      }),
    );
    return before && after && { before, after };
  };
}

/** undefined: it was not there, or what the merge makes of it is another than lives. */
export function sourcesBefore(
  { before, after }: MadeSides,
  plane: ControlPlane,
  { namespace, name, spec }: ApplicationView,
): readonly SourceView[] | undefined {
  const sourcesIn = (side: RenderResult) => {
    const made = placedAt(side, `${plane.name}/${namespace}/${name}`);
    return made && intendedOf(made.spec).sources;
  };
  const [was, is] = [sourcesIn(before), sourcesIn(after)];
  return is !== undefined && equalSources(is, spec.sources) ? was : undefined;
}
