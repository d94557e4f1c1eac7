import { defined } from "../../../core/base/defined.ts";
import type { CheckSeen } from "../port.ts";
import { answerOf, asking, forgeError } from "./errors.ts";
import type { RepoOctokit } from "./octokit.ts";

/** Check runs and commit statuses at a commit, the newest of each name and App. */
export async function checksOf(place: RepoOctokit, head: string): Promise<CheckSeen[]> {
  const newest = new Map<string, CheckSeen>();
  for (const seen of [...(await checkRuns(place, head)), ...(await statuses(place, head))]) {
    const key = `${seen.name}\n${seen.app ?? ""}`;
    const known = newest.get(key);
    if (known === undefined || known.at <= seen.at) newest.set(key, seen);
  }
  return [...newest.values()];
}

async function checkRuns({ octokit, owner, repo }: RepoOctokit, head: string): Promise<CheckSeen[]> {
  const runs = await asking(`read the checks of ${head.slice(0, 12)}`, () =>
    octokit.paginate(octokit.rest.checks.listForRef, { owner, repo, ref: head, per_page: 100 }),
  );
  return runs
    .toSorted((a, b) => a.id - b.id)
    .map((run) =>
      defined({
        name: run.name,
        app: run.app?.id,
        state: run.status === "completed" ? stateOf(run.conclusion ?? "") : "pending",
        detail: run.conclusion ?? run.status,
        url: run.html_url ?? undefined,
        at: time(run.completed_at ?? run.started_at),
      }),
    );
}

/** Statuses may be hidden from the App: `statuses: read` is optional. */
async function statuses({ octokit, owner, repo }: RepoOctokit, head: string): Promise<CheckSeen[]> {
  try {
    const { data } = await octokit.rest.repos.getCombinedStatusForRef({ owner, repo, ref: head, per_page: 100 });
    return data.statuses.map((status) =>
      defined({
        name: status.context,
        state: status.state === "pending" ? ("pending" as const) : stateOf(status.state),
        detail: status.state,
        url: status.target_url ?? undefined,
        at: time(status.updated_at),
      }),
    );
  } catch (error) {
    const failure = forgeError(`read the statuses of ${head.slice(0, 12)}`, error);
    if (answerOf(error)?.status === 404 || failure.kind === "Forbidden") return [];
    throw failure;
  }
}

/** A check that was skipped or is neutral does not hold a merge. */
function stateOf(word: string): CheckSeen["state"] {
  if (word === "success") return "success";
  return word === "neutral" || word === "skipped" ? "neutral" : "failure";
}

function time(text: string | null): string {
  return text === null ? new Date(0).toISOString() : new Date(text).toISOString();
}
