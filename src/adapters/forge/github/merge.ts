import type { RestEndpointMethodTypes } from "@octokit/rest";
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { MergeOutcome } from "../port.ts";
import type { MergeClient } from "./merge-client.ts";
import { isUnauthorized, isUnclear, refusalOf } from "./merge-refusal.ts";
import type { RepoOctokit } from "./octokit.ts";

const MOST_REMEMBERED = 1000;

interface MergeInput {
  number: number;
  /** Guard: GitHub refuses where the head is another commit by now. */
  head: string;
  method: "squash" | "merge" | "rebase";
  title: string;
  message: string;
}

type PullData = RestEndpointMethodTypes["pulls"]["get"]["response"]["data"];

/**
 * Merges, or says why not in one of a closed set of ways. Sent once: after a 5xx or a lost answer the merge may have
 * happened (chdsbd/kodiak#397), so the PR is read before anything is concluded. Sent soon or not at all: its journalled
 * intention must not run out before GitHub has done it.
 */
export function merger(place: RepoOctokit, mergeClient: () => Promise<MergeClient>): (input: MergeInput) => Promise<MergeOutcome> {
  const unauthorized = new BoundedSet<string>(MOST_REMEMBERED);
  return async (input) => {
    try {
      return { kind: "merged", commit: await send(await mergeClient(), place, input) };
    } catch (error) {
      const pull = await look(place, input.number);
      if (pull?.merged === true && pull.merge_commit_sha !== null) return { kind: "merged", commit: pull.merge_commit_sha };
      const outcome = refusalOf(error);
      if (isUnclear(outcome.message)) return byPull(pull, input, outcome.message);
      return isUnauthorized(outcome.message) ? sometimesTransient(unauthorized, input, outcome.message) : outcome;
    }
  };
}

async function send({ octokit, soon }: MergeClient, { owner, repo }: RepoOctokit, input: MergeInput): Promise<string> {
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
      request: soon(),
    }),
  );
  return data.sha;
}

/** undefined: not known. The next round looks again, and merging again is guarded by the head. */
async function look({ octokit, owner, repo }: RepoOctokit, number: number): Promise<PullData | undefined> {
  try {
    return (await octokit.rest.pulls.get({ owner, repo, pull_number: number })).data;
  } catch {
    return undefined;
  }
}

/** "Not mergeable" is a conflict, a draft, a closed one or a blocked one: the PR says which. */
function byPull(pull: PullData | undefined, input: MergeInput, message: string): MergeOutcome {
  if (pull === undefined) return { kind: "retry", message };
  if (pull.state === "closed") return { kind: "wait", message: `${message}: it is closed` };
  if (pull.head.sha !== input.head) return { kind: "headMoved", message };
  if (pull.draft === true) return { kind: "wait", message: `${message}: it is a draft; mark it as ready for review` };
  if (pull.mergeable === false || pull.mergeable_state === "dirty") return { kind: "conflict", message };
  if (pull.mergeable === null || pull.mergeable_state === "unknown")
    return { kind: "retry", message: `${message}: GitHub is still working out whether it can be` };
  return { kind: "wait", message: `${message}: GitHub calls it ${pull.mergeable_state}` };
}

/** Seen to pass by itself right after permissions changed: said once it is a hiccup, said again it is for a person. */
function sometimesTransient(before: Set<string>, input: MergeInput, message: string): MergeOutcome {
  const key = `${input.number}@${input.head}`;
  if (before.has(key)) return { kind: "human", message };
  before.add(key);
  return { kind: "retry", message };
}
