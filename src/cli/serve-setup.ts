import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run as runProbot } from "probot";
import { parse, stringify } from "yaml";
import type { ServerConfig } from "../bot/config-schema.ts";
import { WEBHOOK_PATH } from "../bot/server.ts";
import { writeSettings } from "./serve-env.ts";

export interface SetupOptions {
  config: ServerConfig;
  /** Where the page is; by default this computer only, since whoever reaches it may create the App and so hold its key. */
  host: string;
  /** Where GitHub will reach the server: `https://stagecoach.example.com`; undefined: not known yet. */
  publicUrl: string | undefined;
  /** The organisation that will own the App; undefined: the person who creates it. */
  organisation: string | undefined;
  /** Absolute path of the file that gets the credentials. */
  envFile: string;
  /** Resolves when it shall end. */
  stopped: Promise<unknown>;
}

/**
 * Probot's set-up page: it hands our manifest to GitHub, which makes the App at a click and gives its credentials back. They
 * go to the file of settings; the server is then started again. Runs until it is stopped.
 */
export async function runSetup(options: SetupOptions): Promise<void> {
  const { config, envFile, stopped } = options;
  // Probot takes the manifest from where the process stands.
  const home = process.cwd();
  const folder = await mkdtemp(join(tmpdir(), "stagecoach-setup-"));
  await writeFile(join(folder, "app.yml"), stringify(manifestFor(options.publicUrl)));
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "Stagecoach" }));
  Object.assign(process.env, githubEnvironment(options));
  process.chdir(folder);
  try {
    const server = await runProbot(() => undefined, {
      env: { HOST: options.host, PORT: String(config.listen.port), LOG_LEVEL: "warn", LOG_FORMAT: "json" },
      updateEnv(found) {
        writeSettings(envFile, found);
        process.stdout.write(
          `The App's credentials are in ${envFile}. Install the App, stop this (Ctrl-C) and start it again: stagecoach serve\n`,
        );
        return found;
      },
    });
    process.stdout.write(welcome(`http://${options.host}:${server.port}/probot`, options));
    await stopped;
    await server.stop();
  } finally {
    process.chdir(home);
    await rm(folder, { recursive: true, force: true });
  }
}

/** app.yml, with the address of this very server. Without one, deliveries are off until somebody sets it. */
export function manifestFor(publicUrl: string | undefined): Record<string, unknown> {
  const manifest = parse(readFileSync(new URL("../../app.yml", import.meta.url), "utf8")) as Record<string, unknown>;
  const hook = manifest["hook_attributes"] as { url: string };
  if (publicUrl === undefined) return { ...manifest, hook_attributes: { ...hook, active: false } };
  return { ...manifest, hook_attributes: { url: `${publicUrl.replace(/\/+$/, "")}${WEBHOOK_PATH}`, active: true } };
}

/** What Probot's page reads of the process. Its detour over smee.io is off: it would fetch a package while running. */
function githubEnvironment({ config: { github }, organisation }: SetupOptions): Record<string, string> {
  return {
    NO_SMEE_SETUP: "true",
    ...(github.host === undefined ? {} : { GHE_HOST: github.host, GHE_PROTOCOL: github.protocol }),
    ...(organisation === undefined ? {} : { GH_ORG: organisation }),
  };
}

function welcome(page: string, { publicUrl, envFile }: SetupOptions): string {
  const later = "  It then gets no deliveries until you set its webhook URL in its settings. Give it now by --public-url.\n";
  return `There are no credentials yet (APP_ID and a private key, in the environment or in ${envFile}).
Create the GitHub App: open ${page} and press the button.
${publicUrl === undefined ? later : ""}`;
}
