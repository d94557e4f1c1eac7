/**
 * Release PRs, before they are merged: what merging one would do, as its comment and as the check `stagecoach/plan`, which
 * every other PR and merge group to the base gets green.
 *
 * Level-triggered: what stands on GitHub is compared with what should, PR by PR, and what could not be sent is owed until
 * it is. Cheap: heads are fetched in one go, a PR is judged once for its head and for what of the base it depends on, and
 * one that concerns no rollout is never looked at again.
 */
import type { Pull } from "../../adapters/forge/port.ts";
import { notARollout, PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import { BYPASS_LABEL } from "../../core/report/plan/plan-unstaged.ts";
import type { Command } from "../../core/spec/commands.ts";
import { readProject } from "../config-repo/project.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";
import type { PlanBase } from "./judged-pull.ts";
import { judgePull } from "./plan-check.ts";
import { checkGroups, checkOwn, checkOwnBatches, isOwnBatch } from "./plan-check-own.ts";
import { noReads, stillHolds } from "./plan-check-reads.ts";
import { isCheckDue, putCheck, putComments } from "./plan-check-send.ts";
import { mayConcern, touchedBy } from "./plan-check-touched.ts";
import type { KnownPull, Plans } from "./plans.ts";

/** What argo CD has, and runs, change without a PR moving: judged anew after this long. */
const FRESH_MS = 4 * 60_000;
/** One fetch asks for so many heads. */
const HEADS_AT_ONCE = 100;
/** Checks of PRs that concern nothing are posted so many at a time: a round must not wait for hundreds of writes. */
const MOST_SENT = 20;

/**
 * Brings the checks and comments of all open PRs up to date; where nothing was heard (`heard` false) only those of our own
 * batches, and only where the check is required. Never throws. True: something is owed, and is to be tried again.
 */
export async function publishPlans(context: RepoContext, memory: RepoMemory, baseBranch: string, heard = true): Promise<boolean> {
  const { plans } = memory;
  let owed = !(await checkOwnBatches(context, memory, plans));
  if (!heard) return owed;
  try {
    const base = await baseOf(context, memory, baseBranch);
    if (base === undefined) return owed;
    const open = (await context.forge.openPulls()).filter((pull) => pull.base === baseBranch);
    forget(plans, open);
    const { login } = await context.forge.identity();
    const others = open.filter((pull) => !isOwnBatch(pull, context.repository, login));
    for (const pull of open) if (!others.includes(pull)) owed = !(await checkOwn(context, memory, plans, pull.head)) || owed;
    await fetchHeads(context, plans, others);
    const asked = new Map<string, Promise<readonly string[]>>();
    const judged: Judged[] = [];
    for (const pull of others) judged.push(await judgeOne(context, memory, plans, base, pull, asked));
    owed = (await publishAll(context, memory, judged)) || owed;
    return (await checkGroups(context, memory, plans, open, baseBranch, login)) || owed;
  } catch (error) {
    context.log.warn({ error: String(error) }, "open pull requests could not be looked at; trying again");
    return true;
  }
}

async function baseOf(context: RepoContext, memory: RepoMemory, branch: string): Promise<PlanBase | undefined> {
  const commit = memory.remote.last.base ?? (await context.mirror.head(branch));
  if (commit === undefined) return undefined;
  const state = await context.journal.read({ head: memory.remote.last.journal });
  const project = await readProject(memory.commits.snapshot(commit), branch);
  return { commit, branch, project, runs: state.runs, index: state.index, journal: state.head };
}

function forget(plans: Plans, open: readonly Pull[]): void {
  const numbers = new Set(open.map((pull) => pull.number));
  for (const number of plans.pulls.keys()) if (!numbers.has(number)) plans.pulls.delete(number);
}

/** Heads that are new, in as few fetches as there can be. One that cannot be had is owed: its PR is judged later. */
async function fetchHeads(context: RepoContext, plans: Plans, pulls: readonly Pull[]): Promise<void> {
  const fresh = pulls.filter((pull) => {
    const known = plans.pulls.get(pull.number);
    return known?.head !== pull.head || known.touched === undefined;
  });
  for (let from = 0; from < fresh.length; from += HEADS_AT_ONCE) {
    const some = fresh.slice(from, from + HEADS_AT_ONCE);
    await context.mirror.fetch(some.map((pull) => `refs/pull/${pull.number}/head`));
  }
}

/** A PR as of this pass. */
interface Judged {
  number: number;
  known: KnownPull;
  commands: readonly Command[];
  /** It could not be judged, or not for good. */
  owed: boolean;
}

/** One PR's trouble is not the others'. */
async function judgeOne(
  context: RepoContext,
  memory: RepoMemory,
  plans: Plans,
  base: PlanBase,
  pull: Pull,
  asked: Map<string, Promise<readonly string[]>>,
): Promise<Judged> {
  const { number } = pull;
  const bypass = pull.labels.includes(BYPASS_LABEL);
  let known = plans.pulls.get(number);
  if (known === undefined || known.head !== pull.head) {
    const { comments } = known ?? {};
    known = { head: pull.head, bypass, ...(comments === undefined ? {} : { comments }) };
    plans.pulls.set(number, known);
  }
  try {
    const before = await commandsOn(context, number, known);
    const forced = before.length > 0 || memory.reruns.isAsked(pull.head, PLAN_CHECK);
    const owed = await judge(context, memory, base, number, known, bypass, forced, asked);
    return { number, known, owed, commands: before.length > 0 ? before : await commandsOn(context, number, known) };
  } catch (error) {
    context.log.warn({ pull: number, error: String(error) }, "the plan of a pull request could not be made");
    return { number, known, owed: true, commands: [] };
  }
}

/** First those that people wait for; of the others so many in one pass, for each is a write. True: something is owed. */
async function publishAll(context: RepoContext, memory: RepoMemory, judged: readonly Judged[]): Promise<boolean> {
  const concerns = (one: Judged) => one.known.verdict?.of.concerns === true;
  const waiting = judged.filter((one) => !concerns(one) && isCheckDue(memory, one.known));
  let owed = waiting.length > MOST_SENT || judged.some((one) => one.owed);
  for (const { number, known, commands } of [...judged.filter(concerns), ...waiting.slice(0, MOST_SENT)]) {
    // Each is sent though the other could not be: a check that is required holds the PR until it is there.
    const tries = [() => putComments(context, number, known), () => putCheck(context, memory, known)];
    let said = true;
    for (const send of tries) said = (await sent(context, number, send)) && said;
    owed ||= !said;
    const answers = async () => {
      for (const command of commands) await context.commands.answer(command, "done", "the plan is made afresh");
    };
    if (said && !(await sent(context, number, answers))) owed = true;
  }
  return owed;
}

async function sent(context: RepoContext, pull: number, send: () => Promise<void>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    context.log.warn({ pull, error: String(error) }, "what a pull request would do could not be said on it");
    return false;
  }
}

