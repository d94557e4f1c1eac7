/** A run as one text, for another process that shows it: it is no part of the journal, and is checked as the journal's files are. */
import { z } from "zod";
import type { Run } from "../../../core/run/state/run.ts";
import { checkShape, JournalFileError, refuseOtherFormat } from "./read-run.ts";
import { runFile } from "./run-paths.ts";
import { batchSchema, evidenceSchema, planSchema, runSchema } from "./run-schema.ts";

const target = z.looseObject({
  key: z.string(),
  application: z.string(),
  cluster: z.string(),
  edits: z.array(z.unknown()),
  evidence: z.looseObject({}).optional(),
});
const whole = z.looseObject({
  rollout: z.string(),
  number: z.number(),
  plan: z.unknown(),
  spec: z.unknown(),
  batches: z.array(z.looseObject({ targets: z.array(target) })).max(100_000),
});

export function runToText(run: Run): string {
  return JSON.stringify(run);
}

/** Throws JournalFileError, or GitError where its name is none. */
export function runFromText(text: string, rollout: string): Run {
  const unnamed = runFile(rollout, 1);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JournalFileError(unnamed, { code: "JOURNAL_UNREADABLE", said: String(error) });
  }
  const { plan, spec, batches, ...head } = checkShape(whole, value, unnamed);
  const file = runFile(rollout, head.number);
  if (head.rollout !== rollout) throw new JournalFileError(file, { code: "JOURNAL_OTHER_RUN", rollout: head.rollout, run: head.number });
  refuseOtherFormat(head, file);
  checkShape(runSchema, { ...head, batches: batches.length }, file);
  checkShape(planSchema, { plan, spec }, file);
  for (const { targets, ...batch } of batches) {
    checkShape(batchSchema, { ...batch, shards: 0, targets: targets.map(({ evidence: _, ...rest }) => rest) }, file);
    checkShape(
      evidenceSchema,
      { evidence: targets.flatMap(({ key, evidence }) => (evidence ? [{ target: key, ...evidence }] : [])) },
      file,
    );
  }
  return value as Run;
}
