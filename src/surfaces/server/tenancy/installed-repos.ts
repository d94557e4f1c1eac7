import type { ProbotOctokit } from "probot";
import type { Log } from "../../../engine/round/context.ts";

/** A repository the App may work on, as GitHub lists it. */
export interface InstalledRepo {
  /** `owner/name`. */
  fullName: string;
  /** Stays as it is, however the repository is renamed; another one by its name has another. */
  id: number;
  installationId: number;
  /** The default branch. */
  baseBranch: string;
  cloneUrl: string;
}

export interface InstalledRepos {
  repos: InstalledRepo[];
  /** Installations whose owner has put them on hold: nothing may be asked or done there until that ends. */
  suspended: ReadonlySet<number>;
  /** Installations whose repositories could not be listed this time: nothing is concluded about them. */
  unseen: ReadonlySet<number>;
  /** Logins of the accounts that it is installed for, in lower case. */
  owners: ReadonlySet<string>;
  /** The one that the App belongs to; asked only where there are several. */
  appOwner?: string | undefined;
}

/** Whether a repository is of the one account that the bot works for: the only one that has it, or else the App's own. */
export function isHome({ fullName }: Pick<InstalledRepo, "fullName">, { owners, appOwner }: InstalledRepos): boolean {
  return owners.size <= 1 || fullName.toLowerCase().split("/")[0] === appOwner;
}

/** Which repositories the App is installed on. Throws only where the installations themselves cannot be listed. */
export async function listInstalledRepos(octokit: (installationId?: number) => Promise<ProbotOctokit>, log: Log): Promise<InstalledRepos> {
  const app = await octokit();
  const installations = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 });
  const owners = new Set(installations.map(({ id, account }) => nameOf(account) ?? `installation ${id}`));
  const suspended = new Set<number>();
  const unseen = new Set<number>();
  const repos: InstalledRepo[] = [];
  for (const installation of installations) {
    if (installation.suspended_at !== null && installation.suspended_at !== undefined) {
      suspended.add(installation.id);
      continue;
    }
    try {
      repos.push(...(await reposOf(await octokit(installation.id), installation.id)));
    } catch (error) {
      unseen.add(installation.id);
      log.warn({ installation: installation.id, error: String(error) }, "the repositories of an installation could not be listed");
    }
  }
  const appOwner = owners.size > 1 ? nameOf((await app.rest.apps.getAuthenticated()).data?.owner) : undefined;
  return { repos, suspended, unseen, owners, appOwner };
}

/** Of an account, or of an enterprise. */
function nameOf(account: object | null | undefined): string | undefined {
  const { login, slug } = (account ?? {}) as { login?: string; slug?: string };
  return (login ?? slug)?.toLowerCase();
}

async function reposOf(octokit: ProbotOctokit, installationId: number): Promise<InstalledRepo[]> {
  const repositories = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
  return repositories
    .filter(({ archived, disabled }) => !archived && disabled !== true)
    .map(({ id, full_name: fullName, default_branch: baseBranch, clone_url: cloneUrl }) => ({
      ...{ fullName, id, installationId, baseBranch, cloneUrl },
    }));
}
