import type { Pull } from "../../adapters/forge/port.ts";
import { ownBatch, PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";
import { sendCheck } from "./plan-check-send.ts";
import type { Plans } from "./plans.ts";

const QUEUE = "refs/heads/gh-readonly-queue/";

/** Ours by its branch, its repository and its author: a branch alone anybody can name so. */
export function isOwnBatch(pull: Pull, repository: string, login: string): boolean {
  const here = pull.headRepository?.toLowerCase() === repository.toLowerCase();
  return here && pull.author === login && pull.branch.startsWith("stagecoach-run/");
}

/** Where the check is required a batch's own PR must have it before anybody hears of that PR. False: owed. */
export async function checkOwnBatches(context: RepoContext, memory: RepoMemory, plans: Plans): Promise<boolean> {
  const required = memory.rules.last?.requiredChecks.some((check) => check.context === PLAN_CHECK) === true;
  if (!required) return true;
  let all = true;
  for (const head of memory.pulls.openHeads()) all = (await checkOwn(context, memory, plans, head)) && all;
  return all;
}

export async function checkOwn(context: RepoContext, memory: RepoMemory, plans: Plans, head: string): Promise<boolean> {
  if (plans.own.has(head) && !memory.reruns.isAsked(head, PLAN_CHECK)) return true;
  try {
    if (!(await sendCheck(context, memory, head, ownBatch()))) return true;
  } catch (error) {
    context.log.warn({ head, error: String(error) }, "the check of a batch's pull request could not be posted");
    return false;
  }
  if (plans.own.size > 5000) plans.own.clear();
  plans.own.add(head);
  return true;
}

/** A merge group is as good as the PR that it merges, which was judged by itself. True: owed. */
export async function checkGroups(
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
    const again = memory.reruns.isAsked(commit, PLAN_CHECK);
    if (words === undefined || (plans.groups.get(commit) === JSON.stringify(words) && !again)) continue;
    try {
      const { annotations: _, ...rest } = words;
      if (await sendCheck(context, memory, commit, rest)) plans.groups.set(commit, JSON.stringify(words));
    } catch (error) {
      owed = true;
      context.log.warn({ commit, error: String(error) }, "the check of a merge group could not be posted");
    }
  }
  return owed;
}
