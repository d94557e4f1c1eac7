/** `stagecoach journal accept`: one commit accepts the journal as it stands, and names the head that was looked at and who did. */
import { readFileSync } from "node:fs";
import { Octokit } from "@octokit/rest";
import { Command } from "commander";
import { ProbotOctokit } from "probot";
import { openGitHubWriter } from "../../../adapters/forge/github/commit-writer.ts";
import { asking } from "../../../adapters/forge/github/errors.ts";
import type { OctokitLike } from "../../../adapters/forge/github/octokit.ts";
import { ForgeError } from "../../../adapters/forge/port.ts";
import { acceptJournal } from "../../../adapters/git/journal/accept.ts";
import { authorOf } from "../../../adapters/git/journal/check.ts";
import { INDEX_FILE, parseIndex } from "../../../adapters/git/journal/index-file.ts";
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import { openLocalWriter } from "../../../adapters/git/local-writer.ts";
import { type CommitWriter, GitError } from "../../../adapters/git/port.ts";
import { readSigningKey } from "../../../adapters/git/signing/ssh-key.ts";
import { defined } from "../../../core/base/defined.ts";
import { parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { type CheckoutRemote, openCheckoutRemote } from "./checkout-remote.ts";

interface Options {
  repo: string;
  branch: string;
  by?: string;
  app?: string;
  signingKey?: string;
  github?: string;
  appId?: string;
  appKey?: string;
  tokenFile?: string;
  apiUrl: string;
}

const WHO = `
The acceptance has to be a commit that the bot believes:
  --github with --app-id and --app-key    written by the App itself. Always believed
  --github with --token-file              written by you. Believed where you have maintain or admin on the repo
  --signing-key                           where the bot signs its commits with this key
  none of them                            where the bot does not sign its commits
`;

/** `stagecoach journal accept HEAD`: the bot goes on by itself once it sees the commit. */
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
    .option("--app-key <file>", "the App's private key (PEM)")
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
    const { writer, person } = await writerOf(options, remote, head);
    const by = options.by ?? person ?? (await remote.person());
    if (by === undefined) throw new CommandError(2, "git does not know who you are; say it with --by");
    const { branch, app } = options;
    const commit = await acceptJournal(defined({ mirror: remote, writer, branch, app, by, at: Date.now(), head }));
    process.stdout.write(`Accepted, by ${commit.slice(0, 12)}. The bot goes on at its next look.\n`);
    return 0;
  } catch (error) {
    if (error instanceof GitError) throw new CommandError(error.kind === "Invalid" ? 1 : 3, error.message);
    if (error instanceof JournalFileError) throw new CommandError(1, `the journal's ${error.file} cannot be read: ${error.message}`);
    if (error instanceof ForgeError) throw new CommandError(3, error.message);
    throw error;
  } finally {
    await remote.close();
  }
}

async function writerOf(options: Options, remote: CheckoutRemote, head: string): Promise<{ writer: CommitWriter; person?: string }> {
  if (options.github === undefined) {
    const author = authorOf(options.app ?? (await ownerOf(options, remote)));
    const key = options.signingKey === undefined ? undefined : readSigningKey(readText(options.signingKey, "--signing-key"));
    return { writer: openLocalWriter(defined({ mirror: remote, author, key })) };
  }
  const [owner, repo, more] = options.github.split("/");
  if (!owner || !repo || more !== undefined) throw new CommandError(2, `--github ${options.github} is not OWNER/REPO`);
  const { octokit, person } = await octokitOf(options, owner, repo);
  if (person !== undefined && head === "none") {
    throw new CommandError(2, "GitHub signs a branch's first commit for an App only: give --app-id and --app-key");
  }
  // Files of the journal are all plain, and whoever reads it next fetches by itself.
  const writer = openGitHubWriter({ octokit, repository: options.github, modes: async () => new Map(), fetch: async () => undefined });
  return defined({ writer, person });
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
    const auth = { appId: Number(appId), privateKey: readText(appKey, "--app-key") };
    const quiet = { throttle: { enabled: false }, baseUrl };
    const app = new ProbotOctokit({ auth, ...quiet });
    const { data } = await asking(() => app.rest.apps.getRepoInstallation({ owner, repo }));
    return { octokit: new ProbotOctokit({ auth: { ...auth, installationId: data.id }, ...quiet }) as unknown as OctokitLike };
  }
  if (tokenFile === undefined) throw new CommandError(2, "--github needs --app-id and --app-key, or --token-file");
  const octokit = new Octokit({ auth: readText(tokenFile, "--token-file").trim(), baseUrl });
  const { data } = await asking(() => octokit.rest.users.getAuthenticated());
  return { octokit, person: data.login };
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(2, `${option} ${file}: ${(error as NodeJS.ErrnoException).code ?? "cannot be read"}`);
  }
}
