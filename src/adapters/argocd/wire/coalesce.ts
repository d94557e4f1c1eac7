import type { Clock } from "../../../core/base/time.ts";

type Listener = (changed: ReadonlySet<string> | null) => void;

/** Gathers keys for a moment and tells every listener once. null: anything may have changed. */
export function coalescer(clock: Clock, ms: number) {
  const listeners = new Set<Listener>();
  let gathered: Set<string> | null = new Set();
  let cancel: (() => void) | undefined;

  function flush(): void {
    const changed = gathered;
    gathered = new Set();
    cancel = undefined;
    for (const listener of [...listeners]) listener(changed);
  }

  return {
    add(keys: Iterable<string> | null): void {
      if (keys === null) gathered = null;
      else if (gathered !== null) for (const key of keys) gathered.add(key);
      if (gathered !== null && gathered.size === 0) return;
      cancel ??= clock.after(ms, flush);
    },
    /** Returns how to stop listening. */
    listen(listener: Listener): () => void {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    close(): void {
      cancel?.();
      listeners.clear();
    },
  };
}
