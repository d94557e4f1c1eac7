/**
 * Release PRs, before they are merged: what merging one would do, as its comment and as the check `stagecoach/plan`, which
 * every other PR and merge group to the base gets green.
 *
 * Level-triggered: what stands on GitHub is compared with what should, PR by PR, and what could not be sent is owed until
 * it is. Cheap: heads are fetched in one go, a PR is judged once for its head and for what of the base it depends on, and
 * one that concerns no rollout is never looked at again.
 */
import type { Pull } from "../forge/port.ts";
import { notARollout, ownBatch, PLAN_CHECK } from "../report/plan-check.ts";
import { BYPASS_LABEL } from "../report/plan-unstaged.ts";
import type { Command } from "../rollout/world.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { judgePull, type PlanBase, type Verdict } from "./plan-check.ts";
import { noReads, stillHolds } from "./plan-check-reads.ts";
import { putCheck, putComments, sendCheck } from "./plan-check-send.ts";
import { mayConcern, touchedBy } from "./plan-check-touched.ts";
import { readProject } from "./project.ts";

/** What argo CD has, and runs, change without a PR moving: judged anew after this long. */
const FRESH_MS = 4 * 60_000;
/** One fetch asks for so many heads. */
const HEADS_AT_ONCE = 100;
const QUEUE = "refs/heads/gh-readonly-queue/";

/** What is known of one open PR. */
export interface KnownPull {
  head: string;
  bypass: boolean;
  /** Of this head, as of the first base it was seen with. */
  touched?: { files: readonly string[]; tree: string | undefined; base: string };
  verdict?: { of: Verdict; base: string; at: number };
  /** What its check last said, where it was sent. */
  check?: string;
  /** Our comments by marker, as sent; undefined: it is not known yet which there are. */
  comments?: Map<string, string>;
}

interface Plans {
  pulls: Map<number, KnownPull>;
  /** Merge group's commit → what its check says. */
  groups: Map<string, string>;
  /** Commits of batches' PRs that have their check. */
  own: Set<string>;
}

const memories = new WeakMap<RepoMemory, Plans>();

function plansOf(memory: RepoMemory): Plans {
  const known = memories.get(memory) ?? { pulls: new Map(), groups: new Map(), own: new Set() };
  memories.set(memory, known);
  return known;
}

/**
 * Brings the checks and comments of all open PRs up to date; where nothing was heard (`heard` false) only those of our own
 * batches, and only where the check is required. Never throws. True: something is owed, and is to be tried again.
 */
export async function publishPlans(context: RepoContext, memory: RepoMemory, baseBranch: string, heard = true): Promise<boolean> {
  const plans = plansOf(memory);
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
    for (const pull of others) owed = (await publishPull(context, memory, plans, base, pull, asked)) || owed;
    return (await checkGroups(context, memory, plans, open, baseBranch, login)) || owed;
  } catch (error) {
    context.log.warn({ error: String(error) }, "open pull requests could not be looked at; trying again");
    return true;
  }
}

async function baseOf(context: RepoContext, memory: RepoMemory, branch: string): Promise<PlanBase | undefined> {
  const commit = memory.remote.base ?? (await context.mirror.head(branch));
  if (commit === undefined) return undefined;
  const state = await context.journal.read({ head: memory.remote.journal });
  const project = await readProject(memory.snapshot(commit));
  return { commit, branch, project, runs: state.runs, index: state.index, journal: state.head };
}

/** Ours by its branch, its repository and its author: a branch alone anybody can name so. */
function isOwnBatch(pull: Pull, repository: string, login: string): boolean {
  const here = pull.headRepository?.toLowerCase() === repository.toLowerCase();
  return here && pull.author === login && pull.branch.startsWith("stagecoach-run/");
}

function forget(plans: Plans, open: readonly Pull[]): void {
  const numbers = new Set(open.map((pull) => pull.number));
  for (const number of plans.pulls.keys()) if (!numbers.has(number)) plans.pulls.delete(number);
}

