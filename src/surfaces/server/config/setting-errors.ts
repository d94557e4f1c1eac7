/** Settings, or files that they name, cannot be used: a line each. It says which, and what to do; never a secret. */
export class SettingError extends Error {
  override name = "SettingError";
}

interface SettingErrors {
  /** Gives what `read` gives; undefined where it threw a SettingError, which is kept. */
  keep<T>(read: () => T): T | undefined;
  any(): boolean;
  /** Throws one SettingError with all that was kept, each line once; returns where there is none. */
  throwAny(): void;
}

/** Gathers what is wrong, so that everything is reported at once and not one mistake a start. */
export function gatherSettingErrors(): SettingErrors {
  const lines = new Set<string>();
  return {
    keep(read) {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
        lines.add(error.message);
        return undefined;
      }
    },
    any: () => lines.size > 0,
    throwAny() {
      if (lines.size > 0) throw new SettingError([...lines].join("\n"));
    },
  };
}
