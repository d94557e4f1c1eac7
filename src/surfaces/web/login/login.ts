/**
 * Signing in by GitHub: there and back with a state and PKCE, and out again.
 *
 * Keeps true: only the browser that set out comes back signed in, to an address of the page's own; a way back counts once; what goes wrong is
 * said on a page without a script.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import type { UserToken, UserTokens } from "../../../adapters/forge/github/user-tokens.ts";
import { parsePagePath } from "../../../core/report/page-places.ts";
import { isFromOwnPage } from "../api/own-page.ts";
import { clientOf, openCounter } from "../api/turns.ts";
import { cookieIn, type Place, placeOf, setCookie } from "./place.ts";
import { type CookieKeys, openSealed, type Sealed } from "./sealed.ts";
import { openSessions, type Sessions } from "./sessions.ts";

interface LoginOptions {
  tokens: UserTokens;
  keys: CookieKeys;
  /** However often its token is made anew. */
  lastsMs: number;
  publicUrl?: string | undefined;
  /** GitHub refused what only a wrong setting explains, or something new. */
  onRefused?: ((code: string) => void) | undefined;
  now?: () => number;
}

export interface Login {
  sessions: Sessions;
  placeOf(host: string | undefined): Place | undefined;
  /** `base`: what stands before each path. */
  app(base: string): Hono<Env>;
}

interface Env {
  Bindings: { incoming?: IncomingMessage };
}
type Asked = Context<Env>;

export const LOGIN_PATHS: ReadonlySet<string> = new Set(["/login", "/login/callback", "/logout"]);

const COOKIE = "stagecoach-login";
const PURPOSE = "login";
/** A person reads GitHub's page in it. */
const THERE_AND_BACK_MS = 10 * 60_000;
/** In a minute, of one address and of all: each asks GitHub. */
const MOST_BACK = 30;
const MOST_BACK_OF_ALL = 600;

const begunSchema = z.object({ state: z.string(), verifier: z.string(), to: z.string(), origin: z.string() });
type Begun = z.output<typeof begunSchema>;

export function openLogin(options: LoginOptions): Login {
  const { tokens, keys, lastsMs, publicUrl, onRefused, now = Date.now } = options;
  const sealed = openSealed(keys, now);
  const sessions = openSessions(sealed, tokens, { lastsMs, now, onRefused });
  const back = openCounter(MOST_BACK, now);
  const backOfAll = openCounter(MOST_BACK_OF_ALL, now);
  const countBack = (of: IncomingMessage | undefined) => back.count(clientOf(of)) && backOfAll.count("");
  const at = (host: string | undefined) => placeOf(host, publicUrl);

  async function setOut(context: Asked, base: string): Promise<Response> {
    const place = at(context.env.incoming?.headers.host);
    const to = pathOf(context.req.query("to") ?? "/");
    if (place === undefined) return failurePage("NO_ADDRESS", { base, to });
    const [state, verifier] = [randomBytes(24).toString("base64url"), randomBytes(48).toString("base64url")];
    const endsAt = now() + THERE_AND_BACK_MS;
    const begun = await sealed.seal(PURPOSE, { state, verifier, to, origin: place.origin }, endsAt);
    context.header("Set-Cookie", setCookie(COOKIE, begun, place, endsAt));
    return context.redirect(tokens.authorizeUrl({ callback: callbackOf(place, base), state, verifier }), 302);
  }

  async function comeBack(context: Asked, base: string): Promise<Response> {
    const headers = context.env.incoming?.headers ?? {};
    const place = at(headers.host);
    const begun = place && (await begunWith(sealed, headers, context.req.query("state") ?? "", place));
    if (place === undefined || begun === undefined) return failurePage("OTHER_LOGIN", { base, to: "/" });
    const to = pathOf(begun.to);
    const answer = await tokenFor({ tokens, onRefused, countBack }, context, begun, callbackOf(place, base));
    const forget = setCookie(COOKIE, "", place, 0);
    if (typeof answer === "string") {
      const page = failurePage(answer, { base, to });
      page.headers.append("Set-Cookie", forget);
      return page;
    }
    context.header("Set-Cookie", forget);
    context.header("Set-Cookie", await sessions.begin(answer, place), { append: true });
    return context.redirect(`${base}${to}`, 302);
  }

  async function signOut(context: Asked): Promise<Response> {
    const headers = context.env.incoming?.headers ?? {};
    const place = at(headers.host);
    if (place === undefined || !isFromOwnPage({ headers }, publicUrl)) return context.text("not sent by the page\n", 403);
    const signed = await sessions.of(headers, place);
    context.header("Set-Cookie", sessions.end(place));
    if (signed === undefined || signed === "later") return context.json({ revoked: signed === undefined });
    return context.json({ revoked: await tokens.revoke(signed.session.token) });
  }

  return {
    sessions,
    placeOf: at,
    app(base) {
      const made: ReturnType<Login["app"]> = new Hono();
      made.get("/login", (context) => setOut(context, base));
      made.get("/login/callback", (context) => comeBack(context, base));
      made.post("/logout", signOut);
      return made;
    },
  };
}

