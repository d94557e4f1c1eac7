/**
 * Keeps an installation off GitHub's limits: it slows down before they are reached, and is silent while GitHub wants that. Merges are not
 * slowed.
 */
import { ForgeError, type RateSeen } from "../port.ts";
import { answerOf, limitedUntil } from "./errors.ts";
import type { OctokitLike } from "./octokit.ts";

interface PressureOptions {
  /** The machine's, since GitHub's headers speak of it. */
  now?: () => number;
  sleep?: (ms: number) => Promise<void>;
}

/** GitHub counts the two apart; refusals for their number in a short time are for both. */
type Resource = "core" | "graphql";

/** Below this share of the hour's requests the rest is spread over the time that is left. */
const LOW = 0.1;
const LONGEST_SPACING_MS = 5000;
const MINUTE_MS = 60_000;
const LONGEST_SILENCE_MS = 60 * MINUTE_MS;

/** One for all Octokits of an installation, since its limits are theirs together. */
interface PressureGauge {
  /** What is left of the hour's requests, but for GraphQL's; undefined: GitHub has not said so yet. */
  rate(): RateSeen | undefined;
  /**
   * Slows an Octokit down before GitHub does, and sends nothing while GitHub wants silence: what would be sent then fails at
   * once as RateLimited, with the time from which it makes sense again. Merges are not slowed: their intentions run out.
   */
  watch(octokit: OctokitLike): void;
}

/** The App's own routes, which no installation's limit holds. */
export function isAppsOwn(url: string): boolean {
  return url.startsWith("/app") || url === "/rate_limit";
}

export function openPressure(options: PressureOptions = {}): PressureGauge {
  const { now = Date.now, sleep = (ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)) } = options;
  const limits = openLimits(now);
  let turn: Promise<void> = Promise.resolve();

  function watch(octokit: OctokitLike): void {
    octokit.hook.wrap("request", async (request, given) => {
      const url = String(given.url);
      if (isAppsOwn(url)) return request(given);
      const resource = /\/graphql$/.test(url) ? "graphql" : "core";
      const silentUntil = limits.silentUntil(resource);
      if (silentUntil > now()) {
        throw new ForgeError("RateLimited", 403, "GitHub has asked for silence; not sent", { retryAt: silentUntil });
      }
      const urgent = url.endsWith("/merge") || given.request?.["sendBy"] !== undefined;
      if (limits.spacing(resource) > 0 && !urgent) {
        // One behind the other: ten that wait the same time would come all at once.
        const mine = turn.then(() => sleep(limits.spacing(resource)));
        turn = mine.catch(() => undefined);
        await mine;
      }
      try {
        const response = await request(given);
        limits.answered(resource, response);
        return response;
      } catch (error) {
        limits.refused(resource, error);
        throw error;
      }
    });
  }

  return { rate: limits.rate, watch };
}

type Headers = Record<string, unknown>;

interface Known {
  rates: Partial<Record<Resource, RateSeen>>;
  /** Epoch milliseconds until which nothing is sent. */
  silences: Record<Resource | "both", number>;
}

/** What GitHub's answers say of its limits. */
function openLimits(now: () => number) {
  const known: Known = { rates: {}, silences: { core: 0, graphql: 0, both: 0 } };
  const { rates, silences } = known;
  /** Refusals in succession that did not say how long to wait: each time twice as long. */
  let unsaid = 0;

  const silentUntil = (resource: Resource) => Math.max(silences.both, silences[resource]);
  const spacing = (resource: Resource) => spacingOf(rates[resource], now());

  /** Also where a document was refused with status 200. */
  function answered(resource: Resource, response: { headers: Headers; data?: unknown }): void {
    const errors = (response.data as { errors?: unknown } | null | undefined)?.errors;
    if (resource === "graphql" && Array.isArray(errors)) refused(resource, { response });
    else {
      learn(known, resource, response.headers);
      calm();
    }
  }

  function refused(resource: Resource, error: unknown): void {
    const answer = answerOf(error);
    if (answer === undefined) return;
    learn(known, resource, answer.headers);
    const limit = limitedUntil(answer, now(), Math.min(LONGEST_SILENCE_MS, MINUTE_MS * 2 ** unsaid));
    if (limit === undefined) calm();
    else if (limit.by === "reset") silences[resource] = limit.until;
    // What was under way when the first was refused is refused as well: that is one time.
    else if (limit.by === "retry-after" || silences.both <= now()) {
      if (limit.by === "unsaid") unsaid += 1;
      silences.both = Math.max(silences.both, limit.until);
    }
  }

  function calm(): void {
    if (silences.both <= now()) unsaid = 0;
  }

  return { rate: () => rates.core, silentUntil, spacing, answered, refused };
}

function spacingOf(rate: RateSeen | undefined, now: number): number {
  if (rate === undefined || rate.remaining > rate.limit * LOW || rate.resetAt <= now) return 0;
  return Math.min(LONGEST_SPACING_MS, Math.ceil((rate.resetAt - now) / Math.max(rate.remaining, 1)));
}

function learn({ rates, silences }: Known, asked: Resource, headers: Headers | undefined): void {
  const resource = headers?.["x-ratelimit-resource"] ?? asked;
  const rate = rateIn(headers);
  if ((resource !== "core" && resource !== "graphql") || rate === undefined) return;
  rates[resource] = rate;
  // The next one would be refused, and held against us.
  if (rate.remaining === 0) silences[resource] = rate.resetAt;
}

function rateIn(headers: Headers | undefined): RateSeen | undefined {
  const of = (name: string) => Number(headers?.[`x-ratelimit-${name}`] ?? Number.NaN);
  const rate = { remaining: of("remaining"), limit: of("limit"), resetAt: of("reset") * 1000 };
  return Number.isFinite(rate.remaining + rate.limit + rate.resetAt) ? rate : undefined;
}
