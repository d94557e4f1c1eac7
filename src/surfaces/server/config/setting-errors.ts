/** Settings that cannot be used, and files that they name: gathered as reasons, and told all at once. Called while the server starts. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { errorText } from "../../../core/base/error-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";

/** Settings cannot be used: a line each in its message, never with a secret. */
export class SettingError extends Error {
  override name = "SettingError";
  readonly reasons: readonly AnyReason[];
  constructor(...reasons: readonly AnyReason[]) {
    super(reasons.map((reason) => sentenceOf(reason)).join("\n"));
    this.reasons = reasons;
  }
}

/** Gathers what is wrong, so that everything is reported at once and not one mistake a start. */
export function gatherSettingErrors() {
  const found = new Map<string, AnyReason>();
  return {
    /** Gives what `read` gives; undefined where it threw a SettingError, which is kept. */
    keep<T>(read: () => T): T | undefined {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
        for (const reason of error.reasons) found.set(sentenceOf(reason), reason);
        return undefined;
      }
    },
    any: () => found.size > 0,
    /** Throws one SettingError with all that was kept, each once; returns where there is none. */
    throwAny(): void {
      if (found.size > 0) throw new SettingError(...found.values());
    },
  };
}

/** Whatever `read` throws is thrown as a SettingError of the setting. */
export function underSetting<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SettingError)
      throw new SettingError(...error.reasons.map((because) => setting("SETTING_UNUSABLE", { setting: name, because })));
    const words = errorText(error);
    // A parser may quote the file over several lines; of a setting there is one.
    const said = words.replace(/\s*\n[\s\S]*$/, "").slice(0, 500);
    throw new SettingError(setting("SETTING_REFUSED", { setting: name, said }));
  }
}

/** Reads a file that a setting names; `~/` is the home of whoever runs the server. */
export function readSettingFile(name: string, path: string): string {
  const file = path.startsWith("~/") ? resolve(homedir(), path.slice(2)) : resolve(path);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SettingError(setting("SETTING_FILE", { setting: name, file, fault: (error as NodeJS.ErrnoException).code ?? "unreadable" }));
  }
}

/** The same without white space around it. A file without anything else is refused. */
export function readSecretFile(name: string, path: string): string {
  const text = readSettingFile(name, path).trim();
  if (text === "") throw new SettingError(setting("SETTING_FILE_EMPTY", { setting: name, file: resolve(path) }));
  return text;
}
