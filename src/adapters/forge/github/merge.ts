/** Merges PRs, and queues them where their base has a merge queue. Each is sent once, and looked at before anything is concluded. */
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Forge, MergeOutcome, QueueEntry } from "../port.ts";
import { asking } from "./errors.ts";
import {
  DEQUEUE,
  ENQUEUE,
  type EnqueueResult,
  QUEUE_ENTRIES,
  QUEUE_ENTRY,
  type QueueEntriesResult,
  type QueueEntryResult,
} from "./graphql/documents.ts";
import { type FieldError, refusedError, sendGraphQL } from "./graphql/send.ts";
import type { MergeClient } from "./merge-client.ts";
import { isUnauthorized, isUnclear, refusalByWords, refusalOf } from "./merge-refusal.ts";
import type { NodeIds } from "./node-ids.ts";
import type { RepoOctokit } from "./octokit.ts";

const MOST_REMEMBERED = 1000;
/** Of the look right before a merge, which is part of the merge's own time. */
const LOOKED_WITHIN_MS = 3_000;

type MergeInput = Parameters<Forge["mergePull"]>[0];

type PullData = RestEndpointMethodTypes["pulls"]["get"]["response"]["data"];

/**
 * Merges, or says why not in one of a closed set of ways. Sent once: after a 5xx or a lost answer the merge may have
 * happened (chdsbd/kodiak#397), so the PR is read before anything is concluded. Sent soon or not at all: its journalled
 * intention must not run out before GitHub has done it.
 */
export function merger(place: RepoOctokit, mergeClient: () => Promise<MergeClient>): (input: MergeInput) => Promise<MergeOutcome> {
  const unauthorized = new BoundedSet<string>(MOST_REMEMBERED);
  return async (input) => {
    const client = await mergeClient();
    // From here on: the look at the base is part of the time in which it is sent or not at all.
    const request = client.soon();
    const elsewhere = await otherBase(place, input);
    if (elsewhere !== undefined) return elsewhere;
    try {
      return { kind: "merged", commit: await send(client, request, place, input) };
    } catch (error) {
      const pull = await look(place, input.number);
      if (pull?.merged === true && pull.merge_commit_sha !== null) return { kind: "merged", commit: pull.merge_commit_sha };
      const outcome = refusalOf(error);
      if (isUnclear(outcome.message)) return byPull(pull, input, outcome.message);
      return isUnauthorized(outcome.message) ? sometimesTransient(unauthorized, input, outcome.message) : outcome;
    }
  };
}

type Soon = ReturnType<MergeClient["soon"]>;

async function send({ octokit }: MergeClient, request: Soon, { owner, repo }: RepoOctokit, input: MergeInput): Promise<string> {
  const { number, head, method, title, message } = input;
  const { data } = await octokit.rest.pulls.merge(
    defined({
      owner,
      repo,
      pull_number: number,
      sha: head,
      merge_method: method,
      commit_title: method === "rebase" ? undefined : title,
      commit_message: method === "rebase" ? undefined : message,
      request,
    }),
  );
  return data.sha;
}

/** undefined: not known. The next round looks again, and merging again is guarded by the head. */
async function look({ octokit, owner, repo }: RepoOctokit, number: number, withinMs?: number): Promise<PullData | undefined> {
  try {
    const request = withinMs === undefined ? undefined : { signal: AbortSignal.timeout(withinMs) };
    return (await octokit.rest.pulls.get(defined({ owner, repo, pull_number: number, request }))).data;
  } catch {
    return undefined;
  }
}

/**
 * Somebody may have pointed the PR at another branch since it was looked at. GitHub's merges take no base as a condition, neither by REST nor by
 * GraphQL, so it is read right before; what still slips through is found by where the merge commit lies.
 */
async function otherBase(place: RepoOctokit, { number, base }: Pick<MergeInput, "number" | "base">): Promise<MergeOutcome | undefined> {
  const pull = await look(place, number, LOOKED_WITHIN_MS);
  if (pull === undefined) return { kind: "retry", message: `#${number} could not be read right before its merge` };
  return pull.base.ref === base ? undefined : { kind: "retry", message: `#${number} would be merged into ${pull.base.ref}, not ${base}` };
}

/** "Not mergeable" is a conflict, a draft, a closed one or a blocked one: the PR says which, in brackets (`core/run/gates/github-words.ts`). */
function byPull(pull: PullData | undefined, input: MergeInput, message: string): MergeOutcome {
  if (pull === undefined) return { kind: "retry", message };
  if (pull.state === "closed") return { kind: "wait", message: `${message} [closed]` };
  if (pull.head.sha !== input.head) return { kind: "headMoved", message };
  if (pull.draft === true) return { kind: "wait", message: `${message} [draft]` };
  if (pull.mergeable === false || pull.mergeable_state === "dirty") return { kind: "conflict", message };
  if (pull.mergeable === null || pull.mergeable_state === "unknown")
    return { kind: "retry", message: `${message}: GitHub is still working out whether it can be` };
  return { kind: "wait", message: `${message} [${pull.mergeable_state}]` };
}

