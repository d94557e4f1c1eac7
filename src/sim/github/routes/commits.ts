import { diffFiles } from "../git/diff.ts";
import type { CommitObject } from "../git/objects.ts";
import { ApiFailure, notFound } from "../http/failure.ts";
import { type Answer, ok, page, READ, type RepoCall, type Route, repoRoute } from "../http/router.ts";
import { isPull } from "../model/world.ts";
import { commitShape, fileShape } from "../shapes/commit.ts";
import { simplePullShape } from "../shapes/pull.ts";
import { pageUrl, repoUrl } from "../shapes/repo.ts";

/** A branch, tag or commit id as people write it. */
export async function resolveCommit(call: RepoCall, name: string): Promise<CommitObject> {
  const { git } = call.repo;
  const sha =
    name === "HEAD"
      ? await git.ref(`refs/heads/${call.repo.defaultBranch}`)
      : ((/^(heads|tags)\//.test(name) ? await git.ref(`refs/${name}`) : undefined) ??
        (await git.ref(`refs/heads/${name}`)) ??
        (await git.ref(`refs/tags/${name}`)) ??
        (/^[0-9a-f]{7,40}$/.test(name) ? name : undefined));
  const commit = sha === undefined ? undefined : await git.commit(sha);
  if (commit === undefined) throw new ApiFailure(422, `No commit found for SHA: ${name}`);
  return commit;
}

async function branch(call: RepoCall): Promise<Answer> {
  const name = call.params["branch"] ?? "";
  const sha = await call.repo.git.ref(`refs/heads/${name}`);
  const commit = sha === undefined ? undefined : await call.repo.git.commit(sha);
  if (commit === undefined) throw new ApiFailure(404, "Branch not found");
  const self = `${repoUrl(call.world, call.repo)}/branches/${name}`;
  const rules = call.repo.protections.get(name);
  return ok({
    name,
    commit: commitShape(call.world, call.repo, commit),
    _links: { self, html: `${pageUrl(call.world, call.repo)}/tree/${name}` },
    protected: rules !== undefined,
    protection: {
      enabled: rules !== undefined,
      required_status_checks: { enforcement_level: "off", contexts: rules?.requiredChecks ?? [], checks: [] },
    },
    protection_url: `${self}/protection`,
  });
}

async function branches(call: RepoCall): Promise<Answer> {
  const refs = await call.repo.git.refs("refs/heads/");
  return page(call, refs, (ref) => {
    const name = ref.name.slice("refs/heads/".length);
    const commit = { sha: ref.sha, url: `${repoUrl(call.world, call.repo)}/commits/${ref.sha}` };
    return { name, commit, protected: call.repo.protections.has(name) };
  });
}

async function commits(call: RepoCall): Promise<Answer> {
  const from = await resolveCommit(call, call.query.get("sha") ?? call.repo.defaultBranch);
  const ids = await call.repo.git.revList(undefined, from.sha, 1000);
  return page(call, ids, async (id) => {
    const commit = await call.repo.git.commit(id);
    return commit === undefined ? null : commitShape(call.world, call.repo, commit);
  });
}

async function commit(call: RepoCall): Promise<Answer> {
  const found = await resolveCommit(call, call.params["ref"] ?? "");
  const parent = found.parents[0] ?? "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  const files = await diffFiles(call.repo.git, parent, found.sha, true);
  const additions = files.reduce((sum, file) => sum + file.additions, 0);
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
  return ok({
    ...commitShape(call.world, call.repo, found),
    stats: { additions, deletions, total: additions + deletions },
    files: files.map((file) => fileShape(call.world, call.repo, file, found.sha)),
  });
}

/** Pull requests whose head or merge is this commit, or that brought it in. */
async function pullsOfCommit(call: RepoCall): Promise<Answer> {
  const { sha } = await resolveCommit(call, call.params["sha"] ?? "");
  const found = [];
  for (const issue of [...call.repo.issues.values()].filter(isPull)) {
    const { merged, headSha, baseSha } = issue.pull;
    const here =
      merged?.sha === sha || headSha === sha || (await call.repo.git.revList(baseSha, merged?.sha ?? headSha, 250)).includes(sha);
    if (here) found.push(issue);
  }
  return page(call, found, (issue) => simplePullShape(call.world, call.repo, issue));
}

async function compare(call: RepoCall): Promise<Answer> {
  const { world, repo } = call;
  const [left = "", right] = (call.params["basehead"] ?? "").split("...");
  if (right === undefined) throw notFound();
  const [base, head] = await Promise.all([resolveCommit(call, left), resolveCommit(call, right)]);
  const common = await repo.git.mergeBase(base.sha, head.sha);
  const mergeBase = common === undefined ? undefined : await repo.git.commit(common);
  if (mergeBase === undefined) throw new ApiFailure(404, `No common ancestor between ${left} and ${right}.`);
  const [ahead, behind, files] = await Promise.all([
    repo.git.revList(base.sha, head.sha),
    repo.git.revList(head.sha, base.sha),
    diffFiles(repo.git, mergeBase.sha, head.sha, true),
  ]);
  const status = ahead.length > 0 ? (behind.length > 0 ? "diverged" : "ahead") : behind.length > 0 ? "behind" : "identical";
  const shown = await Promise.all(
    ahead
      .toReversed()
      .slice(0, 250)
      .map((id) => repo.git.commit(id)),
  );
  const url = `${repoUrl(world, repo)}/compare/${left}...${right}`;
  const html = `${pageUrl(world, repo)}/compare/${left}...${right}`;
  return ok({
    url,
    html_url: html,
    permalink_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    base_commit: commitShape(world, repo, base),
    merge_base_commit: commitShape(world, repo, mergeBase),
    status,
    ahead_by: ahead.length,
    behind_by: behind.length,
    total_commits: ahead.length,
    commits: shown.filter((one) => one !== undefined).map((one) => commitShape(world, repo, one)),
    files: files.slice(0, 300).map((file) => fileShape(world, repo, file, head.sha)),
  });
}

export const COMMIT_ROUTES: readonly Route[] = [
  repoRoute("GET", "/branches", READ("contents"), branches),
  repoRoute("GET", "/branches/*branch", READ("contents"), branch),
  repoRoute("GET", "/commits", READ("contents"), commits),
  repoRoute("GET", "/commits/:sha/pulls", READ("pull_requests", "contents"), pullsOfCommit),
  repoRoute("GET", "/commits/:ref", READ("contents"), commit),
  repoRoute("GET", "/compare/*basehead", READ("contents"), compare),
];
