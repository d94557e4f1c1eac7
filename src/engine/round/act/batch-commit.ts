import type { CommitWriter } from "../../../adapters/git/port.ts";
import { epoch } from "../../../core/base/time.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import { batchTrailers } from "../../../core/report/batch/batch-pull.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import { applyEdits } from "../../resolve/pin-edit.ts";
import type { RepoContext } from "../context.ts";
import { commitText } from "./batch-text.ts";

/** What is known of the repo's commits, and of the heads of its remote. */
interface Known {
  commits: Commits;
  remote: RemoteHeads;
}

/**
 * The commit of a batch on a base, without a work tree. The same batch on the same base gives the same id, so doing it
 * twice is doing it once.
 */
export async function buildBatchCommit(context: RepoContext, memory: Known, run: Run, batch: Batch, base: string): Promise<string> {
  return context.mirror.commit({ parent: base, author: context.author, ...(await batchWrite(context, memory, run, batch, base)) });
}

/** What the commit of a batch on a base writes, and says. Throws where a pin cannot be edited there. */
export async function batchWrite(
  context: Pick<RepoContext, "author">,
  memory: Known,
  run: Run,
  batch: Batch,
  base: string,
): Promise<{ changes: ReadonlyMap<string, string>; message: string; at: number }> {
  const changes = await changesOf(memory, batch, base);
  if (changes === undefined) throw new Error(`${batch.branch}: its pins cannot be edited on ${base.slice(0, 12)}`);
  return { changes, message: commitText(context, run, batch), at: epoch(batch.since) };
}

/**
 * What a branch of a batch's name holds. `ours`: the batch's commit. `bare`: nothing that the base does not hold, as when a
 * try of ours broke off after the branch was made and before its commit was; only a writer that makes branches and commits
 * apart leaves such ones. `foreign`: somebody else's work.
 */
export async function judgeBranch(
  context: RepoContext,
  memory: Known,
  run: Run,
  batch: Batch,
  head: string,
  writer: CommitWriter | undefined,
): Promise<"ours" | "bare" | "foreign"> {
  if (await isBatchCommit(context, memory, run, batch, head)) return "ours";
  return writer?.kind === "github" && (await isOnBase(context, memory, head)) ? "bare" : "foreign";
}

/**
 * Whether a commit is what we would push for this batch: one commit on top of the base branch, which says so in its
 * trailers and is the batch's edits byte for byte. Trailers can be forged, but then the bytes are ours all the same; and a
 * parent that is not in the base would bring in whatever it holds.
 */
export async function isBatchCommit(context: RepoContext, memory: Known, run: Run, batch: Batch, head: string): Promise<boolean> {
  const info = (await context.mirror.commitInfo(head)) ?? (await fetchAndLook(context, batch.branch, head));
  const [parent, second] = info?.parents ?? [];
  if (info === undefined || parent === undefined || second !== undefined) return false;
  if (!`${info.body}\n`.includes(`${batchTrailers(run, batch)}\n`)) return false;
  if (!(await isOnBase(context, memory, parent))) return false;
  return memory.commits.fact(`batch ${run.rollout}/${run.number}/${batch.number}-${batch.attempt} is ${head}`, () =>
    isExactChange(context, memory, batch, parent, head),
  );
}

/** Only a yes is kept: the base moves on, and what is not known may be fetched. */
async function isOnBase(context: RepoContext, memory: Known, commit: string): Promise<boolean> {
  const { base } = memory.remote.last;
  if (base === undefined) return false;
  if (memory.commits.known(`${commit} on base`) === true) return true;
  const answer = commit === base || (await context.mirror.isAncestor(commit, base)) === true;
  if (answer) memory.commits.note(`${commit} on base`, true);
  return answer;
}

/** docs/spec.md §9.12: the pin files at the merge commit and its first parent differ in exactly the batch's pins, and nothing else does. */
export function isExactMerge(context: RepoContext, memory: Known, batch: Batch, commit: string): Promise<boolean> {
  return memory.commits.fact(`merge ${commit} is exactly ${batch.branch}`, async () => {
    const [parent] = (await context.mirror.commitInfo(commit))?.parents ?? [];
    return parent !== undefined && isExactChange(context, memory, batch, parent, commit);
  });
}

async function fetchAndLook(context: RepoContext, branch: string, head: string) {
  await context.mirror.fetch([branch]);
  return context.mirror.commitInfo(head);
}

async function isExactChange(context: RepoContext, memory: Known, batch: Batch, before: string, after: string): Promise<boolean> {
  const wanted = await changesOf(memory, batch, before);
  if (wanted === undefined) return false;
  const touched = await context.mirror.changedPaths(before, after);
  const expected = new Set<string>();
  for (const [path, text] of wanted) if (text !== (await memory.commits.snapshot(before).read(path))) expected.add(path);
  if (touched.length !== expected.size || touched.some((path) => !expected.has(path))) return false;
  const files = await context.mirror.readFiles(after, [...expected]);
  return [...expected].every((path) => files.get(path) === wanted.get(path));
}

/** The batch's files with its edits made; undefined where a pin cannot be found there. */
async function changesOf(memory: Known, batch: Batch, base: string): Promise<ReadonlyMap<string, string> | undefined> {
  const edits = editsOf(batch);
  const result = await memory.commits.snapshot(base).with((files) => applyEdits(edits, (path) => files.read(path)));
  return result.ok ? result.files : undefined;
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
