/** What a person is told who was not signed in: a page without a script, with the way to begin again. */
import { html } from "hono/html";

const FAILURES = {
  OTHER_LOGIN: [400, "This is not the sign-in that this browser began, or it took too long.", "Nobody was signed in."],
  DENIED: [403, "You did not let the GitHub App act for you.", "Without that Stagecoach does not know what you may see."],
  CODE_USED: [400, "GitHub does not know this sign-in any more.", "Each counts once, for ten minutes."],
  TOO_OFTEN: [429, "Too many people sign in from here just now.", "Wait a minute."],
  GITHUB_SILENT: [503, "GitHub did not answer.", "Nobody was signed in."],
  GITHUB_REFUSED: [502, "GitHub refused the App's own credentials.", "Its operator finds why in the bot's log."],
  NO_ADDRESS: [400, "Nobody can sign in at this address.", "Open the page at its public address, or by kubectl port-forward at localhost."],
} as const satisfies Record<string, readonly [number, string, string]>;

export type Failure = keyof typeof FAILURES;

export function failurePage(why: Failure, { base, to }: { base: string; to: string }): Response {
  const [status, what, more] = FAILURES[why];
  const again = `${base}/login?${new URLSearchParams({ to })}`;
  const body = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not signed in · Stagecoach</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${base}/page.css"></head>
<body><header class="page"><h1><a href="${base}/">Stagecoach</a></h1></header>
<main class="sign-in"><h2>You are not signed in</h2><p>${what} ${more}</p>${why === "NO_ADDRESS" ? "" : html`<p><a class="button" href="${again}">Sign in again</a></p>`}</main></body></html>`;
  return new Response(String(body), { status, headers: { "Content-Type": "text/html; charset=utf-8" } });
}
