import { defined } from "../../../core/base/defined.ts";
import { emitDeployment, emitDeploymentStatus } from "../deliver/events.ts";
import { ApiFailure, invalid, notFound } from "../http/failure.ts";
import {
  type Answer,
  created,
  NO_CONTENT,
  numberParam,
  ok,
  optionalText,
  page,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  text,
  texts,
  WRITE,
} from "../http/router.ts";
import type { Deployment, DeploymentStatus } from "../model/model.ts";
import { moveRefs } from "../pulls/move-ref.ts";
import { mergeCommit } from "../pulls/update-branch.ts";
import { checkState } from "../rules/checks.ts";
import { deploymentShape, deploymentStatusShape } from "../shapes/deployment.ts";
import { resolveCommit } from "./commits.ts";

const STATES = ["error", "failure", "inactive", "in_progress", "queued", "pending", "success"] as const;

/** 202: the default branch was merged into the ref first; 409: that conflicts, or a check of the ref is not green. */
async function create(call: RepoCall): Promise<Answer> {
  const ref = text(call, "ref", "Deployment");
  const { sha } = await resolveCommit(call, ref).catch(() => {
    throw new ApiFailure(422, `No ref found for: ${ref}`);
  });
  if (call.body["auto_merge"] !== false) {
    const merged = await autoMerge(call, ref, sha);
    if (merged !== undefined) return merged;
  }
  mustBeGreen(call, ref, sha);
  const now = call.world.clock.now();
  const environment = optionalText(call, "environment", "Deployment") ?? "production";
  const deployment: Deployment = defined({
    id: call.world.nextId(),
    sha,
    ref,
    task: optionalText(call, "task", "Deployment") ?? "deploy",
    environment,
    description: optionalText(call, "description", "Deployment") ?? null,
    payload: call.body["payload"] ?? {},
    transient: call.body["transient_environment"] === true,
    production:
      typeof call.body["production_environment"] === "boolean" ? call.body["production_environment"] : environment === "production",
    creator: call.actor.user,
    via: call.actor.app,
    createdAt: now,
    updatedAt: now,
    statuses: [],
  });
  call.repo.deployments.set(deployment.id, deployment);
  emitDeployment(call.world, call.repo, call.actor, deployment);
  return created(deploymentShape(call.world, call.repo, deployment));
}

async function autoMerge(call: RepoCall, ref: string, sha: string): Promise<Answer | undefined> {
  const { world, repo, actor } = call;
  const name = repo.defaultBranch;
  const base = await repo.git.ref(`refs/heads/${name}`);
  if (ref === name || base === undefined || (await repo.git.ref(`refs/heads/${ref}`)) === undefined) return undefined;
  if ((await repo.git.mergeBase(base, sha)) === base) return undefined;
  const merged = await mergeCommit(world, repo, actor, sha, base, `Merge branch '${name}' into ${ref}`);
  if (merged === undefined) throw new ApiFailure(409, `Conflict merging ${name} into ${ref}.`);
  await moveRefs(world, repo, actor, [{ ref: `refs/heads/${ref}`, old: sha, new: merged }]);
  return { status: 202, body: { message: `Auto-merged ${name} into ${ref} on deployment.` } };
}

/** Without `required_contexts` all statuses and checks there are count. */
function mustBeGreen(call: RepoCall, ref: string, sha: string): void {
  const named = call.body["required_contexts"];
  const all = [
    ...[...call.repo.checks.values()].filter((run) => run.headSha === sha).map((run) => run.name),
    ...call.repo.statuses.filter((status) => status.sha === sha).map((status) => status.context),
  ];
  const contexts = Array.isArray(named) ? texts(named) : [...new Set(all)];
  const states = contexts.map((context) => ({ context, state: checkState(call.repo, sha, context) }));
  if (states.every((one) => one.state === "passed")) return;
  const words = { passed: "success", failed: "failure", pending: "pending", missing: "expected" } as const;
  const errors = [
    {
      contexts: states.map((one) => ({ context: one.context, state: words[one.state] })),
      resource: "Deployment",
      field: "required_contexts",
      code: "invalid",
    },
  ];
  throw new ApiFailure(409, `Conflict: Commit status checks failed for ${ref}.`, errors);
}

function find(call: RepoCall): Deployment {
  const found = call.repo.deployments.get(numberParam(call, "id"));
  if (found === undefined) throw notFound();
  return found;
}

