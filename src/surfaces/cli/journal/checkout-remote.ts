import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { simpleGit } from "simple-git";
import { buildCommit } from "../../../adapters/git/fast-import.ts";
import { branchRef, objectId } from "../../../adapters/git/names.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { openReader } from "../../../adapters/git/reader.ts";
import { CommandError } from "../command.ts";

/** A checkout and its remote, reached with the person's own git configuration and credentials. Its work tree is left alone. */
export interface CheckoutRemote extends Pick<Mirror, "remoteHead" | "fetch" | "readFiles" | "commit" | "push" | "close"> {
  /** `Name <address>` as git would put it into a commit; undefined: not configured. */
  person(): Promise<string | undefined>;
}

export async function openCheckoutRemote(repo: string): Promise<CheckoutRemote> {
  const directory = resolve(repo);
  if (!existsSync(directory)) throw new CommandError(2, `--repo ${repo}: there is no such directory`);
  const git = simpleGit({ baseDir: directory });
  const found = await git.raw(["rev-parse", "--absolute-git-dir"]).catch(() => undefined);
  if (found === undefined) throw new CommandError(2, `--repo ${repo} is no Git repository`);
  const remotes = (await git.raw(["remote"])).split("\n").filter(Boolean);
  const remote = remotes.includes("origin") ? "origin" : remotes[0];
  if (remote === undefined) throw new CommandError(2, `${repo} has no remote, where its journal would be`);
  const closing = new AbortController();
  const repository = { directory: found.trim(), allowFile: false, closing: closing.signal };
  const reader = openReader(repository);

  async function ask(doing: string, args: string[]): Promise<string> {
    try {
      return await git.raw(args);
    } catch (error) {
      throw new CommandError(3, `${doing} ${remote}: ${firstLine(error)}`);
    }
  }

  return {
    readFiles: reader.readFiles,
    async person() {
      const [name = "", email = ""] = await Promise.all(["user.name", "user.email"].map((key) => git.raw(["config", key]).catch(() => "")));
      return name.trim() === "" ? undefined : `${name.trim()}${email.trim() === "" ? "" : ` <${email.trim()}>`}`;
    },
    async remoteHead(branch) {
      const line = await ask("ask", ["ls-remote", "--quiet", "--end-of-options", remote, branchRef(branch)]);
      return line.split("\t")[0]?.trim() || undefined;
    },
    async fetch(branches = []) {
      for (const branch of branches)
        await ask("fetch from", ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options", remote, branchRef(branch)]);
    },
    commit: (input) => buildCommit(repository, reader.trees, input),
    async push(updates) {
      const leases = updates.map(({ ref, old }) => `--force-with-lease=${ref}:${old === undefined ? "" : objectId(old)}`);
      const refspecs = updates.map(({ ref, new: to }) => `${to === undefined ? "" : objectId(to)}:${ref}`);
      try {
        await git.raw(["push", "--quiet", "--atomic", "--no-verify", ...leases, "--end-of-options", remote, ...refspecs]);
        return "ok";
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (/stale info|non-fast-forward|fetch first/i.test(why)) return "stale";
        throw new CommandError(3, `push to ${remote}: ${firstLine(error)}`);
      }
    },
    async close() {
      await reader.close();
      closing.abort();
    },
  };
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.trim().split("\n")[0] ?? "") : String(error);
}
