import { committedSources } from "../../core/argocd/decode/source.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import type { Problem } from "../../core/base/problem.ts";
import type { Edit, Plan, PlannedTarget } from "../../core/plan/plan-types.ts";
import { locateInRollout } from "../../core/spec/parse/locate.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { findApplicationSet, generatorClusters } from "../config-repo/appset-in-git.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { lintOutside, type ParentApplication } from "../lint/lint-outside.ts";
import { gatherOutside } from "../lint/lint-outside-gather.ts";
import { planesFor } from "../resolve/fleet.ts";
import type { RepoContext } from "../round/context.ts";

/** Every target a plan has, those put off to their stage's end, too. */
export function targetsOf(plan: Plan): PlannedTarget[] {
  return plan.stages.flatMap((stage) => [...stage.batches.flatMap((batch) => batch.targets), ...stage.requeuedTargets]);
}

/** What lint says of a planned rollout and what stands outside its file, each at its line. */
export async function lintPlanned(
  context: RepoContext,
  rollout: Rollout,
  plan: Plan,
  snapshot: Snapshot,
  defaultBranch: string,
  required: readonly { context: string; app?: number }[] | undefined,
): Promise<Problem[]> {
  const planes = planesFor(context, rollout.source.controlPlanes);
  const targets = targetsOf(plan);
  const files = new Set(targets.flatMap((target) => target.edits.map((edit) => edit.file)));
  const set = rollout.source.kind === "ApplicationSet" ? await findApplicationSet(snapshot, rollout.source, files) : undefined;
  const edits = new Map<string, readonly Edit[]>(targets.map((target) => [target.application, target.edits]));
  const parents = planes.flatMap((plane) =>
    plane.applications().map(
      (view): ParentApplication => ({
        name: view.name,
        sources: committedSources(view.spec),
        owned: view.owner?.kind === "ApplicationSet",
      }),
    ),
  );
  const seesAll = context.grants === undefined;
  const fileCount = (await snapshot.paths()).length;
  const input = {
    fileCount,
    rollout,
    set,
    clusters: generatorClusters(planes),
    edits,
    parents,
    seesAll,
    repoURL: context.repoURL,
    defaultBranch,
    required,
  };
  const gathered = await snapshot.with((sync) => gatherOutside(input, sync));
  const problems = [...lintOutside(gathered), ...releasedByItself(rollout, files)];
  return snapshot.with((sync) => problems.map((problem) => locateInRollout(problem, rollout, (path) => sync.read(path))));
}

/** Files that templates really give, where lint of the rollout alone could only guess. */
function releasedByItself(rollout: Rollout, files: Iterable<string>): Problem[] {
  if (rollout.release?.kind !== "commit") return [];
  const matches = pathMatcher(rollout.release.paths);
  const file = [...files].find((one) => one !== "" && matches(one));
  if (file === undefined) return [];
  return [
    {
      code: "COMMIT_PATHS",
      severity: "error",
      message: `release.commit.paths match the pin file ${file}, so every batch would be a release`,
      hint: `take it out of the paths, such as by "!${file}"`,
      file: rollout.file,
      line: 1,
      column: 1,
      path: ["spec", "release", "commit", "paths"],
    },
  ];
}
