import { emitCheckRun } from "../events.ts";
import { ApiFailure, forbidden, invalid, notFound } from "../failure.ts";
import type { CheckRun } from "../model.ts";
import {
  type Answer,
  type Call,
  created,
  numberParam,
  ok,
  optionalText,
  page,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  text,
  WRITE,
} from "../router.ts";
import { pageUrl, repoUrl } from "../shapes/repo.ts";
import { appShape } from "../shapes/user.ts";
import { nodeId, seconds } from "../world.ts";
import { resolveCommit } from "./repos.ts";

const CONCLUSIONS = ["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"];

function checkShape(call: RepoCall, run: CheckRun) {
  const url = `${repoUrl(call.world, call.repo)}/check-runs/${run.id}`;
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId("CR", run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: `${pageUrl(call.world, call.repo)}/runs/${run.id}`,
    details_url: run.detailsUrl,
    status: run.status,
    conclusion: run.conclusion,
    started_at: seconds(run.startedAt),
    completed_at: run.completedAt === undefined ? null : seconds(run.completedAt),
    output: { ...run.output, annotations_count: 0, annotations_url: `${url}/annotations` },
    check_suite: { id: run.app.id },
    app: appShape(call.world, run.app),
    pull_requests: [],
  };
}

function apply(call: Call, run: CheckRun): void {
  const status = optionalText(call, "status", "CheckRun");
  if (status !== undefined && status !== "queued" && status !== "in_progress" && status !== "completed") {
    throw invalid({ resource: "CheckRun", field: "status", code: "invalid" });
  }
  const conclusion = optionalText(call, "conclusion", "CheckRun");
  if (conclusion !== undefined && !CONCLUSIONS.includes(conclusion))
    throw invalid({ resource: "CheckRun", field: "conclusion", code: "invalid" });
  if (status === "completed" && conclusion === undefined)
    throw new ApiFailure(422, `Invalid request.\n\nMissing required key "conclusion".`);
  run.status = conclusion === undefined ? (status ?? run.status) : "completed";
  run.conclusion = run.status === "completed" ? (conclusion ?? run.conclusion) : null;
  if (run.status === "completed") run.completedAt = call.world.clock.now();
  run.externalId = optionalText(call, "external_id", "CheckRun") ?? run.externalId;
  run.detailsUrl = optionalText(call, "details_url", "CheckRun") ?? run.detailsUrl;
  run.name = optionalText(call, "name", "CheckRun") ?? run.name;
  applyOutput(call, run);
}

function applyOutput(call: Call, run: CheckRun): void {
  const output = call.body["output"];
  if (typeof output !== "object" || output === null) return;
  for (const field of ["title", "summary", "text"] as const) {
    const value = (output as Record<string, unknown>)[field];
    if (typeof value !== "string") continue;
    if (value.length > 65_535)
      throw invalid({ resource: "CheckRun", field, code: "custom", message: `${field} exceeds a maximum length of 65535` });
    run.output[field] = value;
  }
}

function create(call: RepoCall): Answer {
  const { app } = call.actor;
  if (app === undefined) throw forbidden("You must authenticate via a GitHub App.");
  const run: CheckRun = {
    id: call.world.nextId(),
    name: text(call, "name", "CheckRun"),
    headSha: text(call, "head_sha", "CheckRun"),
    app,
    externalId: null,
    detailsUrl: null,
    status: "queued",
    conclusion: null,
    startedAt: call.world.clock.now(),
    output: { title: null, summary: null, text: null },
  };
  apply(call, run);
  call.repo.checks.set(run.id, run);
  emitCheckRun(call.world, call.repo, call.actor, run.status === "completed" ? "completed" : "created", checkShape(call, run));
  return created(checkShape(call, run));
}

function find(call: RepoCall): CheckRun {
  const run = call.repo.checks.get(numberParam(call, "id"));
  if (run === undefined) throw notFound();
  return run;
}

function update(call: RepoCall): Answer {
  const run = find(call);
  if (call.actor.app?.id !== run.app.id)
    throw forbidden(`Invalid app_id \`${call.actor.app?.id ?? 0}\` - check run can only be modified by the GitHub App that created it.`);
  const before = run.status;
  apply(call, run);
  if (before !== "completed" && run.status === "completed")
    emitCheckRun(call.world, call.repo, call.actor, "completed", checkShape(call, run));
  return ok(checkShape(call, run));
}

async function listForRef(call: RepoCall): Promise<Answer> {
  const { sha } = await resolveCommit(call, call.params["ref"] ?? "");
  const name = call.query.get("check_name");
  const runs = [...call.repo.checks.values()].filter((run) => run.headSha === sha && (name === null || run.name === name));
  // The default filter is `latest`: one run a name.
  const latest = call.query.get("filter") === "all" ? runs : [...new Map(runs.map((run) => [run.name, run])).values()];
  return page(call, latest, (run) => checkShape(call, run), "check_runs");
}

export const CHECK_ROUTES: readonly Route[] = [
  repoRoute("POST", "/check-runs", WRITE("checks"), create),
  repoRoute("GET", "/check-runs/:id", READ("checks"), (call) => ok(checkShape(call, find(call)))),
  repoRoute("PATCH", "/check-runs/:id", WRITE("checks"), update),
  repoRoute("GET", "/commits/:ref/check-runs", READ("checks"), listForRef),
];