/** `/plan` on a PR that no run steers yet; all else is answered by whoever reads the comments. */
async function commandsOn(context: RepoContext, pull: number, known: KnownPull): Promise<Command[]> {
  if (known.verdict?.of.concerns !== true) return [];
  return (await context.commands.beforeRun?.(pull)) ?? [];
}

/** Judges it where it was not yet, or where that no longer holds. True: it is to be judged again soon. */
async function judge(
  context: RepoContext,
  memory: RepoMemory,
  base: PlanBase,
  number: number,
  known: KnownPull,
  bypass: boolean,
  forced: boolean,
  asked: Map<string, Promise<readonly string[]>>,
): Promise<boolean> {
  const { verdict } = known;
  if (verdict !== undefined && !forced && known.bypass === bypass && !verdict.of.retry) {
    const now = context.clock.now();
    // What concerns no rollout by the names of its files does so on no base that has the same rollouts.
    const young = !verdict.of.concerns || now - verdict.at < FRESH_MS;
    if (young && (await stillHolds(context.mirror, verdict.of.reads, verdict.base, base.commit, asked))) {
      verdict.base = base.commit;
      return false;
    }
  }
  known.bypass = bypass;
  if (known.touched === undefined || (known.touched.base !== base.commit && mayConcern(base.project, known.touched.files))) {
    const { touched, tree } = await touchedBy(context, base.commit, { number, head: known.head });
    known.touched = { files: touched, tree, base: base.commit };
  }
  const { files, tree } = known.touched;
  const of = mayConcern(base.project, files)
    ? await judgePull(context, memory, base, { number, head: known.head, bypass, touched: files, tree })
    : {
        check: notARollout(),
        comments: new Map<string, string>(),
        concerns: false,
        retry: false,
        reads: noReads(),
        readable: true,
        settled: true,
      };
  known.verdict = { of, base: base.commit, at: context.clock.now() };
  return of.retry;
}
