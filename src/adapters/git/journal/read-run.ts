/**
 * Reads a run from its files, whoever has touched them: what does not hold stops that run, and names the file. `print-run.ts` is the way
 * back.
 */
import type { z } from "zod";
import { errorText } from "../../../core/base/error-text.ts";
import type { Plan } from "../../../core/plan/plan-types.ts";
import type { JournalFileFault } from "../../../core/reasons/journal.ts";
import type { Batch, BatchTarget, Evidence, Run } from "../../../core/run/state/run.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { plannedTargets, type RunFiles, type Shards } from "./print-run.ts";
import { batchFile, evidenceFile, planFile, runFile } from "./run-paths.ts";
import { batchSchema, evidenceSchema, planSchema, runSchema } from "./run-schema.ts";
import { parseYaml } from "./yaml-rows.ts";

/** Why one file of the journal cannot be used. Stops the run it belongs to and no other. */
export class JournalFileError extends Error {
  override name = "JournalFileError";
  readonly file: string;
  readonly reason: JournalFileFault;
  constructor(file: string, reason: JournalFileFault) {
    super(`${file}: ${JSON.stringify(reason)}`);
    this.file = file;
    this.reason = reason;
  }
}

/** Reads several files at one commit; a missing one is null. */
export type ReadTexts = (paths: readonly string[]) => Promise<ReadonlyMap<string, string | null>>;

/** Raised with every change that an older version could not read. 1 was never released. */
export const FORMAT = 2;

/**
 * Reads the run of these files; undefined where there is none. Throws JournalFileError naming the file that cannot be used.
 * `prior`: what was read or written before; a file with the same text is not parsed again, and gives the same objects.
 */
export async function readRun(read: ReadTexts, rollout: string, number: number, prior?: RunFiles): Promise<RunFiles | undefined> {
  const files = new Map<string, string>();
  const fetchTexts = async (paths: readonly string[]): Promise<void> => {
    for (const [path, text] of await read(paths)) if (text !== null) files.set(path, text);
  };
  const runPath = runFile(rollout, number);
  const planPath = planFile(rollout, number);
  await fetchTexts([runPath, planPath]);
  if (!files.has(runPath) && !files.has(planPath)) return undefined;
  refuseOtherFormat(document(files, runPath), runPath);
  const { batches: batchCount, ...head } = load(files, runPath, runSchema);
  if (head.rollout !== rollout || head.number !== number)
    throw new JournalFileError(runPath, { code: "JOURNAL_OTHER_RUN", rollout: head.rollout, run: head.number });
  const same = prior !== undefined && prior.files.get(planPath) === files.get(planPath) ? prior : undefined;
  const { plan, spec } = same?.run ?? (load(files, planPath, planSchema) as unknown as { plan: Plan; spec: Rollout });

  const batchPaths = Array.from({ length: batchCount }, (_, at) => batchFile(rollout, number, at + 1));
  await fetchTexts(batchPaths);
  const written = batchPaths.map((path, at) => {
    const { shards, ...batch } = load(files, path, batchSchema);
    return { path, batch, shards: Array.from({ length: shards }, (_, shard) => evidenceFile(rollout, number, at + 1, shard + 1)) };
  });
  await fetchTexts(written.flatMap(({ shards }) => shards));
  const planned = plannedTargets({ plan });
  const found = written.map((one, at) => batchBefore(files, one, same, at) ?? readBatch(files, one, planned));
  const batches = found.map(({ batch }) => batch);
  if (
    same !== undefined &&
    same.files.get(runPath) === files.get(runPath) &&
    batches.length === same.run.batches.length &&
    batches.every((batch, at) => batch === same.run.batches[at])
  )
    return same;
  const run = { ...head, plan, spec, batches } as unknown as Run;
  return { run, files, shards: found.map(({ shards }) => shards) };
}

/** The file of a batch, and the paths of its shards. */
interface Written {
  path: string;
  batch: unknown;
  shards: readonly string[];
}

