import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import { type WriteRefusal, writeRefusal } from "../../../core/reasons/attention.ts";
import type { Changes, ObjectChange } from "../../git/port.ts";
import { ForgeError } from "../port.ts";
import { answerOf, asking, askingOrNone, forgeError } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";
import { activeRules } from "./rules.ts";

/**
 * Commits by GitHub's REST Git data: keeps file modes, takes large files, and can begin an orphan branch. Made by an App
 * without an author of its own such a commit is Verified, too.
 */

interface GitDataInput {
  /** undefined: an orphan. */
  parent: string | undefined;
  changes: Changes;
  message: string;
  /** Of the files that are there, by path. */
  modes: ReadonlyMap<string, string>;
}

type TreeEntry = RestEndpointMethodTypes["git"]["createTree"]["parameters"]["tree"][number];

/** GitHub takes blobs up to 100 MB. */
const MOST_BLOB_BYTES = 100 * 1024 * 1024;
/** Larger ones are blobs of their own. */
const MOST_INLINE_BYTES = 256 * 1024;

/** Makes the commit; nothing points at it yet, so that a crash here leaves nothing behind. */
export async function objectsOf(place: RepoOctokit, input: GitDataInput): Promise<string> {
  const { octokit, owner, repo } = place;
  const entries: TreeEntry[] = [];
  for (const [path, text] of input.changes) entries.push(await entryOf(place, path, text, input));
  const base = input.parent === undefined ? undefined : await treeOf(place, input.parent);
  const tree = await asking(() => octokit.rest.git.createTree(defined({ owner, repo, tree: entries, base_tree: base, ...NEVER_RETRY })));
  const parents = input.parent === undefined ? [] : [input.parent];
  // Neither author nor committer: GitHub signs only what it may fill in itself.
  const commit = await asking(() =>
    octokit.rest.git.createCommit({ owner, repo, message: input.message.trimEnd(), tree: tree.data.sha, parents, ...NEVER_RETRY }),
  );
  return commit.data.sha;
}

async function entryOf(place: RepoOctokit, path: string, text: string | null | ObjectChange, input: GitDataInput): Promise<TreeEntry> {
  if (typeof text === "object" && text !== null) return objectEntry(path, text);
  const mode = input.modes.get(path) === "100755" ? "100755" : "100644";
  if (text === null) return { path, mode, type: "blob", sha: null };
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_INLINE_BYTES) return { path, mode, type: "blob", content: text };
  if (bytes > MOST_BLOB_BYTES)
    throw new ForgeError("Invalid", 413, `${path} has ${bytes} bytes; GitHub takes at most ${MOST_BLOB_BYTES} a file`);
  const { octokit, owner, repo } = place;
  const content = Buffer.from(text).toString("base64");
  const blob = await asking(() => octokit.rest.git.createBlob({ owner, repo, content, encoding: "base64", ...NEVER_RETRY }));
  return { path, mode, type: "blob", sha: blob.data.sha };
}

/** Not uploaded: what is put elsewhere lies in the repository already. */
function objectEntry(path: string, { mode, id }: ObjectChange): TreeEntry {
  const isFolder = mode === "40000";
  return { path, mode: isFolder ? "040000" : (mode as "100644"), type: isFolder ? "tree" : "blob", sha: id };
}

async function treeOf({ octokit, owner, repo }: RepoOctokit, commit: string): Promise<string> {
  const { data } = await asking(() => octokit.rest.git.getCommit({ owner, repo, commit_sha: commit }));
  return data.tree.sha;
}

/** Moves a branch on, or makes it; false: it was elsewhere, or is there already. Never forced: that is the compare-and-swap. */
export async function moveBranch(place: RepoOctokit, branch: string, head: string | undefined, commit: string): Promise<boolean> {
  const { octokit, owner, repo } = place;
  try {
    if (head === undefined) await octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${branch}`, sha: commit, ...NEVER_RETRY });
    else await octokit.rest.git.updateRef({ owner, repo, ref: `heads/${branch}`, sha: commit, force: false, ...NEVER_RETRY });
    return true;
  } catch (error) {
    const answer = answerOf(error);
    if (answer?.status !== 422 || /object does not exist/i.test(answer.message)) throw forgeError(error);
    if (/already exists|not a fast.?forward|does not exist/i.test(answer.message)) return false;
    if (!VAGUE.test(answer.message)) throw forgeError(error);
    // GitHub says the same of a lost race, of a branch in the way and of a rule: where the branch did not move it was no race.
    if ((await headOf(place, branch)) !== head) return false;
    throw new ForgeError("Invalid", 422, forgeError(error).message, { because: await whyNotMoved(place, branch, head, answer.message) });
  }
}

/** GitHub's words where it does not say why: by REST, and by GraphQL. */
export const VAGUE = /reference update failed|ref cannot be created/i;

async function headOf({ octokit, owner, repo }: RepoOctokit, branch: string): Promise<string | undefined> {
  return (await askingOrNone(() => octokit.rest.git.getRef({ owner, repo, ref: `heads/${branch}` })))?.data.object.sha;
}

/** What stands in the way of a branch that did not move, looked for where GitHub did not say it. */
export async function whyNotMoved(place: RepoOctokit, branch: string, head: string | undefined, said: string): Promise<WriteRefusal> {
  try {
    const by = head === undefined ? await inTheWay(place, branch) : undefined;
    if (by !== undefined) return writeRefusal("BRANCH_IN_THE_WAY", { branch, by });
    const rules = (await activeRules(place, branch)).map(({ type }) => type);
    const named = [...new Set(rules)].filter((type) => type !== "deletion" && (type === "creation") === (head === undefined));
    if (named.length > 0) return writeRefusal("RULES_FORBID", { branch, rules: named });
  } catch {
    // What cannot be looked up is not known: GitHub's own words are left.
  }
  return writeRefusal("WRITE_REFUSED", { said });
}

/** Git keeps no branch below another: one that is called as a folder of this one is, or one below it. */
async function inTheWay(place: RepoOctokit, branch: string): Promise<string | undefined> {
  const parts = branch.split("/");
  for (let length = 1; length < parts.length; length++) {
    const above = parts.slice(0, length).join("/");
    if ((await headOf(place, above)) !== undefined) return above;
  }
  const { octokit, owner, repo } = place;
  const below = await asking(() => octokit.rest.git.listMatchingRefs({ owner, repo, ref: `heads/${branch}/`, per_page: 1 }));
  return below.data[0]?.ref.replace(/^refs\/heads\//, "");
}
