import type { Batch } from "./run.ts";

/**
 * Remembers what follows from a batch alone. A batch is never changed in place, so this is a memory and no state: of a large fleet most
 * batches are settled, and stay the same object round after round.
 */
export function perBatch<T>(work: (batch: Batch) => T): (batch: Batch) => T {
  const known = new WeakMap<Batch, { result: T }>();
  return (batch) => {
    const before = known.get(batch);
    if (before !== undefined) return before.result;
    const result = work(batch);
    known.set(batch, { result });
    return result;
  };
}
