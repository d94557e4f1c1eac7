import type { Pull } from "../../../adapters/forge/port.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { hasPermission } from "../../../core/spec/commands.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { VERSION } from "../../config-repo/release.ts";
import type { FoundRelease } from "../../config-repo/releases.ts";
import type { RepoContext } from "../context.ts";
import { approving } from "../observe/people.ts";

type Brought = Pick<Run["trigger"], "author" | "accounts" | "merger" | "unlinked" | "reviewers">;

const MOST_REVIEWERS = 20;
const MOST_KEPT = 20;

/**
 * Who released without a PR. Of the accounts that GitHub knows to have a part in it none may approve; what stands in a commit is whatever
 * its maker typed, and is told only where GitHub knows nobody. Throws where GitHub does not answer: the release starts when it does.
 */
export async function broughtBy(
  { forge, mirror }: Pick<RepoContext, "forge" | "mirror">,
  { release: spec }: Rollout,
  { release, commit }: FoundRelease,
  baseBranch: string,
): Promise<Brought> {
  const tag = spec?.kind === "tag" ? release.values[VERSION] : undefined;
  const publisher = tag === undefined ? undefined : await forge.releaseAuthor?.(tag);
  const holds = (head: string) => mirror.isAncestor(commit.sha, head);
  const people = await forge.peopleOf?.(commit.sha, tag === undefined ? baseBranch : undefined, holds);
  const { linked, pusher, unlinked } = people ?? { linked: [], unlinked: [] };
  const accounts = each([publisher, pusher, ...linked].filter((login) => login !== undefined));
  return { author: accounts[0] ?? commit.author, accounts, ...defined({ unlinked: orNone(unlinked) }) };
}

/**
 * Who released by a PR: who opened it, who made its commits, and who pushed them, since anybody may push to somebody else's, in anybody's
 * name. Asked only where somebody approves.
 */
export async function broughtByPull(
  { forge }: Pick<RepoContext, "forge">,
  { stages }: Pick<Rollout, "stages">,
  pull: Pull,
): Promise<Brought> {
  const { author } = pull;
  if (!stages.some(({ approval }) => approval !== undefined)) return { author };
  const { linked, unlinked, pushers = [] } = (await forge.pullPeople?.(pull)) ?? { linked: [], unlinked: [] };
  const accounts = each([author, ...linked, ...pushers]);
  const merger = stages.some(({ approval }) => approval?.notBy?.includes("merger") === true) ? await mergerOf(forge, pull) : undefined;
  // Somebody merged it whose account is gone: it may be an approver's other one.
  const nobodys = merger === null ? [...unlinked, pull.mergeCommit ?? pull.head] : unlinked;
  const reviewers = nobodys.length === 0 ? [] : await reviewersOf(forge, pull, accounts);
  return { author, accounts, ...defined({ merger: merger ?? undefined, unlinked: orNone(nobodys), reviewers: orNone(reviewers) }) };
}

/** Listed pull requests do not say it. null: GitHub does not, either. */
async function mergerOf(forge: RepoContext["forge"], { number, mergedBy }: Pull): Promise<string | null> {
  return mergedBy ?? (await forge.pull(number))?.mergedBy ?? null;
}

/** Who approved the PR as it was merged, and may write here: the last word of each, and no App's. */
async function reviewersOf(forge: RepoContext["forge"], { number, head }: Pull, but: readonly string[]): Promise<string[]> {
  const out = new Set(but.map((login) => login.toLowerCase()));
  const approved = approving(await forge.reviews(number), head).filter(({ author }) => !out.has(author.toLowerCase()));
  const reviewers: string[] = [];
  for (const { author } of approved.slice(0, MOST_REVIEWERS))
    if (hasPermission(await forge.permission(author), "write")) reviewers.push(author);
  return reviewers;
}

/** What is empty is not journalled; of many the first are told. */
function orNone(list: readonly string[]): string[] | undefined {
  return list.length === 0 ? undefined : list.slice(0, MOST_KEPT);
}

/** Logins are one whatever their case. */
function each(logins: readonly string[]): string[] {
  return [...new Map(logins.map((login) => [login.toLowerCase(), login])).values()];
}
