import { revisionsNamed } from "../../../core/argocd/liveness/shown-revisions.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { World } from "../../../core/run/state/world.ts";
import type { Named, RevisionsNow } from "../../config-repo/revisions.ts";
import { applicationAt } from "../../resolve/fleet.ts";
import type { RepoContext } from "../context.ts";

/** What may merge in this round, or be resumed, goes by what was read a moment ago; anything else by what was read since the last few rounds. */
const BEFORE_MERGE_MS = 2_000;
const ELSE_MS = 30_000;
/** A person who has put a tag back and says so in the same moment is not told that it is still elsewhere. */
const WHILE_MOVED_MS = 0;

type NamedIn = Pick<Run, "plan" | "batches" | "resolved" | "paused">;

/** Reads what the revisions stand for that a run knows, or that its next batches bring. */
export async function observeRevisions(
  { planes }: Pick<RepoContext, "planes">,
  revisionsNow: RevisionsNow,
  run: NamedIn,
): Promise<World["revisions"]> {
  const open = run.batches.filter(({ phase }) => phase === "Proposing" || phase === "Open" || phase === "Merging");
  const targets = [...(run.resolved === undefined ? plannedTargets(run) : []), ...open.flatMap((batch) => batch.targets)];
  const found = new Map<string, Named>();
  const add = ({ repoURL, revision }: Named) => found.set(`${repoURL} ${revision}`, { repoURL, revision });
  // What Argo CD has shown is held against what it shows.
  for (const one of run.resolved ?? []) if (one.cluster === undefined) add(one);
  for (const { key, edits } of targets) {
    const spec = applicationAt(planes, key).application?.spec;
    if (spec !== undefined) for (const one of revisionsNamed(spec, edits)) add(one);
  }
  if (found.size === 0) return [];
  const age = open.length > 0 || run.paused !== undefined ? BEFORE_MERGE_MS : ELSE_MS;
  return revisionsNow([...found.values()], run.paused?.kind === "Moved" ? WHILE_MOVED_MS : age);
}

function plannedTargets({ plan }: NamedIn) {
  return plan.stages.flatMap((stage) => [...stage.batches.flatMap((batch) => batch.targets), ...stage.requeuedTargets]);
}
