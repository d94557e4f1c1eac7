/** The set-up pages as HTML. Called by `setup.ts`. */
import { html } from "hono/html";
import type { AppManifest, Asked } from "./manifest.ts";

type Html = ReturnType<typeof html>;

/** Everything the set-up page says. */
export interface SetupView {
  /** `github.com`, or the host of the Enterprise Server. */
  host: string;
  /** Where the button leads, with the state that comes back. */
  createUrl: string;
  /** With the way back. */
  manifest: AppManifest;
  /** The organisation that will own the App; undefined: the person who creates it. */
  organisation: string | undefined;
  /** Where deliveries will go; undefined: not known yet. */
  deliveries: string | undefined;
  envFile: string;
}

export interface MadeApp {
  name: string;
  installUrl: string;
  settingsUrl: string;
  /** Whether GitHub gave a webhook secret. */
  hasSecret: boolean;
}

/** The page before the App is there: what will happen, what the App may do, and the button that hands its manifest to GitHub. */
export function setupPage(view: SetupView): string {
  const { host, manifest, createUrl } = view;
  return page(
    "Create the GitHub App",
    html`<p class="lead">Stagecoach acts on ${host} as a GitHub App of your own. Making it takes two clicks. Nothing leaves this computer before the first.</p>
${facts(view)}
<form method="post" action="${createUrl}">
<input type="hidden" name="manifest" value="${JSON.stringify(manifest.json)}">
<button>Create the App on ${host}</button>
<p class="quiet">GitHub shows you the same once more, lets you choose another name, and asks for the second click.</p>
</form>
<section><h2>What will happen</h2>
<ol>
<li><b>GitHub makes the App</b> with the permissions below, installed nowhere: it can see no repository yet.</li>
<li><b>It leads you back here</b> with a code, which this computer exchanges for the App’s id, private key and webhook secret.</li>
<li><b>They are written to the file of settings</b>, which only you may read, and to nowhere else.</li>
<li><b>You install the App</b> on the repositories you choose, and start the server again.</li>
</ol></section>
<section><h2>What the App may do</h2>
<table><thead><tr><th>Permission<th>Access<th>Why</thead><tbody>
${manifest.permissions.map(permission)}
</tbody></table>
<p class="quiet">No permission to change settings, workflows, secrets or members of anything.</p></section>
<details><summary>The ${manifest.events.length} events it hears of</summary>
<table><thead><tr><th>Event<th>What it tells</thead><tbody>
${manifest.events.map((event) => html`<tr><th scope="row"><code>${event.name}</code><td>${event.why}`)}
</tbody></table>
<p class="quiet">An event only says where to look again. Nothing in it is believed.</p></details>`,
  );
}

/** The page once the App is there. */
export function madePage(view: SetupView, { name, installUrl, settingsUrl, hasSecret }: MadeApp): string {
  const secret = hasSecret
    ? ""
    : html`<li><b>Give it a webhook secret.</b> GitHub made none: set one in <a href="${settingsUrl}">its settings</a>, and as <code>WEBHOOK_SECRET</code> in the file.</li>`;
  const hook =
    view.deliveries !== undefined
      ? ""
      : html`<li><b>Say where the server is.</b> Its deliveries are off: set <i>Webhook URL</i> in <a href="${settingsUrl}">its settings</a> to <code>https://…/api/github/webhooks</code>, and tick <i>Active</i>.</li>`;
  return page(
    html`${name} is there`,
    html`<p class="lead">The App exists on ${view.host}, and its credentials are in <code>${view.envFile}</code>, which only you may read.</p>
<p><a class="button" href="${installUrl}">Install it on your repositories</a></p>
<section><h2>Then</h2><ol>
<li><b>Install it</b> on the config repositories it shall look after.</li>
${hook}${secret}
<li><b>Start the server.</b> In the terminal press Ctrl-C, then <code>stagecoach serve</code>.</li>
</ol></section>`,
  );
}

/** What went wrong on the way back from GitHub, and what to do. */
export function failedPage(what: string, next: string): string {
  return page(
    "The App is not set up",
    html`<p class="lead bad">${what}</p>\n<p>${next}</p>\n<p><a class="button" href="/">Back to the start</a></p>`,
  );
}