/** The batch of before, where nothing of what it is read from has changed. */
function batchBefore(files: ReadonlyMap<string, string>, written: Written, prior: RunFiles | undefined, at: number) {
  const batch = prior?.run.batches[at];
  const shards = prior?.shards[at];
  if (batch === undefined || shards === undefined) return undefined;
  const isSame = [written.path, ...written.shards].every((path) => prior?.files.get(path) === files.get(path));
  return isSame ? { batch, shards } : undefined;
}

function readBatch(files: ReadonlyMap<string, string>, { path, batch, shards }: Written, planned: ReturnType<typeof plannedTargets>) {
  const evidence = evidenceOf(shards.map((shard) => load(files, shard, evidenceSchema).evidence as unknown as EvidenceRow[]));
  return { shards: evidence, batch: batchOf(batch as WrittenBatch, evidence, planned, path) };
}

function load<T extends z.ZodType>(files: ReadonlyMap<string, string>, path: string, schema: T): z.infer<T> {
  return checkShape(schema, document(files, path), path);
}

type EvidenceRow = Evidence & { target: string };
type WrittenTarget = Omit<BatchTarget, "application" | "cluster" | "edits" | "evidence"> &
  Partial<Pick<BatchTarget, "application" | "cluster" | "edits">> & { evidence?: number };
type WrittenBatch = Omit<Batch, "targets"> & { targets: WrittenTarget[] };

/** Later shards win: a target's evidence was given anew. */
function evidenceOf(written: readonly EvidenceRow[][]): Shards {
  const of = new Map<string, { shard: number; evidence: Evidence }>();
  for (const [at, rows] of written.entries()) {
    for (const { target, ...evidence } of rows) of.set(target, { shard: at + 1, evidence });
  }
  return { count: written.length, of };
}

function batchOf(written: WrittenBatch, shards: Shards, planned: ReturnType<typeof plannedTargets>, file: string): Batch {
  const { targets, ...head } = written;
  return {
    ...head,
    targets: targets.map((row) => {
      const { evidence: shard, ...rest } = row;
      const plan = planned.get(row.key);
      const { application = plan?.application, cluster = plan?.cluster, edits = plan?.edits } = row;
      if (application === undefined || cluster === undefined || edits === undefined) {
        throw new JournalFileError(file, { code: "JOURNAL_TARGET", target: row.key });
      }
      const found = shard === undefined ? undefined : shards.of.get(row.key);
      if (shard !== undefined && found === undefined) {
        throw new JournalFileError(file, { code: "JOURNAL_EVIDENCE", target: row.key, shard });
      }
      const target = { ...rest, application, cluster, edits };
      return found === undefined ? target : { ...target, evidence: found.evidence };
    }),
  };
}

function document(files: ReadonlyMap<string, string>, path: string): unknown {
  return readDocument(files.get(path), path);
}

/** Parses a file of the journal, or throws JournalFileError. */
export function readDocument(text: string | undefined, file: string): unknown {
  if (text === undefined) throw new JournalFileError(file, { code: "JOURNAL_NO_FILE", indexed: false });
  try {
    return parseYaml(text);
  } catch (error) {
    throw new JournalFileError(file, { code: "JOURNAL_UNREADABLE", said: errorText(error) });
  }
}

/** Throws JournalFileError where a file says that it has another format than is read. */
export function refuseOtherFormat(file: unknown, path: string, reads = FORMAT): void {
  const format = typeof file === "object" && file !== null && "format" in file ? file.format : undefined;
  if (format === reads) return;
  if (format === 1) throw new JournalFileError(path, { code: "JOURNAL_FORMAT_OLD" });
  throw new JournalFileError(path, { code: "JOURNAL_FORMAT", has: JSON.stringify(format) ?? "none", reads });
}

/** Returns the value itself, not the schema's copy: key order and keys unknown to the schema stay. */
export function checkShape<T extends z.ZodType>(schema: T, value: unknown, file: string): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return value as z.infer<T>;
  const issue = result.error.issues[0];
  throw new JournalFileError(file, { code: "JOURNAL_UNREADABLE", said: `${issue?.path.join(".") || "the file"}: ${issue?.message}` });
}
