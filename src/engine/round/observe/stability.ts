import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Assessment } from "../../../core/run/state/world.ts";

type StableSince = NonNullable<Assessment["held"]>;

const MOST = 50_000;

/**
 * Since when, by our own clock, a target's reads have all been well or bad. Kept in memory only: after a restart settling
 * and grace are counted anew, which delays by as much and decides nothing wrongly.
 */
export interface Stability {
  of(question: string): StableSince;
  note(question: string, since: StableSince | undefined): void;
}

export function openStability(): Stability {
  const all = new BoundedMap<string, StableSince>(MOST);
  return {
    of: (question) => all.get(question) ?? {},
    note(question, since) {
      if (since?.goodSince === undefined && since?.badSince === undefined) all.delete(question);
      else all.set(question, since);
    },
  };
}
