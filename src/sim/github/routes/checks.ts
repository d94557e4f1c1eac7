import { ApiFailure, forbidden, invalid, notFound } from "../http/failure.ts";
import {
  type Answer,
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
} from "../http/router.ts";
import type { Annotation, App, CheckRun, CheckSuite } from "../model/model.ts";
import { seconds } from "../model/world.ts";
import { checkRunChanged, rerequestRun, rerequestSuite, suiteOf } from "../pulls/checks.ts";
import { annotationShape, checkShape, suiteShape } from "../shapes/check.ts";
import { resolveCommit } from "./commits.ts";

const CONCLUSIONS = ["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"];

/** GitHub's time of a field, in its whole seconds. */
function time(call: RepoCall, field: string): number | undefined {
  const value = optionalText(call, field, "CheckRun");
  if (value === undefined) return undefined;
  const at = Date.parse(value);
  if (Number.isNaN(at)) throw invalid({ resource: "CheckRun", field, code: "invalid" });
  return at;
}

function apply(call: RepoCall, run: CheckRun): void {
  const status = optionalText(call, "status", "CheckRun");
  if (status !== undefined && status !== "queued" && status !== "in_progress" && status !== "completed") {
    throw invalid({ resource: "CheckRun", field: "status", code: "invalid" });
  }
  const conclusion = optionalText(call, "conclusion", "CheckRun");
  if (conclusion !== undefined && !CONCLUSIONS.includes(conclusion))
    throw invalid({ resource: "CheckRun", field: "conclusion", code: "invalid" });
  if (status === "completed" && conclusion === undefined)
    throw new ApiFailure(422, `Invalid request.\n\nMissing required key "conclusion".`);
  const output = newOutput(call);
  run.status = conclusion === undefined ? (status ?? run.status) : "completed";
  run.conclusion = run.status === "completed" ? (conclusion ?? run.conclusion) : null;
  run.startedAt = time(call, "started_at") ?? run.startedAt;
  if (run.status === "completed") run.completedAt = time(call, "completed_at") ?? run.completedAt ?? call.world.clock.now();
  else delete run.completedAt;
  run.externalId = optionalText(call, "external_id", "CheckRun") ?? run.externalId;
  run.detailsUrl = optionalText(call, "details_url", "CheckRun") ?? run.detailsUrl;
  run.name = optionalText(call, "name", "CheckRun") ?? run.name;
  Object.assign(run.output, output?.texts);
  // Each request adds to what is there.
  run.annotations.push(...(output?.annotations ?? []));
}

function newOutput(call: RepoCall): { texts: Partial<CheckRun["output"]>; annotations: Annotation[] } | undefined {
  const output = call.body["output"];
  if (typeof output !== "object" || output === null) return undefined;
  const texts: Partial<CheckRun["output"]> = {};
  for (const field of ["title", "summary", "text"] as const) {
    const value = (output as Record<string, unknown>)[field];
    if (typeof value !== "string") continue;
    if (field !== "title" && Buffer.byteLength(value) > 65_535) {
      const message = `${field} exceeds a maximum bytesize of 65535`;
      throw invalid({ resource: "CheckRun", field: `output.${field}`, code: "custom", message });
    }
    texts[field] = value;
  }
  if (texts.title === undefined || texts.summary === undefined) {
    const missing = ["title", "summary"].filter((field) => texts[field as "title" | "summary"] === undefined).map((field) => `"${field}"`);
    throw new ApiFailure(422, `Invalid request.\n\n${missing.join(", ")} weren't supplied.`);
  }
  return { texts, annotations: newAnnotations((output as Record<string, unknown>)["annotations"]) };
}

