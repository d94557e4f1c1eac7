/** What the owner of a token is and may do on GitHub: GitHub says so itself, asked with that token and nothing of ours. */
import type { Permission } from "../../../core/spec/commands.ts";

/**
 * `refused`: it is no token of GitHub's, or no longer. `unknown`: GitHub did not say. An object: they see it, and have this permission on
 * it, which GitHub tells with the repository; absent: it did not tell. A token may allow less than its owner may.
 */
export type Sight = "unseen" | "refused" | "unknown" | { permission?: Permission | undefined };

export type SightOf = (token: string, repository: string) => Promise<Sight>;

/** `nobody`: a token of GitHub's that is no person's. */
export type LoginOf = (token: string) => Promise<{ login: string } | "nobody" | "refused" | "unknown">;

const ASKED_MS = 5_000;
const MOST_BYTES = 1024 * 1024;
const NAME = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;
const LOGIN = /^[\w-]{1,100}$/;
/** GitHub's words, the highest first. */
const PERMISSIONS = { admin: "admin", maintain: "maintain", push: "write", triage: "triage", pull: "read" } as const;

export function openTokenSight(baseUrl?: string, send?: typeof fetch): SightOf {
  const ask = openAsk(baseUrl, send);
  return async (token, repository) => {
    if (!NAME.test(repository) || /(^|\/)\.\.?$|^\.\.?\//.test(repository)) return "unseen";
    const answer = await ask(token, `/repos/${repository}`);
    if (answer === "refused" || answer === "unknown") return answer;
    return answer === "no" ? "unseen" : { permission: permissionIn(answer["permissions"]) };
  };
}

export function openTokenLogin(baseUrl?: string, send?: typeof fetch): LoginOf {
  const ask = openAsk(baseUrl, send);
  return async (token) => {
    const answer = await ask(token, "/user");
    if (answer === "refused" || answer === "unknown") return answer;
    const login = answer === "no" ? undefined : answer["login"];
    return typeof login === "string" && LOGIN.test(login) ? { login } : "nobody";
  };
}

function permissionIn(given: unknown): Permission | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const names = Object.keys(PERMISSIONS) as (keyof typeof PERMISSIONS)[];
  const highest = names.find((name) => (given as Record<string, unknown>)[name] === true);
  return highest === undefined ? "none" : PERMISSIONS[highest];
}

/** What GitHub answers; `no`: nothing that the token's owner may read. */
function openAsk(baseUrl = "https://api.github.com", send: typeof fetch = fetch) {
  const base = baseUrl.replace(/(?<!\/)\/+$/, "");
  return async (token: string, path: string): Promise<Record<string, unknown> | "no" | "refused" | "unknown"> => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "user-agent": "stagecoach" };
    // Redirected is a repository by another name, and nobody else may get the token.
    const asked = { headers, redirect: "manual" as const, signal: AbortSignal.timeout(ASKED_MS) };
    const answer = await send(base + path, asked).catch(() => undefined);
    if (answer === undefined) return "unknown";
    if (answer.status === 200) return (await boundedJson(answer)) ?? "unknown";
    await answer.body?.cancel().catch(() => undefined);
    if (answer.status === 401) return "refused";
    // A limit that is used up is a 403 as well: then nothing is known.
    const isSpent = answer.status === 429 || (answer.status === 403 && answer.headers.get("x-ratelimit-remaining") === "0");
    if (isSpent || answer.status >= 500 || answer.headers.has("retry-after")) return "unknown";
    return "no";
  };
}

/** An answer's JSON object; undefined: it is none, or larger than GitHub writes. */
export async function boundedJson({ body }: Response): Promise<Record<string, unknown> | undefined> {
  if (body === null) return {};
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of body as ReadableStream<Uint8Array>) {
      bytes += part.length;
      if (bytes > MOST_BYTES) return undefined;
      parts.push(part);
    }
    const read: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
