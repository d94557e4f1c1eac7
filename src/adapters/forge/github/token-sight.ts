/** What the owner of a token may see on GitHub: GitHub says so itself, asked with that token and nothing of ours. */

/** `refused`: it is no token of GitHub's, or no longer. `unknown`: GitHub did not say. */
export type Sight = "seen" | "unseen" | "refused" | "unknown";

export type SightOf = (token: string, repository: string) => Promise<Sight>;

const ASKED_MS = 5_000;
const NAME = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;

export function openTokenSight(baseUrl = "https://api.github.com", send: typeof fetch = fetch): SightOf {
  const base = baseUrl.replace(/(?<!\/)\/+$/, "");
  return async (token, repository) => {
    if (!NAME.test(repository) || /(^|\/)\.\.?$|^\.\.?\//.test(repository)) return "unseen";
    const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "user-agent": "stagecoach" };
    // Redirected is a repository by another name, and nobody else may get the token.
    const asked = { headers, redirect: "manual" as const, signal: AbortSignal.timeout(ASKED_MS) };
    const answer = await send(`${base}/repos/${repository}`, asked).catch(() => undefined);
    await answer?.body?.cancel().catch(() => undefined);
    if (answer === undefined) return "unknown";
    if (answer.status === 200) return "seen";
    if (answer.status === 401) return "refused";
    // A limit that is used up is a 403 as well: then nothing is known.
    const isSpent = answer.status === 429 || (answer.status === 403 && answer.headers.get("x-ratelimit-remaining") === "0");
    if (isSpent || answer.status >= 500 || answer.headers.has("retry-after")) return "unknown";
    return "unseen";
  };
}
