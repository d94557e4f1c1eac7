import { emit } from "../deliver/events.ts";
import type { Actor, App, CheckRun, CheckSuite, Repo, Status, World } from "../model/model.ts";
import { installationsOn, isPull, seconds } from "../model/world.ts";
import { checkEventShape, suiteShape, suiteState } from "../shapes/check.ts";
import { commitShape } from "../shapes/commit.ts";
import { lookAtQueues } from "./queue.ts";

/** The suite of an App at a commit, made where there is none. */
export function suiteOf(world: World, repo: Repo, app: App, sha: string): CheckSuite {
  for (const suite of repo.suites.values()) if (suite.app === app && suite.headSha === sha) return suite;
  const now = world.clock.now();
  const pull = [...repo.issues.values()].filter(isPull).find((issue) => issue.pull.headSha === sha);
  const headBranch = pull?.pull.headRef ?? null;
  const suite: CheckSuite = { id: world.nextId(), app, headSha: sha, headBranch, createdAt: now, updatedAt: now };
  repo.suites.set(suite.id, suite);
  return suite;
}

/** Events of a run that was made or changed; whoever waits for it looks again. */
export async function checkRunChanged(
  world: World,
  repo: Repo,
  actor: Actor,
  run: CheckRun,
  action: "created" | "completed",
): Promise<void> {
  run.suite.updatedAt = world.clock.now();
  run.suite.asked = false;
  emit(world, repo, actor, "check_run", action, { check_run: checkEventShape(world, repo, run) });
  if (suiteState(repo, run.suite).status === "completed") await emitSuite(world, repo, actor, run.suite, "completed");
  lookAtQueues(world, repo);
}

async function emitSuite(
  world: World,
  repo: Repo,
  actor: Actor,
  suite: CheckSuite,
  action: "completed" | "requested" | "rerequested",
): Promise<void> {
  const commit = await headCommit(repo, suite.headSha);
  const { repository: _repository, ...shape } = suiteShape(world, repo, suite, commit);
  // Who is asked for a suite is told; nobody else is.
  emit(world, repo, actor, "check_suite", action, { check_suite: shape }, action === "completed" ? undefined : suite.app);
}

/** "Re-run" beside one check. Its suite is queued again, the run stays as it was: its App makes a new one. */
export function rerequestRun(world: World, repo: Repo, actor: Actor, run: CheckRun): void {
  askAnew(world, run.suite);
  emit(world, repo, actor, "check_run", "rerequested", { check_run: checkEventShape(world, repo, run) }, run.app);
}

/** "Re-run all checks" of one App. */
export async function rerequestSuite(world: World, repo: Repo, actor: Actor, suite: CheckSuite): Promise<void> {
  askAnew(world, suite);
  await emitSuite(world, repo, actor, suite, "rerequested");
}

function askAnew(world: World, suite: CheckSuite): void {
  suite.asked = true;
  suite.updatedAt = world.clock.now();
}

/** GitHub asks every App that may write checks for a suite of each commit pushed. */
export async function requestSuites(world: World, repo: Repo, actor: Actor, sha: string): Promise<void> {
  if (!world.asksForSuites) return;
  for (const { app, permissions } of installationsOn(world, repo)) {
    if (permissions["checks"] !== "write" || !app.events.includes("check_suite")) continue;
    const known = [...repo.suites.values()].some((one) => one.app === app && one.headSha === sha);
    if (!known) await emitSuite(world, repo, actor, suiteOf(world, repo, app, sha), "requested");
  }
}

async function headCommit(repo: Repo, sha: string) {
  const commit = await repo.git.commit(sha);
  if (commit === undefined) return null;
  const person = ({ name, email }: { name: string; email: string }) => ({ name, email });
  return {
    id: sha,
    tree_id: commit.tree,
    message: commit.message.replace(/\n$/, ""),
    timestamp: seconds(commit.committer.at * 1000),
    author: person(commit.author),
    committer: person(commit.committer),
  };
}

export async function addStatus(world: World, repo: Repo, actor: Actor, status: Status): Promise<void> {
  repo.statuses.push(status);
  const commit = await repo.git.commit(status.sha);
  emit(world, repo, actor, "status", undefined, {
    id: status.id,
    sha: status.sha,
    name: `${repo.owner.login}/${repo.name}`,
    target_url: status.targetUrl,
    avatar_url: null,
    context: status.context,
    description: status.description,
    state: status.state,
    commit: commit === undefined ? null : commitShape(world, repo, commit),
    branches: await branchesAt(world, repo, status.sha),
    created_at: seconds(status.at),
    updated_at: seconds(status.at),
  });
  lookAtQueues(world, repo);
}

async function branchesAt(world: World, repo: Repo, sha: string) {
  const refs = (await repo.git.refs("refs/heads/")).filter((ref) => ref.sha === sha).slice(0, 10);
  const url = `${world.origin}/repos/${repo.owner.login}/${repo.name}/commits/${sha}`;
  return refs.map((ref) => {
    const name = ref.name.slice("refs/heads/".length);
    return { name, commit: { sha, url }, protected: repo.protections.has(name) };
  });
}
