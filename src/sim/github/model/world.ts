import { createHash } from "node:crypto";
import { notFound } from "../http/failure.ts";
import type { Actor, Installation, Issue, Repo, Role, Team, User, World } from "./model.ts";

/** The account of that name, made on first sight: every login a script uses exists. Apps' accounts end in `[bot]`. */
export function userOf(world: World, login: string, type: User["type"] = login.endsWith("[bot]") ? "Bot" : "User"): User {
  const key = login.toLowerCase();
  const known = world.users.get(key);
  if (known !== undefined) return known;
  const made: User = { login, id: world.nextId(), type };
  world.users.set(key, made);
  return made;
}

export function fullName(repo: Repo): string {
  return `${repo.owner.login}/${repo.name}`;
}

export function findRepo(world: World, owner: string, name: string): Repo | undefined {
  return world.repos.get(`${owner}/${name}`.toLowerCase());
}

/** The repository that had this name before it was renamed: GitHub goes on answering for it. */
export function movedRepo(world: World, owner: string, name: string): Repo | undefined {
  return world.moved.get(`${owner}/${name}`.toLowerCase());
}

/** Installations that see the repository; `all`: suspended ones, too. */
export function installationsOn(world: World, repo: Pick<Repo, "id" | "owner">, all = false): Installation[] {
  return [...world.installations.values()].filter((one) => {
    if (one.account.id !== repo.owner.id || (one.suspended !== undefined && !all)) return false;
    return one.repositories === "all" || one.repositories.has(repo.id);
  });
}

export function teamOf(world: World, organization: User, slug: string): Team | undefined {
  return world.teams.get(`${organization.login}/${slug}`.toLowerCase());
}

/** Who commits what is done on the site or by the API. */
export const WEB_FLOW: User = { login: "web-flow", id: 19_864_447, type: "User" };

const ORDER: readonly Role[] = ["none", "read", "triage", "write", "maintain", "admin"];

export function atLeast(role: Role, needed: Role): boolean {
  return ORDER.indexOf(role) >= ORDER.indexOf(needed);
}

/** What the account may do here by itself, whatever token it uses. */
export function roleOf(repo: Repo, user: User): Role {
  if (user.id === repo.owner.id) return "admin";
  const given = repo.collaborators.get(user.login.toLowerCase())?.role;
  return given ?? (repo.private ? "none" : "read");
}

export function actorOf(world: World, user: User): Actor {
  return { kind: "user", user: userOf(world, user.login, user.type), limitKey: `user:${user.id}` };
}

/** GitHub's whole seconds. */
export function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function nodeId(kind: string, id: number | string): string {
  return `${kind}_${Buffer.from(String(id)).toString("base64url")}`;
}

export function issueOf(repo: Repo, number: number): Issue {
  const issue = repo.issues.get(number);
  if (issue === undefined) throw notFound();
  return issue;
}

export type PullIssue = Issue & { pull: NonNullable<Issue["pull"]> };

export function isPull(issue: Issue): issue is PullIssue {
  return issue.pull !== undefined;
}

export function pullOf(repo: Repo, number: number): PullIssue {
  const issue = issueOf(repo, number);
  if (!isPull(issue)) throw notFound();
  return issue;
}

function _sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

/** Work done one after the other. */
export function serialQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** What an answer may say of somebody's node. */
export function kindOf(user: User): "BOT" | "O" | "U" {
  if (user.type === "Bot") return "BOT";
  return user.type === "Organization" ? "O" : "U";
}
