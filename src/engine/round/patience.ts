import type { Forge } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { Clock } from "../../core/base/time.ts";
import { attentionReason } from "../../core/reasons/attention.ts";
import type { Attention } from "./attention.ts";
import { whyRefused } from "./refused-write.ts";

const FIRST_RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 30 * 60_000;
/** What nobody wants to say any more needs nobody's attention. */
const FORGOTTEN_MS = 15 * 60_000;
const MOST_KEPT = 1000;

/**
 * Leaves alone for a while what GitHub has refused, and says above comments what needs attention. Whoever wants it again is given the
 * same refusal, and GitHub is asked less often each time. What it refuses is noted where people look.
 */
export function withPatience(forge: Forge, attention: Attention, clock: Clock): Forge {
  const refused = new BoundedMap<string, { count: number; until: number; error: unknown }>(MOST_KEPT);

  async function patiently<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const before = refused.get(key);
    if (before !== undefined && clock.now() < before.until) throw before.error;
    try {
      const done = await ask();
      refused.delete(key);
      return done;
    } catch (error) {
      if (whyRefused(error) === undefined) throw error;
      const count = (before?.count ?? 0) + 1;
      refused.set(key, { count, until: clock.now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1)), error });
      throw error;
    }
  }

  return {
    ...forge,
    async stickyComment(number, marker, body) {
      const concern = `comment ${number}`;
      const line = attention.line();
      try {
        const made = await patiently(`${concern} ${marker}`, () =>
          forge.stickyComment(number, marker, line === "" ? body : `${line}\n\n${body}`),
        );
        attention.note(concern, undefined);
        return made;
      } catch (error) {
        const because = whyRefused(error);
        const { until = clock.now() } = refused.get(`${concern} ${marker}`) ?? {};
        if (because !== undefined) attention.note(concern, attentionReason("COMMENT_REFUSED", { number, because }), until + FORGOTTEN_MS);
        throw error;
      }
    },
    stickyUrl: (number, marker) => patiently(`there ${number} ${marker}`, () => forge.stickyUrl(number, marker)),
    react: (comment, reaction) => patiently(`react ${comment} ${reaction}`, () => forge.react(comment, reaction)),
    async gitCredentials(options) {
      const token = await forge.gitCredentials(options);
      // A new token may do what the last one might not.
      if (options?.renew === true) refused.clear();
      return token;
    },
  };
}
