import { defined } from "../../../core/base/defined.ts";
import type { StageDeployment } from "../../../core/report/run/stage-deployment.ts";
import { ForgeError } from "../port.ts";
import { cutText } from "./checks.ts";
import { asking } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

const DESCRIPTION_LIMIT = 140;

/**
 * Keeps our deployment for an environment and task, with a status where the newest says something else. GitHub is told neither to
 * merge the base into what is deployed nor to wait for checks: the rollout decides both.
 */
export function deploymentWriter(place: RepoOctokit, identity: () => Promise<{ login: string }>) {
  const known = new Map<string, Known>();
  return async (report: StageDeployment): Promise<void> => {
    const key = `${report.environment}\n${report.task}`;
    const before = known.get(key);
    const said = sayingOf(report);
    if (before?.said === said) return;
    const there = before?.id ?? (await find(place, (await identity()).login, report));
    const id = there ?? (await create(place, report));
    // What is known stops being so with the first byte sent: an answer may get lost.
    known.set(key, { id });
    const silent = there === undefined || before?.said !== undefined;
    if (silent || !(await saysTheSame(place, id, report))) await addStatus(place, id, report);
    known.set(key, { id, said });
  };
}

interface Known {
  id: number;
  /** By this process, and answered for; else GitHub is asked what was. */
  said?: string;
}

function sayingOf({ state, statusDescription, environmentUrl, logUrl }: StageDeployment): string {
  return JSON.stringify([state, cutText(statusDescription, DESCRIPTION_LIMIT), environmentUrl, logUrl]);
}

async function find({ octokit, owner, repo }: RepoOctokit, us: string, report: StageDeployment): Promise<number | undefined> {
  const { environment, task } = report;
  const { data } = await asking(() => octokit.rest.repos.listDeployments({ owner, repo, environment, task, per_page: 100 }));
  return data.find((one) => one.task === task && one.environment === environment && one.creator?.login === us)?.id;
}

async function create({ octokit, owner, repo }: RepoOctokit, report: StageDeployment): Promise<number> {
  const { environment, task, ref, description } = report;
  const { data } = await asking(() =>
    octokit.rest.repos.createDeployment({
      owner,
      repo,
      ref,
      task,
      environment,
      description: cutText(description, DESCRIPTION_LIMIT),
      auto_merge: false,
      required_contexts: [],
      ...NEVER_RETRY,
    }),
  );
  if ("id" in data) return data.id;
  throw new ForgeError("Conflict", 202, String(data.message));
}

async function saysTheSame({ octokit, owner, repo }: RepoOctokit, id: number, report: StageDeployment): Promise<boolean> {
  const { data } = await asking(() => octokit.rest.repos.listDeploymentStatuses({ owner, repo, deployment_id: id, per_page: 1 }));
  const [newest] = data;
  if (newest === undefined) return false;
  return (
    newest.state === report.state &&
    newest.description === cutText(report.statusDescription, DESCRIPTION_LIMIT) &&
    (newest.environment_url ?? "") === (report.environmentUrl ?? "") &&
    (newest.log_url ?? "") === (report.logUrl ?? "")
  );
}

async function addStatus({ octokit, owner, repo }: RepoOctokit, id: number, report: StageDeployment): Promise<void> {
  await asking(() =>
    octokit.rest.repos.createDeploymentStatus(
      defined({
        owner,
        repo,
        deployment_id: id,
        state: report.state,
        description: cutText(report.statusDescription, DESCRIPTION_LIMIT),
        environment_url: report.environmentUrl,
        log_url: report.logUrl,
        ...NEVER_RETRY,
      }),
    ),
  );
}