function page(title: Html | string, body: Html): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Stagecoach</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/setup.css">
</head>
<body>
<header><p>Stagecoach <span>set-up</span></p></header>
<main>
<h1>${title}</h1>
${body}
</main>
<footer><p>This page is on your computer only, and goes when you press Ctrl-C in the terminal.</p></footer>
</body>
</html>
`);
}

function facts({ host, organisation, deliveries, envFile }: SetupView): Html {
  const rows: [string, Html, Html | string][] = [
    ["On", html`<b>${host}</b>`, host === "github.com" ? html`another GitHub: start with <code>GHE_HOST=github.example.com</code>` : ""],
    [
      "Owned by",
      organisation === undefined ? html`<b>you</b>` : html`<b>${organisation}</b>`,
      organisation === undefined ? html`an organisation: start with <code>--org NAME</code>` : "",
    ],
    [
      "Deliveries to",
      deliveries === undefined ? html`<b>nowhere yet</b>` : html`<code>${deliveries}</code>`,
      deliveries === undefined ? html`start with <code>--public-url https://…</code>, or set it in the App’s settings later` : "",
    ],
    ["Credentials to", html`<code>${envFile}</code>`, ""],
  ];
  return html`<dl>${rows.map(([name, value, hint]) => html`<dt>${name}<dd>${value}${hint === "" ? "" : html` <span class="quiet">${hint}</span>`}`)}</dl>`;
}

function permission({ name, access, why }: Asked): Html {
  return html`<tr><th scope="row"><code>${name}</code><td><span class="${access === "write" ? "write" : "read"}">${access}</span><td>${why}`;
}

/** How the set-up page looks: as the page of runs does. */
export const SETUP_STYLE = `:root { color-scheme: light dark; --ink: #1d2430; --quiet: #5c6675; --paper: #f5f6f8; --card: #fff; --line: #dfe3e9;
  --live: #1a7f4b; --move: #1f6fd6; --wait: #8a6a00; --bad: #c0262d; --on: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #9aa5b5; --paper: #12161c; --card: #1b212a; --line: #2c3542;
  --live: #4fca8a; --move: #6eaeff; --wait: #e3b94a; --bad: #ff7a80; --on: #0d1420; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 820px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; } header p { margin: 0; font-weight: 650; letter-spacing: -.01em; }
header span { font-weight: 400; color: var(--quiet); border: 1px solid var(--line); border-radius: 99px; padding: 1px 10px; margin-left: 8px; font-size: 13px; }
h1 { font-size: 34px; line-height: 1.15; letter-spacing: -.025em; margin: 36px 0 8px; text-wrap: balance; }
h2 { font-size: 17px; margin: 0 0 12px; letter-spacing: -.01em; }
.lead { font-size: 18px; color: var(--quiet); margin: 0 0 24px; max-width: 62ch; text-wrap: pretty; } .lead.bad { color: var(--bad); }
.quiet { color: var(--quiet); font-size: 14px; }
code { font: 13.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
dl, section, details { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 24px; margin: 0 0 20px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 10px 24px; } dt { color: var(--quiet); } dd { margin: 0; }
form { margin: 0 0 32px; } form .quiet { margin: 10px 0 0; }
button, .button { display: inline-block; font: 600 16px/1 system-ui, "DejaVu Sans", sans-serif; color: var(--on); background: var(--move); border: 0; border-radius: 10px;
  padding: 15px 24px; cursor: pointer; text-decoration: none; }
button:hover, .button:hover { filter: brightness(1.08); } button:focus-visible, .button:focus-visible, summary:focus-visible { outline: 3px solid var(--move); outline-offset: 3px; }
ol { margin: 0; padding-left: 22px; } li { margin: 0 0 8px; padding-left: 4px; } li::marker { color: var(--quiet); font-variant-numeric: tabular-nums; }
a { color: var(--move); }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; } th, td { text-align: left; vertical-align: top; padding: 9px 16px 9px 0; border-top: 1px solid var(--line); }
thead th { border-top: 0; padding-top: 0; color: var(--quiet); font-weight: 400; font-size: 13px; } tbody th { font-weight: 400; white-space: nowrap; } td:last-child { padding-right: 0; }
.read, .write { font-size: 13px; border: 1px solid currentColor; border-radius: 99px; padding: 0 9px; } .read { color: var(--quiet); } .write { color: var(--move); }
summary { cursor: pointer; font-weight: 600; } details[open] summary { margin-bottom: 16px; }
footer { color: var(--quiet); font-size: 14px; padding-bottom: 40px; }
@media (max-width: 560px) { dl { grid-template-columns: 1fr; gap: 2px; } dd { margin-bottom: 10px; } h1 { font-size: 28px; } }
`;