/** What the browser set out with, if it is this way back. */
async function begunWith(sealed: Sealed, headers: IncomingHttpHeaders, state: string, place: Place): Promise<Begun | undefined> {
  const text = cookieIn(headers, COOKIE, place);
  const read = begunSchema.safeParse(text === undefined ? undefined : await sealed.open(PURPOSE, text));
  if (!read.success || read.data.origin !== place.origin || !isSame(state, read.data.state)) return undefined;
  return read.data;
}

async function tokenFor(
  { tokens, onRefused, countBack }: Pick<LoginOptions, "tokens" | "onRefused"> & { countBack(of: IncomingMessage | undefined): boolean },
  { env, req }: Asked,
  { verifier }: Begun,
  callback: string,
): Promise<UserToken | Failure> {
  const code = req.query("code") ?? "";
  if (req.query("error") !== undefined) return "DENIED";
  if (!/^[\w-]{1,200}$/.test(code)) return "OTHER_LOGIN";
  if (!countBack(env.incoming)) return "TOO_OFTEN";
  const answer = await tokens.exchange({ code, callback, verifier });
  if (answer === "unknown") return "GITHUB_SILENT";
  if (!("refused" in answer)) return answer;
  onRefused?.(answer.refused);
  return answer.refused === "bad_verification_code" ? "CODE_USED" : "GITHUB_REFUSED";
}

function callbackOf({ origin }: Place, base: string): string {
  return `${origin}${base}/login/callback`;
}

/** An address of the page's own, whatever was asked for. */
function pathOf(to: string): string {
  const isPlain = URL.parse(to, "http://page")?.href === `http://page${to}`;
  return isPlain && parsePagePath(to) !== undefined ? to : "/";
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** What a person is told who was not signed in: a page without a script, with the way to begin again. */

const FAILURES = {
  OTHER_LOGIN: [400, "This is not the sign-in that this browser began, or it took too long.", "Nobody was signed in."],
  DENIED: [403, "You did not let the GitHub App act for you.", "Without that Stagecoach does not know what you may see."],
  CODE_USED: [400, "GitHub does not know this sign-in any more.", "Each counts once, for ten minutes."],
  TOO_OFTEN: [429, "Too many people sign in from here just now.", "Wait a minute."],
  GITHUB_SILENT: [503, "GitHub did not answer.", "Nobody was signed in."],
  GITHUB_REFUSED: [502, "GitHub refused the App's own credentials.", "Its operator finds why in the bot's log."],
  NO_ADDRESS: [400, "Nobody can sign in at this address.", "Open the page at its public address, or by kubectl port-forward at localhost."],
} as const satisfies Record<string, readonly [number, string, string]>;

type Failure = keyof typeof FAILURES;

function failurePage(why: Failure, { base, to }: { base: string; to: string }): Response {
  const [status, what, more] = FAILURES[why];
  const again = `${base}/login?${new URLSearchParams({ to })}`;
  const body = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not signed in · Stagecoach</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${base}/page.css"></head>
<body><header class="page"><h1><a href="${base}/">Stagecoach</a></h1></header>
<main class="sign-in"><h2>You are not signed in</h2><p>${what} ${more}</p>${why === "NO_ADDRESS" ? "" : html`<p><a class="button" href="${again}">Sign in again</a></p>`}</main></body></html>`;
  return new Response(String(body), { status, headers: { "Content-Type": "text/html; charset=utf-8" } });
}
