import { emitPull } from "../deliver/events.ts";
import { mergeTree, replay } from "../git/merge.ts";
import { type Signature, writeCommit } from "../git/objects.ts";
import { ApiFailure, invalid } from "../http/failure.ts";
import { signedByUs, webFlowSignature } from "../http/signatures.ts";
import type { Actor, MergeMethod, Repo, World } from "../model/model.ts";
import { fullName, type PullIssue } from "../model/world.ts";
import { METHOD_REFUSALS, missingRules } from "../rules/rules.ts";
import { mayTouchWorkflows } from "../rules/workflows.ts";
import { noreply } from "../shapes/commit.ts";
import { mergeabilityJob } from "./pull-details.ts";
import { close, openPulls, refsMoved } from "./refs-moved.ts";

interface MergeRequest {
  sha?: string;
  method?: string;
  title?: string;
  message?: string;
}

const SETTINGS = { merge: "allowMerge", squash: "allowSquash", rebase: "allowRebase" } as const;

/** `PUT /pulls/N/merge`: one merge of a repository after the other; whoever comes second sees what the first has done. */
export function mergePull(world: World, repo: Repo, actor: Actor, issue: PullIssue, request: MergeRequest): Promise<string> {
  return repo.serial(async () => {
    const method = checkRequest(request);
    const scripted = world.faults.merge?.({ repository: fullName(repo), number: issue.number });
    if (scripted !== undefined && scripted.afterwards !== true) throw new ApiFailure(scripted.status, scripted.message);
    if (issue.state === "closed" || issue.pull.draft) throw new ApiFailure(405, "Pull Request is not mergeable");
    if (!repo.settings[SETTINGS[method]]) throw new ApiFailure(405, METHOD_REFUSALS[method]);
    if (request.sha !== undefined && request.sha.toLowerCase() !== issue.pull.headSha) {
      throw new ApiFailure(409, "Head branch was modified. Review and try the merge again.");
    }
    const job = await mergeabilityJob(world, repo, issue);
    if (job === undefined) throw new ApiFailure(405, "Pull Request is not mergeable");
    const result = await job.result;
    if (!result.mergeable) throw new ApiFailure(405, "Pull Request has merge conflicts");
    await mayTouchWorkflows(repo, actor, job.base, issue.pull.headSha);
    const missing = await missingRules(world, repo, issue, { behind: result.behind, actor, method });
    if (missing[0] !== undefined) throw new ApiFailure(405, missing[0]);
    const sha = await buildMerge(world, repo, actor, issue, method, request, { base: job.base, testMerge: result.testMerge ?? "" });
    await land(world, repo, actor, issue, job.base, sha);
    if (scripted !== undefined) throw new ApiFailure(scripted.status, scripted.message);
    return sha;
  });
}

function checkRequest(request: MergeRequest): MergeMethod {
  const method = request.method ?? "merge";
  if (!Object.hasOwn(SETTINGS, method)) throw invalid({ resource: "PullRequest", field: "merge_method", code: "invalid" });
  if (request.sha !== undefined && !/^[0-9a-fA-F]{40}$/.test(request.sha)) {
    throw new ApiFailure(422, "sha was not a valid SHA.");
  }
  return method as MergeMethod;
}

/** The commit that the merge would be, not yet on any branch. What the site makes itself it signs; a rebase it cannot. */
export async function buildMerge(
  world: World,
  repo: Repo,
  actor: Actor,
  issue: PullIssue,
  method: MergeMethod,
  request: MergeRequest,
  at: { base: string; testMerge?: string },
): Promise<string> {
  const now = Math.floor(world.clock.now() / 1000);
  const github: Signature = { name: "GitHub", email: "noreply@github.com", at: now };
  if (method === "rebase") {
    const replayed = await replay(repo.git, at.base, issue.pull.headSha, { ...noreply(actor.user), at: now });
    if ("conflicts" in replayed) throw new ApiFailure(405, "This branch can't be rebased");
    return replayed.commit;
  }
  const merged = at.testMerge === undefined ? await mergeTree(repo.git, at.base, issue.pull.headSha) : await repo.git.commit(at.testMerge);
  if (merged === undefined || "conflicts" in merged) throw new ApiFailure(405, "Pull Request has merge conflicts");
  const { tree } = merged;
  const message = await mergeMessage(repo, issue, method, request, at.base);
  const who = method === "squash" ? issue.user : actor.user;
  const parents = method === "squash" ? [at.base] : [at.base, issue.pull.headSha];
  const author = { ...noreply(who), at: now };
  const signature = webFlowSignature();
  const sha = await writeCommit(repo.git.dir, { tree, parents, author, committer: github, message, signature });
  signedByUs(world, sha);
  return sha;
}

