/**
 * Tries what the rounds of a repo's runs decided, once it is recorded.
 *
 * First what must not be merged is locked, of every run; then each effect is tried, merges first, for their intentions run out. What
 * came of one is observed in the next round; here only counts whether something was done, or was refused and should wait. Each may be
 * tried twice, after a crash at any point of the first try, and one effect's trouble is not the others'.
 */
import { iso } from "../../../core/base/time.ts";
import { GATE } from "../../../core/report/batch/gate-check.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Effect } from "../../../core/run/state/world.ts";
import type { Command, CommandName } from "../../../core/spec/commands.ts";
import type { Analyses } from "../analyses.ts";
import type { Backoff } from "../backoff.ts";
import type { Rules } from "../branch-rules.ts";
import type { RepoContext } from "../context.ts";
import type { Decision } from "../decide.ts";
import { type Refresher, setKey } from "../guard/refresh.ts";
import type { Syncer } from "../guard/syncer.ts";
import type { Hooks } from "../hooks.ts";
import { closeOwn } from "../observe/open-pulls.ts";
import type { Gates } from "../publish/gate-check.ts";
import type { Labels } from "../publish/labels.ts";
import type { Recorder } from "../record.ts";
import { whyRefused } from "../refused-write.ts";
import { justDone, ofRun } from "../within.ts";
import { type MergeParts, type Outcome, openMerge } from "./merge.ts";
import type { ProposeBatch } from "./propose.ts";
import type { RolloutActions } from "./rollout-actions.ts";

/** These are answered only once no PR of the run can be merged any more. */
const STOPS: readonly CommandName[] = ["pause", "abort", "halt"];

/** Merges first: their intentions run out. */
const ORDER: readonly Effect["kind"][] = [
  ...(["Merge", "Close", "Propose", "Answer", "StopAnalysis"] as const),
  ...(["CallHook", "StartAnalysis", "Sync", "Refresh", "RolloutActions"] as const),
];
/** What comes of these is heard of when there is something to hear: looking at once would show nothing. */
const UNSEEN: ReadonlySet<Effect["kind"]> = new Set(["Answer", "Refresh", "Sync", "StartAnalysis", "StopAnalysis", "CallHook"]);

/** An intention that lapses untried is a commit of the journal for nothing. */
const LONGEST_MERGE_RETRY_MS = 20_000;

interface RoundScope {
  /** Head of the base branch the round looked at. */
  base: string;
  baseBranch: string;
  /** Every run of the repo was looked at, and so could be locked. */
  whole: boolean;
}

/** Of one run. */
interface Scope extends RoundScope {
  run: Run;
  decision: Decision;
  /** Head of the journal after the round was recorded. */
  journalHead: string | undefined;
}

/** True where something was done whose outcome is worth looking at now. */
export type Act = (decisions: readonly Decision[], scope: RoundScope) => Promise<boolean>;

interface Parts extends MergeParts {
  gates: Gates;
  labels: Labels;
  backoff: Backoff;
  propose: ProposeBatch;
  refresher: Refresher;
  syncer: Pick<Syncer, "ask" | "keep">;
  actions: RolloutActions;
  analyses: Analyses;
  hooks: Hooks;
  rules: Pick<Rules, "last">;
  recorder: Pick<Recorder, "anchor">;
}

type Context = Pick<
  RepoContext,
  "forge" | "mirror" | "commands" | "author" | "journal" | "journalBranch" | "repository" | "log" | "clock" | "within"
>;

/** What trying an effect takes. */
interface Deps extends Parts {
  context: Context;
  merge: ReturnType<typeof openMerge>;
}

export function openActor(context: Context, parts: Parts): Act {
  const { within = justDone } = context;
  const { remote, backoff, rules, gates, labels, recorder } = parts;
  const deps: Deps = { ...parts, context, merge: openMerge(context, parts) };

  return async (decisions, round) => {
    let acted = false;
    const journalHead = remote.last.journal;
    const locked = await lockAll(parts, decisions);
    for (const decision of decisions) {
      const { run, effects } = decision.advanced;
      // Somebody looks at what was refused: what they change is tried at once when they say so.
      if (run.paused !== undefined && decision.before.paused === undefined) backoff.forgetAll(`${run.rollout} `);
      // A required gate has to be green before GitHub takes the merge; one that is not follows it.
      const isRequired = rules.last?.requiredChecks.some(({ context }) => context === GATE) === true;
      const gateFollows = effects.some((effect) => effect.kind === "Merge") && !isRequired;
      if (!gateFollows) await gates.put(decision);
      for (const effect of effects.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))) {
        if (!mayBeTold(effect, decision.world.commands, { locked, whole: round.whole })) continue;
        // Writes are a second apart: what people see goes first, but whoever stopped it is told so once nobody can take that back.
        if (isStop(effect, decision.world.commands, STOPS)) await recorder.anchor();
        if (await within(effect.kind, ofRun(run), () => tryOne(deps, { ...round, run, decision, journalHead }, effect))) acted = true;
      }
      if (gateFollows) await gates.put(decision);
      await labels.set(run);
    }
    await recorder.anchor();
    return acted;
  };
}

