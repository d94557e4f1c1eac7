/**
 * Reads what GitHub refused and why, wherever Octokit puts it. Every failure leaves this adapter as a ForgeError without a token in it.
 */
import { errorText, redact } from "../../../core/base/error-text.ts";
import { type WriteRefusal, writeRefusal } from "../../../core/reasons/attention.ts";
import { ForgeError } from "../port.ts";

interface ErrorAnswer {
  status: number;
  message: string;
  /** Messages of `errors[]`, which come as objects or as plain strings. */
  details: string[];
  headers: Record<string, string>;
}

/** What GitHub answered, wherever Octokit puts it; undefined: it never answered. */
export function answerOf(error: unknown): ErrorAnswer | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { status, response, message } = error as {
    status?: unknown;
    response?: { data?: unknown; headers?: Record<string, string> };
    message?: unknown;
  };
  if (typeof status !== "number") return graphQLAnswer(error);
  if (whyUnreached(error) !== undefined) return undefined;
  const data = (response?.data ?? {}) as { message?: unknown; errors?: unknown };
  const errors = Array.isArray(data.errors) ? data.errors : [];
  const details = errors.map((item: unknown) =>
    typeof item === "string" ? item : String((item as { message?: unknown } | null)?.message ?? ""),
  );
  return {
    status,
    message: redact(typeof data.message === "string" ? data.message : String(message)),
    details: details.filter((text) => text !== "").map(redact),
    headers: response?.headers ?? {},
  };
}

const UNREACHED: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name could not be looked up",
  ETIMEDOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  EHOSTUNREACH: "no way to that host",
  ENETUNREACH: "no way to that network",
};

/** Why nobody answered; undefined: somebody did, or it was no request. Octokit gives what failed on the way the status 500, and no response. */
export function whyUnreached(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, response } = error as { status?: unknown; response?: unknown };
  if (!(status === 500 && response === undefined) && error.message !== "fetch failed") return undefined;
  let cause: unknown = error;
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string") return UNREACHED[code] ?? redact(`${cause.message} (${code})`).slice(0, 300);
    cause = cause.cause;
  }
  return undefined;
}

const GRAPHQL_STATUS: Record<string, number> = {
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPES: 403,
  STALE_DATA: 409,
  RATE_LIMITED: 429,
};

interface GraphQLRefusal {
  name?: unknown;
  errors?: unknown;
  headers?: Record<string, string>;
  response?: { data?: { errors?: unknown }; headers?: Record<string, string> };
}

/**
 * A refused document is answered 200, and says in `errors` what a status would. octokit/graphql puts them on its error;
 * octokit/plugin-throttling, where a limit was hit, leaves them in the response.
 */
function graphQLAnswer(error: object): ErrorAnswer | undefined {
  const { name, errors, headers, response } = error as GraphQLRefusal;
  const all = name === "GraphqlResponseError" ? errors : response?.data?.errors;
  if (!Array.isArray(all)) return undefined;
  const said = all as ({ type?: unknown; message?: unknown } | null)[];
  const one = said.find((item) => item?.type === "RATE_LIMITED") ?? said[0];
  const message = redact(typeof one?.message === "string" ? one.message : "refused without a reason").slice(0, 2000);
  const limited = /secondary rate limit/i.test(message) ? 429 : 422;
  return { status: GRAPHQL_STATUS[String(one?.type)] ?? limited, message, details: [], headers: headers ?? response?.headers ?? {} };
}

/** Calls GitHub; every failure leaves as a ForgeError that tells which request it was, what GitHub answered, and what happens next. */
export async function asking<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw forgeError(error);
  }
}

/** As `asking`; undefined where GitHub answers with one of these statuses, mostly as there is no such thing. A limit is never taken for that. */
export async function askingOrNone<T>(call: () => Promise<T>, statuses: readonly number[] = [404]): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    const failure = forgeError(error);
    if (failure.kind !== "RateLimited" && statuses.includes(failure.status)) return undefined;
    throw failure;
  }
}

export function forgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  const answer = answerOf(error);
  if (answer === undefined) {
    const text = errorText(error);
    return new ForgeError("Unavailable", 0, `${requestOf(error)}GitHub did not answer: ${redact(text)}`);
  }
  const { status, message, details, headers } = answer;
  const text = `${requestOf(error)}${status} ${[message, ...details].join(": ")}${needed(status, headers)}`;
  const limited = limitedUntil(answer, Date.now());
  if (limited !== undefined) return new ForgeError("RateLimited", status, text, { retryAt: limited.until });
  return new ForgeError(kindOf(status), status, text, {
    because: refusalIn(status, [message, ...details].join(": "), headers["x-accepted-github-permissions"]),
  });
}

/** `GET /repos/acme/fleet/pulls/7: `, or the name of a document; empty where the error does not tell. No host, query, header or body. */
function requestOf(error: unknown): string {
  const { request } = error as { request?: { method?: unknown; url?: unknown; query?: unknown } };
  const document = /(?:query|mutation) \w+/.exec(String(request?.query ?? ""))?.[0];
  const path = URL.parse(String(request?.url), "https://api.github.com")?.pathname;
  return request === undefined ? "" : `${document ?? `${String(request.method)} ${path}`}: `;
}

function kindOf(status: number): ForgeError["kind"] {
  if (status === 401) return "Unauthorized";
  if (status === 403) return "Forbidden";
  if (status === 404 || status === 410 || status === 451) return "NotFound";
  if (status === 405 || status === 409) return "Conflict";
  return status >= 500 ? "Unavailable" : "Invalid";
}

/** GitHub's words for a permission that the App was not given, or for a token that is no App's. */
const NO_PERMISSION = /not accessible by (?:integration|personal access token)|authenticate via a GitHub App/i;

/** What a 403 or 422 says in words that are known; of other answers nothing is known but the words. */
export function refusalIn(status: number, said: string, needs?: string): WriteRefusal | undefined {
  if (status === 403 && NO_PERMISSION.test(said)) return writeRefusal("PERMISSION_LACKING", { needs, said: said.slice(0, MOST_SAID) });
  if (!RULES.test(said)) return undefined;
  return writeRefusal("RULES_REFUSE", { said: said.replace(RULES, "").replace(/\s+/g, " ").trim().slice(0, MOST_SAID) });
}

const MOST_SAID = 500;
const RULES = /Repository rule violations found(?: for \S+)?\.?\s*/i;

function needed(status: number, headers: Record<string, string>): string {
  const permissions = headers["x-accepted-github-permissions"];
  return status === 403 && permissions !== undefined ? ` (it needs ${permissions})` : "";
}

/** When asking again makes sense, and how that is known. */
interface Limited {
  until: number;
  by: "retry-after" | "reset" | "unsaid";
}

/**
 * Facts of GitHub's documentation: retry-after, else the reset where nothing remains, else a minute at the least, and longer
 * each time (`unsaidMs`). All in epoch milliseconds. undefined: it is no limit that was hit.
 */
export function limitedUntil({ status, message, headers }: ErrorAnswer, now: number, unsaidMs = 60_000): Limited | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers["retry-after"] ?? Number.NaN);
  if (Number.isFinite(after)) return { until: now + after * 1000, by: "retry-after" };
  const none = Number(headers["x-ratelimit-remaining"] ?? Number.NaN) === 0;
  const reset = Number(headers["x-ratelimit-reset"] ?? Number.NaN) * 1000;
  if (none && reset > now) return { until: reset, by: "reset" };
  return none || status === 429 || /rate limit/i.test(message) ? { until: now + unsaidMs, by: "unsaid" } : undefined;
}
