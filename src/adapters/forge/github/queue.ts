import { defined } from "../../../core/base/defined.ts";
import { ForgeError, type MergeOutcome, type QueueEntry } from "../port.ts";
import { asking } from "./errors.ts";
import {
  DEQUEUE,
  ENQUEUE,
  type EnqueueResult,
  QUEUE_ENTRIES,
  QUEUE_ENTRY,
  type QueueEntriesResult,
  type QueueEntryResult,
} from "./graphql/merge-queue.ts";
import { type FieldError, sendGraphQL } from "./graphql/send.ts";
import type { MergeClient } from "./merge-client.ts";
import { refusalByWords, refusalOf } from "./merge-refusal.ts";
import type { NodeIds } from "./node-ids.ts";
import type { RepoOctokit } from "./octokit.ts";

/** Asks for a place in the merge queue, soon or not at all. A PR that is in it already is queued, whoever put it there. */
export async function enqueuePull(
  place: RepoOctokit,
  ids: NodeIds,
  mergeClient: () => Promise<MergeClient>,
  number: number,
  head: string,
): Promise<MergeOutcome> {
  const { octokit, soon } = await mergeClient();
  const request = soon();
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
  const doing = `take pull request ${number} out of the merge queue`;
  const { errors } = await asking(doing, () => sendGraphQL(place, DEQUEUE, { id: before.pull }));
  if (errors.length === 0) return;
  const after = await queueEntry(place, number);
  if (after.queued === undefined) return;
  // The schema says the pull request's id; releases of the Enterprise Server have wanted the entry's.
  const again = await asking(doing, () => sendGraphQL(place, DEQUEUE, { id: after.queued }));
  const [refused] = again.errors;
  if (refused !== undefined) throw new ForgeError("Conflict", 422, `${doing}: ${refused.message}`);
}

async function queueEntry(place: RepoOctokit, number: number): Promise<{ pull: string; queued: string | undefined }> {
  const { owner, repo } = place;
  const doing = `ask whether pull request ${number} is in the merge queue`;
  const { data, errors } = await asking(doing, () => sendGraphQL<QueueEntryResult>(place, QUEUE_ENTRY, { owner, name: repo, number }));
  const pull = data.repository?.pullRequest;
  if (pull == null) throw new ForgeError("NotFound", 404, `${doing}: ${errors[0]?.message ?? "there is no such pull request"}`);
  return { pull: pull.id, queued: pull.mergeQueueEntry?.id };
}

/** Empty where the branch has no queue. */
export async function mergeQueue(place: RepoOctokit, branch: string): Promise<QueueEntry[]> {
  const { owner, repo } = place;
  const doing = `read the merge queue of ${branch}`;
  const { data, errors } = await asking(doing, () => sendGraphQL<QueueEntriesResult>(place, QUEUE_ENTRIES, { owner, name: repo, branch }));
  const [refused] = errors;
  if (refused !== undefined)
    throw new ForgeError(refused.type === "FORBIDDEN" ? "Forbidden" : "Invalid", 422, `${doing}: ${refused.message}`);
  const entries = data.repository?.mergeQueue?.entries?.nodes ?? [];
  return entries.flatMap((entry) => {
    if (entry?.pullRequest == null) return [];
    const { state, position, headCommit, pullRequest } = entry;
    return [defined({ pull: pullRequest.number, state, position, head: headCommit?.oid })];
  });
}