/** All of them first: a halt given on one rollout's PR is answered when no PR of any run can be merged any more. */
async function lockAll({ syncer, gates, backoff }: Parts, decisions: readonly Decision[]): Promise<boolean> {
  let locked = true;
  for (const decision of decisions) {
    syncer.keep(decision.advanced.run.rollout, decision.advanced.effects);
    const concern = `lock ${decision.advanced.run.rollout}`;
    const isLocked = await gates.lock(decision);
    if (isLocked) backoff.forget(concern);
    else backoff.note(concern);
    locked &&= isLocked;
  }
  return locked;
}

/** True: its outcome is worth looking at. What failed is wanted again in a later round. */
async function tryOne(deps: Deps, scope: Scope, effect: Effect): Promise<boolean> {
  const { backoff } = deps;
  const concern = concernOf(scope.run, effect);
  const longest = effect.kind === "Merge" ? LONGEST_MERGE_RETRY_MS : undefined;
  // What failed is left alone for a while, whoever wakes the round.
  if (effect.kind !== "Answer" && effect.kind !== "RolloutActions" && backoff.until(concern) !== undefined) return false;
  try {
    const outcome = await act(deps, scope, effect);
    if (outcome === "failed") backoff.note(concern, undefined, longest);
    if (outcome !== "done") return false;
    backoff.forget(concern);
    return !UNSEEN.has(effect.kind);
  } catch (error) {
    const told = { rollout: scope.run.rollout, effect: effect.kind, error: String(error) };
    deps.context.log.warn(told, "an effect failed and will be tried again");
    backoff.note(concern, error, longest);
    return false;
  }
}

async function act(deps: Deps, scope: Scope, effect: Effect): Promise<Outcome> {
  const { refresher, syncer, actions, analyses, hooks, pulls } = deps;
  const { forge, repository, commands } = deps.context;
  const { run, decision } = scope;
  switch (effect.kind) {
    case "Propose":
      return proposed(deps, scope, batchOf(run, effect.batch));
    case "Merge":
      return deps.merge(scope, batchOf(run, effect.batch), effect);
    case "Close":
      await closeOwn(forge, repository, pulls, effect.pull);
      return "done";
    case "Refresh":
      refresher.ask([...(effect.sets ?? []).map(setKey), ...effect.targets]);
      return "done";
    case "Sync":
      syncer.ask(run.rollout, effect);
      return "done";
    case "RolloutActions":
      return (await actions.run(run, effect.command)) ? "done" : "failed";
    case "StartAnalysis":
      await analyses.start(run, effect.analysis);
      return "done";
    case "StopAnalysis":
      await analyses.stop(effect.analysis);
      return "done";
    case "CallHook":
      hooks.call(run, effect.hook, effect.request);
      return "done";
    case "Answer": {
      const command = decision.world.commands.find(({ id }) => id === effect.command);
      if (command !== undefined) await commands.answer(command, effect.outcome, effect.message, run);
      return "done";
    }
  }
}

/** Whatever came of it, it was tried. What GitHub refuses is noted: the next round says it, and pauses in the end. */
async function proposed({ context, propose, remote, pulls }: Deps, scope: Scope, batch: Batch): Promise<Outcome> {
  try {
    const { clusters, clustersKnown } = scope.decision.world;
    const done = await propose({ ...scope, clusters: clustersKnown ? clusters : undefined }, batch);
    // Another process may have written meanwhile: the next round goes by what is there then.
    remote.expire();
    pulls.propose(batch.branch);
    pulls.forgetOpening(batch.branch);
    return done ? "done" : "failed";
  } catch (error) {
    const because = whyRefused(error);
    if (because !== undefined) pulls.refuseOpening(batch.branch, because, iso(context.clock.now()));
    throw error;
  }
}

/**
 * One effect's trouble is not the others': a hook that does not answer holds no merge up, whose intention would lapse, nor one batch's merge
 * that of another, which may put clusters back.
 */
function concernOf({ rollout, number }: Run, effect: Effect): string {
  const of = { batch: undefined, analysis: undefined, command: undefined, hook: undefined, target: undefined, ...effect };
  return [rollout, number, effect.kind, of.batch ?? of.analysis ?? of.command ?? of.hook ?? of.target].join(" ");
}

function batchOf(run: Run, number: number): Batch {
  const batch = run.batches.find((b) => b.number === number);
  if (batch === undefined) throw new Error(`${run.rollout} #${run.number}: an effect names batch ${number}, which the run does not have`);
  return batch;
}

/** docs/spec.md §9.13: nobody is told that nothing merges while something still may. A halt is for all runs, looked at or not. */
function mayBeTold(effect: Effect, commands: readonly Command[], { locked, whole }: { locked: boolean; whole: boolean }): boolean {
  return (locked || !isStop(effect, commands, STOPS)) && (whole || !isStop(effect, commands, ["halt"]));
}

function isStop(effect: Effect, commands: readonly Command[], names: readonly CommandName[]): boolean {
  if (effect.kind !== "Answer" || effect.outcome !== "done") return false;
  const command = commands.find((one) => one.id === effect.command);
  return command !== undefined && names.includes(command.name);
}
