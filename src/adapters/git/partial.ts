/**
 * What a mirror lacks. It is fetched without the contents of files (`--filter=blob:none`), where the remote can leave them out; `blobs.ts` brings
 * those that are read. git itself never fetches one by the way: only commands that are told so know that something is missing on purpose
 * (`git-env.ts`), and to all others it is just not there. Used by `remote.ts` and `fetch-new.ts`.
 */
import { existsSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { KNOWN_FLAWS } from "./git-env.ts";
import { GitFailure } from "./git-errors.ts";
import { GitError } from "./port.ts";
import type { Repository } from "./run-git.ts";

/** Of a mirror that is fetched whole. */
const WHOLE = "stagecoach-whole";

/** Whether nothing may be left out of it. */
export function isWhole({ directory }: Repository): boolean {
  return existsSync(join(directory, WHOLE));
}

/** From now on nothing is left out of it. */
export function keepWhole({ directory }: Repository): void {
  writeFileSync(join(directory, WHOLE), "");
}

/** Whether it may lack what its trees name. */
export async function isPartial(repository: Repository): Promise<boolean> {
  if (isWhole(repository)) return false;
  const files = await readdir(join(repository.directory, "objects", "pack")).catch(() => []);
  return files.some((name) => name.endsWith(".promisor"));
}

/**
 * Whether git's checks refused nothing but flaws of old histories. Before 2.45 git knows no pardon for them in a fetch that leaves something out.
 */
export function hasKnownFlaws(error: unknown): boolean {
  const cause = error instanceof GitError ? error.cause : error;
  if (!(cause instanceof GitFailure)) return false;
  const flaws = [...cause.stderr.matchAll(/object [0-9a-f]+: (\w+):/g)].map(([, flaw = ""]) => flaw.toLowerCase());
  return flaws.length > 0 && flaws.every((flaw) => KNOWN_FLAWS.some((known) => known.toLowerCase() === flaw));
}