async function mergeMessage(
  repo: Repo,
  issue: PullIssue,
  method: "merge" | "squash",
  request: MergeRequest,
  base: string,
): Promise<string> {
  const join = (title: string, body: string) => (body === "" ? title : `${title}\n\n${body}`);
  if (method === "merge") {
    const title = request.title ?? `Merge pull request #${issue.number} from ${headOwner(repo, issue)}/${issue.pull.headRef}`;
    return join(title, request.message ?? issue.title);
  }
  if (request.title !== undefined && request.message !== undefined) return join(request.title, request.message);
  const ids = await repo.git.revList(base, issue.pull.headSha);
  const commits = (await Promise.all(ids.map((id) => repo.git.commit(id)))).filter((commit) => commit !== undefined).reverse();
  const [only, ...more] = commits.map((commit) => commit.message.trim());
  const single = more.length === 0 && only !== undefined;
  const [subject = "", ...rest] = single ? only.split("\n") : [issue.title];
  const body = single ? rest.join("\n").trim() : commits.map((commit) => `* ${commit.message.trim()}`).join("\n\n");
  return join(request.title ?? `${subject} (#${issue.number})`, request.message ?? body);
}

function headOwner(repo: Repo, issue: PullIssue): string {
  return issue.pull.headRepo === undefined ? repo.owner.login : (issue.pull.headRepo?.owner.login ?? "unknown repository");
}

/** Moves the base, closes the pull request, says so, and deletes the branch where the repository is set so. */
export async function land(world: World, repo: Repo, actor: Actor, issue: PullIssue, base: string, sha: string): Promise<void> {
  const ref = `refs/heads/${issue.pull.baseRef}`;
  if (!(await repo.git.updateRefs([{ ref, old: base, new: sha }]))) {
    throw new ApiFailure(405, "Base branch was modified. Review and try the merge again.");
  }
  issue.pull.merged = { at: world.clock.now(), by: actor.user, sha };
  // The base of a merged pull request is where it went in.
  issue.pull.baseSha = base;
  close(world, actor, issue);
  await emitPull(world, repo, actor, "closed", issue);
  await refsMoved(world, repo, actor, [{ ref, old: base, new: sha }], issue);
  if (repo.settings.deleteBranchOnMerge) await deleteHead(world, repo, actor, issue);
}

async function deleteHead(world: World, repo: Repo, actor: Actor, issue: PullIssue): Promise<void> {
  if (issue.pull.headRepo !== undefined) return;
  const ref = `refs/heads/${issue.pull.headRef}`;
  const gone = await repo.git.updateRefs([{ ref, old: issue.pull.headSha, new: undefined }]);
  if (gone) await retarget(world, repo, actor, issue);
  if (gone) await refsMoved(world, repo, actor, [{ ref, old: issue.pull.headSha, new: undefined }]);
}

/** What is stacked on a branch that goes with its merge is pointed at where that went in, instead of being closed. */
async function retarget(world: World, repo: Repo, actor: Actor, { pull: merged }: PullIssue): Promise<void> {
  const sha = await repo.git.ref(`refs/heads/${merged.baseRef}`);
  if (sha === undefined) return;
  for (const issue of openPulls(repo).filter(({ pull }) => pull.baseRef === merged.headRef)) {
    const changes = { base: { ref: { from: issue.pull.baseRef }, sha: { from: issue.pull.baseSha } } };
    const event = { from: issue.pull.baseRef, to: merged.baseRef, by: actor.user, at: world.clock.now(), automatic: true } as const;
    issue.retargeted = [...(issue.retargeted ?? []), event];
    issue.pull.baseRef = merged.baseRef;
    issue.pull.baseSha = sha;
    issue.updatedAt = world.clock.now();
    delete issue.pull.mergeability;
    await emitPull(world, repo, actor, "edited", issue, { changes });
  }
}
