import type { RepoFiles } from "../../../core/base/repo-files.ts";
import type { GitSource, TreeEntry } from "./git-source.ts";
import { RepoError, type Repositories } from "./repositories.ts";

/** Rounds of asking for more: a git generator inside a matrix names its files only once the first child is known. */
const MAX_ROUNDS = 8;

interface Opened {
  git: GitSource;
  commit: string;
  tree: ReadonlyMap<string, TreeEntry>;
  texts: Map<string, string>;
}

type RepoOf = (repoURL: string, revision: string) => RepoFiles | undefined;

/**
 * Rendering is pure and asks for files as it goes; they come from git, which takes time. So it is asked again with what it missed,
 * until it misses nothing. Throws RepoError where a repository or revision is not to be had.
 */
export async function renderWithFiles<T>(render: (repo: RepoOf) => T, repositories: Repositories, force: boolean): Promise<T> {
  const opened = new Map<string, Opened | RepoError>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wanted = new Map<string, { repoURL: string; revision: string }>();
    const missing = new Map<Opened, Set<string>>();
    const result = render((repoURL, revision) => {
      const key = `${repoURL} ${revision}`;
      const repo = opened.get(key);
      if (repo === undefined) wanted.set(key, { repoURL, revision });
      return repo === undefined || repo instanceof RepoError ? undefined : snapshot(repo, missing);
    });
    const [failed] = [...opened.values()].filter((repo) => repo instanceof RepoError);
    if (failed !== undefined) throw failed;
    if (wanted.size === 0 && missing.size === 0) return result;
    for (const [key, { repoURL, revision }] of wanted) opened.set(key, await open(repositories, repoURL, revision, force));
    for (const [repo, paths] of missing) await fill(repo, [...paths]);
  }
  throw new RepoError("rpc error: code = Unknown desc = the generators ask for ever more files");
}

async function open(repositories: Repositories, repoURL: string, revision: string, force: boolean): Promise<Opened | RepoError> {
  try {
    const { revision: commit, git } = await repositories.resolve({ repoURL }, revision === "" ? "HEAD" : revision, force);
    if (git === undefined) return new RepoError(`rpc error: code = Unknown desc = failed to list refs: repository not found: ${repoURL}`);
    return { git, commit, tree: await git.tree(commit), texts: new Map() };
  } catch (error) {
    if (error instanceof RepoError) return error;
    throw error;
  }
}

async function fill(repo: Opened, paths: string[]): Promise<void> {
  const texts = await repo.git.read(repo.commit, paths);
  for (const path of paths) repo.texts.set(path, texts.get(path) ?? "");
}

function snapshot(repo: Opened, missing: Map<Opened, Set<string>>): RepoFiles {
  return {
    paths: () => [...repo.tree].flatMap(([path, { type }]) => (type === "blob" ? [path] : [])),
    read(path) {
      if (repo.tree.get(path)?.type !== "blob") return null;
      const text = repo.texts.get(path);
      if (text !== undefined) return text;
      const paths = missing.get(repo) ?? new Set();
      missing.set(repo, paths.add(path));
      return "";
    },
  };
}
