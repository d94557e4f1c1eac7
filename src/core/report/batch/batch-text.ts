import type { Batch, Run } from "../../run/state/run.ts";
import { type DeliveryVariable, fillDelivery } from "../../spec/delivery-template.ts";
import { BODY_LIMIT, cell } from "../escape.ts";
import { firstOf } from "../markdown.ts";
import type { History } from "../plan/duration.ts";
import { batchesOfStage, batchName, releaseName, shortName, stageName } from "../words.ts";
import { batchBody, batchCommitMessage, batchTrailers, broughtBy } from "./batch-pull.ts";

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

/** What a batch's PR and commit say where the rollout's own templates do not. */
interface DeliveryDefaults {
  title: string;
  body: string;
  /** With the trailers. */
  commitMessage: string;
}

/** GitHub refuses longer titles. */
const TITLE_LIMIT = 256;
const SUBJECT_LIMIT = 200;

/**
 * The words of a batch's PR and commit: `delivery.title`, `body`, `commitMessage` and `signoff` of the run's snapshot, each
 * in place of its default; the body comes before it. Pure: the same run and batch give the same commit. Values come from
 * outside, so each is one bounded line, and harmless in Markdown where it stands in the body.
 */
export function deliveryText(run: Run, batch: Batch, defaults: DeliveryDefaults, author: Author): DeliveryDefaults {
  const { title, body, commitMessage, signoff } = run.spec.delivery;
  const plain = filler(run, batch, (text) => text);
  const commit = commitMessage === undefined ? defaults.commitMessage : withTrailers(run, batch, plain(commitMessage));
  return {
    title: title === undefined ? defaults.title : shortened(oneLine(plain(title)) || defaults.title, TITLE_LIMIT),
    body: body === undefined ? defaults.body : before(filler(run, batch, cell)(body), defaults.body),
    commitMessage: signoff === true ? `${commit.trimEnd()}\nSigned-off-by: ${oneLine(author.name)} <${oneLine(author.email)}>\n` : commit,
  };
}

function filler(run: Run, batch: Batch, harmless: (text: string) => string): (template: string) => string {
  const safe = (text: string) => harmless(shortened(oneLine(text), 200));
  const clusters = [...new Set(batch.targets.map((target) => shortName(target.cluster)))];
  const variables: Record<DeliveryVariable, string> = {
    "rollout.name": run.rollout,
    "run.number": String(run.number),
    "release.version": safe(releaseName(run.release.values)),
    "release.pull": run.trigger.pull === undefined ? "" : String(run.trigger.pull),
    "release.author": safe(run.trigger.author),
    "stage.name": safe(stageName(run, batch.stage)),
    "batch.number": String(batch.ofStage),
    "batch.of": String(batchesOfStage(run, batch.stage)),
    "batch.name": safe(batchName(run, batch)),
    "batch.attempt": String(batch.attempt),
    "batch.clusters": safe(firstOf(clusters, 3)),
    "batch.size": String(clusters.length),
  };
  const values = Object.fromEntries(Object.entries(run.release.values).map(([name, value]) => [name, safe(value)]));
  return (template) => fillDelivery(template, variables, values);
}

/** The bot knows its own commits by these: they are the message's last paragraph, whatever the template says. */
function withTrailers(run: Run, batch: Batch, message: string): string {
  const [subject = "", ...rest] = message.trim().split("\n");
  const whole = [shortened(subject.trim(), SUBJECT_LIMIT) || `${run.rollout} #${run.number}`, ...rest].join("\n");
  return `${whole.trimEnd()}\n\n${batchTrailers(run, batch)}\n`;
}

function before(own: string, rest: string): string {
  const whole = `${own.trim()}\n\n${rest}`;
  if (whole.length <= BODY_LIMIT) return whole;
  const instead = "\n\nWhat changes is in the diff: it is too large for this place.";
  return `${shortened(own.trim(), BODY_LIMIT - instead.length)}${instead}`;
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** By whole characters, so that no half of an emoji is left. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${[...text]
    .slice(0, limit - 2)
    .join("")
    .slice(0, limit - 2)
    .replace(/[\ud800-\udbff]$/, "")}…`;
}
