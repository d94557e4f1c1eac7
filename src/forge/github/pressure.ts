import { ForgeError, type Pressure } from "../port.ts";
import type { OctokitLike } from "./octokit.ts";

export interface PressureOptions {
  onPressure?: ((pressure: Pressure) => void) | undefined;
  /** The machine's, since GitHub's headers speak of it. */
  now?: () => number;
  sleep?: (ms: number) => Promise<void>;
}

/** Below this share of the hour's requests the rest is spread over the time that is left. */
const LOW = 0.1;
const LONGEST_SPACING_MS = 5000;
/** Told again only where it changed by as much. */
const NEWS_MS = 250;

/**
 * Slows an Octokit down before GitHub does, and sends nothing while GitHub wants silence: what would be sent then fails at
 * once as RateLimited, with the time from which it makes sense again. Merges are not slowed: their intentions run out.
 */
export function watchPressure(octokit: OctokitLike, options: PressureOptions = {}): () => Pressure {
  const { now = Date.now, sleep = (ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)) } = options;
  const gauge = openGauge(options.onPressure, now);
  let turn: Promise<void> = Promise.resolve();

  octokit.hook.wrap("request", async (request, given) => {
    const url = String(given.url);
    if (url.startsWith("/app") || url === "/rate_limit") return request(given);
    const { silentUntil, spacingMs } = gauge.pressure();
    if (silentUntil !== undefined && silentUntil > now()) {
      throw new ForgeError("RateLimited", 403, "GitHub has asked for silence; not sent", { retryAt: silentUntil });
    }
    if (spacingMs > 0 && !url.endsWith("/merge")) {
      // One behind the other: ten that wait the same time would come all at once.
      const mine = turn.then(() => sleep(gauge.pressure().spacingMs));
      turn = mine.catch(() => undefined);
      await mine;
    }
    try {
      const response = await request(given);
      gauge.learn(response.headers);
      return response;
    } catch (error) {
      gauge.refused(error as Refusal);
      throw error;
    }
  });
  return gauge.pressure;
}

type Headers = Record<string, unknown>;

interface Refusal {
  status?: unknown;
  response?: { headers?: Headers };
}

/** What GitHub's answers say of its limits; tells of what changed. */
function openGauge(onPressure: PressureOptions["onPressure"], now: () => number) {
  let pressure: Pressure = { spacingMs: 0 };

  function tell(next: Pressure): void {
    const news =
      Math.abs(next.spacingMs - pressure.spacingMs) >= NEWS_MS ||
      (next.spacingMs === 0) !== (pressure.spacingMs === 0) ||
      next.silentUntil !== pressure.silentUntil;
    pressure = next;
    if (news) onPressure?.(next);
  }

  function learn(headers: Headers | undefined): void {
    const [remaining, limit, reset] = ["remaining", "limit", "reset"].map((name) => Number(headers?.[`x-ratelimit-${name}`] ?? Number.NaN));
    const resource = headers?.["x-ratelimit-resource"] ?? "core";
    if (resource !== "core" || remaining === undefined || limit === undefined || reset === undefined) return;
    if (!Number.isFinite(remaining + limit + reset)) return;
    const primary = { remaining, limit, resetAt: reset * 1000 };
    tell({ ...pressure, primary, spacingMs: spacing(primary, now()) });
  }

  function refused({ status, response }: Refusal): void {
    learn(response?.headers);
    const wait = Number(response?.headers?.["retry-after"] ?? Number.NaN);
    if ((status === 403 || status === 429) && Number.isFinite(wait)) tell({ ...pressure, silentUntil: now() + wait * 1000 });
  }

  return { pressure: () => pressure, learn, refused };
}

function spacing({ remaining, limit, resetAt }: { remaining: number; limit: number; resetAt: number }, now: number): number {
  if (remaining > limit * LOW || resetAt <= now) return 0;
  return Math.min(LONGEST_SPACING_MS, Math.ceil((resetAt - now) / Math.max(remaining, 1)));
}
