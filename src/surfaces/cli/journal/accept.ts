/** `stagecoach journal accept`: one commit accepts the journal as it stands, and names the head that was looked at and who did. */
import { Octokit } from "@octokit/rest";
import { Command } from "commander";
import { ProbotOctokit } from "probot";
import { openGitHubWriter } from "../../../adapters/forge/github/commit-writer.ts";
import { asking } from "../../../adapters/forge/github/errors.ts";
import type { OctokitLike } from "../../../adapters/forge/github/octokit.ts";
import { ForgeError } from "../../../adapters/forge/port.ts";
import { buildCommit } from "../../../adapters/git/fast-import.ts";
import { acceptJournal } from "../../../adapters/git/journal/accept.ts";
import { authorOf } from "../../../adapters/git/journal/check.ts";
import { INDEX_FILE, parseIndex } from "../../../adapters/git/journal/index-file.ts";
import { openLocalWriter } from "../../../adapters/git/local-writer.ts";
import { branchRef, objectId } from "../../../adapters/git/names.ts";
import type { CommitWriter, Mirror } from "../../../adapters/git/port.ts";
import { readSigningKey } from "../../../adapters/git/signing/ssh-key.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { parseArgs, readGiven } from "../args.ts";
import { CommandError } from "../command.ts";
import { type CheckoutGit, openGit, openObjects } from "./checkout.ts";
import { type SealOptions, sealOf } from "./seal-options.ts";
import { asCommandError } from "./source.ts";

interface Options extends SealOptions {
  repo: string;
  branch: string;
  by?: string;
  app?: string;
  signingKey?: string;
  github?: string;
  appId?: string;
  tokenFile?: string;
  apiUrl: string;
}

const WHO = `
The acceptance has to be one that the bot believes:
  sealed, by who has the server's key     --github with --app-id and --app-key (and --seal-key where the server has one of its own),
                                          or --seal-key and --repository-id: always
  --github with --token-file, or a push   by who has maintain or admin on the repo, as GitHub tells who moved the branch
No acceptance covers a journal that was rewritten or put back: push the head that the bot names back to the branch. Where that commit is
lost for good, delete the branch; "none", sealed, begins a new journal.
`;

export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("stagecoach journal accept")
    .description("Accepts the journal as it stands, by a commit on it that names the head you looked at and who you are")
    .argument("<head>", 'the head, as `journal show` prints it; "none" where the branch is gone')
    .option("--repo <dir>", "checkout of the config repo", ".")
    .option("--branch <name>", "the journal's branch", "stagecoach/journal")
    .option("--by <name>", "who accepts it (default: your name in git)")
    .option("--app <login>", "the App's account, where no index.yaml names it: stagecoach[bot]")
    .option("--signing-key <file>", "sign with this SSH key")
    .option("--github <owner/repo>", "write through GitHub's API, which signs")
    .option("--app-id <id>", "the App's id")
    .option("--app-key <file>", "the App's private key (PEM), which the seal's key is derived from, too")
    .option("--seal-key <file>", "the key of the journal's seal, where the server has one of its own")
    .option("--repository-id <id>", "GitHub's id of the repository, where --github does not ask for it")
    .option("--token-file <file>", "your own token")
    .option("--api-url <url>", "base of the API", "https://api.github.com")
    .addHelpText("after", WHO);
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<Options>();
  const [head = ""] = command.args;
  if (!/^(?:none|[0-9a-f]{7,64})$/.test(head))
    throw new CommandError(2, `"${head.slice(0, 80)}" is no commit; see stagecoach journal accept --help`);
  const remote = await openCheckoutRemote(options.repo);
  try {
    const { writer, person, repositoryId } = await writerOf(options, remote);
    const seal = sealOf({ ...options, ...defined({ repositoryId: options.repositoryId ?? repositoryId }) });
    if (head === "none" && seal === undefined) throw new CommandError(2, "a new journal has to be sealed: give --app-key or --seal-key");
    const by = options.by ?? person ?? (await remote.person());
    if (by === undefined) throw new CommandError(2, "git does not know who you are; say it with --by");
    const { branch, app } = options;
    const commit = await acceptJournal(defined({ mirror: remote, writer, branch, app, by, at: Date.now(), head, seal }));
    process.stdout.write(`Accepted, by ${commit.slice(0, 12)}. The bot goes on at its next look.\n`);
    return 0;
  } catch (error) {
    throw error instanceof ForgeError ? new CommandError(3, error.message) : asCommandError(error, 1);
  } finally {
    await remote.close();
  }
}

interface Writing {
  writer: CommitWriter;
  person?: string;
  repositoryId?: string;
}

