/** The set-up page's server: it answers this computer only, and writes the App's credentials to one file. Called by `serve.ts`. */
import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { dirname } from "node:path";
import { Octokit } from "@octokit/rest";
import { answerOf, whyUnreached } from "../../../../adapters/forge/github/errors.ts";
import { defined } from "../../../../core/base/defined.ts";
import { errorText, redact } from "../../../../core/base/error-text.ts";
import { apiUrl } from "../../../server/config/env.ts";
import type { ServerConfig } from "../../../server/config/schema.ts";
import { closeServer, listenOn, pathOf, plain } from "../../../server/deliveries/http.ts";
import { CommandError } from "../../command.ts";
import { visible } from "../../print.ts";
import { writeSettings } from "../env-file.ts";
import { hasKey, isSameState, keyCookie, setupHost, whyRefused } from "./guard.ts";
import { manifestFor } from "./manifest.ts";
import { failedPage, type MadeApp, madePage, SETUP_STYLE, type SetupView, setupPage } from "./page.ts";

interface SetupOptions {
  config: ServerConfig;
  /** What `HOST` says; another address than one of this computer's own is not taken. */
  host: string | undefined;
  /** Where GitHub will reach the server: `https://stagecoach.example.com`; undefined: not known yet. */
  publicUrl: string | undefined;
  /** The organisation that will own the App; undefined: the person who creates it. */
  organisation: string | undefined;
  /** Absolute path of the file that gets the credentials. */
  envFile: string;
  /** Resolves when it shall end. */
  stopped: Promise<unknown>;
}

/** Where GitHub leads back to. */
const WAY_BACK = "/created";

/**
 * The set-up page: it hands our manifest to GitHub, which makes the App at a click and gives its credentials back. They go to the
 * file of settings; the server is then started again. Runs until it is stopped.
 */
export async function runSetup(options: SetupOptions): Promise<void> {
  checkWritable(options.envFile);
  // Others may be logged in to this computer: only who sees this terminal may open the page.
  const key = randomBytes(24).toString("base64url");
  const server = createServer(setupPages(options, key));
  const url = await listenOn(server, options.config.listen.port, setupHost(options.host)).catch((error: Error) => {
    throw new CommandError(3, `the set-up page cannot be shown: ${error.message}; PORT chooses another port`);
  });
  process.stdout.write(welcome(`${url}/?key=${key}`, options));
  await options.stopped;
  await closed(server);
}

/** Answers the page, its style, and the way back from GitHub. The page is shown to a browser that came with the key once. */
function setupPages(options: SetupOptions, key: string): (request: IncomingMessage, response: ServerResponse) => void {
  // Once for this process: only a way that began on this page comes back with it.
  const state = randomBytes(24).toString("base64url");
  const back = wayBack(options, state);
  return (request, response) => {
    const path = pathOf(request);
    const refused = whyRefused({ method: request.method ?? "", headers: request.headers });
    if (refused !== undefined) return plain(response, 403, refused);
    const origin = `http://${request.headers.host}`;
    const url = URL.parse(request.url ?? "", origin);
    if (url === null) return plain(response, 400, "this is no address");
    if (path === "/setup.css") response.writeHead(200, { ...HEADERS, "Content-Type": "text/css; charset=utf-8" }).end(SETUP_STYLE);
    else if (path === WAY_BACK) void back.answer(url, response);
    else if (path !== "/") plain(response, 404, "There is nothing here: the set-up page is at /.");
    else if (isSameState(url.searchParams.get("key"), key))
      response.writeHead(303, { ...HEADERS, "Set-Cookie": keyCookie(key), Location: "/" }).end();
    else if (!hasKey(request.headers.cookie, key))
      show(response, 403, failedPage("This page was not opened by its whole address.", NO_KEY));
    else {
      const made = back.made();
      const view = viewFor(options, `${origin}${WAY_BACK}`, state);
      show(response, 200, made === undefined ? setupPage(view) : madePage(view, made), new URL(view.createUrl).origin);
    }
  };
}

interface WayBack {
  made(): MadeApp | undefined;
  answer(url: URL, response: ServerResponse): Promise<void>;
}