/** Newest first. */
function list(call: RepoCall): Promise<Answer> {
  const { query } = call;
  const wants = (name: string, value: string) => query.get(name) === null || query.get(name) === value;
  const found = [...call.repo.deployments.values()].filter(
    (one) => wants("sha", one.sha) && wants("ref", one.ref) && wants("task", one.task) && wants("environment", one.environment),
  );
  return page(call, found.reverse(), (one) => deploymentShape(call.world, call.repo, one));
}

function createStatus(call: RepoCall): Answer {
  const deployment = find(call);
  const state = STATES.find((one) => one === call.body["state"]);
  if (state === undefined) throw invalid({ resource: "DeploymentStatus", field: "state", code: "invalid" });
  const description = optionalText(call, "description", "DeploymentStatus") ?? "";
  if (description.length > 140) {
    const message = "description is too long (maximum is 140 characters)";
    throw invalid({ resource: "DeploymentStatus", field: "description", code: "custom", message });
  }
  const status = addStatus(call, deployment, {
    state,
    description,
    environment: optionalText(call, "environment", "DeploymentStatus") ?? deployment.environment,
    environmentUrl: optionalText(call, "environment_url", "DeploymentStatus") ?? "",
    logUrl: optionalText(call, "log_url", "DeploymentStatus") ?? optionalText(call, "target_url", "DeploymentStatus") ?? "",
  });
  if (state === "success" && call.body["auto_inactive"] !== false) retireOthers(call, deployment);
  return created(deploymentStatusShape(call.world, call.repo, deployment, status));
}

type NewStatus = Pick<DeploymentStatus, "state" | "description" | "environment" | "environmentUrl" | "logUrl">;

function addStatus(call: RepoCall, deployment: Deployment, made: NewStatus): DeploymentStatus {
  const { world, repo, actor } = call;
  const at = world.clock.now();
  const via = actor.app === undefined ? {} : { via: actor.app };
  const status: DeploymentStatus = { id: world.nextId(), creator: actor.user, ...via, at, ...made };
  deployment.statuses.push(status);
  deployment.environment = made.environment;
  deployment.updatedAt = at;
  // GitHub sends none for `inactive`.
  if (made.state !== "inactive") emitDeploymentStatus(world, repo, actor, deployment, status);
  return status;
}

/** A success makes the earlier successes of the same environment inactive, but transient and production ones. */
function retireOthers(call: RepoCall, deployment: Deployment): void {
  for (const other of call.repo.deployments.values()) {
    if (other === deployment || other.environment !== deployment.environment || other.transient || other.production) continue;
    if (other.statuses.at(-1)?.state !== "success") continue;
    addStatus(call, other, { state: "inactive", description: "", environment: other.environment, environmentUrl: "", logUrl: "" });
  }
}

function statusHere(call: RepoCall): Answer {
  const deployment = find(call);
  const id = numberParam(call, "status");
  const status = deployment.statuses.find((one) => one.id === id);
  if (status === undefined) throw notFound();
  return ok(deploymentStatusShape(call.world, call.repo, deployment, status));
}

function remove(call: RepoCall): Answer {
  const deployment = find(call);
  const last = deployment.statuses.at(-1)?.state;
  const active = last !== undefined && last !== "inactive" && call.repo.deployments.size > 1;
  if (active) throw new ApiFailure(422, "We cannot delete an active deployment unless it is the only deployment in a given environment.");
  call.repo.deployments.delete(deployment.id);
  return NO_CONTENT;
}

export const DEPLOYMENT_ROUTES: readonly Route[] = [
  repoRoute("POST", "/deployments", WRITE("deployments"), (call) => call.repo.serial(() => create(call))),
  repoRoute("GET", "/deployments", READ("deployments"), list),
  repoRoute("GET", "/deployments/:id", READ("deployments"), (call) => ok(deploymentShape(call.world, call.repo, find(call)))),
  repoRoute("DELETE", "/deployments/:id", WRITE("deployments"), remove),
  repoRoute("POST", "/deployments/:id/statuses", WRITE("deployments"), createStatus),
  repoRoute("GET", "/deployments/:id/statuses", READ("deployments"), (call) => {
    const deployment = find(call);
    return page(call, deployment.statuses.toReversed(), (one) => deploymentStatusShape(call.world, call.repo, deployment, one));
  }),
  repoRoute("GET", "/deployments/:id/statuses/:status", READ("deployments"), statusHere),
];