async function writerOf(options: Options, remote: CheckoutRemote): Promise<Writing> {
  if (options.github === undefined) {
    const author = authorOf(options.app ?? (await ownerOf(options, remote)));
    const key = options.signingKey === undefined ? undefined : readSigningKey(readGiven("--signing-key", options.signingKey));
    return { writer: openLocalWriter(defined({ mirror: remote, author, key })) };
  }
  const [owner, repo, more] = options.github.split("/");
  if (!owner || !repo || more !== undefined) throw new CommandError(2, `--github ${options.github} is not OWNER/REPO`);
  const { octokit, person } = await octokitOf(options, owner, repo);
  const { data } = await asking(() => octokit.rest.repos.get({ owner, repo }));
  // Files of the journal are all plain, and whoever reads it next fetches by itself.
  const writer = openGitHubWriter({ octokit, repository: options.github, modes: async () => new Map(), fetch: async () => undefined });
  return defined({ writer, person, repositoryId: String(data.id) });
}

/** The account that the journal's own index names. */
async function ownerOf(options: Options, remote: CheckoutRemote): Promise<string> {
  const head = await remote.remoteHead(options.branch);
  if (head !== undefined) await remote.fetch([options.branch]);
  const text = head === undefined ? null : ((await remote.readFiles(head, [INDEX_FILE])).get(INDEX_FILE) ?? null);
  const app = text === null ? undefined : parseIndex(text).app;
  if (app === undefined)
    throw new CommandError(2, "nothing says whose journal this is; name the App's account with --app, as in --app 'stagecoach[bot]'");
  return app;
}

async function octokitOf(options: Options, owner: string, repo: string): Promise<{ octokit: OctokitLike; person?: string }> {
  const { apiUrl: baseUrl, appId, appKey, tokenFile } = options;
  if (appId !== undefined && appKey !== undefined) {
    const auth = { appId: Number(appId), privateKey: readGiven("--app-key", appKey) };
    const quiet = { throttle: { enabled: false }, baseUrl };
    const app = new ProbotOctokit({ auth, ...quiet });
    const { data } = await asking(() => app.rest.apps.getRepoInstallation({ owner, repo }));
    return { octokit: new ProbotOctokit({ auth: { ...auth, installationId: data.id }, ...quiet }) as unknown as OctokitLike };
  }
  if (tokenFile === undefined) throw new CommandError(2, "--github needs --app-id and --app-key, or --token-file");
  const octokit = new Octokit({ auth: readGiven("--token-file", tokenFile).trim(), baseUrl });
  const { data } = await asking(() => octokit.rest.users.getAuthenticated());
  return { octokit, person: data.login };
}

/** A checkout and its remote, reached with the person's own git configuration and credentials. Its work tree is left alone. */
type CheckoutRemote = Awaited<ReturnType<typeof openCheckoutRemote>>;

async function openCheckoutRemote(repo: string) {
  const checkout = openGit(repo);
  const { git } = checkout;
  const { repository, reader, close } = await openObjects(checkout, repo);
  const remote = await checkout.remote();
  if (remote === undefined) throw new CommandError(2, `${repo} has no remote, where its journal would be`);

  async function ask(doing: string, args: string[]): Promise<string> {
    return await git.raw(args).catch((error: unknown) => {
      throw new CommandError(3, `${doing} ${remote}: ${firstLine(error)}`);
    });
  }

  const mirror: Pick<Mirror, "remoteHead" | "fetch" | "readFiles" | "commitObject" | "tree" | "commit" | "push" | "close"> = {
    readFiles: reader.readFiles,
    commitObject: reader.commitObject,
    tree: reader.tree,
    async remoteHead(branch) {
      const line = await ask("ask", ["ls-remote", "--quiet", "--end-of-options", remote, branchRef(branch)]);
      return line.split("\t")[0]?.trim() || undefined;
    },
    async fetch(branches = []) {
      for (const branch of branches)
        await ask("fetch from", ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options", remote, branchRef(branch)]);
    },
    commit: (input) => buildCommit(repository, reader.trees, input),
    async push(updates) {
      const leases = updates.map(({ ref, old }) => `--force-with-lease=${ref}:${old === undefined ? "" : objectId(old)}`);
      const refspecs = updates.map(({ ref, new: to }) => `${to === undefined ? "" : objectId(to)}:${ref}`);
      try {
        await git.raw(["push", "--quiet", "--atomic", "--no-verify", ...leases, "--end-of-options", remote, ...refspecs]);
        return "ok";
      } catch (error) {
        if (/stale info|non-fast-forward|fetch first/i.test(errorText(error))) return "stale";
        throw new CommandError(3, `push to ${remote}: ${firstLine(error)}`);
      }
    },
    close,
  };
  return { ...mirror, person: () => personIn(git) };
}

/** `Name <address>` as git would put it into a commit; undefined: not configured. */
async function personIn(git: CheckoutGit["git"]): Promise<string | undefined> {
  const [name = "", email = ""] = await Promise.all(["user.name", "user.email"].map((key) => git.raw(["config", key]).catch(() => "")));
  return name.trim() === "" ? undefined : `${name.trim()}${email.trim() === "" ? "" : ` <${email.trim()}>`}`;
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.trim().split("\n")[0] ?? "") : String(error);
}
