/** Settings, or files that they name, that cannot be used: a line each. It says which, and what to do; never a secret. */
export class SettingError extends Error {
  override name = "SettingError";
}

export interface Told {
  /** What `read` gives; undefined where it threw a SettingError, which is kept. */
  of<T>(read: () => T): T | undefined;
  /** Whether something was kept. */
  any(): boolean;
  /** Throws one SettingError with all that was kept, each line once; returns where there is none. */
  done(): void;
}

/** Gathers what is wrong, so that everything is told at once and not one mistake a start. */
export function telling(): Told {
  const lines = new Set<string>();
  return {
    of(read) {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
        lines.add(error.message);
        return undefined;
      }
    },
    any: () => lines.size > 0,
    done() {
      if (lines.size > 0) throw new SettingError([...lines].join("\n"));
    },
  };
}
