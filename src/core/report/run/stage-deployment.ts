import type { Batch, Run } from "../../run/state/run.ts";
import { releaseUrl } from "../links.ts";
import { sentenceOf } from "../reasons/say.ts";
import { targetsNow } from "../steps.ts";
import { releaseName } from "../words.ts";

/** A deployment as GitHub shows it, in the shape the forge takes. */
interface StageDeployment {
  environment: string;
  /** The merge commit of the stage's first batch. */
  ref: string;
  task: string;
  description: string;
  state: "in_progress" | "success" | "failure" | "inactive";
  statusDescription: string;
  environmentUrl?: string | undefined;
  logUrl?: string | undefined;
}

const STATUS_LIMIT = 140;
const ENVIRONMENT_LIMIT = 255;

/**
 * A GitHub Deployment for each stage of which something has merged: environment `rollout/stage`, one for each run. Its status
 * changes with the stage, not with each batch, so that it costs a few calls a stage however many batches it has.
 */
export function stageDeployments(run: Run): StageDeployment[] {
  const reports: StageDeployment[] = [];
  for (const [index, stage] of run.plan.stages.entries()) {
    const batches = run.batches.filter((batch) => batch.stage === index);
    const first = batches.find((batch) => batch.merged !== undefined && batch.pull !== undefined);
    if (first?.merged === undefined) continue;
    const { state, words } = stateOf(run, index, batches);
    const url = batches.findLast((batch) => batch.pull !== undefined)?.pull?.url;
    reports.push({
      environment: `${run.rollout}/${stage.name}`.slice(0, ENVIRONMENT_LIMIT),
      ref: first.merged.commit,
      task: `${run.rollout} #${run.number}`,
      description: `${run.rollout} ${releaseName(run.release.values)}, stage ${stage.name}`.slice(0, STATUS_LIMIT),
      state,
      statusDescription: words.length > STATUS_LIMIT ? `${words.slice(0, STATUS_LIMIT - 1)}…` : words,
      environmentUrl: url,
      // The release PR, where the run's live page is.
      logUrl: releaseUrl(run),
    });
  }
  return reports;
}

function stateOf(run: Run, index: number, batches: readonly Batch[]): { state: StageDeployment["state"]; words: string } {
  const targets = targetsNow(batches);
  const clusters = new Set(targets.map(({ cluster }) => cluster));
  const failed = targets.some(({ phase }) => phase === "Failed");
  if (index < run.stage || run.phase === "Succeeded") {
    const healthy = clusters.difference(new Set(targets.filter(({ phase }) => phase !== "Baked").map(({ cluster }) => cluster))).size;
    return { state: "success", words: `${healthy} of ${clusters.size} clusters are healthy` };
  }
  if (run.phase === "Failed" || (run.paused?.kind === "Failure" && failed)) return { state: "failure", words: sentenceOf(run.why, run) };
  if (run.phase === "Aborted" || run.phase === "Superseded") return { state: "inactive", words: sentenceOf(run.why, run) };
  return { state: "in_progress", words: "batch by batch; the release's pull request shows where it is" };
}