/** Seen to pass by itself right after permissions changed: said once it is a hiccup, said again it is for a person. */
function sometimesTransient(before: Set<string>, input: MergeInput, message: string): MergeOutcome {
  const key = `${input.number}@${input.head}`;
  if (before.has(key)) return { kind: "human", message };
  before.add(key);
  return { kind: "retry", message };
}

/** Asks for a place in the merge queue, soon or not at all. A PR that is in it already is queued, whoever put it there. */
export async function enqueuePull(
  place: RepoOctokit,
  ids: NodeIds,
  mergeClient: () => Promise<MergeClient>,
  input: Pick<MergeInput, "number" | "head" | "base">,
): Promise<MergeOutcome> {
  const { number, head } = input;
  const { octokit, soon } = await mergeClient();
  const request = soon();
  const elsewhere = await otherBase(place, input);
  if (elsewhere !== undefined) return elsewhere;
  const pull = await ids.pull(number);
  try {
    const { data, errors } = await sendGraphQL<EnqueueResult>({ ...place, octokit }, ENQUEUE, { pull, head }, request);
    const [refused] = errors;
    if (refused !== undefined) return await refusal(place, number, refused);
    const entry = data.enqueuePullRequest?.mergeQueueEntry;
    return { kind: "queued", message: entry == null ? "in the merge queue" : `in the merge queue at position ${entry.position}` };
  } catch (error) {
    // The answer may have been lost, not the request.
    const entry = await queueEntry(place, number).catch(() => undefined);
    return entry?.queued === undefined ? refusalOf(error) : { kind: "queued", message: "in the merge queue" };
  }
}

async function refusal(place: RepoOctokit, number: number, refused: FieldError): Promise<MergeOutcome> {
  const { message, type } = refused;
  if ((await queueEntry(place, number)).queued !== undefined) return { kind: "queued", message: "in the merge queue" };
  if (type === "STALE_DATA" || /expected head|head (?:branch|ref|sha|oid).*(?:modified|match|changed)/i.test(message))
    return { kind: "headMoved", message };
  if (type === "FORBIDDEN" || type === "INSUFFICIENT_SCOPES") return { kind: "human", message };
  return refusalByWords(message);
}

/** Throws ForgeError where the PR is still in the queue afterwards: nothing may be taken for fenced that is not. */
export async function dequeuePull(place: RepoOctokit, number: number): Promise<void> {
  const before = await queueEntry(place, number);
  if (before.queued === undefined) return;
  const { errors } = await asking(() => sendGraphQL(place, DEQUEUE, { id: before.pull }));
  if (errors.length === 0) return;
  const after = await queueEntry(place, number);
  if (after.queued === undefined) return;
  // The schema says the pull request's id; releases of the Enterprise Server have wanted the entry's.
  const again = await asking(() => sendGraphQL(place, DEQUEUE, { id: after.queued }));
  const [refused] = again.errors;
  if (refused !== undefined) throw refusedError(DEQUEUE, refused);
}

async function queueEntry(place: RepoOctokit, number: number): Promise<{ pull: string; queued: string | undefined }> {
  const { owner, repo } = place;
  const { data, errors } = await asking(() => sendGraphQL<QueueEntryResult>(place, QUEUE_ENTRY, { owner, name: repo, number }));
  const pull = data.repository?.pullRequest;
  if (pull == null) throw refusedError(QUEUE_ENTRY, errors[0] ?? { type: "NOT_FOUND", field: "", message: `no pull request ${number}` });
  return { pull: pull.id, queued: pull.mergeQueueEntry?.id };
}

/** Empty where the branch has no queue. */
export async function mergeQueue(place: RepoOctokit, branch: string): Promise<QueueEntry[]> {
  const { owner, repo } = place;
  const { data, errors } = await asking(() => sendGraphQL<QueueEntriesResult>(place, QUEUE_ENTRIES, { owner, name: repo, branch }));
  const [refused] = errors;
  if (refused !== undefined) throw refusedError(QUEUE_ENTRIES, refused);
  const entries = data.repository?.mergeQueue?.entries?.nodes ?? [];
  return entries.flatMap((entry) => {
    if (entry?.pullRequest == null) return [];
    const { state, position, headCommit, pullRequest } = entry;
    return [defined({ pull: pullRequest.number, state, position, head: headCommit?.oid })];
  });
}
