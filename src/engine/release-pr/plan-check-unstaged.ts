import type { RenderResult } from "../../core/appset/index.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import type { Plan, Release } from "../../core/plan/plan-types.ts";
import { targetsOf } from "../../core/plan/plan-types.ts";
import { unstagedLine } from "../../core/report/plan/plan-unstaged.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { generatorClusters, renderAt } from "../config-repo/appset-in-git.ts";
import { joined, sameSetsAt, setsByPlane } from "../config-repo/plane-sets.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { type TargetBefore, UNSTAGED, type UnstagedInput, unstagedBy } from "../lint/unstaged.ts";
import { planesFor } from "../resolve/fleet.ts";
import { makePlan } from "../resolve/make-plan.ts";
import type { RepoContext } from "../round/context.ts";
import type { JudgedPull, PlanBase } from "./judged-pull.ts";
import type { Touches } from "./plan-check-touched.ts";

export interface UnstagedQuestion {
  base: PlanBase;
  pull: JudgedPull;
  before: Snapshot;
  after: Snapshot;
  touches: Touches;
  isRelease: boolean;
  /** As of the PR merged. */
  plan: Plan;
}

/** docs/spec.md §9.6 for one rollout and one PR that is not a batch's; undefined: it passes no stage by. */
export async function judgeUnstaged(
  context: RepoContext,
  rollout: Rollout,
  release: Release,
  question: UnstagedQuestion,
): Promise<{ line: string; refused: boolean } | undefined> {
  const { base, pull, before, touches, isRelease, plan } = question;
  if (!isRelease && !touches.set && !touches.pins) return undefined;
  const made = await makePlan(context, rollout, release, before, base.branch);
  const after = new Map(targetsOf(plan).map((target) => [target.key, target.edits.map((edit) => edit.from)]));
  // The pins at the base cannot be read where this PR is what brings them.
  const targets = targetsOf(made.ok ? made.plan : plan).map((target) => ({ ...target, sources: sourcesOf(context, target.key) }));
  const renders = await rendersOf(context, rollout, question, targets);
  const unstaged = unstagedBy({
    rollout,
    targets,
    ...(renders === undefined ? {} : { renders }),
    ...(touches.pins && made.ok ? { pinsAfter: after } : {}),
    touched: pull.touched,
    isRelease,
    repoURL: context.repoURL,
    baseBranch: base.branch,
  });
  if (unstaged.length === 0) return undefined;
  const held = rollout.allowUnstaged ? "allowed" : pull.bypass ? "bypassed" : "refused";
  return { line: unstagedLine(UNSTAGED, rollout.name, unstaged, held), refused: held === "refused" };
}

function sourcesOf(context: RepoContext, key: string): TargetBefore["sources"] {
  const [plane = "", namespace = "", name = ""] = key.split("/");
  const application = context.planes.get(plane)?.application(namespace, name);
  return application === undefined ? [] : committedSources(application.spec);
}

async function rendersOf(
  context: RepoContext,
  rollout: Rollout,
  { base, before, after }: UnstagedQuestion,
  targets: readonly TargetBefore[],
): Promise<UnstagedInput["renders"]> {
  if (rollout.source.kind !== "ApplicationSet") return undefined;
  const likely = new Set(targets.flatMap((target) => target.edits.map((edit) => edit.file)));
  const planes = planesFor(context, rollout.source.controlPlanes);
  const old = await setsByPlane(before, rollout.source, likely, planes);
  const fresh = await sameSetsAt(after, rollout.source, old);
  const renders = { before: new Map<string, RenderResult>(), after: new Map<string, RenderResult>() };
  for (const plane of planes) {
    const [was, is] = [old.get(plane.name), fresh.get(plane.name)];
    if (was === undefined || is === undefined) continue;
    const clusters = generatorClusters([plane]);
    renders.before.set(plane.name, await before.with((files) => renderAt(was, clusters, files, context.repoURL, base.branch)));
    renders.after.set(plane.name, await after.with((files) => renderAt(is, clusters, files, context.repoURL, base.branch)));
  }
  return renders.before.size === 0 ? undefined : { before: joined(renders.before), after: joined(renders.after) };
}
