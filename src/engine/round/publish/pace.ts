import { paceRemark } from "../../../core/report/pace.ts";
import type { RepoContext } from "../context.ts";

/** Below this share of the hour's calls the bot slows down, so that merges and commands still get through. */
const SLOW_BELOW = 0.15;
/** While it is slow, a round that nothing asks for waits so long. */
export const SLOW_ROUND_MS = 60_000;

/** Why the bot is slow just now, for people; undefined: it is not. */
export function slowness(context: RepoContext): string | undefined {
  const rate = context.forge.rate?.();
  if (rate === undefined || rate.limit <= 0 || rate.remaining >= rate.limit * SLOW_BELOW) return undefined;
  return rate.resetAt <= context.clock.now() ? undefined : paceRemark(rate, SLOW_ROUND_MS);
}
