import { ForgeError } from "../../adapters/forge/port.ts";
import { GitError } from "../../adapters/git/port.ts";
import { type WriteRefusal, writeRefusal } from "../../core/reasons/attention.ts";

const MOST_SAID = 500;

/**
 * Why GitHub, or the Git server, refuses a write; undefined: it was not refused but failed on the way, such as at a limit or with no
 * answer, and is worth trying again soon.
 */
export function whyRefused(error: unknown): WriteRefusal | undefined {
  if (error instanceof ForgeError) {
    if (error.because !== undefined) return error.because;
    const isRefusal = error.kind === "Forbidden" || error.kind === "Invalid" || error.kind === "NotFound";
    return isRefusal ? writeRefusal("WRITE_REFUSED", { said: error.message.slice(0, MOST_SAID) }) : undefined;
  }
  if (error instanceof GitError && error.kind === "Invalid")
    return writeRefusal("WRITE_REFUSED", { said: error.message.slice(0, MOST_SAID) });
  return undefined;
}
