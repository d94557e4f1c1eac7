/** `stagecoach serve`: settings are read and checked whole before anything is opened; without credentials the set-up page is shown. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { checkGit } from "../../../adapters/git/run-git.ts";
import { reasonOf } from "../../../adapters/queue/postgres/reason.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { type Credentials, credentialsOf, type Environment, passedOver, startSettings, withEnvironment } from "../../server/config/env.ts";
import { parseServerConfig } from "../../server/config/file.ts";
import { type ServerConfig, serverConfigSchema } from "../../server/config/schema.ts";
import { gatherSettingErrors, readSettingFile, SettingError } from "../../server/config/setting-errors.ts";
import { parseArgs, untilStopped } from "../args.ts";
import { CommandError } from "../command.ts";
import { ownVersion } from "../own-version.ts";
import { visible } from "../print.ts";
import { environmentWith } from "./env-file.ts";

interface Options {
  config?: string;
  env: string;
  publicUrl?: string;
  org?: string;
  check: boolean;
}

const CONFIG_FILE = "stagecoach.yaml";

/** `stagecoach serve`: the bot as a server. Without credentials the page on which its GitHub App is created. */
export async function run(argv: readonly string[]): Promise<number> {
  const options = parse(argv);
  if (options === undefined) return 0;
  await checkGit().catch((error: Error) => {
    throw new CommandError(3, error.message);
  });
  const env = environmentWith(resolve(options.env), process.env);
  const { config, credentials, missing } = await readSettings(options, env);
  if (options.check) return await check({ config, credentials, missing }, env);
  keepToItself(config);
  const stopped = untilStopped();
  if (credentials !== undefined) return await serve(config, credentials, env, stopped);
  const start = startSettings(env);
  if (start.production) {
    throw new CommandError(2, "there is no APP_ID and no private key; create the App on your own machine first: docs/installation.md");
  }
  const { runSetup } = await import("./setup/setup.ts");
  await runSetup({
    config,
    host: start.host,
    publicUrl: publicUrl(options),
    organisation: options.org ?? start.organisation,
    envFile: resolve(options.env),
    stopped,
  });
  return 0;
}

function parse(argv: readonly string[]): Options | undefined {
  const command = new Command("stagecoach serve")
    .description("The bot as a server. Without credentials it shows the page on which its GitHub App is created.")
    .option("--config <file>", `the server's configuration (default: STAGECOACH_CONFIG, or ${CONFIG_FILE} where there is one)`)
    .option("--env <file>", "settings below those of the environment; set-up writes them here", ".env")
    .option("--public-url <url>", "for set-up: where GitHub will reach this server")
    .option("--org <name>", "for set-up: the organisation that will own the App")
    .addOption(new Option("--port <port>").hideHelp().argParser(sayPort))
    .option("--check", "say whether it would start with this configuration, and end", false);
  return parseArgs(command, argv)?.opts<Options>();
}

/** Others have it as an option. */
function sayPort(): never {
  throw new InvalidArgumentError("set the variable PORT");
}

/** Throws SettingError. */
export function readConfig(given: string | undefined, env: Environment): ServerConfig {
  const file = given ?? startSettings(env).config ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
  const text = file && readSettingFile(given === undefined ? "STAGECOACH_CONFIG" : "--config", file);
  const { config, problems } = parseServerConfig(text, file ?? CONFIG_FILE);
  if (config === undefined) throw new SettingError(setting("CONFIG_INVALID", { problems }));
  return config;
}

interface Settings {
  config: ServerConfig;
  credentials: Credentials | undefined;
  /** What the server starts without: a line each. */
  missing: readonly string[];
}

/** All that a start is made of, with and without --check. What is wrong with it is wrong usage, and told at once. */
async function readSettings(options: Options, env: Environment): Promise<Settings> {
  const { checkFiles } = await import("../../server/config/check-files.ts");
  const errors = gatherSettingErrors();
  const file = errors.keep(() => readConfig(options.config, env));
  // With a faulty file, what is wrong with the environment is told all the same.
  const config = errors.keep(() => withEnvironment(file ?? serverConfigSchema.parse({}), env)) ?? file;
  const credentials = file === undefined ? undefined : errors.keep(() => credentialsOf(file, env));
  // The set-up page opens none of the files.
  const opens = file !== undefined && config !== undefined && (options.check || credentials !== undefined || errors.any());
  const missing = opens ? (errors.keep(() => checkFiles(config, env)) ?? []) : [];
  try {
    errors.throwAny();
  } catch (error) {
    throw new CommandError(2, visible(errorText(error)));
  }
  if (config === undefined) throw new CommandError(2, "the configuration cannot be used");
  return { config, credentials, missing };
}

