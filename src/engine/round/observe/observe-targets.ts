import { healthIssuesOf } from "../../../core/argocd/liveness/liveness.ts";
import type { PlannedTarget } from "../../../core/plan/plan-types.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { hasGoneOn } from "../../../core/run/state/steps.ts";
import type { ObservedTarget } from "../../../core/run/state/world.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import type { Renderer } from "../../config-repo/rendered.ts";
import { applicationAt, clusterOf } from "../../resolve/fleet.ts";
import type { Pins } from "../../resolve/pin-values.ts";
import { movesBranches } from "../act/branch-moves.ts";
import type { RepoContext } from "../context.ts";
import type { Refresher } from "../guard/refresh.ts";
import type { TargetReader } from "../guard/reread.ts";
import { childrenOf } from "./children.ts";
import type { JudgeTargets } from "./judge-targets.ts";

/** Looks at the targets of a run: the pins of all that are or may soon be in a batch, and of those that have moved the verdict. */
export interface TargetLooks {
  /** `before`: as `healthIssuesBefore` saw them at the round's beginning. */
  observe(run: Run, base: string, baseBranch: string, before: ReadonlyMap<string, string[]>): Promise<Map<string, ObservedTarget>>;
  /**
   * How targets are that nobody is known to have moved, read before their pull requests are: of one that is open after that this is how
   * it was without the change, however soon after somebody merges it.
   */
  healthIssuesBefore(run: Run): Map<string, string[]>;
}

interface Parts {
  commits: Commits;
  remote: RemoteHeads;
  pins: Pins;
  renderer: Renderer;
  refresher: Refresher;
  judge: JudgeTargets;
  reader: Pick<TargetReader, "arriving">;
}

interface Deps extends Pick<RepoContext, "planes" | "mirror">, Pick<Parts, "commits" | "remote"> {}

export function openTargetLooks(
  { planes, mirror }: Pick<RepoContext, "planes" | "mirror">,
  { commits, remote, pins, renderer, refresher, judge, reader }: Parts,
): TargetLooks {
  const deps = { planes, mirror, commits, remote };

  return {
    async observe(run, base, baseBranch, before) {
      const seen = new Map<string, ObservedTarget>();
      // How a target was before its change matters only where that is tolerated.
      const tolerates = run.spec.baseline === "Tolerate";
      const healthIssues = (key: string) => (tolerates ? (before.get(key) ?? healthIssuesNow(deps, key)) : undefined);
      const rendered = renderer(run, baseBranch);
      const atBase = await rendered(base);
      const arrive = reader.arriving();
      for (const upcoming of upcomingBatches(run))
        for (const [key, values] of await pins.at(base, upcoming)) seen.set(key, { pins: values, healthIssues: healthIssues(key) });
      for (const batch of run.batches) {
        // At their next weight: what they are watched for stands there.
        if (batch.phase === "Closed" || batch.targets.every((target) => hasGoneOn(batch, target))) continue;
        const values = await pins.at(base, batch);
        const inHistory = await isInHistory(deps, run, batch, base);
        const around = { ...(await renderAround(deps, run, batch, rendered)), atBase };
        const first = await judge(run, batch, around);
        // What only a read by name was missing for: the answer may be here already, and spares a round.
        const isRead = await arrive(batch.targets.map(({ key }) => key));
        const assessments = isRead ? await judge(run, batch, around) : first;
        for (const [index, target] of batch.targets.entries()) {
          if (hasGoneOn(batch, target)) continue;
          const { key } = target;
          // Until this batch has merged, what is seen is of the weight before it.
          const earlier: ObservedTarget | undefined = batch.merged === undefined ? seen.get(key) : { batch: batch.number };
          seen.set(key, {
            batch: earlier?.batch,
            assessment: assessments[index] ?? earlier?.assessment,
            pins: values.get(key) ?? earlier?.pins,
            drift: (batch.merged && (await pins.driftOf(base, target, values.get(key), batch.merged.commit))) ?? earlier?.drift,
            inHistory: inHistory ?? earlier?.inHistory,
            nudge: refresher.last(key) ?? earlier?.nudge,
            healthIssues: healthIssues(key) ?? earlier?.healthIssues,
          });
        }
      }
      return seen;
    },
    healthIssuesBefore(run) {
      const before = new Map<string, string[]>();
      if (run.spec.baseline !== "Tolerate") return before;
      for (const { key } of run.batches.flatMap((batch) => (batch.merged === undefined ? batch.targets : []))) {
        const issues = healthIssuesNow(deps, key);
        if (issues !== undefined) before.set(key, issues);
      }
      return before;
    },
  };
}

/** The batches that may be made next, so that making one and proposing it takes one round: their pins are read ahead. */
function upcomingBatches(run: Run): { branch: string; targets: readonly PlannedTarget[] }[] {
  const moved = new Set(run.batches.flatMap((batch) => (batch.phase === "Closed" ? [] : batch.targets.map((target) => target.key))));
  const upcoming: { branch: string; targets: readonly PlannedTarget[] }[] = [];
  const late = (run.joined ?? []).flatMap((one) => one.targets).filter((target) => !moved.has(target.key));
  if (late.length > 0) upcoming.push({ branch: `joined ${run.rollout}/${run.number}/${late.length}`, targets: late });
  for (const index of [run.stage, run.stage + 1]) {
    const stage = run.plan.stages[index];
    const next = stage?.batches.findIndex((batch) => batch.targets.some((target) => !moved.has(target.key))) ?? -1;
    const batch = stage?.batches[next];
    if (batch !== undefined) upcoming.push({ branch: `upcoming ${run.rollout}/${run.number}/${index}-${next}`, targets: batch.targets });
    if (stage !== undefined && stage.requeuedTargets.length > 0) {
      upcoming.push({ branch: `requeued ${run.rollout}/${run.number}/${index}`, targets: stage.requeuedTargets.slice(0, 1000) });
    }
  }
  return upcoming;
}

/** A settled batch is held against today's base; only one still being judged needs the spec as it was at its merge. */
async function renderAround({ mirror }: Pick<Deps, "mirror">, run: Run, batch: Batch, rendered: ReturnType<Renderer>) {
  if (batch.merged === undefined || batch.phase === "Settled" || movesBranches(run)) return {};
  const { commit } = batch.merged;
  const parent = (await mirror.commitInfo(commit))?.parents[0];
  return { parent, before: parent === undefined ? undefined : await rendered(parent), atChange: await rendered(commit) };
}

/** A release commit that branches were moved to need not be in the base; that they still hold it is their pins' value. */
async function isInHistory(
  { commits, remote }: Pick<Deps, "commits" | "remote">,
  run: Run,
  batch: Batch,
  base: string,
): Promise<boolean | undefined> {
  if (batch.merged === undefined) return undefined;
  const answer = movesBranches(run) || (await commits.isInHistory(batch.merged.commit, base));
  // The mirror does not have it yet: the next round fetches.
  if (answer === undefined) remote.expire();
  return answer;
}

/** What is wrong with a target's Application, whatever changed; undefined where it cannot be seen now. */
function healthIssuesNow({ planes }: Pick<Deps, "planes">, key: string): string[] | undefined {
  const { plane, application } = applicationAt(planes, key);
  if (plane === undefined) return undefined;
  const children = application === undefined ? [] : childrenOf(plane, application).map(({ view }) => view);
  const issues = [application, ...children].flatMap((one) => healthIssuesOf(one, clusterOf(plane, one)));
  return [...new Set(issues)];
}
