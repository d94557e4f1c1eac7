/** Tries a merge out, with the contents that it takes brought here first. Called by `reader.ts`. */
import type { CatFile, Missing } from "./cat-file.ts";
import { GitFailure, gitError } from "./git-errors.ts";
import { objectId } from "./names.ts";
import { GitError, type Mirror } from "./port.ts";
import { type Repository, runGit } from "./run-git.ts";
import { diffTrees } from "./tree-diff.ts";
import type { Trees } from "./trees.ts";

interface Merging {
  /** Where what it makes is written, too. */
  repository: Repository;
  objects: CatFile;
  trees: Trees;
  bring(missing: readonly Missing[]): Promise<void>;
}

/** What git finds missing besides comes one by one: of what was renamed on one side and changed on the other. */
const MOST_TRIES = 12;
/** Contents that are brought to tell what was renamed to what. */
const MOST_MOVED = 500;

/** `base` and `head` are commits. */
export async function mergeTree(merging: Merging, base: string, head: string): ReturnType<Mirror["mergeTree"]> {
  for (let tries = 0; ; tries++) {
    try {
      return await merged(merging.repository, base, head);
    } catch (error) {
      const missing = await missingIn(merging.objects, error);
      if (missing === undefined || tries === MOST_TRIES) throw gitError(`merge ${head} into ${base}`, error);
      const wanted = tries === 0 ? await contentsOf(merging, base, head) : [];
      await merging.bring([...wanted, { id: missing, path: "" }]);
      // Not the remote's to give.
      if ((await merging.objects.info(missing)) === undefined) throw gitError(`merge ${head} into ${base}`, error);
    }
  }
}

/** Exit code 1 is a merge with conflicts: the tree id first, then the paths, each ended by NUL. */
async function merged(repository: Repository, base: string, head: string): ReturnType<Mirror["mergeTree"]> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, head];
  const { exitCode, stdout } = await runGit(repository, args, { answers: [0, 1] });
  const [tree = "", ...conflicts] = stdout.split("\0").filter((part) => part.trim() !== "");
  if (exitCode === 0) return { tree: tree.trim() };
  // git says 1 for a conflict, which names its paths, and for a commit it does not have, which names none.
  if (conflicts.length === 0) throw new GitError("NotFound", `merge ${head} into ${base}: one of the commits is not in the mirror`);
  return { conflicts: [...new Set(conflicts)] };
}

/** The object that a command of git's ended for. */
async function missingIn(objects: CatFile, error: unknown): Promise<string | undefined> {
  if (!(error instanceof GitFailure)) return undefined;
  for (const [id] of error.stderr.matchAll(/\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g)) if ((await objects.info(id)) === undefined) return id;
  return undefined;
}

/** What both sides have changed, and what may have been renamed on either. */
async function contentsOf({ repository, objects, trees }: Merging, base: string, head: string): Promise<Missing[]> {
  const { exitCode, stdout } = await runGit(repository, ["merge-base", base, head], { answers: [0, 1] });
  const fork = exitCode === 0 ? await trees.root(objectId(stdout.trim().split("\n")[0] ?? "")) : undefined;
  const [ours = [], theirs = []] = await Promise.all(
    [base, head].map(async (commit) => diffTrees(trees.tree, fork, await trees.root(commit))),
  );
  const changed = new Set(ours.map(({ path }) => path));
  const both = new Set(theirs.flatMap(({ path }) => (changed.has(path) ? [path] : [])));
  const isMove = ({ from, to }: (typeof ours)[number]) => from === undefined || to === undefined;
  const moves = [...ours, ...theirs].filter(isMove).length <= MOST_MOVED;
  const wanted: Missing[] = [];
  for (const one of [...ours.map((change) => ({ ...change, ours: true })), ...theirs.map((change) => ({ ...change, ours: false }))]) {
    if (!both.has(one.path) && !(moves && isMove(one))) continue;
    if (one.from?.mode.startsWith("100") === true) wanted.push({ id: one.from.id, path: one.path, ours: true });
    if (one.to?.mode.startsWith("100") === true) wanted.push({ id: one.to.id, path: one.path, ours: one.ours });
  }
  const there = await Promise.all(wanted.map(({ id }) => objects.info(id)));
  return wanted.filter((_, at) => there[at] === undefined);
}
