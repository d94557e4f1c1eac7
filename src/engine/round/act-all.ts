import { ForgeError } from "../../adapters/forge/port.ts";
import type { Effect } from "../../core/run/state/world.ts";
import type { Command, CommandName } from "../../core/spec/command.ts";
import { type ActScope, act } from "./act.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decision.ts";
import type { RepoMemory } from "./memory.ts";
import { labelPulls } from "./publish/dress.ts";
import { fence, putGates } from "./publish/gate-check.ts";

const FIRST_RETRY_MS = 2000;
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
const LONGEST_RETRY_MS = 5 * 60_000;

/** True where something was done whose outcome is worth looking at now. `whole`: every run of the repo was looked at, and so could be fenced. */
export async function actAll(
  context: RepoContext,
  memory: RepoMemory,
  decisions: readonly Decision[],
  { base, baseBranch, whole }: { base: string; baseBranch: string; whole: boolean },
): Promise<boolean> {
  let acted = false;
  const journalHead = memory.remote.last.journal;
  // All of them first: a halt given on one rollout's PR is answered when no PR of any run can be merged any more.
  let fenced = true;
  for (const decision of decisions) {
    if (await fence(context, memory, decision)) continue;
    fenced = false;
    trouble(context, memory, decision.advanced.run.rollout, undefined);
  }
  for (const decision of decisions) {
    const { advanced, world, decidedAt, now } = decision;
    const scope = { run: advanced.run, base, baseBranch, journalHead, commands: world.commands, decidedAt, now };
    // A required gate has to be green before GitHub takes the merge; one that is not follows it.
    const merges = advanced.effects.some((effect) => effect.kind === "Merge");
    if (!merges) await putGates(context, memory, decision);
    for (const effect of [...advanced.effects].sort((a, b) => ORDER[a.kind] - ORDER[b.kind])) {
      // docs/spec.md §9.13: nobody is told that nothing merges while something still may.
      if (!fenced && isStop(effect, scope.commands, STOPS)) continue;
      // A halt is for all runs: one that could not be looked at may still have something open.
      if (!whole && isStop(effect, scope.commands, ["halt"])) continue;
      if (await tryOne(context, memory, scope, effect)) acted = true;
    }
    if (merges) await putGates(context, memory, decision);
    await labelPulls(context, memory, advanced.run);
  }
  return acted;
}

/** One effect's trouble is not the others': it will be wanted again in a later round. True: its outcome is worth looking at. */
async function tryOne(context: RepoContext, memory: RepoMemory, scope: ActScope, effect: Effect): Promise<boolean> {
  const { rollout, batches } = scope.run;
  // What failed is left alone for a while, whoever wakes the round.
  const patient = effect.kind !== "Answer" && effect.kind !== "RolloutActions";
  if (patient && (memory.troubles.get(rollout)?.until ?? 0) > context.clock.now()) return false;
  try {
    const done = await act(context, memory, scope, effect);
    if (effect.kind === "Propose") memory.proposed.add(batches[effect.batch - 1]?.branch ?? "");
    if (!done) trouble(context, memory, rollout, undefined);
    if (!done || UNSEEN.has(effect.kind)) return false;
    memory.troubles.delete(rollout);
    return true;
  } catch (error) {
    context.log.warn({ rollout, effect: effect.kind, error: String(error) }, "an effect failed and will be tried again");
    trouble(context, memory, rollout, error);
    return false;
  }
}

function isStop(effect: Effect, commands: readonly Command[], names: readonly CommandName[]): boolean {
  if (effect.kind !== "Answer" || effect.outcome !== "done") return false;
  const command = commands.find((one) => one.id === effect.command);
  return command !== undefined && names.includes(command.name);
}

function trouble(context: RepoContext, memory: RepoMemory, rollout: string, error: unknown): void {
  const count = (memory.troubles.get(rollout)?.count ?? 0) + 1;
  const now = context.clock.now();
  const until = now + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1));
  const asked = error instanceof ForgeError ? (error.retryAt ?? 0) : 0;
  memory.troubles.set(rollout, { count, until: Math.max(until, asked) });
}