function publicUrl({ publicUrl: text }: Options): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !/^https?:\/\/[^'"<>]+$/.test(text)) {
    throw new CommandError(2, `--public-url ${visible(text)} is no address; write it whole: https://stagecoach.example.com`);
  }
  return text;
}

async function check({ config, credentials, missing }: Settings, env: Environment): Promise<number> {
  const planes = config.controlPlanes.map(({ name, kind }) => `${name} (${kind})`).join(", ");
  process.stdout.write(`The configuration is valid: control planes ${planes}; App ${credentials?.appId ?? "not set up yet"}.\n`);
  for (const line of passedOver(config, env)) process.stdout.write(`${line}\n`);
  const { askSharedQueue } = await import("../../server/shared-queue.ts");
  await askSharedQueue(config, env).catch((error: unknown) => {
    throw new CommandError(3, visible(`it does not start: ${sentenceOf(reasonOf(error))}`));
  });
  if (credentials !== undefined) process.stdout.write("It starts.\n");
  for (const line of missing) process.stdout.write(`It will not see a control plane: ${visible(line)}\n`);
  if (credentials === undefined)
    process.stdout.write("There are no credentials (APP_ID and a private key): without --check the page is shown that makes the App.\n");
  return credentials === undefined ? 1 : 0;
}

/** Starts everything, waits for a signal, and drains. After a failure that nothing caught it drains, too, and exits 1: to be started again. */
async function serve(config: ServerConfig, credentials: Credentials, env: Environment, stopped: Promise<string>): Promise<number> {
  const { startServer } = await import("../../server/serve.ts");
  const broken = Promise.withResolvers<true>();
  let started = false;
  // In the midst of starting there is nothing to drain.
  const onBroken = () => (started ? broken.resolve(true) : process.exit(1));
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  const options = { env, onBroken, version: ownVersion(), stopping: stopping.signal };
  const server = await startServer(config, credentials, options).catch((error: unknown) => {
    if (stopping.signal.aborted) return undefined;
    if (error instanceof SettingError) throw new CommandError(2, visible(error.message));
    throw new CommandError(3, visible(errorText(error)));
  });
  if (server === undefined) return 0;
  started = true;
  const isBroken = await Promise.race([stopped.then(() => false), broken.promise]);
  if (!isBroken) {
    await server.close();
    return 0;
  }
  // Whatever is stuck, or fails on the way: nothing goes on with what is known by halves.
  await server
    .close()
    .catch((error: unknown) =>
      process.stderr.write(`stagecoach: the server stopped before its work was done: ${visible(String(error))}\n`),
    );
  return process.exit(1);
}

// Keeps what the server's process holds to itself: no core file, no debugger that a signal opens, no secret in a report or in the
// environment of what it starts.

/** Variables that may hold a secret itself, in place of the file that `…_FILE` names. */
const SECRETS = [
  ...["PRIVATE_KEY", "WEBHOOK_SECRET", "FORMER_WEBHOOK_SECRET", "GITHUB_CLIENT_SECRET"],
  ...["HOOK_SECRET", "SEAL_KEY", "SESSION_KEY", "DATABASE_URL"],
];

/** `config`: it names further variables. They were read: what this process starts must not inherit them. */
function keepToItself({ analysis, notifications }: Pick<ServerConfig, "analysis" | "notifications">): void {
  const named = [...analysis.secrets.map(({ env }) => env), ...notifications.destinations.map(({ secretEnv }) => secretEnv)];
  for (const name of [...SECRETS, ...named]) if (name !== undefined) delete process.env[name];
  process.report.excludeEnv = true;
  // Else Node listens for a debugger, who reads all of the memory.
  process.on("SIGUSR1", () => undefined);
  if (mayDumpCore())
    spawnSync("prlimit", ["--pid", String(process.pid), "--core=0:0"], { stdio: "ignore", env: { PATH: process.env["PATH"] } });
}

/** Of Linux alone, as `prlimit` is: elsewhere whoever starts the process says so. */
function mayDumpCore(): boolean {
  try {
    return !/^Max core file size +0 /m.test(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return false;
  }
}
