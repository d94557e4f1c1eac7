import { epoch } from "../../base/time.ts";
import type { Run } from "../../run/state/run.ts";
import { countedWords } from "../counted.ts";
import { modelOf } from "../model/run-model.ts";
import type { ModelNode, RunModel } from "../model/types.ts";

/** A deployment as GitHub shows it. */
export interface StageDeployment {
  /** `rollout/stage`. */
  environment: string;
  /** The merge commit of the stage's first batch. */
  ref: string;
  /** `payments #42`: tells one deployment to an environment from the next. */
  task: string;
  description: string;
  state: "in_progress" | "success" | "failure" | "inactive";
  /** Of the status, at most 140 characters. */
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
  const model = modelOf(run, epoch(run.since));
  const { rollout, number, release } = model;
  const reports: StageDeployment[] = [];
  for (const stage of model.children) {
    const batches = stage.children.filter(({ kind }) => kind === "batch");
    const first = batches.find(({ passed, links }) => passed?.commit !== undefined && links.length > 0);
    if (first?.passed?.commit === undefined) continue;
    const { state, words } = stateOf(model, stage);
    reports.push({
      environment: `${rollout}/${stage.name}`.slice(0, ENVIRONMENT_LIMIT),
      ref: first.passed.commit,
      task: `${rollout} #${number}`,
      description: `${rollout} ${release}, stage ${stage.name}`.slice(0, STATUS_LIMIT),
      state,
      statusDescription: words.length > STATUS_LIMIT ? `${words.slice(0, STATUS_LIMIT - 1)}…` : words,
      environmentUrl: batches.findLast(({ links }) => links.length > 0)?.links[0]?.url,
      // The release PR, where the run's live page is.
      logUrl: model.links[0]?.url,
    });
  }
  return reports;
}

function stateOf(model: RunModel, stage: ModelNode): { state: StageDeployment["state"]; words: string } {
  const { state, says, pause, isPutBack } = model;
  const { healthy = 0, clusters = 0, failed = 0 } = stage.counts ?? {};
  if (stage.when === "past" || state === "Succeeded")
    return { state: "success", words: `${healthy} of ${clusters} ${countedWords(model)} are healthy` };
  if (state === "Failed" || (pause?.kind === "Failure" && failed > 0)) return { state: "failure", words: says };
  if (state === "Aborted" || state === "Superseded" || (state === "RolledBack" && isPutBack === true))
    return { state: "inactive", words: says };
  return { state: "in_progress", words: "batch by batch; the release's pull request shows where it is" };
}
