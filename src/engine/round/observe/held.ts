import type { Assessment } from "../../../core/run/state/world.ts";
import type { RepoMemory } from "../memory.ts";

type Held = NonNullable<Assessment["held"]>;

const MOST = 50_000;
const memories = new WeakMap<RepoMemory, Map<string, Held>>();

/**
 * Since when, by our own clock, a target's reads have all been well or bad. Kept in memory only: after a restart settling
 * and grace are counted anew, which delays by as much and decides nothing wrongly.
 */
export function heldFor(memory: RepoMemory, question: string): Held {
  return memories.get(memory)?.get(question) ?? {};
}

export function keepHeld(memory: RepoMemory, question: string, held: Held | undefined): void {
  const all = memories.get(memory) ?? new Map<string, Held>();
  memories.set(memory, all);
  if (all.size > MOST) all.clear();
  if (held?.goodSince === undefined && held?.badSince === undefined) all.delete(question);
  else all.set(question, held);
}
