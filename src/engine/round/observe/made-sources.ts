/**
 * The sources of an Application that a parent renders, before a merge and with it, as Argo CD itself renders them: Git does not declare
 * them as they live. Called by `mirror-facts.ts` for what the bot is to sync; whoever compares them with what lives and with what is
 * deployed finds an answer of another commit out.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { intendedOf } from "../../../core/argocd/decode/source.ts";
import type { ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { openParentRenders, parentOn } from "../../config-repo/parent-renders.ts";
import type { RepoContext } from "../context.ts";
import { applicationsIn, placedAt } from "../guard/parent-objects.ts";
import type { Merge } from "./facts.ts";

/** One parent has many children: what it did not render for one it is not asked for the next. */
const AGAIN_MS = 30_000;
const MOST_KEPT = 200;

export interface MadeSources {
  before: readonly SourceView[];
  after: readonly SourceView[];
}

/** undefined: no parent makes it, or what it makes of one of the two commits cannot be told now. */
type AskMade = (plane: ControlPlane, application: ApplicationView, merge: Merge, baseBranch: string) => Promise<MadeSources | undefined>;

export function openMadeSources(context: Pick<RepoContext, "clock" | "log" | "repoURL">): AskMade {
  const { clock } = context;
  const renders = openParentRenders(context);
  const failed = new BoundedMap<string, number>(MOST_KEPT);
  return async (plane, application, { commit, parent }, baseBranch) => {
    const { namespace, name, appliedBy } = application;
    const maker = parentOn(plane, namespace, appliedBy);
    if (maker === undefined) return undefined;
    const sourcesAt = async (at: string) => {
      const key = `${plane.name}/${maker.uid} ${at}`;
      if (clock.now() - (failed.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return undefined;
      const answer = await renders.at(plane, maker, at, baseBranch);
      if (answer.kind !== "rendered") failed.set(key, clock.now());
      const made = answer.kind === "rendered" ? placedAt(applicationsIn(answer.objects), `${plane.name}/${namespace}/${name}`) : undefined;
      return made && intendedOf(made.spec).sources;
    };
    const [before, after] = await Promise.all([sourcesAt(parent), sourcesAt(commit)]);
    return before && after && { before, after };
  };
}
