import type { AnyReason } from "../../../core/base/reason.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { RepoContext } from "../context.ts";

/** Below this share of the hour's calls the bot slows down, so that merges and commands still get through. */
const SLOW_BELOW = 0.15;
/** While it is slow, a round that nothing asks for waits so long. */
export const SLOW_ROUND_MS = 60_000;

/** Why the bot is slow just now, for people; undefined: it is not. */
export function slowness({ forge, clock }: Pick<RepoContext, "forge" | "clock">): AnyReason | undefined {
  const rate = forge.rate?.();
  if (rate === undefined || rate.limit <= 0 || rate.remaining >= rate.limit * SLOW_BELOW || rate.resetAt <= clock.now()) return undefined;
  return engineReason("RATE_LIMIT_NEAR", { ...rate, everyMs: SLOW_ROUND_MS });
}
