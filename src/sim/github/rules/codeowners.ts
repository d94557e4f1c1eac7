import { CODEOWNERS, ownersOf as namesOf, parseCodeowners } from "../../../core/base/codeowners.ts";
import type { Repo, Team, User, World } from "../model/model.ts";
import { type PullIssue, teamOf } from "../model/world.ts";
import { pullFiles } from "../pulls/pull-changes.ts";

/** Users and teams that own what the pull request changes, one list for each file that has any. */
export async function ownersOf(world: World, repo: Repo, issue: PullIssue): Promise<(User | Team)[][]> {
  const lines = await readLines(repo, issue.pull.baseSha);
  if (lines.length === 0) return [];
  const groups: (User | Team)[][] = [];
  for (const file of await pullFiles(repo, issue)) {
    const owners = namesOf(lines, file.path);
    const known = owners.map((name) => ownerNamed(world, repo, name)).filter((one) => one !== undefined);
    if (known.length > 0) groups.push(known);
  }
  return groups;
}

async function readLines(repo: Repo, commit: string): Promise<ReturnType<typeof parseCodeowners>> {
  for (const place of CODEOWNERS) {
    const found = await repo.git.cat.contents(`${commit}:${place}`);
    if (found?.type === "blob") return parseCodeowners(found.content.toString());
  }
  return [];
}

function ownerNamed(world: World, repo: Repo, name: string): User | Team | undefined {
  if (!name.startsWith("@")) return undefined;
  const [first = "", slug] = name.slice(1).split("/");
  if (slug === undefined) return world.users.get(first.toLowerCase());
  return first.toLowerCase() === repo.owner.login.toLowerCase() ? teamOf(world, repo.owner, slug) : undefined;
}

export function isTeam(owner: User | Team): owner is Team {
  return "slug" in owner;
}

export async function ownersMissing(world: World, repo: Repo, issue: PullIssue, approved: readonly User[]): Promise<string[]> {
  const waiting = new Set<string>();
  for (const group of await ownersOf(world, repo, issue)) {
    const done = approved.some((user) => group.some((owner) => (isTeam(owner) ? owner.members.has(user.id) : owner.id === user.id)));
    // The author's own files still need another owner, or nobody where there is none.
    if (!done) waiting.add(group.map((owner) => (isTeam(owner) ? `${owner.organization.login}/${owner.slug}` : owner.login)).join(", "));
  }
  return waiting.size === 0 ? [] : [`Waiting on code owner review from ${[...waiting].join(" and ")}.`];
}
