import { join } from "node:path";
import { emitRepository } from "../deliver/events.ts";
import { cloneBareRepo, createBareRepo } from "../git/bare-repo.ts";
import { ApiFailure, invalid } from "../http/failure.ts";
import type { Actor, Repo, RepoSettings, User, World } from "./model.ts";
import { actorOf, findRepo, fullName, isPull, serialQueue, userOf } from "./world.ts";

export interface NewRepo {
  owner: string;
  name: string;
  files: ReadonlyMap<string, string | Buffer>;
  defaultBranch?: string;
  private?: boolean;
  settings?: Partial<RepoSettings>;
}

const SETTINGS: RepoSettings = {
  allowMerge: true,
  allowSquash: true,
  allowRebase: true,
  allowAutoMerge: false,
  deleteBranchOnMerge: false,
};

function directoryOf(world: World, owner: string, name: string): string {
  return join(world.directory, owner, `${name}.git`);
}

function register(
  world: World,
  made: Pick<Repo, "owner" | "name" | "private" | "defaultBranch" | "git" | "settings"> & Partial<Repo>,
): Repo {
  const repo: Repo = {
    id: world.nextId(),
    description: null,
    archived: false,
    nextNumber: 1,
    issues: new Map(),
    comments: new Map(),
    labels: new Map(),
    checks: new Map(),
    suites: new Map(),
    statuses: [],
    deployments: new Map(),
    collaborators: new Map(),
    protections: new Map(),
    rulesets: new Map(),
    queues: new Map(),
    activities: [],
    createdAt: world.clock.now(),
    pushedAt: world.clock.now(),
    serial: serialQueue(),
    ...made,
  };
  const key = fullName(repo).toLowerCase();
  world.repos.set(key, repo);
  // A new repository takes a name away from the one that was renamed.
  world.moved.delete(key);
  return repo;
}

export async function addRepo(world: World, input: NewRepo): Promise<Repo> {
  const owner = userOf(world, input.owner, "Organization");
  const branch = input.defaultBranch ?? "main";
  const git = await createBareRepo(directoryOf(world, owner.login, input.name), { branch, files: input.files, at: world.clock.now() });
  const settings = { ...SETTINGS, ...input.settings };
  return register(world, { owner, name: input.name, private: input.private ?? false, defaultBranch: branch, git, settings });
}

/** The fork shares the objects it starts with; forking again gives the one there is. */
export async function forkRepo(world: World, parent: Repo, owner: User): Promise<Repo> {
  const there = [...world.repos.values()].find((one) => one.parent === parent && one.owner.id === owner.id);
  if (there !== undefined) return there;
  if (findRepo(world, owner.login, parent.name) !== undefined) {
    throw new ApiFailure(403, `Name already exists on this account: ${owner.login}/${parent.name}`);
  }
  const git = await cloneBareRepo(parent.git.dir, directoryOf(world, owner.login, parent.name));
  const { name, private: hidden, defaultBranch } = parent;
  const fork = register(world, { owner, name, private: hidden, defaultBranch, git, settings: { ...SETTINGS }, parent });
  emitRepository(world, fork, actorOf(world, owner), "created");
  return fork;
}

/** The old name goes on leading to the repository. */
export function renameRepo(world: World, repo: Repo, name: string, actor: Actor = actorOf(world, repo.owner)): void {
  const from = repo.name;
  const key = `${repo.owner.login}/${name}`.toLowerCase();
  if (world.repos.has(key) || !/^[\w.-]{1,100}$/.test(name)) {
    const message = "name already exists on this account";
    throw invalid({ resource: "Repository", field: "name", code: "custom", message });
  }
  const old = fullName(repo).toLowerCase();
  world.repos.delete(old);
  world.moved.set(old, repo);
  world.moved.delete(key);
  repo.name = name;
  world.repos.set(key, repo);
  emitRepository(world, repo, actor, "renamed", { changes: { repository: { name: { from } } } });
}

export function setArchived(world: World, repo: Repo, archived: boolean, actor: Actor = actorOf(world, repo.owner)): void {
  if (repo.archived === archived) return;
  repo.archived = archived;
  emitRepository(world, repo, actor, archived ? "archived" : "unarchived");
}

/** Its name is free again; pull requests from it lose their head. */
export function removeRepo(world: World, repo: Repo, actor: Actor = actorOf(world, repo.owner)): void {
  emitRepository(world, repo, actor, "deleted");
  world.repos.delete(fullName(repo).toLowerCase());
  for (const [name, moved] of world.moved) if (moved === repo) world.moved.delete(name);
  for (const other of world.repos.values()) {
    for (const issue of [...other.issues.values()].filter(isPull)) if (issue.pull.headRepo === repo) issue.pull.headRepo = null;
  }
  repo.git.close();
}