function newAnnotations(given: unknown): Annotation[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw new ApiFailure(422, "Invalid request.\n\nFor 'properties/annotations', not an array.");
  if (given.length > 50) throw new ApiFailure(422, `Invalid request.\n\nNo more than 50 items are allowed; ${given.length} were supplied.`);
  return given.map((one: Record<string, unknown>) => {
    const { path, start_line, end_line, annotation_level: level, message } = one;
    const levels = ["notice", "warning", "failure"];
    const fine = typeof path === "string" && typeof start_line === "number" && typeof end_line === "number" && typeof message === "string";
    if (!fine || typeof level !== "string" || !levels.includes(level)) throw new ApiFailure(422, "Invalid request.\n\nInvalid annotation.");
    return {
      path,
      start_line,
      end_line,
      start_column: start_line === end_line ? numberOrNull(one["start_column"]) : null,
      end_column: start_line === end_line ? numberOrNull(one["end_column"]) : null,
      annotation_level: level as Annotation["annotation_level"],
      title: typeof one["title"] === "string" ? one["title"] : null,
      message,
      raw_details: typeof one["raw_details"] === "string" ? one["raw_details"] : null,
    };
  });
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

async function create(call: RepoCall): Promise<Answer> {
  const { app } = call.actor;
  if (app === undefined) throw forbidden("You must authenticate via a GitHub App.");
  const sha = text(call, "head_sha", "CheckRun");
  if ((await call.repo.git.commit(sha)) === undefined) {
    throw new ApiFailure(422, `No commit found for SHA: ${sha}`);
  }
  const run: CheckRun = {
    id: call.world.nextId(),
    name: text(call, "name", "CheckRun"),
    headSha: sha,
    app,
    suite: suiteOf(call.world, call.repo, app, sha),
    externalId: null,
    detailsUrl: null,
    status: "queued",
    conclusion: null,
    startedAt: call.world.clock.now(),
    output: { title: null, summary: null, text: null },
    annotations: [],
  };
  apply(call, run);
  call.repo.checks.set(run.id, run);
  await checkRunChanged(call.world, call.repo, call.actor, run, run.status === "completed" ? "completed" : "created");
  return created(checkShape(call.world, call.repo, run));
}

function find(call: RepoCall): CheckRun {
  const run = call.repo.checks.get(numberParam(call, "id"));
  if (run === undefined) throw notFound();
  return run;
}

async function update(call: RepoCall): Promise<Answer> {
  const run = find(call);
  if (call.actor.app?.id !== run.app.id)
    throw forbidden(`Invalid app_id \`${call.actor.app?.id ?? 0}\` - check run can only be modified by the GitHub App that created it.`);
  const before = run.status;
  apply(call, run);
  if (before !== "completed" && run.status === "completed") await checkRunChanged(call.world, call.repo, call.actor, run, "completed");
  return ok(checkShape(call.world, call.repo, run));
}

/** Only the App that made it may. */
function mustOwn(call: RepoCall, app: App): void {
  if (call.actor.app?.id !== app.id) throw forbidden();
}

function rerequest(call: RepoCall): Answer {
  const run = find(call);
  mustOwn(call, run.app);
  rerequestRun(call.world, call.repo, call.actor, run);
  return created({});
}

function listRuns(call: RepoCall, all: readonly CheckRun[]): Promise<Answer> {
  const name = call.query.get("check_name");
  const status = call.query.get("status");
  const app = call.query.get("app_id");
  const runs = all.filter(
    (run) =>
      (name === null || run.name === name) && (status === null || run.status === status) && (app === null || String(run.app.id) === app),
  );
  // The default filter is `latest`: one run a name and App.
  const latest = call.query.get("filter") === "all" ? runs : [...new Map(runs.map((run) => [`${run.app.id} ${run.name}`, run])).values()];
  return page(call, latest, (run) => checkShape(call.world, call.repo, run), "check_runs");
}

async function runsForRef(call: RepoCall): Promise<Answer> {
  const { sha } = await resolveCommit(call, call.params["ref"] ?? "");
  return listRuns(
    call,
    [...call.repo.checks.values()].filter((run) => run.headSha === sha),
  );
}

function suiteHere(call: RepoCall): CheckSuite {
  const suite = call.repo.suites.get(numberParam(call, "id"));
  if (suite === undefined) throw notFound();
  return suite;
}

async function printSuite(call: RepoCall, suite: CheckSuite) {
  const commit = await call.repo.git.commit(suite.headSha);
  const person = ({ name, email }: { name: string; email: string }) => ({ name, email });
  const head =
    commit === undefined
      ? null
      : {
          id: commit.sha,
          tree_id: commit.tree,
          message: commit.message.trim(),
          timestamp: seconds(commit.committer.at * 1000),
          author: person(commit.author),
          committer: person(commit.committer),
        };
  return suiteShape(call.world, call.repo, suite, head);
}

async function rerequestAll(call: RepoCall): Promise<Answer> {
  const suite = suiteHere(call);
  mustOwn(call, suite.app);
  await rerequestSuite(call.world, call.repo, call.actor, suite);
  return created({});
}

async function suitesForRef(call: RepoCall): Promise<Answer> {
  const { sha } = await resolveCommit(call, call.params["ref"] ?? "");
  const suites = [...call.repo.suites.values()].filter((suite) => suite.headSha === sha);
  return page(call, suites, (suite) => printSuite(call, suite), "check_suites");
}

export const CHECK_ROUTES: readonly Route[] = [
  repoRoute("POST", "/check-runs", WRITE("checks"), create),
  repoRoute("GET", "/check-runs/:id", READ("checks"), (call) => ok(checkShape(call.world, call.repo, find(call)))),
  repoRoute("PATCH", "/check-runs/:id", WRITE("checks"), update),
  repoRoute("GET", "/check-runs/:id/annotations", READ("checks"), (call) => {
    const run = find(call);
    return page(call, run.annotations, (one) => annotationShape(call.world, call.repo, run, one));
  }),
  repoRoute("POST", "/check-runs/:id/rerequest", WRITE("checks"), rerequest),
  repoRoute("POST", "/check-suites/:id/rerequest", WRITE("checks"), rerequestAll),
  repoRoute("GET", "/check-suites/:id", READ("checks"), async (call) => ok(await printSuite(call, suiteHere(call)))),
  repoRoute("GET", "/check-suites/:id/check-runs", READ("checks"), (call) => {
    const suite = suiteHere(call);
    return listRuns(
      call,
      [...call.repo.checks.values()].filter((run) => run.suite === suite),
    );
  }),
  repoRoute("GET", "/commits/:ref/check-runs", READ("checks"), runsForRef),
  repoRoute("GET", "/commits/:ref/check-suites", READ("checks"), suitesForRef),
];
