import { reasonOf, statusOf } from "../wire/http.ts";
import type { Versioned } from "../wire/source.ts";

/** How to tell why one is not in a list any more. */
export interface MissingOptions<View> {
  /** Asks for it by its name. Resolves where the answer is that it is gone, or there for whoever may look; rejects with WireError. */
  ask: (view: View) => Promise<unknown>;
  /** What is left of it while nobody knows how it is. */
  withhold: (view: View, why: string) => View;
  /** The line of policy without which it is refused. */
  grant: (view: View) => string;
}

/** Of one list. Those that are left are asked for with the next one; until then nothing is concluded from them either. */
const MOST_ASKED = 500;
const AT_ONCE = 8;
const NOT_ASKED = "it is not in Argo CD's list any more, and why was not asked yet";

/**
 * Argo CD leaves out of a list what an account may not get, which looks as if it were gone. By its name it says which: 404 is gone, 403 is
 * forbidden. Returns those of which it does not say that they are gone. Never rejects.
 */
export async function withheldOf<View extends Versioned>(
  missing: ReadonlyMap<string, View>,
  { ask, withhold, grant }: MissingOptions<View>,
  isClosed: () => boolean,
): Promise<Map<string, View>> {
  const left = new Map<string, View>();
  // Those nobody has asked about come first, so that each has its turn.
  const waiting = [...missing].sort(([, a], [, b]) => Number(wasAsked(a)) - Number(wasAsked(b)));
  let asked = 0;
  let isSilent = false;
  async function next(): Promise<void> {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const [key, view] = one;
      const isLeft = isSilent || isClosed() || ++asked > MOST_ASKED;
      const why = isLeft ? (wasAsked(view) ? view.unreadable?.[0] : NOT_ASKED) : await whyMissing(view);
      if (why !== undefined) left.set(key, withhold(view, why));
    }
  }
  async function whyMissing(view: View): Promise<string | undefined> {
    try {
      await ask(view);
      return undefined;
    } catch (error) {
      if (statusOf(error) === 403) return `Argo CD does not let this account get it any more: ${reasonOf(error)}; grant it: ${grant(view)}`;
      // Where nothing answers, asking for hundreds more would take hours.
      isSilent ||= statusOf(error) === 0;
      return `it is not in Argo CD's list any more, and asking why failed: ${reasonOf(error)}`;
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return left;
}

function wasAsked({ unreadable }: Versioned): boolean {
  return unreadable !== undefined && unreadable[0] !== NOT_ASKED;
}
