import type { Pull } from "../../../adapters/forge/port.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { VERSION } from "../../config-repo/release.ts";
import type { FoundRelease } from "../../config-repo/releases.ts";
import type { RepoContext } from "../context.ts";

/**
 * Who released without a PR. Of the accounts that GitHub knows to have a part in it none may approve; what stands in a commit is whatever
 * its maker typed, and is told only where GitHub knows nobody. Throws where GitHub does not answer: the release starts when it does.
 */
export async function broughtBy(
  { forge, mirror }: Pick<RepoContext, "forge" | "mirror">,
  { release: spec }: Rollout,
  { release, commit }: FoundRelease,
  baseBranch: string,
): Promise<{ author: string; accounts: string[] }> {
  const tag = spec?.kind === "tag" ? release.values[VERSION] : undefined;
  const publisher = tag === undefined ? undefined : await forge.releaseAuthor?.(tag);
  const holds = (head: string) => mirror.isAncestor(commit.sha, head);
  const { linked, pusher } = (await forge.peopleOf?.(commit.sha, tag === undefined ? baseBranch : undefined, holds)) ?? { linked: [] };
  const accounts = each([publisher, pusher, ...linked].filter((login) => login !== undefined));
  return { author: accounts[0] ?? commit.author, accounts };
}

/** Who released by a PR: who opened it, and who made its commits, since anybody may push to somebody else's. Asked only where somebody approves. */
export async function broughtByPull(
  { forge }: Pick<RepoContext, "forge">,
  { stages }: Rollout,
  { number, author }: Pick<Pull, "number" | "author">,
): Promise<{ author: string; accounts?: string[] }> {
  if (!stages.some(({ approval }) => approval !== undefined)) return { author };
  return { author, accounts: each([author, ...((await forge.pullPeople?.(number)) ?? [])]) };
}

/** Logins are one whatever their case. */
function each(logins: readonly string[]): string[] {
  return [...new Map(logins.map((login) => [login.toLowerCase(), login])).values()];
}
