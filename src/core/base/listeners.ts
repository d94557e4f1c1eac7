/** Those who want to be told of a key. */
interface Listeners<Key> {
  /** Returns how to stop listening. */
  add(listener: (key: Key) => void): () => void;
  tell(key: Key): void;
  clear(): void;
}

/** Keeps listeners apart: one that fails is reported to `onError`, and keeps it from no other. */
export function createListeners<Key>(onError?: (error: unknown, key: Key) => void): Listeners<Key> {
  const all = new Set<(key: Key) => void>();
  return {
    add(listener) {
      all.add(listener);
      return () => void all.delete(listener);
    },
    tell(key) {
      for (const listener of [...all]) {
        try {
          listener(key);
        } catch (error) {
          onError?.(error, key);
        }
      }
    },
    clear: () => all.clear(),
  };
}
