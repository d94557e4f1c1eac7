import { writeCommit, writeObject } from "../git/objects.ts";
import { editTree, type TreeChange } from "../git/trees.ts";
import { rerequestRun, rerequestSuite } from "../pulls/checks.ts";
import { commentOf, createComment, deleteComment, editComment, setLabels } from "../pulls/comments.ts";
import { mergePull } from "../pulls/merge-pull.ts";
import { createPull, editPull } from "../pulls/pulls.ts";
import { refsMoved } from "../pulls/refs-moved.ts";
import { createReview, editReview } from "../pulls/reviews.ts";
import { noreply } from "../shapes/commit.ts";
import type { Repo, User, World } from "./model.ts";
import { actorOf, findRepo, issueOf, movedRepo, pullOf } from "./world.ts";

/** Text; null removes the file; a symbolic link to some path. */
type PushedFile = string | null | { link: string };

/** What a person does on the site or with their own git. `repository` is `owner/name`; refusals are `ApiFailure`s, as over HTTP. */
export interface Person {
  login: string;
  /**
   * Commits files on top of a branch (made from the default branch where it is not there). Gives the commit. `author`: whom it says it is by,
   * as anybody may type.
   */
  push(
    repository: string,
    change: { branch: string; files: Record<string, PushedFile>; message: string; author?: { name: string; email: string } },
  ): Promise<string>;
  deleteBranch(repository: string, branch: string): Promise<void>;
  openPull(repository: string, input: { head: string; base?: string; title: string; body?: string; draft?: boolean }): Promise<number>;
  /** Gives the commit it became. */
  mergePull(repository: string, number: number, method?: "merge" | "squash" | "rebase"): Promise<string>;
  editPull(repository: string, number: number, change: { title?: string; body?: string; base?: string }): Promise<void>;
  closePull(repository: string, number: number): Promise<void>;
  reopenPull(repository: string, number: number): Promise<void>;
  label(repository: string, number: number, labels: string[]): Promise<void>;
  /** Gives its id. */
  review(repository: string, number: number, event: "APPROVE" | "REQUEST_CHANGES" | "COMMENT", body?: string): Promise<number>;
  editReview(repository: string, number: number, review: number, body: string): void;
  comment(repository: string, number: number, body: string): number;
  editComment(repository: string, comment: number, body: string): void;
  deleteComment(repository: string, comment: number): void;
  /** "Re-run" beside a check run. */
  rerun(repository: string, checkRun: number): void;
  /** "Re-run all checks", of the App that made the suite. */
  rerunAll(repository: string, checkSuite: number): Promise<void>;
}

export function repoNamed(world: World, repository: string): Repo {
  const [owner = "", name = ""] = repository.split("/");
  const repo = findRepo(world, owner, name) ?? movedRepo(world, owner, name);
  if (repo === undefined) throw new Error(`the embedded GitHub has no repository ${repository}`);
  return repo;
}

export function createPerson(world: World, user: User): Person {
  const actor = actorOf(world, user);
  const at = (repository: string) => repoNamed(world, repository);
  const change = (repository: string, number: number, to: Parameters<typeof editPull>[4]) =>
    editPull(world, at(repository), actor, pullOf(at(repository), number), to);
  return {
    login: user.login,
    push: (repository, input) => at(repository).serial(() => pushFiles(world, at(repository), user, input)),
    deleteBranch: (repository, branch) => at(repository).serial(() => deleteBranch(world, at(repository), user, branch)),
    async openPull(repository, input) {
      const repo = at(repository);
      return (await createPull(world, repo, actor, { ...input, base: input.base ?? repo.defaultBranch })).number;
    },
    mergePull: (repository, number, method) =>
      mergePull(world, at(repository), actor, pullOf(at(repository), number), method === undefined ? {} : { method }),
    editPull: change,
    closePull: (repository, number) => change(repository, number, { state: "closed" }),
    reopenPull: (repository, number) => change(repository, number, { state: "open" }),
    label: (repository, number, labels) => setLabels(world, at(repository), actor, issueOf(at(repository), number), labels),
    async review(repository, number, event, body = "") {
      return (await createReview(world, at(repository), actor, pullOf(at(repository), number), { event, body })).id;
    },
    editReview(repository, number, id, body) {
      const review = pullOf(at(repository), number).pull.reviews.find((one) => one.id === id);
      if (review === undefined) throw new Error(`#${number} has no review ${id}`);
      editReview(world, actor, review, body);
    },
    comment: (repository, number, body) => createComment(world, at(repository), actor, issueOf(at(repository), number), body).id,
    editComment: (repository, comment, body) => editComment(world, at(repository), actor, commentOf(at(repository), comment), body),
    deleteComment: (repository, comment) => deleteComment(world, at(repository), actor, commentOf(at(repository), comment)),
    rerun: (repository, checkRun) => rerequestRun(world, at(repository), actor, known(at(repository).checks, checkRun)),
    rerunAll: (repository, checkSuite) => rerequestSuite(world, at(repository), actor, known(at(repository).suites, checkSuite)),
  };
}

function known<T>(all: ReadonlyMap<number, T>, id: number): T {
  const found = all.get(id);
  if (found === undefined) throw new Error(`the embedded GitHub has no check ${id}`);
  return found;
}

async function pushFiles(world: World, repo: Repo, user: User, input: Parameters<Person["push"]>[1]): Promise<string> {
  const ref = `refs/heads/${input.branch}`;
  const old = await repo.git.ref(ref);
  const parent = await repo.git.commit(old ?? `refs/heads/${repo.defaultBranch}`);
  if (parent === undefined) throw new Error(`${repo.name} has no commit to push onto`);
  const changes = new Map<string, TreeChange>();
  for (const [path, content] of Object.entries(input.files)) {
    if (content === null) {
      changes.set(path, null);
      continue;
    }
    const isLink = typeof content === "object";
    const sha = await writeObject(repo.git.dir, "blob", Buffer.from(isLink ? content.link : content));
    changes.set(path, { mode: isLink ? "120000" : "100644", sha });
  }
  const edited = await editTree(repo.git.dir, repo.git.cat, parent.tree, changes);
  if ("missing" in edited) throw new Error(`${edited.missing} is not there to be removed`);
  const author = { ...(input.author ?? noreply(user)), at: Math.floor(world.clock.now() / 1000) };
  const commit = { tree: edited.tree, parents: [parent.sha], author, committer: author, message: input.message };
  const sha = await writeCommit(repo.git.dir, commit);
  if (!(await repo.git.updateRefs([{ ref, old, new: sha }]))) throw new Error(`${input.branch} was moved at the same moment`);
  await refsMoved(world, repo, actorOf(world, user), [{ ref, old, new: sha }]);
  return sha;
}

async function deleteBranch(world: World, repo: Repo, user: User, branch: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const old = await repo.git.ref(ref);
  if (old === undefined || !(await repo.git.updateRefs([{ ref, old, new: undefined }]))) throw new Error(`no branch ${branch} to delete`);
  await refsMoved(world, repo, actorOf(world, user), [{ ref, old, new: undefined }]);
}