/** Heads that are new, in as few fetches as there can be. One that cannot be had is owed: its PR is judged later. */
async function fetchHeads(context: RepoContext, plans: Plans, pulls: readonly Pull[]): Promise<void> {
  const fresh = pulls.filter((pull) => plans.pulls.get(pull.number)?.head !== pull.head);
  for (let from = 0; from < fresh.length; from += HEADS_AT_ONCE) {
    const some = fresh.slice(from, from + HEADS_AT_ONCE);
    await context.mirror.fetch(some.map((pull) => `refs/pull/${pull.number}/head`));
  }
}

/** True: owed. One PR's trouble is not the others'. */
async function publishPull(
  context: RepoContext,
  memory: RepoMemory,
  plans: Plans,
  base: PlanBase,
  pull: Pull,
  asked: Map<string, Promise<readonly string[]>>,
): Promise<boolean> {
  const bypass = pull.labels.includes(BYPASS_LABEL);
  let known = plans.pulls.get(pull.number);
  if (known === undefined || known.head !== pull.head) {
    const { comments } = known ?? {};
    known = { head: pull.head, bypass, ...(comments === undefined ? {} : { comments }) };
    plans.pulls.set(pull.number, known);
  }
  try {
    const before = await commandsOn(context, pull.number, known);
    const retry = await judge(context, memory, base, pull.number, known, bypass, before.length > 0, asked);
    const commands = before.length > 0 ? before : await commandsOn(context, pull.number, known);
    await putComments(context, pull.number, known);
    await putCheck(context, memory, known);
    for (const command of commands) await context.commands.answer(command, "done", "the plan is made afresh");
    return retry;
  } catch (error) {
    context.log.warn({ pull: pull.number, error: String(error) }, "the plan of a pull request could not be made");
    return true;
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

/** Where the check is required a batch's own PR must have it before anybody hears of that PR. False: owed. */
async function checkOwnBatches(context: RepoContext, memory: RepoMemory, plans: Plans): Promise<boolean> {
  const required = memory.rules?.rules?.requiredChecks.some((check) => check.context === PLAN_CHECK) === true;
  if (!required) return true;
  let all = true;
  for (const pull of memory.pulls.values()) if (pull.state === "open") all = (await checkOwn(context, memory, plans, pull.head)) && all;
  return all;
}

async function checkOwn(context: RepoContext, memory: RepoMemory, plans: Plans, head: string): Promise<boolean> {
  if (plans.own.has(head)) return true;
  try {
    await sendCheck(context, memory, head, ownBatch());
  } catch (error) {
    context.log.warn({ head, error: String(error) }, "the check of a batch's pull request could not be posted");
    return false;
  }
  if (plans.own.size > 5000) plans.own.clear();
  plans.own.add(head);
  return true;
}

/** A merge group is as good as the PR that it merges, which was judged by itself. True: owed. */
async function checkGroups(
  context: RepoContext,
  memory: RepoMemory,
  plans: Plans,
  open: readonly Pull[],
  baseBranch: string,
  login: string,
): Promise<boolean> {
  const groups = await context.mirror.remoteBelow([`${QUEUE}${baseBranch}/`]);
  for (const commit of plans.groups.keys()) if (![...groups.values()].includes(commit)) plans.groups.delete(commit);
  let owed = false;
  for (const [ref, commit] of groups) {
    const number = Number(/\/pr-(\d+)-[0-9a-f]+$/.exec(ref)?.[1] ?? Number.NaN);
    const pull = open.find((one) => one.number === number);
    const own = pull !== undefined && isOwnBatch(pull, context.repository, login);
    const words = own ? ownBatch() : plans.pulls.get(number)?.verdict?.of.check;
    if (words === undefined || plans.groups.get(commit) === JSON.stringify(words)) continue;
    try {
      const { annotations: _, ...rest } = words;
      await sendCheck(context, memory, commit, rest);
      plans.groups.set(commit, JSON.stringify(words));
    } catch (error) {
      owed = true;
      context.log.warn({ commit, error: String(error) }, "the check of a merge group could not be posted");
    }
  }
  return owed;
}
