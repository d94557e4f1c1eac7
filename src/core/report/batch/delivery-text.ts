import type { Batch, Run } from "../../run/state/run.ts";
import { type DeliveryVariable, fillDelivery } from "../../spec/delivery-template.ts";
import { BODY_LIMIT, cell } from "../escape.ts";
import { firstOf } from "../markdown.ts";
import { batchesOfStage, batchName, releaseName, shortName, stageName } from "../words.ts";
import { batchTrailers } from "./batch-pull.ts";

/** What a batch's PR and commit say where the rollout's own templates do not. */
export interface DeliveryDefaults {
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
export function deliveryText(
  run: Run,
  batch: Batch,
  defaults: DeliveryDefaults,
  author: { name: string; email: string },
): DeliveryDefaults {
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
