import { diffFiles } from "../git/diff.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Actor, Repo } from "../model/model.ts";

/** An App without `workflows: write` may not change what lies in .github/workflows, by whatever way. */
export async function mayTouchWorkflows(repo: Repo, actor: Actor, from: string | undefined, to: string): Promise<void> {
  const path = await touchedWorkflow(repo, actor, from, to);
  if (path !== undefined) throw new ApiFailure(403, workflowRefusal(path));
}

export function workflowRefusal(path: string): string {
  return `refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`;
}

export async function touchedWorkflow(repo: Repo, actor: Actor, from: string | undefined, to: string): Promise<string | undefined> {
  if (actor.kind !== "installation" || actor.permissions?.["workflows"] === "write" || from === undefined) return undefined;
  const tree = (commit: string) => repo.git.cat.info(`${commit}:.github/workflows`);
  // The same folder on both sides is the usual case, and costs no process.
  const [before, after] = await Promise.all([tree(from), tree(to)]);
  if (before?.sha === after?.sha || after === undefined) return undefined;
  const base = (await repo.git.mergeBase(from, to)) ?? from;
  return (await diffFiles(repo.git, base, to)).find((file) => file.path.startsWith(".github/workflows/"))?.path;
}
