/**
 * Commits that GitHub itself makes and signs for the App: in one request where it can carry them, else file by file. Opened by the server
 * for the journal and for batches.
 */
import type { Changes, CommitWriter, ProposeInput, ProposeOutcome, WriteInput, WriteOutcome } from "../../git/port.ts";
import { ForgeError } from "../port.ts";
import { asking } from "./errors.ts";
import { moveBranch, objectsOf, VAGUE, whyNotMoved } from "./git-data.ts";
import { COMMIT_ON_BRANCH, type CommitOnBranchResult, PROPOSE_BATCH, type ProposeBatchResult } from "./graphql/documents.ts";
import { type FieldError, refusedError, sendGraphQL } from "./graphql/send.ts";
import type { NodeIds } from "./node-ids.ts";
import type { OctokitLike, RepoOctokit } from "./octokit.ts";
import { noteProposal, sharedOf } from "./shared.ts";

export interface GitHubWriterOptions {
  octokit: OctokitLike;
  /** `owner/name`. */
  repository: string;
  /** Of files at a commit, as git spells them: GitHub's one-request commit would make every file it changes plain. */
  modes: (commit: string, paths: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Called after each commit that somebody will read, so that the mirror has it. */
  fetch: (branch: string) => Promise<void>;
  /** Bytes of changed files up to which one request carries them all. */
  mostBytes?: number;
}

/**
 * GitHub cuts off a request at 10 s and documents no size for this one, so this is a cautious guess: far above any batch of
 * pins, and, as base64, far below the 100 MB of a blob. Larger changes go file by file.
 */
const MOST_BYTES = 8 * 1024 * 1024;
const PLAIN = "100644";

/** Opens a writer whose commits GitHub itself makes and signs for the App, so that they are Verified. */
export function openGitHubWriter(options: GitHubWriterOptions): CommitWriter & Required<Pick<CommitWriter, "propose">> {
  const { octokit, repository, fetch } = options;
  const shared = sharedOf(octokit, repository);
  const { place, ids } = shared;

  async function write(input: WriteInput): Promise<WriteOutcome> {
    const plan = await planOf(options, input.ownFiles === true ? undefined : (input.head ?? input.from), input.changes);
    if (input.head !== undefined && plan.kind === "one") return await append(input, input.head);
    const { changes, message } = input;
    const commit = await objectsOf(place, { parent: input.head ?? input.from, changes, message, modes: plan.modes });
    if (!(await moveBranch(place, input.branch, input.head, commit))) return { kind: "stale" };
    return await written(input, commit);
  }

  async function append(input: WriteInput, head: string): Promise<WriteOutcome> {
    const variables = {
      branch: committable(repository, input.branch),
      message: messageOf(input.message),
      head,
      changes: fileChanges(input.changes),
    };
    const { data, errors } = await asking(() => sendGraphQL<CommitOnBranchResult>(place, COMMIT_ON_BRANCH, variables));
    const commit = data.createCommitOnBranch?.commit?.oid;
    if (commit !== undefined) return await written(input, commit);
    const [refused] = errors;
    if (refused !== undefined && isStale(refused)) return { kind: "stale" };
    throw refusedError(COMMIT_ON_BRANCH, refused);
  }

  async function written({ branch, ownFiles }: WriteInput, commit: string): Promise<WriteOutcome> {
    if (ownFiles !== true) await fetch(branch);
    return { kind: "written", commit };
  }

  return {
    kind: "github",
    write,
    async propose(input) {
      const plan = await planOf(options, input.from, input.changes);
      const made = plan.kind === "one" ? await proposeAtOnce(place, ids, input) : await proposeStepwise(place, ids, write, input);
      if (made.kind !== "proposed") return made;
      noteProposal(shared, { branch: input.branch, ...made });
      await fetch(input.branch);
      return made;
    },
  };
}

/**
 * One document makes branch, commit and PR. GitHub runs all three fields though an earlier one fails, so that a branch which
 * somebody else made a moment ago gets our PR: whose commit it holds is told from its bytes, by whoever called.
 */
async function proposeAtOnce(place: RepoOctokit, ids: NodeIds, input: ProposeInput): Promise<ProposeOutcome> {
  const { branch, from, base, title, body } = input;
  const { data, errors } = await asking(async () =>
    sendGraphQL<ProposeBatchResult>(place, PROPOSE_BATCH, {
      repositoryId: await ids.repository(),
      ref: `refs/heads/${branch}`,
      from,
      branch: committable(`${place.owner}/${place.repo}`, branch),
      message: messageOf(input.message),
      changes: fileChanges(input.changes),
      base,
      head: branch,
      title,
      body,
    }),
  );
  const commit = data.createCommitOnBranch?.commit?.oid;
  const pull = data.createPullRequest?.pullRequest ?? undefined;
  if (pull !== undefined) ids.learnPull(pull.number, pull.id);
  if (commit !== undefined && pull !== undefined && pull.headRefOid === commit) return { kind: "proposed", commit, pull: pull.number };
  const unmade = errors.find((one) => one.field === "createRef");
  // The other fields fail of it, too, and say less.
  if (pull === undefined && unmade !== undefined && VAGUE.test(unmade.message))
    throw refusedError(PROPOSE_BATCH, unmade, await whyNotMoved(place, branch, undefined, unmade.message));
  const refused = errors.find((one) => one.field !== "createRef") ?? errors[0];
  const message = refused?.message ?? "its head was moved";
  if (pull !== undefined) return { kind: "taken", message, pull: { number: pull.number, head: pull.headRefOid } };
  // What failed of something else leaves the branch with our commit: the next try finds it and opens a PR.
  if (refused === undefined || !(isStale(refused) || /already exists/i.test(refused.message))) throw refusedError(PROPOSE_BATCH, refused);
  return { kind: "taken", message };
}

/** The commit first, with nothing pointing at it; then the branch, which must not be there; then the PR. */
async function proposeStepwise(
  place: RepoOctokit,
  ids: NodeIds,
  write: CommitWriter["write"],
  input: ProposeInput,
): Promise<ProposeOutcome> {
  const { branch, from, base, title, body, changes, message, at } = input;
  const written = await write({ branch, head: undefined, from, changes, message, at });
  if (written.kind === "stale") return { kind: "taken", message: "Reference already exists" };
  const { octokit, owner, repo } = place;
  const { data } = await asking(() =>
    octokit.rest.pulls.create({ owner, repo, head: branch, base, title, body, maintainer_can_modify: false, request: { retries: 0 } }),
  );
  ids.learnPull(data.number, data.node_id);
  return { kind: "proposed", commit: written.commit, pull: data.number };
}

/** Whether one request can carry the change, or each file has to be sent by itself to keep its mode or its size. */
async function planOf(
  { modes, mostBytes = MOST_BYTES }: GitHubWriterOptions,
  parent: string | undefined,
  changes: Changes,
): Promise<{ kind: "one" | "each"; modes: ReadonlyMap<string, string> }> {
  const there = parent === undefined ? new Map<string, string>() : await modes(parent, [...changes.keys()]);
  let bytes = 0;
  let plain = true;
  for (const [path, text] of changes) {
    if (typeof text === "object" && text !== null) {
      plain = false;
      continue;
    }
    const mode = there.get(path) ?? PLAIN;
    if (!mode.startsWith("100")) {
      throw new ForgeError(
        "Invalid",
        0,
        `${path} is ${mode === "120000" ? "a symbolic link" : "no file"}: a commit of ours changes plain files only`,
      );
    }
    if (text !== null && mode !== PLAIN) plain = false;
    bytes += text === null ? 0 : Buffer.byteLength(text);
  }
  return { kind: plain && bytes <= mostBytes ? "one" : "each", modes: there };
}

function committable(repository: string, branch: string) {
  return { repositoryNameWithOwner: repository, branchName: branch };
}

/** GitHub puts a blank line between the two. */
function messageOf(message: string): { headline: string; body: string } {
  const [headline = "", ...rest] = message.trimEnd().split("\n");
  return { headline, body: rest.join("\n").replace(/^\n+/, "") };
}

function fileChanges(changes: Changes) {
  const additions = [...changes].flatMap(([path, text]) =>
    typeof text !== "string" ? [] : [{ path, contents: Buffer.from(text).toString("base64") }],
  );
  const deletions = [...changes].flatMap(([path, text]) => (text === null ? [{ path }] : []));
  return { additions, deletions };
}

function isStale({ type, message }: FieldError): boolean {
  return type === "STALE_DATA" || /expected branch to point to/i.test(message);
}
