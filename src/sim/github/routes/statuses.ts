import { ApiFailure, invalid } from "../http/failure.ts";
import { type Answer, created, ok, optionalText, page, READ, type RepoCall, type Route, repoRoute, WRITE } from "../http/router.ts";
import type { Status } from "../model/model.ts";
import { addStatus } from "../pulls/checks.ts";
import { simpleStatusShape, statusShape } from "../shapes/check.ts";
import { minimalRepoShape, repoUrl } from "../shapes/repo.ts";
import { resolveCommit } from "./commits.ts";

const STATES = ["error", "failure", "pending", "success"] as const;

async function create(call: RepoCall): Promise<Answer> {
  const sha = call.params["sha"] ?? "";
  const state = STATES.find((one) => one === call.body["state"]);
  if (state === undefined) throw invalid({ resource: "Status", field: "state", code: "invalid" });
  if (!/^[0-9a-f]{40}$/.test(sha) || (await call.repo.git.commit(sha)) === undefined) {
    throw new ApiFailure(422, `No commit found for SHA: ${sha}`);
  }
  const description = optionalText(call, "description", "Status") ?? null;
  if (description !== null && description.length > 140) {
    throw invalid({
      resource: "Status",
      field: "description",
      code: "custom",
      message: "description is too long (maximum is 140 characters)",
    });
  }
  const context = optionalText(call, "context", "Status") ?? "default";
  const there = call.repo.statuses.filter((one) => one.sha === sha && one.context === context).length;
  if (there >= 1000) {
    const message = "This SHA and context has reached the maximum number of statuses.";
    throw invalid({ resource: "Status", code: "custom", message });
  }
  const status: Status = {
    id: call.world.nextId(),
    sha,
    context,
    state,
    description,
    targetUrl: optionalText(call, "target_url", "Status") ?? null,
    creator: call.actor.user,
    at: call.world.clock.now(),
  };
  await addStatus(call.world, call.repo, call.actor, status);
  return created(statusShape(call.world, call.repo, status));
}

/** Newest first. */
async function list(call: RepoCall): Promise<Answer> {
  const { sha } = await resolveCommit(call, call.params["ref"] ?? "");
  const found = call.repo.statuses.filter((one) => one.sha === sha).reverse();
  return page(call, found, (one) => statusShape(call.world, call.repo, one));
}

/** The newest of each context: failure where one failed, pending where there is none. */
async function combined(call: RepoCall): Promise<Answer> {
  const { sha } = await resolveCommit(call, call.params["ref"] ?? "");
  const found = call.repo.statuses.filter((one) => one.sha === sha);
  const latest = [...new Map(found.map((one) => [one.context, one])).values()];
  const failed = latest.some((one) => one.state === "failure" || one.state === "error");
  const pending = latest.length === 0 || latest.some((one) => one.state === "pending");
  const url = `${repoUrl(call.world, call.repo)}/commits/${sha}`;
  return ok({
    state: failed ? "failure" : pending ? "pending" : "success",
    statuses: latest.map((one) => simpleStatusShape(call.world, call.repo, one)),
    sha,
    total_count: latest.length,
    repository: minimalRepoShape(call.world, call.repo),
    commit_url: url,
    url: `${url}/status`,
  });
}

export const STATUS_ROUTES: readonly Route[] = [
  repoRoute("POST", "/statuses/:sha", WRITE("statuses"), create),
  repoRoute("GET", "/commits/:ref/statuses", READ("statuses"), list),
  repoRoute("GET", "/commits/:ref/status", READ("statuses"), combined),
];
