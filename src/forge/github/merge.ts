import { ForgeError, type MergeOutcome } from "../port.ts";
import { answerOf, forgeError } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

/** A merge that takes longer is given up by us, and by GitHub: its journalled intention must not outlive it. */
const MERGE_LIMIT_MS = 10_000;

export interface MergeInput {
  number: number;
  /** Guard: GitHub refuses where the head is another commit by now. */
  head: string;
  method: "squash" | "merge" | "rebase";
  title: string;
  message: string;
}

/**
 * Merges, or says why not in one of a closed set of ways. Sent once: after a 5xx or a lost answer the merge may have
 * happened (chdsbd/kodiak#397), so the PR is read before anything is concluded.
 */
export async function mergePull({ octokit, owner, repo }: RepoOctokit, input: MergeInput): Promise<MergeOutcome> {
  const { number, head, method, title, message } = input;
  const rebase = method === "rebase";
  try {
    const { data } = await octokit.rest.pulls.merge({
      owner,
      repo,
      pull_number: number,
      sha: head,
      merge_method: method,
      ...(rebase ? {} : { commit_title: title, commit_message: message }),
      request: { ...NEVER_RETRY.request, signal: AbortSignal.timeout(MERGE_LIMIT_MS) },
    });
    return { kind: "merged", commit: data.sha };
  } catch (error) {
    const merged = await mergedMeanwhile({ octokit, owner, repo }, number);
    return merged ?? refusalOf(error);
  }
}

async function mergedMeanwhile({ octokit, owner, repo }: RepoOctokit, number: number): Promise<MergeOutcome | undefined> {
  try {
    const { data } = await octokit.rest.pulls.get({ owner, repo, pull_number: number });
    return data.merged && data.merge_commit_sha !== null ? { kind: "merged", commit: data.merge_commit_sha } : undefined;
  } catch {
    // Not known: the next round looks again, and merging again is guarded by the head.
    return undefined;
  }
}

/** GitHub tells its refusals apart by message only; recorded ones stand in the table of merge.test.ts. */
const WAITS =
  /required status check|approving review|code owner review|approval from someone other|is expected|conversations? must be resolved|waiting on/i;
const HUMANS =
  /not allowed on this repository|rule violations? found|must be made through the merge queue|without .*workflows. permission|protected branch/i;

export function refusalOf(error: unknown): MergeOutcome {
  const answer = answerOf(error);
  if (answer === undefined) throw forgeError("merge", error);
  const message = [answer.message, ...answer.details].join(": ");
  if (answer.status === 409 && /head branch was modified/i.test(message)) return { kind: "headMoved", message };
  if (/merge conflict/i.test(message)) return { kind: "conflict", message };
  if (answer.status === 405 || answer.status === 409) return refusalByWords(message);
  const failure = forgeError("merge", error);
  if (failure.kind === "RateLimited" || failure.kind === "Unavailable") return { kind: "retry", message };
  if (answer.status === 403) return { kind: "human", message: failure.message };
  if (answer.status === 404) return { kind: "human", message: "the pull request is gone, or the App may no longer see it" };
  if (answer.status === 422) return { kind: "human", message };
  throw new ForgeError(failure.kind, failure.status, failure.message, { cause: error });
}

function refusalByWords(message: string): MergeOutcome {
  if (/base branch was modified|head branch was modified/i.test(message)) return { kind: "retry", message };
  // A ruleset lists what is missing: where all of it is a check or a review, waiting is right.
  if (WAITS.test(message) && !/not allowed|merge queue/i.test(message)) return { kind: "wait", message };
  if (HUMANS.test(message) || /not authorized to push/i.test(message)) return { kind: "human", message };
  return { kind: "wait", message };
}
