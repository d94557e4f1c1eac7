/** `stagecoach sim github`: the embedded GitHub runs with one repository until it is stopped; the first line printed says where. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { fastClock } from "../../../sim/clock.ts";
import { startGitHub } from "../../../sim/github/start.ts";
import { parseArgs, port, portError, readGiven, untilStopped, whole } from "../args.ts";
import { CommandError } from "../command.ts";
import { inOwnFolder } from "../own-folder.ts";

interface Options {
  port: number;
  host: string;
  publicUrl?: string;
  owner: string;
  repo: string;
  dir?: string;
  token?: string;
  private?: boolean;
  unprotected?: boolean;
  webhook?: string;
  webhookSecret?: string;
  appId?: number;
  privateKey?: string;
}

function slug(text: string): string {
  if (!/^[\w.-]{1,100}$/.test(text)) throw new InvalidArgumentError("write letters, digits, `-`, `_` and `.` alone");
  return text;
}

function address(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? "")) throw new InvalidArgumentError("write an http or https URL");
  return text;
}

function program(): Command {
  return new Command("stagecoach sim github")
    .usage("--owner O --repo R [options]")
    .description("a GitHub of your own with one repository, until SIGTERM; prints {url, gitUrl, token} as one JSON line when ready")
    .requiredOption("--owner <name>", "owner of the repository", slug)
    .requiredOption("--repo <name>", "name of the repository", slug)
    .option("--port <number>", "0: any free one", port, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--public-url <url>", "what it is known by from elsewhere, with its port; default: where it listens", address)
    .option("--dir <folder>", "what is on `main` at first; default: a README")
    .option("--token <token>", "the owner's token; default: a new one")
    .option("--private", "no reading without a token")
    .option("--unprotected", "no ruleset keeps others from the branches of Stagecoach")
    .option("--webhook <url>", "where the App's webhooks go")
    .option("--webhook-secret <secret>", "what they are signed with")
    .option("--app-id <number>", "id of the App installed on the owner's account", whole)
    .option("--private-key <file>", "the App's key (PEM), to try a bot against this GitHub");
}

export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  if ((options.webhook === undefined) !== (options.webhookSecret === undefined)) {
    throw new CommandError(2, "--webhook and --webhook-secret go together");
  }
  if (options.publicUrl === undefined && /^(0\.0\.0\.0|::)$/.test(options.host)) {
    throw new CommandError(2, `--host ${options.host} is every address there is: say with --public-url by which one others know it`);
  }
  const files = options.dir === undefined ? new Map([["README.md", `# ${options.repo}\n`]]) : await readFolder(options.dir);
  return await inOwnFolder("stagecoach-github-", (directory) => serve(options, files, directory));
}

/** Until it is stopped. */
async function serve(options: Options, files: ReadonlyMap<string, string | Buffer>, directory: string): Promise<number> {
  const sim = await startGitHub({ ...startOptions(options), directory }).catch((error: Error) => {
    throw portError(error) ?? new CommandError(3, error.message);
  });
  const token = sim.token(options.owner, options.token);
  const made = await sim.createRepo({ owner: options.owner, name: options.repo, files, private: options.private === true });
  if (options.unprotected !== true) sim.reserveBranches(made.repository);
  const stopped = untilStopped();
  process.stdout.write(`${JSON.stringify({ url: sim.url, gitUrl: made.cloneUrl, token })}\n`);
  await stopped;
  await sim.close();
  return 0;
}

function startOptions({ port, host, publicUrl, appId: id, webhook: url, webhookSecret: secret = "", privateKey: file }: Options) {
  const privateKey = file === undefined ? undefined : readGiven("--private-key", file, 3);
  const webhook = url === undefined ? undefined : { url, secret };
  return { port, host, clock: fastClock(), app: defined({ id, privateKey }), ...defined({ publicUrl, webhook }) };
}

/** Every plain file below, by its path with `/`; `.git` folders and links are left out. */
async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  async function walk(path: string, prefix: string): Promise<void> {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.name === ".git") continue;
      if (entry.isDirectory()) await walk(join(path, entry.name), `${prefix}${entry.name}/`);
      else if (entry.isFile()) files.set(`${prefix}${entry.name}`, await readFile(join(path, entry.name)));
    }
  }
  try {
    await walk(folder, "");
  } catch (error) {
    throw new CommandError(3, `the folder ${folder} cannot be read: ${errorText(error)}`);
  }
  if (files.size === 0) throw new CommandError(1, `the folder ${folder} holds no file: there is nothing to commit`);
  return files;
}
