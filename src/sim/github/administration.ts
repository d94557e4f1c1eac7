import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { mintToken } from "./auth.ts";
import { emitInstallation } from "./events.ts";
import { createBareRepo } from "./git/bare-repo.ts";
import type { Installation, Permissions, Protection, Repo, Role, User, World } from "./model.ts";
import { repoNamed } from "./people.ts";
import { serialQueue, userOf } from "./world.ts";

export interface NewRepo {
  owner: string;
  name: string;
  files: ReadonlyMap<string, string | Buffer>;
  defaultBranch?: string;
  private?: boolean;
  settings?: Partial<Repo["settings"]>;
}

/** What an administrator of the site, or of an account on it, does: repositories, the App, tokens, permissions, settings. */
export function administration(world: World) {
  const install = (owner: string, permissions: Permissions = world.app.permissions): number => {
    const account = userOf(world, owner, "Organization");
    const installation: Installation = {
      id: world.nextId(),
      account,
      app: world.app,
      permissions,
      suspended: false,
      createdAt: world.clock.now(),
    };
    world.installations.set(installation.id, installation);
    emitInstallation(world, installation, "created");
    return installation.id;
  };
  const installationOf = (owner: User) => [...world.installations.values()].find((one) => one.account.id === owner.id)?.id;
  return {
    install,
    async createRepo(input: NewRepo & { installed?: boolean }) {
      const repo = await addRepo(world, input);
      const installationId = input.installed === false ? undefined : (installationOf(repo.owner) ?? install(repo.owner.login));
      const repository = `${repo.owner.login}/${repo.name}`;
      const head = (await repo.git.ref(`refs/heads/${repo.defaultBranch}`)) ?? "";
      return { repository, cloneUrl: `${world.origin}/${repository}.git`, installationId, head };
    },
    uninstall(installationId: number) {
      const installation = world.installations.get(installationId);
      if (installation === undefined) return;
      emitInstallation(world, installation, "deleted");
      world.installations.delete(installationId);
      for (const [token, held] of world.tokens) if (held.actor.installation?.id === installationId) world.tokens.delete(token);
    },
    token(login: string, token = `ghp_${randomBytes(27).toString("base64url").replace(/[-_]/g, "x")}`) {
      const user = userOf(world, login);
      world.tokens.set(token, { actor: { kind: "user", user, limitKey: `user:${user.id}` } });
      return token;
    },
    installationToken(installationId: number) {
      const installation = world.installations.get(installationId);
      if (installation === undefined) throw new Error(`there is no installation ${installationId}`);
      return mintToken(world, installation).token;
    },
    expireTokens() {
      for (const [token, held] of world.tokens) if (held.expiresAt !== undefined) world.tokens.delete(token);
    },
    collaborator(repository: string, login: string, role: Role) {
      repoNamed(world, repository).collaborators.set(login.toLowerCase(), { user: userOf(world, login), role });
    },
    protect(repository: string, branch: string, rules: Partial<Protection>) {
      const none: Protection = { requiredChecks: [], approvals: 0, strict: false, mergeQueue: false, rules: [] };
      repoNamed(world, repository).protections.set(branch, { ...none, ...rules });
    },
    settings(repository: string, change: Partial<Repo["settings"] & { archived: boolean; private: boolean }>) {
      const repo = repoNamed(world, repository);
      const { archived, private: hidden, ...settings } = change;
      Object.assign(repo.settings, settings);
      repo.archived = archived ?? repo.archived;
      repo.private = hidden ?? repo.private;
    },
  };
}

async function addRepo(world: World, input: NewRepo): Promise<Repo> {
  const owner = userOf(world, input.owner, "Organization");
  const defaultBranch = input.defaultBranch ?? "main";
  const dir = join(world.directory, owner.login, `${input.name}.git`);
  const git = await createBareRepo(dir, { branch: defaultBranch, files: input.files, at: world.clock.now() });
  const repo: Repo = {
    id: world.nextId(),
    owner,
    name: input.name,
    private: input.private ?? false,
    archived: false,
    defaultBranch,
    git,
    nextNumber: 1,
    issues: new Map(),
    comments: new Map(),
    labels: new Map(),
    checks: new Map(),
    collaborators: new Map(),
    protections: new Map(),
    settings: { allowMerge: true, allowSquash: true, allowRebase: true, deleteBranchOnMerge: false, ...input.settings },
    createdAt: world.clock.now(),
    pushedAt: world.clock.now(),
    serial: serialQueue(),
  };
  world.repos.set(`${owner.login}/${input.name}`.toLowerCase(), repo);
  return repo;
}
