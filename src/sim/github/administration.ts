import { randomBytes } from "node:crypto";
import { emitInstallation, emitInstallationRepositories, emitRepository } from "./deliver/events.ts";
import { mintToken } from "./http/auth.ts";
import { addSigningKey } from "./http/signatures.ts";
import type { Installation, Permissions, Protection, Repo, RepoSettings, Role, Ruleset, User, World } from "./model/model.ts";
import { repoNamed } from "./model/people.ts";
import { addRepo, forkRepo, type NewRepo, removeRepo, renameRepo, setArchived } from "./model/repositories.ts";
import { actorOf, teamOf, userOf } from "./model/world.ts";
import { grantKey, revokeGrant } from "./oauth/grants.ts";
import { UNPROTECTED } from "./rules/rules.ts";

/** What an administrator of the site, or of an account on it, does: repositories, the App, tokens, permissions, settings. */
export function administration(world: World) {
  return { ...installations(world), ...credentials(world), ...repositories(world), ...organizations(world) };
}

function installations(world: World) {
  const installation = (id: number): Installation => {
    const found = world.installations.get(id);
    if (found === undefined) throw new Error(`there is no installation ${id}`);
    return found;
  };
  const suspend = (id: number, since: number | undefined) => {
    const found = installation(id);
    found.suspended = since;
    emitInstallation(world, found, since === undefined ? "unsuspend" : "suspend");
  };
  return {
    install: (owner: string, permissions?: Permissions, appId?: number) => install(world, owner, permissions, appId),
    uninstall(installationId: number) {
      const found = world.installations.get(installationId);
      if (found === undefined) return;
      emitInstallation(world, found, "deleted");
      world.installations.delete(installationId);
      for (const [token, held] of world.tokens) if (held.actor.installation?.id === installationId) world.tokens.delete(token);
    },
    /** The account's owner stops the App for a while: its tokens are refused, and no event is sent. */
    suspend: (installationId: number) => suspend(installationId, world.clock.now()),
    unsuspend: (installationId: number) => suspend(installationId, undefined),
    /** Which repositories the App has: all, or those named. Says what was added and removed. */
    selectRepositories(installationId: number, repositories: "all" | readonly string[]) {
      const found = installation(installationId);
      const own = [...world.repos.values()].filter((repo) => repo.owner.id === found.account.id);
      const had = (repo: Repo) => found.repositories === "all" || found.repositories.has(repo.id);
      const before = new Set(own.filter(had));
      found.repositories = repositories === "all" ? "all" : new Set(repositories.map((name) => repoNamed(world, name).id));
      const after = new Set(own.filter(had));
      emitInstallationRepositories(world, found, "added", [...after.difference(before)]);
      emitInstallationRepositories(world, found, "removed", [...before.difference(after)]);
    },
    setPermissions(installationId: number, permissions: Permissions) {
      installation(installationId).permissions = permissions;
      emitInstallation(world, installation(installationId), "new_permissions_accepted");
    },
    installationToken: (installationId: number, narrowed: Parameters<typeof mintToken>[2] = {}) =>
      mintToken(world, installation(installationId), narrowed).token,
  };
}

/** Puts an App on an account, with all its repositories; `installation.created` is sent. */
export function install(world: World, owner: string, permissions?: Permissions, appId?: number): number {
  const app = appId === undefined ? world.app : world.apps.get(appId);
  if (app === undefined) throw new Error(`there is no App ${appId}`);
  const made: Installation = {
    id: world.nextId(),
    account: userOf(world, owner, "Organization"),
    app,
    permissions: permissions ?? app.permissions,
    repositories: "all",
    suspended: undefined,
    createdAt: world.clock.now(),
  };
  world.installations.set(made.id, made);
  emitInstallation(world, made, "created");
  return made.id;
}

function credentials(world: World) {
  return {
    token(login: string, token = `ghp_${randomBytes(27).toString("base64url").replace(/[-_]/g, "x")}`) {
      const user = userOf(world, login);
      world.tokens.set(token, { actor: { kind: "user", user, limitKey: `user:${user.id}` } });
      return token;
    },
    expireTokens() {
      for (const [token, held] of world.tokens) if (held.expiresAt !== undefined) world.tokens.delete(token);
    },
    revokeToken: (token: string) => world.tokens.delete(token),
    /** Who sits at the browser from now on; their yes to the App is taken for granted where `consents`. */
    signIn(login: string, { consents = false } = {}) {
      const user = userOf(world, login);
      world.visitor = { token: randomBytes(24).toString("base64url"), ...world.visitor, user };
      if (consents) world.oauth.grants.add(grantKey(world.app, user));
    },
    /** They take back what they allowed the App: every token that it got of them ends. */
    revokeGrant: (login: string) => revokeGrant(world, world.app, userOf(world, login)),
    /** Where people may be led back to with a code for the App. */
    setCallbackUrls(...urls: readonly string[]) {
      world.app.callbackUrls = urls.slice(0, 10);
    },
    addSigningKey: (login: string, key: string) => addSigningKey(world, userOf(world, login), key, "signing").id,
  };
}

