import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "./git-process.ts";

export interface BranchCommit {
  branch: string;
  /** Texts by path; everything else of the branch stays. */
  files: ReadonlyMap<string, string>;
  message: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Commits files onto a branch of the remote, which need not exist yet, from a bare clone of it, and pushes. Gives the commit. */
export async function commitToBranch(
  dir: string,
  remote: string,
  { branch, files, message, at }: BranchCommit,
  parent: string | undefined,
  token?: string,
): Promise<string> {
  const index = join(dir, `index-${randomUUID()}`);
  const date = `${Math.floor(at / 1000)} +0000`;
  const person = { NAME: "argo-cd", EMAIL: "argo-cd@example.com", DATE: date };
  const people = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => Object.entries(person).map(([key, value]) => [`GIT_${role}_${key}`, value])),
  );
  const env = { GIT_INDEX_FILE: index, ...people };
  const git = async (args: string[], input?: string) => (await runGit(args, { cwd: dir, env, input })).toString().trim();
  try {
    await git(parent === undefined ? ["read-tree", "--empty"] : ["read-tree", parent]);
    for (const [path, text] of files) {
      const blob = await git(["hash-object", "-w", "--stdin"], text);
      await git(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`]);
    }
    const tree = await git(["write-tree"]);
    const commit = await git(["commit-tree", tree, ...(parent === undefined ? [] : ["-p", parent]), "-m", message]);
    await runGit(["push", "--quiet", remote, `${commit}:refs/heads/${branch}`], { cwd: dir, token });
    return commit;
  } finally {
    await rm(index, { force: true });
  }
}
