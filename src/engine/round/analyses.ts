/** The analyses of one repo's runs: begun and stopped as the core wants it, and shown as their engine has them. */
import type { AnalysisState } from "../../adapters/analysis/port.ts";
import { askedOf, templateFiles, templatesIn } from "../../core/analysis/repo-templates.ts";
import { AnalysisError, type Sources } from "../../core/analysis/request.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import { errorText } from "../../core/base/error-text.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { said } from "../../core/reasons/run.ts";
import { sayWithHint } from "../../core/report/reasons/problems/problems.ts";
import { analysesOf } from "../../core/run/checks/analysis.ts";
import { analysisSpec, measuresAnything } from "../../core/run/checks/step-analysis.ts";
import type { AnalysisMetric, ObservedAnalysis, RunAnalysis } from "../../core/run/state/analysis-types.ts";
import { hostOf } from "../../core/run/state/names.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { StageAnalysis } from "../../core/spec/rollout.ts";
import type { Commits } from "../config-repo/commits.ts";
import { clustersOn } from "../resolve/fleet.ts";
import type { RepoContext } from "./context.ts";

const AGAIN_MS = 10_000;
const MOST_KEPT = 1000;

/** What is measured is begun here, and what stood against it is remembered. */
export interface Analyses {
  /** How those of a run stand that it takes for under way; undefined: it measures nothing. */
  observe(run: Run): ReadonlyMap<string, ObservedAnalysis> | undefined;
  /** Begins an analysis with its templates as they were when the run started. Trying twice begins it once. */
  start(run: Run, id: string): Promise<true>;
  /** Also of one that this process never started. */
  stop(id: string): Promise<true>;
  /** What people are told on the run's page of one that could not be started. */
  remarkOf(rollout: string): AnyReason | undefined;
}

/** What an analysis could not be started for. `final`: it can never be as it is asked for. */
interface Trouble {
  message: string;
  final: boolean;
  at: number;
}

type Context = Pick<RepoContext, "repository" | "analysis" | "planes" | "clock" | "log">;

interface Deps extends Pick<RepoContext, "repository" | "planes"> {
  service: RepoContext["analysis"];
  commits: Commits;
}

export function openAnalyses({ repository, analysis: service, planes, clock, log }: Context, commits: Commits): Analyses {
  const deps = { repository, planes, service, commits };
  const troubles = new BoundedMap<string, Trouble>(MOST_KEPT);
  const remarks = new BoundedMap<string, AnyReason>(MOST_KEPT);
  /** Engines serve every repo: there an analysis is known by the repo, too. */
  const engineId = (id: string) => `${repository.toLowerCase()}:${id}`;

  function observeOne(id: string): ObservedAnalysis | undefined {
    if (service === undefined) return { phase: "Error", message: engineReason("NO_ANALYSES"), metrics: [] };
    const trouble = troubles.get(id);
    if (trouble?.final === true) return { phase: "Error", message: said(trouble.message), metrics: [] };
    const state = service.engine.state(engineId(id));
    return state && toObserved(state);
  }

  /** No reason to hold the run's other effects up: it waits for the analysis anyhow, and says why. */
  function noteFailure({ rollout }: Run, id: string, error: unknown): void {
    const final = error instanceof AnalysisError;
    const message = (final ? sayWithHint(error.reason) : errorText(error)).slice(0, 1000);
    troubles.set(id, { message, final, at: clock.now() });
    if (final) return;
    remarks.set(rollout, engineReason("ANALYSIS_NOT_STARTED", { said: message.slice(0, 300) }));
    log.warn({ rollout, analysis: id, error: message }, "an analysis could not be started; trying again");
  }

  return {
    observe(run) {
      if (!run.spec.stages.some(measuresAnything)) return undefined;
      const running = analysesOf(run).filter(({ phase }) => phase === "Running");
      const seen = running.map(({ id }) => [id, observeOne(id)] as const);
      return new Map(seen.flatMap(([id, observed]) => (observed === undefined ? [] : [[id, observed]])));
    },
    async start(run, id) {
      const record = analysesOf(run).find((one) => one.id === id);
      const analysis = record && analysisSpec(run, record);
      if (record === undefined || analysis === undefined || service === undefined) return true;
      const before = troubles.get(id);
      if (before !== undefined && (before.final || clock.now() < before.at + AGAIN_MS)) return true;
      try {
        const sources = await sourcesOf(deps, run, record, analysis);
        const asked = askedOf(analysis.templates, record.args);
        await service.engine.start(engineId(id), { asked, sources, mustEnd: mustEnd(run, record) });
        troubles.delete(id);
        remarks.delete(run.rollout);
      } catch (error) {
        noteFailure(run, id, error);
      }
      return true;
    },
    async stop(id) {
      await service?.engine.stop(engineId(id));
      return true;
    },
    remarkOf: (rollout) => remarks.get(rollout),
  };
}

function toObserved({ phase, message, metrics, endless }: AnalysisState): ObservedAnalysis {
  const measured = metrics.map(({ dryRun, ...metric }): AnalysisMetric => (dryRun ? { ...metric, dryRun } : metric));
  return defined({ phase: phase === "Pending" ? "Running" : phase, message: said(message), metrics: measured, endless });
}

/** What is measured until it is stopped is stopped by the end of a bake, or of the stage. */
function mustEnd(run: Run, { when, stage, step }: RunAnalysis): boolean {
  if (when === "Background") return false;
  if (step !== undefined) return true;
  return when !== "AfterBatch" || (run.spec.stages[stage]?.bakeMs ?? 0) === 0;
}

interface Named {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** `metadata.name` and `metadata.labels['X']`: of the cluster, where the analysis is of one; else of the rollout, which has a name only. */
function fieldOf(path: string, of: Named): string | undefined {
  if (path === "metadata.name") return of.name;
  const label = /^metadata\.labels\[(?:'([^']+)'|"([^"]+)")\]$/.exec(path);
  const key = label?.[1] ?? label?.[2] ?? /^metadata\.labels\.([\w-]+)$/.exec(path)?.[1];
  return key !== undefined && Object.hasOwn(of.labels, key) ? of.labels[key] : undefined;
}

async function sourcesOf(deps: Deps, run: Run, record: RunAnalysis, analysis: StageAnalysis): Promise<Sources> {
  const { commits, service, repository } = deps;
  const snapshot = commits.snapshot(run.startedFrom ?? run.trigger.commit);
  const templates = await snapshot.with((files) => templatesIn(templateFiles(analysis.templates, files), files));
  const cluster =
    record.cluster === undefined
      ? { name: run.rollout, labels: {} }
      : namedCluster(deps, hostOf(run, record.cluster), run.spec.source.controlPlanes);
  return { templates, secret: (name, key) => service?.secret(repository, name, key), field: (path) => fieldOf(path, cluster) };
}

function namedCluster({ planes }: Pick<Deps, "planes">, key: string, names: readonly string[]): Named {
  const slash = key.indexOf("/");
  const name = key.slice(0, slash);
  const plane = planes.get(name);
  const known = plane && clustersOn({ name, labels: plane.labels, clusters: () => plane.clusters() }, names).find((one) => one.key === key);
  return { name: key.slice(slash + 1), labels: known?.labels ?? {} };
}
