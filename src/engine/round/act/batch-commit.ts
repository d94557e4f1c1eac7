/**
 * The commits of batches: built without a work tree, and told from anybody else's.
 *
 * The same batch on the same base gives the same id, so doing it twice is doing it once. Called where a batch is proposed, and
 * wherever a branch, a PR's head or a merge is looked at.
 */
import type { Changes, ObjectChange } from "../../../adapters/git/port.ts";
import { EMPTY_TREE, type Folder, folderIn } from "../../../core/base/folder.ts";
import { epoch } from "../../../core/base/time.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import { batchTrailers } from "../../../core/report/batch/batch-pull.ts";
import { commitText } from "../../../core/report/batch/batch-text.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import { applyEdits } from "../../resolve/apply-edits.ts";
import type { RepoContext } from "../context.ts";

export interface BatchCommits {
  /** What the commit of a batch on a base writes, and says; undefined where a pin cannot be edited there. */
  write(run: Run, batch: Batch, base: string): Promise<BatchWrite | undefined>;
  /** The commit itself, in the mirror only. */
  build(run: Run, batch: Batch, base: string): Promise<string | undefined>;
  /**
   * Whether a commit is what we would push for this batch: one commit on top of the base branch, which says so in its
   * trailers and is the batch's edits byte for byte. Trailers can be forged, but then the bytes are ours all the same; and a
   * parent that is not in the base would bring in whatever it holds.
   */
  isOurs(run: Run, batch: Batch, head: string): Promise<boolean>;
  /**
   * What a branch of a batch's name holds. `ours`: the batch's commit. `bare`: nothing that the base does not hold, as when a
   * try of ours broke off after the branch was made and before its commit was; only a writer that makes branches and commits
   * apart leaves such ones. `foreign`: somebody else's work.
   */
  judgeBranch(run: Run, batch: Batch, head: string): Promise<"ours" | "bare" | "foreign">;
  /** docs/spec.md §9.12: the pin files at the merge commit and its first parent differ in exactly the batch's pins, and nothing else does. */
  isExactMerge(batch: Batch, commit: string): Promise<boolean>;
}

interface BatchWrite {
  changes: Changes;
  message: string;
  at: number;
}

type Context = Pick<RepoContext, "mirror" | "author" | "writer">;

interface Deps extends Pick<Context, "mirror" | "author"> {
  commits: Commits;
  remote: RemoteHeads;
}

export function openBatchCommits({ mirror, author, writer }: Context, commits: Commits, remote: RemoteHeads): BatchCommits {
  const deps = { mirror, author, commits, remote };
  return {
    write: (run, batch, base) => write(deps, run, batch, base),
    isOurs: (run, batch, head) => isOurs(deps, run, batch, head),
    async build(run, batch, base) {
      const made = await write(deps, run, batch, base);
      return made && mirror.commit({ parent: base, author, ...made });
    },
    async judgeBranch(run, batch, head) {
      if (await isOurs(deps, run, batch, head)) return "ours";
      return writer?.kind === "github" && (await isOnBase(deps, head)) ? "bare" : "foreign";
    },
    isExactMerge: (batch, commit) =>
      commits.fact(`merge ${commit} is exactly ${batch.branch}`, async () => {
        const [parent] = (await mirror.commitInfo(commit))?.parents ?? [];
        return parent !== undefined && isExactChange(deps, batch, parent, commit);
      }),
  };
}

function copiesOf(batch: Batch): Edit[] {
  return editsOf(batch).filter(({ kind }) => kind === "copy");
}

/** Each pin once: targets that share one name it several times. */
export function editsOf(batch: Pick<Batch, "targets" | "also">): Edit[] {
  const seen = new Map<string, Edit>((batch.also ?? []).map((edit) => [`also\n${edit.file}\n${edit.path}`, edit]));
  for (const target of batch.targets) {
    for (const edit of target.edits)
      seen.set(
        `${edit.kind}\n${edit.file}\n${edit.path}\n${edit.entry ?? ""}\n${edit.part ?? ""}\n${edit.kind === "clusterGenerator" ? target.cluster : ""}`,
        edit,
      );
  }
  return [...seen.values()];
}

async function write(deps: Deps, run: Run, batch: Batch, base: string): Promise<BatchWrite | undefined> {
  const { author } = deps;
  const changes = await changesOf(deps, batch, base);
  return changes && { changes, message: commitText(run, batch, author), at: epoch(batch.since) };
}

