/**
 * People's tokens of the App: got for a code, made anew, revoked. GitHub is asked with the App's client id and secret.
 *
 * Keeps true: an answer is bounded in size and time, no redirect is followed, and nothing that GitHub did not plainly say counts.
 */
import { createHash } from "node:crypto";
import { boundedJson } from "./token-sight.ts";

export interface UserToken {
  token: string;
  /** Epoch ms; absent: the App's tokens do not end by themselves. */
  endsAt?: number | undefined;
  /** Makes the next one, once, and ends this one with that. */
  refresh?: string | undefined;
}

/** `refused`: GitHub's code for why, such as bad_verification_code. `unknown`: GitHub did not say. */
export type TokenAnswer = UserToken | { refused: string } | "unknown";

export interface UserTokens {
  /** Where a person allows the App to act for them. */
  authorizeUrl(asked: { callback: string; state: string; verifier: string }): string;
  exchange(given: { code: string; callback: string; verifier: string }): Promise<TokenAnswer>;
  renew(refresh: string): Promise<TokenAnswer>;
  /** False: GitHub did not say that it has ended. */
  revoke(token: string): Promise<boolean>;
}

interface OAuthClient {
  clientId: string;
  clientSecret: string;
  /** Of the REST API; default github.com's. */
  baseUrl?: string | undefined;
}

const ASKED_MS = 10_000;
const TOKEN = /^[\w.~+/=-]{10,1024}$/;

export function openUserTokens(client: OAuthClient, now: () => number = Date.now, send: typeof fetch = fetch): UserTokens {
  const { clientId, clientSecret, baseUrl = "https://api.github.com" } = client;
  const api = baseUrl.replace(/(?<!\/)\/+$/, "");
  const web = webUrl(api);
  const headers = { accept: "application/json", "user-agent": "stagecoach" };

  async function ask(fields: Record<string, string>): Promise<TokenAnswer> {
    const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...fields });
    const asked = { method: "POST", headers, body, redirect: "manual" as const, signal: AbortSignal.timeout(ASKED_MS) };
    const answer = await send(`${web}/login/oauth/access_token`, asked).catch(() => undefined);
    if (answer?.status !== 200) {
      await answer?.body?.cancel().catch(() => undefined);
      return "unknown";
    }
    const read = await boundedJson(answer);
    return read === undefined ? "unknown" : tokenIn(read, now());
  }

  return {
    authorizeUrl({ callback, state, verifier }) {
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const query = { client_id: clientId, redirect_uri: callback, state, code_challenge: challenge, code_challenge_method: "S256" };
      return `${web}/login/oauth/authorize?${new URLSearchParams(query)}`;
    },
    exchange: ({ code, callback, verifier }) => ask({ code, redirect_uri: callback, code_verifier: verifier }),
    renew: (refresh) => ask({ grant_type: "refresh_token", refresh_token: refresh }),
    async revoke(token) {
      const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
      const body = JSON.stringify({ access_token: token });
      const sent = { method: "DELETE", headers: { ...headers, authorization }, body, redirect: "manual" as const };
      const url = `${api}/applications/${encodeURIComponent(clientId)}/token`;
      const answer = await send(url, { ...sent, signal: AbortSignal.timeout(ASKED_MS) }).catch(() => undefined);
      await answer?.body?.cancel().catch(() => undefined);
      // One that GitHub does not know has ended before.
      return answer !== undefined && [204, 404, 422].includes(answer.status);
    },
  };
}

/** Where people are, of where programs are. */
export function webUrl(api: string): string {
  const { protocol, host } = new URL(api);
  if (host === "api.github.com" || host.endsWith(".ghe.com")) return `${protocol}//${host.replace(/^api\./, "")}`;
  return api.replace(/\/api\/v3$/, "");
}

function tokenIn(read: Record<string, unknown>, now: number): TokenAnswer {
  const { error, access_token: token, refresh_token: refresh, expires_in: seconds } = read;
  if (typeof error === "string") return { refused: /^[a-z_]{1,60}$/.test(error) ? error : "unknown_error" };
  if (typeof token !== "string" || !TOKEN.test(token)) return "unknown";
  // GitHub writes numbers; an Enterprise Server of before, texts.
  const lasts = Number(seconds);
  if (seconds === undefined || !Number.isFinite(lasts)) return { token };
  return { token, endsAt: now + lasts * 1000, refresh: typeof refresh === "string" && TOKEN.test(refresh) ? refresh : undefined };
}
