import type { Batch, Run } from "../../run/state/run.ts";
import type { History } from "../plan/duration.ts";
import { batchesOfStage, stageName } from "../words.ts";
import { batchBody, batchCommitMessage, batchTrailers, broughtBy } from "./batch-pull.ts";
import { type DeliveryDefaults, deliveryText } from "./delivery-text.ts";

interface Author {
  name: string;
  email: string;
}

/** Writes title, body and commit message of a batch, in the rollout's own words where it has some. */
export function batchText(run: Run, batch: Batch, author: Author, now: number, clusters?: History["clusters"]): DeliveryDefaults {
  const body = batchBody(run, batch, now, clusters);
  return deliveryText(run, batch, { title: titleOf(run, batch), body, commitMessage: batchCommitMessage(run, batch) }, author);
}

/** Of the commit alone: the same whenever it is asked for. */
export function commitText(run: Run, batch: Batch, author: Author): string {
  return deliveryText(run, batch, { title: "", body: "", commitMessage: batchCommitMessage(run, batch) }, author).commitMessage;
}

/** What the merge commit says: the words of the batch's commit where the rollout gives them, else the PR's title and the trailers. */
export function mergeText(run: Run, batch: Batch, pull: number, author: Author): { title: string; message: string } {
  const defaults = { title: titleOf(run, batch), body: "", commitMessage: `\n\n${batchTrailers(run, batch)}\n` };
  const { title, commitMessage } = deliveryText(run, batch, defaults, author);
  const [subject = "", ...rest] = commitMessage.split("\n");
  const own = run.spec.delivery.commitMessage !== undefined;
  return { title: `${own ? subject : title} (#${pull})`, message: rest.join("\n").trim() };
}

function titleOf(run: Run, batch: Batch): string {
  const { step, kind } = batch;
  return printTitle({
    rollout: run.rollout,
    release: broughtBy(run, batch),
    stage: stageName(run, batch.stage),
    batch: kind === "Planned" ? { number: batch.ofStage, of: batchesOfStage(run, batch.stage) } : undefined,
    extra: kind === "Hotfix" ? "hotfix" : kind === "Revert" ? "revert" : undefined,
    step: step && { number: step.index, of: step.of, weight: step.weight },
  });
}

/** What the title of a batch's pull request says (docs/spec.md §5): rollout, release, stage and batch. */
interface PullTitle {
  rollout: string;
  /** As people call it: `v1.4.2`, or several values joined; `back to v1.4.1 and v1.3.9` where targets go back to several. */
  release: string;
  /** Name of the stage. */
  stage: string;
  /** Which of the stage's planned batches, from 1; absent: its catch-up batch, or what `extra` says. */
  batch?: { number: number; of: number } | undefined;
  extra?: "hotfix" | "revert" | undefined;
  /** Of a stage with steps: which of its weights the pull request brings. */
  step?: { number: number; of: number; weight: number } | undefined;
}

/** GitHub takes 256 characters. */
const LONGEST = 250;

/** `payments v1.4.2: batch 1 of 3 of canary in EMEA`, or `payments v1.4.2: step 2 of 3, weight 60, of batch 1 of 3 of canary`. One too long for GitHub loses the end of its stage's name. */
export function printTitle(title: PullTitle): string {
  const batch = title.batch === undefined ? `${title.extra ?? "catch-up"} batch` : `batch ${title.batch.number} of ${title.batch.of}`;
  const { step } = title;
  const part = step === undefined ? "" : `step ${step.number} of ${step.of}, weight ${step.weight}, of `;
  const text = `${title.rollout} ${title.release}: ${part}${batch} of ${title.stage}`;
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
