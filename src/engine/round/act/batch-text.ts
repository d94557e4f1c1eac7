import { batchBody, batchCommitMessage, batchTrailers } from "../../../core/report/batch/batch-pull.ts";
import { type DeliveryDefaults, deliveryText } from "../../../core/report/batch/delivery-text.ts";
import { batchesOfStage, releaseName, stageName } from "../../../core/report/words.ts";
import { printTitle } from "../../../core/run/state/pull-title.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";

type Speaker = Pick<RepoContext, "author" | "clock">;

/** Title and body of a batch's PR and the message of its commit, in the rollout's own words where it has some. */
export function batchText({ author, clock }: Speaker, run: Run, batch: Batch): DeliveryDefaults {
  const body = batchBody(run, batch, clock.now());
  return deliveryText(run, batch, { title: titleOf(run, batch), body, commitMessage: batchCommitMessage(run, batch) }, author);
}

/** Of the commit alone: the same whenever it is asked for. */
export function commitText({ author }: Pick<Speaker, "author">, run: Run, batch: Batch): string {
  return deliveryText(run, batch, { title: "", body: "", commitMessage: batchCommitMessage(run, batch) }, author).commitMessage;
}

/** What the merge commit says: the words of the batch's commit where the rollout gives them, else the PR's title and the trailers. */
export function mergeText({ author }: Pick<Speaker, "author">, run: Run, batch: Batch, pull: number): { title: string; message: string } {
  const { title, commitMessage } = deliveryText(
    run,
    batch,
    { title: titleOf(run, batch), body: "", commitMessage: `\n\n${batchTrailers(run, batch)}\n` },
    author,
  );
  const [subject = "", ...rest] = commitMessage.split("\n");
  const own = run.spec.delivery.commitMessage !== undefined;
  return { title: `${own ? subject : title} (#${pull})`, message: rest.join("\n").trim() };
}

function titleOf(run: Run, batch: Batch): string {
  const { step } = batch;
  const planned = batch.kind !== "Planned" ? {} : { batch: { number: batch.ofStage, of: batchesOfStage(run, batch.stage) } };
  const extra = batch.kind === "Hotfix" ? { extra: "hotfix" as const } : batch.kind === "Revert" ? { extra: "revert" as const } : {};
  return printTitle({
    rollout: run.rollout,
    release: releaseName(run.release.values),
    stage: stageName(run, batch.stage),
    ...planned,
    ...extra,
    ...(step === undefined ? {} : { step: { number: step.index, of: step.of, weight: step.weight } }),
  });
}
