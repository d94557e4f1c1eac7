import { askedOf, templateFiles, templatesIn } from "../../core/analysis/repo-templates.ts";
import { AnalysisError, type Sources } from "../../core/analysis/request.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { sayWithHint } from "../../core/report/reasons/problems.ts";
import { analysesOf } from "../../core/run/checks/analysis.ts";
import { analysisSpec } from "../../core/run/checks/step-analysis.ts";
import type { RunAnalysis } from "../../core/run/state/analysis-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { StageAnalysis } from "../../core/spec/rollout.ts";
import type { Commits } from "../config-repo/commits.ts";
import type { RepoContext } from "./context.ts";
import { type AnalysisTroubles, engineId, openAnalysisTroubles } from "./observe/observe-analysis.ts";

const AGAIN_MS = 10_000;

/** What is measured is begun here, and what stood against it is remembered. */
export interface Analyses {
  /** Begins an analysis with its templates as they were when the run started. Trying twice begins it once. */
  start(run: Run, id: string): Promise<true>;
  /** By id: what stood against starting it when this process tried last. */
  readonly troubles: AnalysisTroubles;
  /** What people are told on the run's page of one that could not be started. */
  remarkOf(rollout: string): string | undefined;
}

const MOST_KEPT = 1000;

export function openAnalyses(context: RepoContext, commits: Commits): Analyses {
  const parts: Parts = { context, commits, troubles: openAnalysisTroubles(), remarks: new BoundedMap(MOST_KEPT) };
  return { start: (run, id) => startAnalysis(parts, run, id), troubles: parts.troubles, remarkOf: (rollout) => parts.remarks.get(rollout) };
}

interface Parts {
  context: RepoContext;
  commits: Commits;
  troubles: AnalysisTroubles;
  remarks: Map<string, string>;
}

async function startAnalysis(parts: Parts, run: Run, id: string): Promise<true> {
  const { context, troubles, remarks } = parts;
  const record = analysesOf(run).find((one) => one.id === id);
  const analysis = record === undefined ? undefined : analysisSpec(run, record);
  if (record === undefined || analysis === undefined || context.analysis === undefined) return true;
  const before = troubles.get(id);
  if (before !== undefined && (before.final || context.clock.now() < before.at + AGAIN_MS)) return true;
  try {
    const sources = await sourcesOf(parts, run, record, analysis);
    const asked = askedOf(analysis.templates, record.args);
    await context.analysis.engine.start(engineId(context, id), { asked, sources, mustEnd: mustEnd(run, record) });
    troubles.delete(id);
    remarks.delete(run.rollout);
    return true;
  } catch (error) {
    notStarted(parts, run, id, error);
    return true;
  }
}

/** No reason to hold the run's other effects up: it waits for the analysis anyhow, and says why. */
function notStarted({ context, troubles, remarks }: Parts, run: Run, id: string, error: unknown): void {
  const final = error instanceof AnalysisError;
  const message = (final ? sayWithHint(error.reason) : error instanceof Error ? error.message : String(error)).slice(0, 1000);
  troubles.set(id, { message, final, at: context.clock.now() });
  if (final) return;
  remarks.set(run.rollout, `An analysis could not be started, and is tried again: ${message.slice(0, 300)}`);
  context.log.warn({ rollout: run.rollout, analysis: id, error: message }, "an analysis could not be started; trying again");
}

/** What is measured until it is stopped is stopped by the end of a bake, or of the stage. */
function mustEnd(run: Run, { when, stage, step }: RunAnalysis): boolean {
  if (when === "Background") return false;
  if (step !== undefined) return true;
  return when !== "AfterBatch" || (run.spec.stages[stage]?.bakeMs ?? 0) === 0;
}

async function sourcesOf({ context, commits }: Parts, run: Run, record: RunAnalysis, analysis: StageAnalysis): Promise<Sources> {
  const snapshot = commits.snapshot(run.startedFrom ?? run.trigger.commit);
  const templates = await snapshot.with((files) => templatesIn(templateFiles(analysis.templates, files), files));
  const cluster = record.cluster === undefined ? undefined : clusterOf(context, record.cluster);
  return {
    templates,
    secret: (name, key) => context.analysis?.secret(context.repository, name, key),
    field: (path) => fieldOf(path, cluster ?? { name: run.rollout, labels: {} }),
  };
}

function clusterOf(context: RepoContext, key: string): { name: string; labels: Readonly<Record<string, string>> } {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const plane = context.planes.get(key.slice(0, slash));
  return { name, labels: plane?.clusters().find((one) => one.name === name)?.labels ?? {} };
}

/** `metadata.name` and `metadata.labels['X']`: of the cluster, where the analysis is of one; else of the rollout, which has a name only. */
function fieldOf(path: string, of: { name: string; labels: Readonly<Record<string, string>> }): string | undefined {
  if (path === "metadata.name") return of.name;
  const label = /^metadata\.labels\[(?:'([^']+)'|"([^"]+)")\]$/.exec(path);
  const key = label?.[1] ?? label?.[2] ?? /^metadata\.labels\.([\w-]+)$/.exec(path)?.[1];
  return key !== undefined && Object.hasOwn(of.labels, key) ? of.labels[key] : undefined;
}

/** Also of one that this process never started. */
export async function stopAnalysis(context: RepoContext, id: string): Promise<true> {
  await context.analysis?.engine.stop(engineId(context, id));
  return true;
}
