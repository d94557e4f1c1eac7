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
import { BoundedMap } from "../../../core/base/bounded.ts";
import { openParentRenders, parentOn } from "../../config-repo/parent-renders.ts";
import type { RepoContext } from "../context.ts";
import { applicationsIn, placedAt } from "../guard/parent-objects.ts";
import type { Merge } from "./facts.ts";

/** The Applications that a parent makes at the first parent of a merge, and of the merge. */
interface MadeSides {
  before: RenderResult;
  after: RenderResult;
}

/** What each makes is kept whole. */
const MOST_KEPT = 64;
const ASK_EVERY_MS = 30_000;

/** As far as it is known; what is not is put among what is `asked`. undefined: it cannot be told now. */
type MadeBefore = (
  plane: ControlPlane,
  application: ApplicationView,
  merge: Merge,
  baseBranch: string | undefined,
  asked: Map<string, () => Promise<unknown>>,
) => readonly SourceView[] | undefined;

export function openMadeBefore(context: Pick<RepoContext, "clock" | "log" | "repoURL">): MadeBefore {
  const { clock } = context;
  const renders = openParentRenders(context);
  const kept = new BoundedMap<string, { at: number; sides: MadeSides | undefined }>(MOST_KEPT);
  return (plane, application, merge, baseBranch, asked) => {
    const parent = parentOn(plane, application.namespace, application.appliedBy);
    if (parent === undefined || baseBranch === undefined) return undefined;
    // It has many children, and is asked once for all of them.
    const key = `${plane.name}/${parent.uid} ${merge.commit}`;
    const known = kept.get(key);
    if (known === undefined || (known.sides === undefined && clock.now() - known.at >= ASK_EVERY_MS))
      asked.set(`made ${key}`, async () => {
        const answers = [merge.parent, merge.commit].map((commit) => renders.at(plane, parent, commit, baseBranch));
        const [before, after] = (await Promise.all(answers)).map((one) =>
          one.kind === "rendered" ? applicationsIn(one.objects) : undefined,
        );
        kept.set(key, { at: clock.now(), sides: before && after && { before, after } });
      });
    return known?.sides && sourcesBefore(known.sides, plane, application);
  };
}

/** undefined: it was not there, or what the merge makes of it is another than lives. */
function sourcesBefore(
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
