import { describe, expect, test } from "vitest";
import type { AnalysisEngine, AnalysisToRun } from "../../adapters/analysis/port.ts";
import { prepare } from "../../core/analysis/request.ts";
import { said } from "../../core/reasons/run.ts";
import type { RunAnalysis } from "../../core/run/state/analysis-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Commits } from "../config-repo/commits.ts";
import type { SyncFiles } from "../config-repo/snapshot.ts";
import { openAnalyses } from "./analyses.ts";
import { type RepoContext, silentLog } from "./context.ts";

const ID = "payments/42/1/1/AfterBatch/1/hub/eu-1";

function template(url: string): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: { name: webcheck }
spec:
  args: [{ name: host }, { name: region, valueFrom: { fieldRef: { fieldPath: "metadata.labels['region']" } } }]
  metrics: [{ name: webcheck, provider: { web: { url: "${url}/{{ args.host }}/{{ args.region }}" } } }]
`;
}

/** The base as it was when the run started, and as it is now. */
const AT: Record<string, Record<string, string>> = {
  started: { "analysis/deep/webcheck.yml": template("http://then") },
  now: { "analysis/deep/webcheck.yml": template("http://now") },
};

function scene(change: { templateName?: string; engine?: Partial<AnalysisEngine> } = {}) {
  const started: { id: string; analysis: AnalysisToRun }[] = [];
  const engine: AnalysisEngine = {
    kind: "builtin",
    start: async (id, analysis) => {
      prepare(analysis.asked, analysis.sources);
      started.push({ id, analysis });
    },
    state: () => undefined,
    stop: async () => undefined,
    onChange: () => () => undefined,
    close: async () => undefined,
    ...change.engine,
  };
  const clock = { time: 0, now: () => clock.time, after: () => () => undefined };
  const planes = new Map([["hub", { clusters: () => [{ name: "eu-1", labels: { region: "emea" } }] }]]);
  const service = { engine, secret: () => undefined };
  const context = { repository: "Acme/fleet", clock, log: silentLog, planes, analysis: service } as unknown as RepoContext;
  const commits = {
    snapshot: (id: string) => {
      const files: SyncFiles = { read: (path) => AT[id]?.[path] ?? null, paths: () => Object.keys(AT[id] ?? {}) };
      return {
        id,
        paths: async () => files.paths(),
        links: async () => [],
        read: async (path: string) => files.read(path),
        with: async (work: (files: SyncFiles) => unknown) => work(files),
      };
    },
  } as unknown as Commits;
  const analyses = openAnalyses(context, commits);
  const record: RunAnalysis = {
    ...{ id: ID, stage: 0, when: "AfterBatch" as const, batch: 1, cluster: "hub/eu-1", attempt: 1 },
    ...{ args: [{ name: "host", value: "eu-1" }], phase: "Running" as const, why: said(""), startedAt: "2026-11-21T10:00:00.000Z" },
  };
  const analysis = {
    templates: [{ templateName: change.templateName ?? "webcheck", clusterScope: false }],
    args: [],
    when: ["AfterBatch"],
  };
  const run = {
    ...{ rollout: "payments", startedFrom: "started", trigger: { commit: "now" } },
    spec: { source: { controlPlanes: ["hub"] }, stages: [{ analysis, bakeMs: 0 }] },
    plan: { stages: [] },
    batches: [{ number: 1, analyses: [record], targets: [] }],
  } as unknown as Run;
  return { started, analyses, run, clock };
}

describe("beginning an analysis", () => {
  test("takes its templates as they were when the run started, and fields from the cluster; the engine knows it by the repo, too", async () => {
    const { started, analyses, run } = scene();
    await analyses.start(run, ID);
    expect(started.map(({ id, analysis }) => [id, analysis.mustEnd])).toEqual([[`acme/fleet:${ID}`, true]]);
    const [first] = started;
    const request = first === undefined ? undefined : prepare(first.analysis.asked, first.analysis.sources);
    expect(request?.metrics[0]?.metric.provider.web?.url).toBe("http://then/eu-1/emea");
  });

  test("one that can never be run is an Error of the run, and not tried again", async () => {
    const { started, analyses, run } = scene({ templateName: "webchek" });
    await analyses.start(run, ID);
    await analyses.start(run, ID);
    expect(started).toEqual([]);
    expect(analyses.observe(run)?.get(ID)).toEqual({
      phase: "Error",
      message: { code: "SAID", text: expect.stringContaining("webcheck?") },
      metrics: [],
    });
  });

  test("one that cannot be started now is tried again 10 s later, holds nothing else up, and is said", async () => {
    let tries = 0;
    const start = async () => {
      tries++;
      throw new Error("no connection");
    };
    const { analyses, run, clock } = scene({ engine: { start } });
    await analyses.start(run, ID);
    await analyses.start(run, ID);
    expect(tries).toBe(1);
    expect(analyses.remarkOf("payments")).toEqual({ code: "ANALYSIS_NOT_STARTED", said: "no connection" });
    expect(analyses.observe(run)?.has(ID)).toBe(false);
    clock.time = 10_000;
    await analyses.start(run, ID);
    expect(tries).toBe(2);
  });
});