/** The batch's files with its edits made; undefined where a pin cannot be found there. */
async function changesOf(deps: Deps, batch: Batch, base: string): Promise<Changes | undefined> {
  const { commits } = deps;
  const result = await commits.snapshot(base).with((files) => applyEdits(editsOf(batch), (path) => files.read(path)));
  if (!result.ok) return undefined;
  const changes = new Map<string, string | ObjectChange>(result.files);
  for (const { file, to } of copiesOf(batch)) {
    const there = await folderAt(deps, base, file);
    if (there?.fault?.kind === "File" || there?.fault?.kind === "Submodule") return undefined;
    if ((there?.id ?? EMPTY_TREE) === to) continue;
    // The tree itself is put there, so that no byte and no mode of it passes through here.
    if (to !== EMPTY_TREE) changes.set(file, { mode: "40000", id: to });
    else for (const { path, mode } of there?.files ?? []) changes.set(`${file}/${path}`, { mode, id: null });
  }
  return changes;
}

async function isOurs(deps: Deps, run: Run, batch: Batch, head: string): Promise<boolean> {
  const { mirror, commits } = deps;
  const info = (await mirror.commitInfo(head)) ?? (await fetchAndLook(deps, batch.branch, head));
  const [parent, second] = info?.parents ?? [];
  if (info === undefined || parent === undefined || second !== undefined) return false;
  if (!`${info.body}\n`.includes(`${batchTrailers(run, batch)}\n`)) return false;
  if (!(await isOnBase(deps, parent))) return false;
  return commits.fact(`batch ${run.rollout}/${run.number}/${batch.number}-${batch.attempt} is ${head}`, () =>
    isExactChange(deps, batch, parent, head),
  );
}

async function fetchAndLook({ mirror }: Pick<Deps, "mirror">, branch: string, head: string) {
  await mirror.fetch([branch]);
  return mirror.commitInfo(head);
}

/** Only a yes is kept: the base moves on, and what is not known may be fetched. */
async function isOnBase({ remote, commits, mirror }: Pick<Deps, "remote" | "commits" | "mirror">, commit: string): Promise<boolean> {
  const { base } = remote.last;
  if (base === undefined) return false;
  if (commits.known(`${commit} on base`) === true) return true;
  const answer = commit === base || (await mirror.isAncestor(commit, base)) === true;
  if (answer) commits.note(`${commit} on base`, true);
  return answer;
}

async function isExactChange(deps: Deps, batch: Batch, before: string, after: string): Promise<boolean> {
  const { mirror, commits } = deps;
  const wanted = await changesOf(deps, batch, before);
  if (wanted === undefined) return false;
  const touched = await mirror.changedPaths(before, after);
  const expected = new Set<string>();
  const texts = [...wanted].filter(([, change]) => typeof change === "string");
  for (const [path, text] of texts) if (text !== (await commits.snapshot(before).read(path))) expected.add(path);
  const written = [...expected];
  for (const path of await copiedPaths(deps, batch, before)) expected.add(path);
  if (touched.length !== expected.size || touched.some((path) => !expected.has(path))) return false;
  const files = await mirror.readFiles(after, written);
  return written.every((path) => files.get(path) === wanted.get(path)) && (await holdsCopies(deps, batch, after));
}

/** What the batch's copies change on a base, from the repo's root. */
async function copiedPaths(deps: Deps, batch: Batch, base: string): Promise<string[]> {
  const { mirror } = deps;
  const paths: string[] = [];
  for (const { file, to } of copiesOf(batch)) {
    const there = await folderAt(deps, base, file);
    for (const path of await mirror.changedPaths(there?.id ?? EMPTY_TREE, to)) paths.push(`${file}/${path}`);
  }
  return paths;
}

async function holdsCopies(deps: Deps, batch: Batch, commit: string): Promise<boolean> {
  for (const { file, to } of copiesOf(batch)) if (((await folderAt(deps, commit, file))?.id ?? EMPTY_TREE) !== to) return false;
  return true;
}

function folderAt({ commits }: Pick<Deps, "commits">, commit: string, path: string): Promise<Folder | null> {
  return commits.snapshot(commit).with((files) => folderIn(files, path));
}
