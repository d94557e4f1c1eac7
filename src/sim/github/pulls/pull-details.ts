import { mergeTree } from "../git/merge.ts";
import { writeCommit } from "../git/objects.ts";
import type { Mergeability, Repo, World } from "../model/model.ts";
import type { PullIssue } from "../model/world.ts";
import { anyCheckOpen } from "../rules/checks.ts";
import { activeRules, missingRules } from "../rules/rules.ts";
import { noreply } from "../shapes/commit.ts";
import { type PullDetails, type PullShape, pullShape } from "../shapes/pull.ts";
import { pullStats } from "./pull-changes.ts";

/**
 * The pull request as asked for on its own. `ask`: a person or program reads it, which starts GitHub's background job and,
 * after `faults.nullReads` answers of null, shows its result. An event's payload shows only what is known already.
 */
export async function readPull(world: World, repo: Repo, issue: PullIssue, options: { ask: boolean }): Promise<PullShape> {
  const [mergeable, counts] = await Promise.all([readMergeable(world, repo, issue, options.ask), pullStats(repo, issue)]);
  return pullShape(world, repo, issue, { ...mergeable, ...counts });
}

export async function readMergeable(
  world: World,
  repo: Repo,
  issue: PullIssue,
  ask: boolean,
): Promise<Pick<PullDetails, "mergeable" | "mergeableState" | "testMerge">> {
  if (issue.state === "closed") return { mergeable: null, mergeableState: "unknown", testMerge: null };
  const unknown = { mergeable: null, mergeableState: issue.pull.draft ? "draft" : "unknown", testMerge: null };
  if (!ask && issue.pull.mergeability === undefined) return unknown;
  const job = await mergeabilityJob(world, repo, issue);
  if (job === undefined) return unknown;
  if (job.nullReads > 0) {
    if (ask) job.nullReads -= 1;
    return unknown;
  }
  const result = await job.result;
  return { mergeable: result.mergeable, mergeableState: await stateOf(world, repo, issue, job), testMerge: result.testMerge ?? null };
}

/** Worked out in the background: what was told stays for a while. */
async function stateOf(world: World, repo: Repo, issue: PullIssue, job: Mergeability): Promise<string> {
  const now = world.clock.now();
  const { state } = job;
  if (state !== undefined && now - state.at < (world.faults.stateLateMs ?? 0)) return state.word;
  const word = await stateWord(world, repo, issue, await job.result);
  job.state = { word, at: now };
  return word;
}

/** One of GitHub's eight, but `has_hooks`: there are none here. */
async function stateWord(world: World, repo: Repo, issue: PullIssue, result: { mergeable: boolean; behind: boolean }): Promise<string> {
  if (!result.mergeable) return "dirty";
  if (issue.pull.draft) return "draft";
  const missing = await missingRules(world, repo, issue, { behind: result.behind });
  if (missing.length === 1 && /^(Repository rule violations found\n\n)?Head branch is out of date[^\n]*\n*$/.test(missing[0] ?? ""))
    return "behind";
  if (missing.length > 0) return "blocked";
  return anyCheckOpen(repo, issue.pull.headSha) ? "unstable" : "clean";
}

/** The running or finished job for the base and head of now. */
export async function mergeabilityJob(world: World, repo: Repo, issue: PullIssue): Promise<Mergeability | undefined> {
  const base = await repo.git.ref(`refs/heads/${issue.pull.baseRef}`);
  if (base === undefined) return undefined;
  const head = issue.pull.headSha;
  const known = issue.pull.mergeability;
  if (known !== undefined && known.base === base && known.head === head) return known;
  const job: Mergeability = { base, head, nullReads: world.faults.nullReads, result: testMerge(world, repo, issue, base, head) };
  issue.pull.mergeability = job;
  // Awaited by whoever reads; a failure nobody waits for must not end the process.
  job.result.catch(() => undefined);
  return job;
}

async function testMerge(world: World, repo: Repo, issue: PullIssue, base: string, head: string) {
  const merged = await mergeTree(repo.git, base, head);
  // Only a strict rule ever asks, and it costs a process.
  const strict = activeRules(repo, issue.pull.baseRef).some(
    ({ rule }) => rule.type === "required_status_checks" && rule.parameters.strict_required_status_checks_policy,
  );
  const behind = strict && (await repo.git.mergeBase(base, head)) !== base;
  if ("conflicts" in merged) return { mergeable: false, behind };
  const at = Math.floor(world.clock.now() / 1000);
  const author = { ...noreply(issue.user), at };
  const committer = { name: "GitHub", email: "noreply@github.com", at };
  const message = `Merge ${head} into ${base}`;
  const testCommit = await writeCommit(repo.git.dir, { tree: merged.tree, parents: [base, head], author, committer, message });
  return { mergeable: true, testMerge: testCommit, behind };
}
