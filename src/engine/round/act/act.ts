/**
 * Tries what the rounds of a repo's runs decided, once it is recorded.
 *
 * First what must not be merged is locked, of every run; then each effect is tried, merges first, for their intentions run out. What
 * came of one is observed in the next round; here only counts whether something was done, or was refused and should wait. Each may be
 * tried twice, after a crash at any point of the first try, and one effect's trouble is not the others'.
 */
import { epoch, iso } from "../../../core/base/time.ts";
import { mergeText } from "../../../core/report/batch/batch-text.ts";
import { GATE } from "../../../core/report/batch/gate-check.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Effect } from "../../../core/run/state/world.ts";
import type { Command, CommandName } from "../../../core/spec/commands.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import type { Analyses } from "../analyses.ts";
import type { Backoff } from "../backoff.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { Rules } from "../branch-rules.ts";
import type { RepoContext } from "../context.ts";
import type { Decision } from "../decide.ts";
import { type Refresher, setKey } from "../guard/refresh.ts";
import type { Syncer } from "../guard/syncer.ts";
import type { Hooks } from "../hooks.ts";
import type { MergeQueue } from "../merging.ts";
import { closeOwn } from "../observe/open-pulls.ts";
import type { Gates } from "../publish/gate-check.ts";
import type { Labels } from "../publish/labels.ts";
import type { Recorder } from "../record.ts";
import { whyRefused } from "../refused-write.ts";
import { justDone, ofRun } from "../within.ts";
import { type MoveBranches, movesBranches } from "./branch-moves.ts";
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

/**
 * An intention lapses 30 s after it was journalled, and another replica then acts on that. A merge is begun only while so
 * much of it is left that its own call ends before: that is sent within 4 s or not at all, and cut off 10 s after it was
 * sent. Counted in the wall's time since the round decided, because that is what sockets take.
 */
const INTENTION_BEGINS_BY_MS = 15_000;

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

