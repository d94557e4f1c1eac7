import type { CheckRun, Repo, Status } from "../model/model.ts";
import { nodeId, seconds } from "../model/world.ts";
import { checkShape, suiteState } from "../shapes/check.ts";
import { type ConnectionArgs, connection } from "./connection.ts";
import type { Context } from "./context.ts";
import { actorNode } from "./people.ts";

function latest<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}

function statusesAt(repo: Repo, sha: string): Status[] {
  return latest(
    repo.statuses.filter((one) => one.sha === sha),
    (one) => one.context,
  );
}

function contextNode(context: Context, repo: Repo, status: Status) {
  return {
    __typename: "StatusContext",
    id: nodeId("SC", status.id),
    context: status.context,
    state: status.state.toUpperCase(),
    description: status.description,
    targetUrl: status.targetUrl,
    createdAt: seconds(status.at),
    creator: () => actorNode(context, status.creator),
    commit: () => context.print({ kind: "commit", repo, sha: status.sha }),
  };
}

function worst(states: readonly string[]): string {
  return ["FAILURE", "ERROR", "PENDING", "EXPECTED"].find((state) => states.includes(state)) ?? "SUCCESS";
}

/** null where nobody has set any. */
export function statusNode(context: Context, repo: Repo, sha: string): object | null {
  const found = statusesAt(repo, sha);
  if (found.length === 0) return null;
  const nodes = () => found.map((one) => contextNode(context, repo, one));
  return {
    id: nodeId("ST", `${repo.id}:${sha}`),
    state: worst(found.map((one) => one.state.toUpperCase())),
    contexts: nodes,
    context: ({ name }: { name: string }) => nodes().find((one) => one.context === name) ?? null,
  };
}

function runNode(context: Context, repo: Repo, run: CheckRun) {
  const shape = checkShape(context.world, repo, run);
  const suite = suiteState(repo, run.suite);
  return {
    __typename: "CheckRun",
    id: shape.node_id,
    databaseId: run.id,
    name: run.name,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
    detailsUrl: shape.details_url,
    externalId: run.externalId,
    startedAt: shape.started_at,
    completedAt: shape.completed_at,
    summary: run.output.summary,
    text: run.output.text,
    title: run.output.title,
    url: shape.html_url,
    checkSuite: {
      id: nodeId("CS", run.suite.id),
      databaseId: run.suite.id,
      status: suite.status.toUpperCase(),
      conclusion: suite.conclusion?.toUpperCase() ?? null,
      app: { id: nodeId("A", run.app.id), databaseId: run.app.id, name: run.app.name, slug: run.app.slug },
    },
  };
}

function runState(run: CheckRun): string {
  if (run.status !== "completed") return "PENDING";
  return ["success", "neutral", "skipped"].includes(run.conclusion ?? "") ? "SUCCESS" : "FAILURE";
}

/** Checks and statuses of a commit together; null where there is none. */
export function rollupNode(context: Context, repo: Repo, sha: string): object | null {
  const statuses = statusesAt(repo, sha);
  const runs = latest(
    [...repo.checks.values()].filter((run) => run.headSha === sha),
    (run) => `${run.app.id} ${run.name}`,
  );
  if (statuses.length + runs.length === 0) return null;
  return {
    id: nodeId("SCR", `${repo.id}:${sha}`),
    state: worst([...statuses.map((one) => one.state.toUpperCase()), ...runs.map(runState)]),
    contexts: (args: ConnectionArgs) =>
      connection(
        "contexts",
        [...runs.map((run) => runNode(context, repo, run)), ...statuses.map((one) => contextNode(context, repo, one))],
        args,
        (one) => one,
      ),
  };
}
