import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { simpleGit } from "simple-git";
import { GitError } from "./port.ts";

/**
 * Whether the machine's git will do: 2.38 or later, for `merge-tree --write-tree`. `httpBackend`: it can also serve
 * repositories, which the embedded forge needs. Rejects with GitError `Unavailable` and one line saying what to install.
 */
export async function checkGit(): Promise<{ version: string; httpBackend: boolean }> {
  const git = simpleGit({ baseDir: tmpdir(), timeout: { block: 10_000 } });
  const version = await git.version().catch(() => undefined);
  if (version === undefined || !version.installed) {
    throw new GitError("Unavailable", "git was not found on PATH; install git 2.38 or later");
  }
  const text = `${version.major}.${version.minor}.${version.patch}`;
  if (version.major < 2 || (version.major === 2 && version.minor < 38)) {
    throw new GitError("Unavailable", `git ${text} is too old: 2.38 or later is needed (merge-tree --write-tree)`);
  }
  const execPath = (await git.raw(["--exec-path"])).trim();
  return { version: text, httpBackend: existsSync(join(execPath, "git-http-backend")) };
}