interface Parts {
  remote: RemoteHeads;
  pulls: BatchPulls;
  queue: MergeQueue;
  gates: Gates;
  labels: Labels;
  backoff: Backoff;
  propose: ProposeBatch;
  moveBranches: MoveBranches;
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

export function openActor(context: Context, parts: Parts): Act {
  const { forge, mirror, commands, author, journal, journalBranch, repository, log, clock, within = justDone } = context;
  const { remote, pulls, queue, gates, labels, backoff, propose, moveBranches, refresher, syncer, actions, analyses, hooks, rules } = parts;

  async function merge(scope: Scope, batch: Batch, { pull, head }: { pull: number; head: string }): Promise<boolean> {
    const { run, decision, journalHead, base, baseBranch } = scope;
    // The intention is only worth something while no other replica has written since (docs/spec.md §9.13), and the guard's answer
    // only on the base it was given for (§9.4).
    const heads = await mirror.remoteHeads([baseBranch, journalBranch]);
    remote.expire();
    if (heads.get(journalBranch) !== journalHead || heads.get(baseBranch) !== base) return true;
    // Another process may have recorded what was taken off the branch again: to this one nothing would have changed.
    if (!(await journal.isAnchored())) return true;
    const old = batch.intention === undefined ? Number.POSITIVE_INFINITY : decision.now - epoch(batch.intention.at);
    if (old + performance.now() - decision.decidedAt > INTENTION_BEGINS_BY_MS) return false;
    // What was found out since the round decided counts, too.
    if (clock.ahead?.() !== undefined) return false;
    if (movesBranches(run)) {
      await moveBranches(batch, head);
      return true;
    }
    const { method } = run.spec.delivery;
    const named = { repository, rollout: run.rollout, run: run.number, batch: batch.number, pull };
    const text = mergeText(run, batch, pull, author);
    const outcome = await queue.merge(batch.branch, { number: pull, head, base: baseBranch, method, ...text });
    if (outcome.kind === "merged" || outcome.kind === "queued") {
      pulls.refuse(batch.branch, head, undefined);
      log.info({ ...named, head, outcome: outcome.kind }, "a pull request was merged");
      return true;
    }
    log.info({ ...named, outcome: outcome.kind, message: outcome.message }, "a merge was refused");
    const kind = outcome.kind === "human" ? "Human" : outcome.kind === "wait" ? "Wait" : "Retry";
    pulls.refuse(batch.branch, head, { kind, message: outcome.message, to: batch.intention?.at });
    return kind !== "Retry";
  }

  /** Whatever came of it, it was tried. What GitHub refuses is noted: the next round says it, and pauses in the end. */
  async function proposed(scope: Scope, batch: Batch): Promise<boolean> {
    try {
      const done = await propose(scope, batch);
      // Another process may have written meanwhile: the next round goes by what is there then.
      remote.expire();
      pulls.propose(batch.branch);
      pulls.forgetOpening(batch.branch);
      return done;
    } catch (error) {
      const because = whyRefused(error);
      if (because !== undefined) pulls.refuseOpening(batch.branch, because, iso(clock.now()));
      throw error;
    }
  }

  async function act(scope: Scope, effect: Effect): Promise<boolean> {
    const { run, decision } = scope;
    switch (effect.kind) {
      case "Propose":
        return proposed(scope, batchOf(run, effect.batch));
      case "Merge":
        return merge(scope, batchOf(run, effect.batch), effect);
      case "Close":
        await closeOwn(forge, repository, pulls, effect.pull);
        return true;
      case "Refresh":
        refresher.ask([...(effect.sets ?? []).map(setKey), ...effect.targets]);
        return true;
      case "Sync":
        return syncer.ask(run.rollout, effect);
      case "RolloutActions":
        return actions.run(run, effect.command);
      case "StartAnalysis":
        return analyses.start(run, effect.analysis);
      case "StopAnalysis":
        return analyses.stop(effect.analysis);
      case "CallHook":
        return hooks.call(run, effect.hook, effect.request);
      case "Answer": {
        const command = decision.world.commands.find(({ id }) => id === effect.command);
        if (command !== undefined) await commands.answer(command, effect.outcome, effect.message, run);
        return true;
      }
    }
  }

  /** True: its outcome is worth looking at. What failed is wanted again in a later round. */
  async function tryOne(scope: Scope, effect: Effect): Promise<boolean> {
    const { rollout } = scope.run;
    // What is put forward before its turn holds nothing else of the run up.
    const isAhead = effect.kind === "Propose" && batchOf(scope.run, effect.batch).ahead === true;
    const concern = isAhead ? `${rollout} ahead` : rollout;
    // What failed is left alone for a while, whoever wakes the round.
    const isPatient = effect.kind !== "Answer" && effect.kind !== "RolloutActions";
    if (isPatient && backoff.until(concern) !== undefined) return false;
    try {
      const done = await act(scope, effect);
      if (!done) backoff.note(concern);
      if (!done || UNSEEN.has(effect.kind)) return false;
      backoff.forget(concern);
      return true;
    } catch (error) {
      log.warn({ rollout, effect: effect.kind, error: String(error) }, "an effect failed and will be tried again");
      backoff.note(concern, error);
      return false;
    }
  }

  return async (decisions, round) => {
    let acted = false;
    const journalHead = remote.last.journal;
    // All of them first: a halt given on one rollout's PR is answered when no PR of any run can be merged any more.
    let locked = true;
    for (const decision of decisions) {
      syncer.keep(decision.advanced.run.rollout, decision.advanced.effects);
      if (await gates.lock(decision)) continue;
      locked = false;
      backoff.note(decision.advanced.run.rollout);
    }
    for (const decision of decisions) {
      const { run, effects } = decision.advanced;
      // Somebody looks at what was refused: what they change is tried at once when they say so.
      if (run.paused !== undefined && decision.before.paused === undefined) backoff.forget(run.rollout);
      // A required gate has to be green before GitHub takes the merge; one that is not follows it.
      const isRequired = rules.last?.requiredChecks.some(({ context }) => context === GATE) === true;
      const gateFollows = effects.some((effect) => effect.kind === "Merge") && !isRequired;
      if (!gateFollows) await gates.put(decision);
      for (const effect of effects.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))) {
        if (!mayBeTold(effect, decision.world.commands, { locked, whole: round.whole })) continue;
        // Writes are a second apart: what people see goes first, but whoever stopped it is told so once nobody can take that back.
        if (isStop(effect, decision.world.commands, STOPS)) await parts.recorder.anchor();
        if (await within(effect.kind, ofRun(run), () => tryOne({ ...round, run, decision, journalHead }, effect))) acted = true;
      }
      if (gateFollows) await gates.put(decision);
      await labels.set(run);
    }
    await parts.recorder.anchor();
    return acted;
  };
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
