import type { Effect } from "../../core/run/state/world.ts";
import type { Command, CommandName } from "../../core/spec/commands.ts";
import { type ActScope, act } from "./act.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decision.ts";
import type { RepoMemory } from "./memory.ts";
import { lock, putGates } from "./publish/gate-check.ts";

/** These are answered only once no PR of the run can be merged any more. */
const STOPS: readonly CommandName[] = ["pause", "abort", "halt"];

/** Merges first: their intentions run out. */
const ORDER: Record<Effect["kind"], number> = {
  Merge: 0,
  Close: 1,
  Propose: 2,
  Answer: 3,
  StopAnalysis: 4,
  CallHook: 5,
  StartAnalysis: 6,
  Refresh: 7,
  RolloutActions: 8,
};
/** What comes of these is heard of when there is something to hear: looking at once would show nothing. */
const UNSEEN: ReadonlySet<Effect["kind"]> = new Set(["Answer", "Refresh", "StartAnalysis", "StopAnalysis", "CallHook"]);

/** True where something was done whose outcome is worth looking at now. `whole`: every run of the repo was looked at, and so could be locked. */
export async function actAll(
  context: RepoContext,
  memory: RepoMemory,
  decisions: readonly Decision[],
  { base, baseBranch, whole }: { base: string; baseBranch: string; whole: boolean },
): Promise<boolean> {
  let acted = false;
  const journalHead = memory.remote.last.journal;
  // All of them first: a halt given on one rollout's PR is answered when no PR of any run can be merged any more.
  let locked = true;
  for (const decision of decisions) {
    if (await lock(memory.gates, decision)) continue;
    locked = false;
    memory.backoff.note(decision.advanced.run.rollout);
  }
  for (const decision of decisions) {
    const { advanced, world, decidedAt, now } = decision;
    const scope = { run: advanced.run, base, baseBranch, journalHead, commands: world.commands, decidedAt, now };
    // A required gate has to be green before GitHub takes the merge; one that is not follows it.
    const merges = advanced.effects.some((effect) => effect.kind === "Merge");
    if (!merges) await putGates(memory.gates, decision);
    for (const effect of [...advanced.effects].sort((a, b) => ORDER[a.kind] - ORDER[b.kind])) {
      // docs/spec.md §9.13: nobody is told that nothing merges while something still may.
      if (!locked && isStop(effect, scope.commands, STOPS)) continue;
      // A halt is for all runs: one that could not be looked at may still have something open.
      if (!whole && isStop(effect, scope.commands, ["halt"])) continue;
      if (await tryOne(context, memory, scope, effect)) acted = true;
    }
    if (merges) await putGates(memory.gates, decision);
    await memory.labels.set(advanced.run);
  }
  return acted;
}

/** One effect's trouble is not the others': it will be wanted again in a later round. True: its outcome is worth looking at. */
async function tryOne(context: RepoContext, memory: RepoMemory, scope: ActScope, effect: Effect): Promise<boolean> {
  const { rollout, batches } = scope.run;
  // What failed is left alone for a while, whoever wakes the round.
  const patient = effect.kind !== "Answer" && effect.kind !== "RolloutActions";
  if (patient && memory.backoff.until(rollout) !== undefined) return false;
  try {
    const done = await act(context, memory, scope, effect);
    if (effect.kind === "Propose") memory.pulls.propose(batches[effect.batch - 1]?.branch ?? "");
    if (!done) memory.backoff.note(rollout);
    if (!done || UNSEEN.has(effect.kind)) return false;
    memory.backoff.forget(rollout);
    return true;
  } catch (error) {
    context.log.warn({ rollout, effect: effect.kind, error: String(error) }, "an effect failed and will be tried again");
    memory.backoff.note(rollout, error);
    return false;
  }
}

function isStop(effect: Effect, commands: readonly Command[], names: readonly CommandName[]): boolean {
  if (effect.kind !== "Answer" || effect.outcome !== "done") return false;
  const command = commands.find((one) => one.id === effect.command);
  return command !== undefined && names.includes(command.name);
}