function repositories(world: World) {
  const installationOf = (owner: User) =>
    [...world.installations.values()].find((one) => one.account.id === owner.id && one.app === world.app)?.id;
  return {
    async createRepo(input: NewRepo & { installed?: boolean }) {
      const repo = await addRepo(world, input);
      emitRepository(world, repo, actorOf(world, repo.owner), "created");
      const installationId = input.installed === false ? undefined : (installationOf(repo.owner) ?? install(world, repo.owner.login));
      const repository = `${repo.owner.login}/${repo.name}`;
      const head = (await repo.git.ref(`refs/heads/${repo.defaultBranch}`)) ?? "";
      return { repository, cloneUrl: `${world.origin}/${repository}.git`, installationId, head };
    },
    /** Gives the fork's name; its owner is its administrator. */
    async fork(repository: string, owner: string) {
      const fork = await forkRepo(world, repoNamed(world, repository), userOf(world, owner));
      return `${fork.owner.login}/${fork.name}`;
    },
    rename: (repository: string, name: string) => renameRepo(world, repoNamed(world, repository), name),
    deleteRepo: (repository: string) => removeRepo(world, repoNamed(world, repository)),
    collaborator(repository: string, login: string, role: Role) {
      repoNamed(world, repository).collaborators.set(login.toLowerCase(), { user: userOf(world, login), role });
    },
    protect(repository: string, branch: string, rules: Partial<Protection>) {
      repoNamed(world, repository).protections.set(branch, { ...UNPROTECTED, ...rules });
    },
    /** Adds a ruleset, active on the default branch where nothing else is said; gives its id. */
    ruleset(repository: string, rules: Pick<Ruleset, "rules"> & Partial<Omit<Ruleset, "id">>) {
      const repo = repoNamed(world, repository);
      const id = world.nextId();
      const include = ["~DEFAULT_BRANCH"];
      const plain = { name: `ruleset ${id}`, source: "Repository", enforcement: "active", include, exclude: [], bypass: [] } as const;
      repo.rulesets.set(id, { ...plain, include, exclude: [], bypass: [], ...rules, id });
      return id;
    },
    /** Lets nobody but the App write to the branches that are its own, by the ruleset that onboarding proposes; gives its id. */
    reserveBranches(repository: string) {
      const rules = (["creation", "update", "deletion", "non_fast_forward"] as const).map((type) => ({ type }));
      const include = ["refs/heads/stagecoach/journal", "refs/heads/stagecoach-run/**/*"];
      const bypass = [{ type: "Integration" as const, id: world.app.id, mode: "always" as const }];
      return this.ruleset(repository, { name: "stagecoach branches", include, rules, bypass });
    },
    /** As GitHub does with check runs that are older than 400 days. */
    forgetChecks(repository: string, name: string): void {
      const { checks } = repoNamed(world, repository);
      for (const [id, run] of checks) if (run.name === name) checks.delete(id);
    },
    /** All that stands in a repository, for whoever keeps it or puts it back. */
    inside: (repository: string) => ({ world, repo: repoNamed(world, repository) }),
    removeRuleset: (repository: string, id: number) => repoNamed(world, repository).rulesets.delete(id),
    settings(repository: string, change: Partial<RepoSettings & { archived: boolean; private: boolean }>) {
      const repo = repoNamed(world, repository);
      const { archived, private: hidden, ...settings } = change;
      Object.assign(repo.settings, settings);
      repo.private = hidden ?? repo.private;
      if (archived !== undefined) setArchived(world, repo, archived);
    },
  };
}

function organizations(world: World) {
  return {
    member(organization: string, login: string) {
      const org = userOf(world, organization, "Organization");
      const members = world.members.get(org.id) ?? new Set();
      world.members.set(org.id, members.add(userOf(world, login).id));
    },
    /** Makes the team, or gives it these members; they become members of the organisation, too. */
    team(organization: string, slug: string, logins: readonly string[], name = slug) {
      const org = userOf(world, organization, "Organization");
      const known = teamOf(world, org, slug);
      const members = new Map(logins.map((login) => [userOf(world, login).id, "member" as const]));
      const team = { id: known?.id ?? world.nextId(), organization: org, slug, name, members };
      world.teams.set(`${org.login}/${slug}`.toLowerCase(), team);
      const all = world.members.get(org.id) ?? new Set();
      for (const id of members.keys()) all.add(id);
      world.members.set(org.id, all);
      return team.id;
    },
  };
}
