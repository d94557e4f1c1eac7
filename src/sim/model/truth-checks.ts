import type { Batch, Run } from "../../rollout/run.ts";
import { epoch } from "../../rollout/time.ts";
import type { Advanced, World } from "../../rollout/world.ts";
import { wasConfirmable } from "./argocd.ts";
import type { Advance } from "./drive.ts";
import { pinOf, pinValue } from "./git.ts";
import type { Truth } from "./world.ts";

/** A target counts as confirmed only if it truly was healthy at that change for the settle time, some time after the merge. */
export function confirmedTruly(truth: Truth, before: Run, after: Run, now: number): string[] {
  const wrong: string[] = [];
  for (const [index, batch] of after.batches.entries()) {
    const was = before.batches[index];
    if (was === batch || batch.merged === undefined) continue;
    for (const [at, target] of batch.targets.entries()) {
      if (target === was?.targets[at] || target.phase !== "Healthy" || was?.targets[at]?.phase === "Healthy") continue;
      const real = truth.targets.get(target.key);
      if (real === undefined || !wasConfirmable(truth.git, real, batch.merged.commit, changedAt(batch), now)) {
        wrong.push(`truth: ${target.key} is taken as confirmed at ${batch.merged.commit.slice(-4)} and never was`);
      }
    }
  }
  return wrong;
}

/** When the change came; a batch that needed no PR has its change from the commit it was found at. */
function changedAt(batch: Batch): number {
  return batch.pull === undefined || batch.merged === undefined ? 0 : epoch(batch.merged.at);
}

/** After one of our merges: judged by what is true, not by what the run believes. */
export function mergeIsSound(truth: Truth, run: Run, number: number, now: number): string[] {
  const wrong: string[] = [];
  if (run.phase !== "Progressing" || run.ending !== undefined) wrong.push(`truth: merged while the journal says ${run.phase}`);
  const batch = run.batches.find((one) => one.number === number);
  if (batch?.intention === undefined) return [...wrong, `truth: batch ${number} merged without an intention in the journal`];
  const rolling = run.spec.stages[batch.stage]?.batching === "Rolling";
  const flying = new Set(batch.targets.map((target) => target.cluster));
  for (const other of run.batches) {
    if (other === batch || other.merged === undefined) continue;
    for (const target of other.targets) {
      if (target.phase === "Failed" || target.phase === "Skipped" || target.phase === "Requeued") continue;
      const real = truth.targets.get(target.key);
      if (target.edits.some((edit) => pinValue(truth.git, pinOf(edit)) !== edit.to))
        wrong.push(`truth: merged while the pin of ${target.key} was changed away`);
      if (truth.git.forgotten.has(other.merged.commit)) wrong.push(`truth: merged while the commit of batch ${other.number} was gone`);
      const good = real !== undefined && wasConfirmable(truth.git, real, other.merged.commit, changedAt(other), now);
      if (good) continue;
      if (!rolling || other.stage !== batch.stage)
        wrong.push(`truth: batch ${number} merged while ${target.key} was never healthy at its change`);
      else flying.add(target.cluster);
    }
  }
  const most = run.plan.stages[batch.stage]?.maxUnavailable ?? 0;
  if (flying.size > most) wrong.push(`truth: ${flying.size} clusters of a stage in flight, at most ${most} may`);
  return wrong;
}

const ENOUGH: Record<string, readonly string[]> = {
  read: ["read", "triage", "write", "maintain", "admin"],
  write: ["write", "maintain", "admin"],
  maintain: ["maintain", "admin"],
};

const LEAST: Record<string, string> = {
  status: "read",
  plan: "read",
  help: "read",
  rollback: "maintain",
  halt: "maintain",
  hotfix: "maintain",
};

/** What an account without the permission says changes nothing: the same round without its commands ends the same. */
export function strangersChangeNothing(advance: Advance, before: Run, world: World, advanced: Advanced<Run>, now: number): string[] {
  const known = new Set(before.commands.map((command) => command.id));
  const strange = world.commands.filter(
    (one) => !known.has(one.id) && ENOUGH[LEAST[one.name] ?? "write"]?.includes(one.permission) === false,
  );
  if (strange.length === 0) return [];
  const without = advance(before, { ...world, commands: world.commands.filter((one) => !strange.includes(one)) }, now);
  if (essence(without) === essence(advanced)) return [];
  return [`invariant 7: ${strange.map((one) => `"${one.text}" of ${one.actor}`).join(", ")} changed what happens`];
}

function essence({ run, effects }: Advanced<Run>): string {
  const { plan: _, spec: __, commands: ___, ...rest } = run;
  return JSON.stringify([rest, effects.filter((effect) => effect.kind !== "Answer")]);
}
