import type { Edit } from "../../plan/plan-types.ts";
import type { Assessment } from "../../run/state/world.ts";
import { committedSources } from "../decode/source.ts";
import { normalRepo } from "../same.ts";
import type { SourceView } from "../views.ts";
import { isFullSha } from "./moment.ts";
import { carriers, isShortId } from "./observation.ts";
import type { Context } from "./types.ts";

/** A chart has versions, an image digests: what they are is their registry's to say. */
function isOfGit({ chart, repoURL }: SourceView): boolean {
  return chart === undefined && !/^oci:\/\//i.test(repoURL);
}

/** A name that somebody may move: a tag, or a branch; not the id of a commit. */
function isMovable(revision: string): boolean {
  return !isFullSha(revision) && !isShortId(revision);
}

/**
 * The revisions of Git repositories that edits write into a spec: a source follows the old value, or the new one already. A pin that is part
 * of a chart's version, an image or a parameter names none.
 */
export function revisionsNamed(
  spec: { sources: SourceView[]; sourceHydrator?: unknown },
  edits: readonly Pick<Edit, "kind" | "from" | "to">[],
): { repoURL: string; revision: string }[] {
  return committedSources(spec).flatMap((source) => {
    const edit = edits.find(
      ({ kind, from, to }) => kind !== "branch" && kind !== "copy" && [from, to].includes(source.targetRevision ?? null),
    );
    if (edit === undefined || !isOfGit(source) || !isMovable(edit.to)) return [];
    return [{ repoURL: normalRepo(source.repoURL), revision: edit.to }];
  });
}

/** The commits that the Application shows for the revisions that its change names; of one that is hydrated they are of other branches. */
export function shownRevisions({ app, input, compared }: Context): Assessment["shows"] {
  if (!compared || app.spec.sourceHydrator !== undefined) return undefined;
  const shown: { repoURL: string; revision: string; commit: string }[] = [];
  for (const change of [input.change, ...(input.also ?? [])]) {
    if (change.kind !== "revision" || !isMovable(change.revision)) continue;
    for (const index of carriers(app.spec.sources, change)) {
      const source = app.spec.sources[index];
      const commit = app.status.sync.revisions[index] ?? "";
      if (source !== undefined && isOfGit(source) && isFullSha(commit))
        shown.push({ repoURL: normalRepo(source.repoURL), revision: change.revision, commit: commit.toLowerCase() });
    }
  }
  return shown.length === 0 ? undefined : shown;
}
