import type { Deployment, DeploymentStatus, Repo, World } from "../model/model.ts";
import { nodeId, seconds } from "../model/world.ts";
import { repoUrl } from "./repo.ts";
import { appShape, userShape } from "./user.ts";

function deploymentUrl(world: World, repo: Repo, deployment: Deployment): string {
  return `${repoUrl(world, repo)}/deployments/${deployment.id}`;
}

export function deploymentShape(world: World, repo: Repo, deployment: Deployment) {
  const url = deploymentUrl(world, repo, deployment);
  return {
    url,
    id: deployment.id,
    node_id: nodeId("DE", deployment.id),
    sha: deployment.sha,
    ref: deployment.ref,
    task: deployment.task,
    payload: deployment.payload,
    original_environment: deployment.environment,
    environment: deployment.environment,
    description: deployment.description,
    creator: userShape(world, deployment.creator),
    created_at: seconds(deployment.createdAt),
    updated_at: seconds(deployment.updatedAt),
    statuses_url: `${url}/statuses`,
    repository_url: repoUrl(world, repo),
    transient_environment: deployment.transient,
    production_environment: deployment.production,
    performed_via_github_app: deployment.via === undefined ? null : appShape(world, deployment.via),
  };
}

export function deploymentStatusShape(world: World, repo: Repo, deployment: Deployment, status: DeploymentStatus) {
  const url = deploymentUrl(world, repo, deployment);
  return {
    url: `${url}/statuses/${status.id}`,
    id: status.id,
    node_id: nodeId("DES", status.id),
    state: status.state,
    creator: userShape(world, status.creator),
    description: status.description,
    environment: status.environment,
    target_url: status.logUrl,
    created_at: seconds(status.at),
    updated_at: seconds(status.at),
    deployment_url: url,
    repository_url: repoUrl(world, repo),
    environment_url: status.environmentUrl,
    log_url: status.logUrl,
    performed_via_github_app: status.via === undefined ? null : appShape(world, status.via),
  };
}
