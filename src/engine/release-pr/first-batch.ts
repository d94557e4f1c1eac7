/**
 * What the render guard would say of a plan's first batch, before the release is merged: whatever would stop the run there is said while a
 * person still looks at the release. Called for release PRs only.
 */
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { type Plan, targetsOf } from "../../core/plan/plan-types.ts";
import type { EngineReasons } from "../../core/reasons/engine.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { withTexts } from "../lint/edited.ts";
import { AT_SOURCE } from "../lint/gathered.ts";
import { applyEdits } from "../resolve/apply-edits.ts";
import { copiedTexts } from "../resolve/copies.ts";
import { locateIn } from "../resolve/plan-over.ts";
import type { RepoContext } from "../round/context.ts";
import { openGuard } from "../round/guard/guard.ts";

/** The files of the base with the batch's edits made: nowhere in Git. */
const PLANNED = "planned";

/** Told by lint, with more to say. */
const TOLD_BY_LINT: readonly string[] = ["PIN_WITHOUT_EFFECT", "GUARD_PATHS", "GUARD_READ_OUTSIDE"];
const TOLD_BY_PARENT: readonly string[] = ["GUARD_UNDECLARED", "GUARD_SET_MADE", "GUARD_PIN_NOT_LIVE", "GUARD_PARENT_READS"];
/** May be otherwise by the time the release is merged; still worth a word. */
const PASSING: readonly (keyof EngineReasons)[] = ["GUARD_SET_DIFFERS", "GUARD_PIN_NOT_LIVE", "GUARD_NO_SET", "GUARD_SET_LEAVES"];

/** `touchesSet`: the PR changes the set itself, so that the live one is not Git's yet, as it must be. undefined: nothing stands against it. */
export async function refusedBatch(
  context: Pick<RepoContext, "planes" | "clock" | "log" | "repoURL">,
  {
    rollout,
    plan,
    snapshot,
    baseBranch,
    touchesSet,
  }: { rollout: Rollout; plan: Plan; snapshot: Snapshot; baseBranch: string; touchesSet: boolean },
): Promise<Problem | undefined> {
  const targets = plan.stages.flatMap((stage) => stage.batches)[0]?.targets ?? [];
  const edits = targets.flatMap((target) => target.edits).filter((edit) => edit.kind !== "branch");
  if (edits.length === 0 || targetsOf(plan).length === 0) return undefined;
  const edited = await snapshot.with((files) => applyEdits(edits, (path) => files.read(path)));
  if (!edited.ok) return undefined;
  const copied = await snapshot.with((files) => copiedTexts(edits, files));
  const snapshots = new Map([
    [snapshot.id, snapshot],
    [PLANNED, overlay(snapshot, new Map([...edited.files, ...copied]))],
  ]);
  const guard = openGuard(
    {
      ...context,
      planes: withoutQuestions(context.planes),
      mirror: { mergeTree: async () => ({ tree: PLANNED }), commitInfo: async () => undefined },
    },
    { snapshot: (id) => snapshots.get(id) ?? snapshot },
  );
  // The guard looks at no more of a run and a batch than what a plan has.
  const run = { spec: rollout, plan } as Run;
  const batch = { branch: PLANNED, kind: "Planned", phase: "Proposing", targets } as unknown as Batch;
  const judged = await guard(run, batch, { base: snapshot.id, baseBranch, head: PLANNED, unpushed: true });
  if (judged.ok || !isWorthAWord(judged.why.code, judged.retry, touchesSet)) return undefined;
  // What cannot be told here, Argo CD may tell when it comes to it.
  const isTold = (by: "generate" | "manifests") => [...context.planes.values()].some((plane) => plane[by] !== undefined);
  if (judged.why.code === "GUARD_UNRENDERED" && isTold("generate")) return undefined;
  if (TOLD_BY_PARENT.includes(judged.why.code) && isTold("manifests")) return undefined;
  const reason = {
    code: "BATCH_REFUSED",
    applications: targets.map(({ application }) => application),
    said: sentenceOf(judged.why),
  } as const;
  const severity = judged.retry ? "warning" : "error";
  return snapshot.with((files) =>
    locateIn(rollout, files, { ...reason, severity, file: rollout.file, line: 1, column: 1, path: AT_SOURCE }),
  );
}

function isWorthAWord(code: string, retry: boolean, touchesSet: boolean): boolean {
  if (TOLD_BY_LINT.includes(code)) return false;
  return retry ? !touchesSet && (PASSING as readonly string[]).includes(code) : true;
}

/** Nobody can be asked about files that are nowhere in Git. */
function withoutQuestions(planes: ReadonlyMap<string, ControlPlane>): Map<string, ControlPlane> {
  return new Map(
    [...planes].map(([name, plane]) => {
      const { generate: _, manifests: _manifests, ...rest } = plane;
      return [name, rest];
    }),
  );
}

function overlay(snapshot: Snapshot, texts: ReadonlyMap<string, string | null>): Snapshot {
  return {
    id: PLANNED,
    kept: snapshot.kept,
    paths: () => snapshot.paths(),
    links: (folder) => snapshot.links(folder),
    read: async (path) => (texts.has(path) ? (texts.get(path) ?? null) : await snapshot.read(path)),
    with: (work) => snapshot.with((files) => work(withTexts(files, texts))),
  };
}
