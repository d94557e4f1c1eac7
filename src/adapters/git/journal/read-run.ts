import type { z } from "zod";
import type { Plan } from "../../../core/plan/plan-types.ts";
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
  constructor(file: string, why: string) {
    super(why);
    this.file = file;
  }
}

/** Reads several files at one commit; a missing one is null. */
export type ReadTexts = (paths: readonly string[]) => Promise<ReadonlyMap<string, string | null>>;

const FORMAT = 1;

/** From an older format to the next one, by the older one's number; given each document of a run with its kind. */
type Migrations = ReadonlyMap<number, (kind: "run" | "plan" | "batch" | "evidence", document: unknown) => unknown>;

/** Format 1 is the first. */
const MIGRATIONS: Migrations = new Map();

interface ReadRunOptions {
  /** What was read or written before: a file with the same text is not parsed again, and gives the same objects. */
  prior?: RunFiles | undefined;
  migrations?: Migrations;
}

/** The run of these files; undefined where there is none. Throws JournalFileError naming the file that cannot be used. */
export async function readRun(
  read: ReadTexts,
  rollout: string,
  number: number,
  options: ReadRunOptions = {},
): Promise<RunFiles | undefined> {
  const { prior, migrations = MIGRATIONS } = options;
  const files = new Map<string, string>();
  const fetchTexts = async (paths: readonly string[]): Promise<void> => {
    for (const [path, text] of await read(paths)) if (text !== null) files.set(path, text);
  };
  const runPath = runFile(rollout, number);
  const planPath = planFile(rollout, number);
  await fetchTexts([runPath, planPath]);
  if (!files.has(runPath) && !files.has(planPath)) return undefined;
  const format = formatOf(document(files, runPath), runPath, migrations);
  const load = <T extends z.ZodType>(kind: "run" | "plan" | "batch" | "evidence", path: string, schema: T): z.infer<T> => {
    let value = document(files, path);
    for (let from = format; from < FORMAT; from++) value = migrations.get(from)?.(kind, value);
    return checked(schema, value, path);
  };

  const { batches: batchCount, ...head } = load("run", runPath, runSchema);
  if (head.rollout !== rollout || head.number !== number) throw new JournalFileError(runPath, `says it is ${head.rollout} #${head.number}`);
  const samePlan = prior !== undefined && prior.files.get(planPath) === files.get(planPath);
  const frozen = samePlan ? prior.run : (load("plan", planPath, planSchema) as unknown as { plan: Plan; spec: Rollout });

  const batchPaths = Array.from({ length: batchCount }, (_, at) => batchFile(rollout, number, at + 1));
  await fetchTexts(batchPaths);
  const heads = batchPaths.map((path) => load("batch", path, batchSchema));
  await fetchTexts(heads.flatMap((batch, at) => shardPaths(rollout, number, at + 1, batch.shards)));
  const planned = plannedTargets(frozen);
  const batches: Batch[] = [];
  const shards: Shards[] = [];
  for (const [at, batch] of heads.entries()) {
    const paths = shardPaths(rollout, number, at + 1, batch.shards);
    const before = prior?.run.batches[at];
    const beforeShards = prior?.shards[at];
    const same = samePlan && [batchPaths[at] ?? "", ...paths].every((path) => prior.files.get(path) === files.get(path));
    if (same && before !== undefined && beforeShards !== undefined) {
      batches.push(before);
      shards.push(beforeShards);
      continue;
    }
    const evidence = evidenceOf(paths.map((path) => load("evidence", path, evidenceSchema).evidence as unknown as EvidenceRow[]));
    shards.push(evidence);
    batches.push(batchOf(batch as unknown as WrittenBatch, evidence, planned, batchPaths[at] ?? ""));
  }
  const run = { ...head, plan: frozen.plan, spec: frozen.spec, batches } as unknown as Run;
  return { run, files, shards };
}

type EvidenceRow = Evidence & { target: string };
type WrittenTarget = Omit<BatchTarget, "application" | "cluster" | "edits" | "evidence"> &
  Partial<Pick<BatchTarget, "application" | "cluster" | "edits">> & { evidence?: number };
type WrittenBatch = Omit<Batch, "targets"> & { shards: number; targets: WrittenTarget[] };

function shardPaths(rollout: string, number: number, batch: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => evidenceFile(rollout, number, batch, at + 1));
}

/** Later shards win: a target's evidence was given anew. */
function evidenceOf(written: readonly EvidenceRow[][]): Shards {
  const of = new Map<string, { shard: number; evidence: Evidence }>();
  for (const [at, rows] of written.entries()) {
    for (const { target, ...evidence } of rows) of.set(target, { shard: at + 1, evidence });
  }
  return { count: written.length, of };
}

function batchOf(written: WrittenBatch, shards: Shards, planned: ReturnType<typeof plannedTargets>, file: string): Batch {
  const { shards: _, targets, ...head } = written;
  return {
    ...head,
    targets: targets.map((row) => {
      const { evidence: shard, ...rest } = row;
      const plan = planned.get(row.key);
      const { application = plan?.application, cluster = plan?.cluster, edits = plan?.edits } = row;
      if (application === undefined || cluster === undefined || edits === undefined) {
        throw new JournalFileError(file, `target ${row.key} is not in the plan, and its application, cluster or edits are not given here`);
      }
      const found = shard === undefined ? undefined : shards.of.get(row.key);
      if (shard !== undefined && found === undefined) {
        throw new JournalFileError(file, `the evidence of ${row.key} should be in shard ${shard} and is not`);
      }
      const target = { ...rest, application, cluster, edits };
      return found === undefined ? target : { ...target, evidence: found.evidence };
    }),
  };
}

function document(files: ReadonlyMap<string, string>, path: string): unknown {
  const text = files.get(path);
  if (text === undefined) throw new JournalFileError(path, "is missing");
  try {
    return parseYaml(text);
  } catch (error) {
    throw new JournalFileError(path, error instanceof Error ? error.message : String(error));
  }
}

function formatOf(run: unknown, path: string, migrations: Migrations): number {
  const format = typeof run === "object" && run !== null && "format" in run ? run.format : undefined;
  if (format === FORMAT) return FORMAT;
  if (typeof format === "number" && migrations.has(format)) return format;
  throw new JournalFileError(
    path,
    `has format ${JSON.stringify(format) ?? "none"}; this version reads format ${FORMAT}. A newer version wrote it, or it was edited`,
  );
}

/** The value itself, not the schema's copy: key order and keys unknown to the schema stay. */
export function checked<T extends z.ZodType>(schema: T, value: unknown, file: string): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return value as z.infer<T>;
  const issue = result.error.issues[0];
  throw new JournalFileError(file, `${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is not as expected"}`);
}