/** Takes the code that GitHub leads back with, once. */
function wayBack(options: SetupOptions, state: string): WayBack {
  let made: MadeApp | undefined;
  let making: Promise<MadeApp> | undefined;
  return {
    made: () => made,
    async answer(url, response) {
      const code = url.searchParams.get("code") ?? "";
      if (!isSameState(url.searchParams.get("state"), state) || !/^[\w-]{1,200}$/.test(code)) {
        return show(response, 400, failedPage("This way back did not begin on this page.", "Begin again, with the button there."));
      }
      try {
        // The browser may ask twice; a code is good once.
        making ??= makeApp(code, options);
        made = await making;
        response.writeHead(303, { ...HEADERS, Location: "/" }).end();
      } catch (error) {
        making = undefined;
        const why = whyNotMade(error);
        process.stderr.write(`stagecoach: GitHub did not give the App's credentials: ${visible(why)}\n`);
        show(response, 502, failedPage(`The App’s credentials could not be had: ${why}`, NOT_MADE));
      }
    },
  };
}

const NOT_MADE =
  "Codes hold for an hour and once. If GitHub already lists the new App under its developer settings, delete it there; then begin again.";

const NO_KEY = "Open the address that `stagecoach serve` printed in its terminal, with the key at its end.";

const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

function show(response: ServerResponse, status: number, html: string, formsTo = ""): void {
  // Whoever is not logged in there is led through their own log-in, whose address is not known here; then back.
  const forms = formsTo === "" ? "'none'" : `'self' https: ${formsTo}`;
  const policy = `default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action ${forms}`;
  response.writeHead(status, { ...HEADERS, "Content-Security-Policy": policy, "Content-Type": "text/html; charset=utf-8" }).end(html);
}

function viewFor({ config: { github }, publicUrl, organisation, envFile }: SetupOptions, wayBack: string, state: string): SetupView {
  const host = github.host ?? "github.com";
  const manifest = manifestFor(publicUrl);
  return {
    host,
    createUrl: `${github.host === undefined ? "https" : github.protocol}://${host}${ownerPath(organisation)}/settings/apps/new?state=${state}`,
    manifest: { ...manifest, json: { ...manifest.json, redirect_url: wayBack } },
    organisation,
    deliveries: publicUrl === undefined ? undefined : (manifest.json["hook_attributes"] as { url: string }).url,
    envFile,
  };
}

function ownerPath(organisation: string | undefined): string {
  return organisation === undefined ? "" : `/organizations/${encodeURIComponent(organisation)}`;
}

/** Exchanges the code for the App's credentials, and writes them down. */
async function makeApp(code: string, { config, envFile, organisation }: SetupOptions): Promise<MadeApp> {
  const octokit = new Octokit({ baseUrl: apiUrl(config.github), log: SILENT });
  const { data } = await octokit.rest.apps.createFromManifest({ code });
  const { id, name, slug = "", html_url, pem, webhook_secret } = data;
  const client = { GITHUB_CLIENT_ID: data.client_id || undefined, GITHUB_CLIENT_SECRET: data.client_secret || undefined };
  writeSettings(envFile, defined({ APP_ID: String(id), PRIVATE_KEY: pem, WEBHOOK_SECRET: webhook_secret || undefined, ...client }));
  process.stdout.write(
    `The App's credentials are in ${envFile}. Install the App (${visible(`${html_url}/installations/new`)}), stop this (Ctrl-C) and start it again: stagecoach serve\n`,
  );
  return {
    name,
    installUrl: `${html_url}/installations/new`,
    settingsUrl: `${new URL(html_url).origin}${ownerPath(organisation)}/settings/apps/${slug}`,
    hasSecret: Boolean(webhook_secret),
  };
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function whyNotMade(error: unknown): string {
  const unreached = whyUnreached(error);
  if (unreached !== undefined) return `GitHub cannot be reached: ${unreached}`;
  const answer = answerOf(error);
  if (answer?.status === 404 || answer?.status === 422) return "GitHub does not know this code (any more)";
  if (answer !== undefined) return `GitHub answered ${answer.status}: ${answer.message}`;
  return redact(errorText(error));
}

/** The credentials come once: a file that cannot be written is better known before. */
function checkWritable(file: string): void {
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
  } catch {
    throw new CommandError(3, `${file} cannot be written, and the App's credentials are to stand there; --env FILE names another`);
  }
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await closeServer(server);
}

function welcome(page: string, { host, publicUrl, envFile }: SetupOptions): string {
  const later = "  It then gets no deliveries until you set its webhook URL in its settings. Give it now by --public-url.\n";
  const only =
    host === undefined || host === setupHost(host)
      ? ""
      : `  The page is on this computer only, whatever HOST says (${visible(host)}); from another one: ssh -L.\n`;
  return `There are no credentials yet (APP_ID and a private key, in the environment or in ${envFile}).
Create the GitHub App: open ${page} and press the button.
${publicUrl === undefined ? later : ""}${only}`;
}
