import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readTemplates } from "../../../core/analysis/template.ts";
import { fastClock } from "../../../sim/clock.ts";
import { type KubernetesSim, startKubernetes } from "../../../sim/kubernetes/index.ts";
import type { KubeObject } from "../../../sim/kubernetes/types.ts";
import { type AnalysisEngine, type AnalysisState, isOver } from "../port.ts";
import { argoRolloutsEngine } from "./index.ts";

const CRD = fileURLToPath(new URL("../../../../../shared/data/argo-rollouts/manifests/crds/analysis-run-crd.yaml", import.meta.url));

let kubernetes: KubernetesSim | undefined;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  await kubernetes?.close();
  kubernetes = undefined;
});

const TEMPLATES = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: { name: webcheck }
spec:
  args: [{ name: host }, { name: token, valueFrom: { secretKeyRef: { name: web, key: token } } }, { name: region, valueFrom: { fieldRef: { fieldPath: "metadata.labels['region']" } } }]
  dryRun: [{ metricName: trial }]
  metrics:
    - name: webcheck
      successCondition: len(result.items) > 0 and sum(map(result.items, .n)) >= 1
      interval: 5
      failureLimit: 1
      provider: { web: { url: "http://{{ args.host }}/", jsonPath: "{$.status}" } }
    - { name: trial, provider: { datadog: { query: "avg:x{*}" } } }
`;

async function world(options: { token?: (sim: KubernetesSim) => string } = {}) {
  const clock = fastClock(100);
  const sim = await startKubernetes({ clock });
  kubernetes = sim;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(sim.kubeconfig(options.token?.(sim)));
  const { templates, problems } = readTemplates(TEMPLATES, "t.yaml", { builtin: false });
  expect(problems.filter((one) => one.severity === "error")).toEqual([]);
  const asked = { templates: [{ templateName: "webcheck" }], args: [{ name: "host", value: "eu-1.example.com" }] };
  const sources = {
    templates,
    secret: (name: string) => (name === "web" ? "" : undefined),
    field: (path: string) => (path.includes("region") ? "emea" : undefined),
  };
  const engine = () => {
    const made = argoRolloutsEngine({ kubeConfig, namespace: "analyses", clock });
    open.push(() => made.close());
    return made;
  };
  return { sim, engine, analysis: { asked, sources, mustEnd: false } };
}

const runs = (sim: KubernetesSim) => sim.store.list("analysisruns");

/** The status as the controller writes it. */
function report(sim: KubernetesSim, status: Record<string, unknown>): void {
  for (const { metadata } of runs(sim)) {
    sim.store.change("analysisruns", metadata.namespace ?? "", metadata.name, (object) => ({ ...object, status }));
  }
}

function metric(phase: string, change: Record<string, unknown> = {}) {
  const measurements = [{ phase, value: "nok", startedAt: "2026-11-21T10:00:00Z", finishedAt: "2026-11-21T10:00:00Z" }];
  return { name: "webcheck", phase, count: 5, successful: 3, failed: 2, measurements, ...change };
}

function until(engine: AnalysisEngine, id: string, holds: (state: AnalysisState) => boolean): Promise<AnalysisState> {
  return new Promise((resolve) => {
    const look = () => {
      const state = engine.state(id);
      if (state !== undefined && holds(state)) resolve(state);
    };
    engine.onChange(look);
    look();
  });
}

describe("the argo-rollouts engine", () => {
  test("makes one AnalysisRun for an id, however often it is asked, and shows what the controller reports", async () => {
    const { sim, engine, analysis } = await world();
    const first = engine();
    await first.start("payments/42/1/1/AfterBatch/1", analysis);
    await first.start("payments/42/1/1/AfterBatch/1", analysis);
    await engine().start("payments/42/1/1/AfterBatch/1", analysis);
    expect(runs(sim)).toHaveLength(1);
    const [object] = runs(sim) as (KubeObject & { spec: Record<string, unknown> })[];
    expect(object?.spec).toMatchObject({
      args: [
        { name: "host", value: "eu-1.example.com" },
        { name: "token", valueFrom: { secretKeyRef: { name: "web", key: "token" } } },
        { name: "region", value: "emea" },
      ],
      dryRun: [{ metricName: "trial" }],
      metrics: [{ name: "webcheck", interval: "5s", provider: { web: { url: "http://{{ args.host }}/" } } }, { name: "trial" }],
    });
    report(sim, { phase: "Running", metricResults: [metric("Running", { failed: 0 })] });
    const running = await until(first, "payments/42/1/1/AfterBatch/1", (state) => state.phase === "Running");
    expect(running).toMatchObject({
      metrics: [
        { name: "webcheck", successful: 3, value: "nok" },
        { name: "trial", phase: "Pending" },
      ],
    });
    report(sim, {
      phase: "Failed",
      message: 'Metric "webcheck" assessed Failed due to failed (2) > failureLimit (1)',
      metricResults: [metric("Failed")],
    });
    const over = await until(first, "payments/42/1/1/AfterBatch/1", isOver);
    expect(over.message).toBe('Metric "webcheck" assessed Failed due to failed (2) > failureLimit (1)');
  });

  test("stops by spec.terminate, also one that it never started, as after a restart", async () => {
    const { sim, engine, analysis } = await world();
    await engine().start("a", analysis);
    const other = engine();
    await other.stop("a");
    expect((runs(sim)[0] as KubeObject & { spec: { terminate?: boolean } }).spec.terminate).toBe(true);
    report(sim, { phase: "Successful", metricResults: [metric("Successful", { failed: 0 })] });
    expect((await until(other, "a", isOver)).phase).toBe("Successful");
    await other.stop("never made");
    expect(other.state("never made")).toMatchObject({ phase: "Error", message: "its AnalysisRun was deleted" });
  });

  test("one that somebody deletes is an error, never passed", async () => {
    const { sim, engine, analysis } = await world();
    const running = engine();
    await running.start("a", analysis);
    const [object] = runs(sim);
    sim.store.delete("analysisruns", "analyses", object?.metadata.name ?? "");
    expect(await until(running, "a", isOver)).toMatchObject({ phase: "Error", message: "its AnalysisRun was deleted" });
  });

  test("takes templates that the repo does not have from the cluster, and those they name", async () => {
    const { sim, engine, analysis } = await world();
    const template = (kind: string, name: string, spec: unknown, namespace?: string) =>
      sim.store.create({
        apiVersion: "argoproj.io/v1alpha1",
        kind,
        metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
        spec,
      });
    template("ClusterAnalysisTemplate", "shared", { metrics: [{ name: "shared", provider: { web: { url: "http://x/" } } }] });
    template("AnalysisTemplate", "outer", { templates: [{ templateName: "shared", clusterScope: true }] }, "analyses");
    const asked = { templates: [{ templateName: "outer" }], args: [] };
    await engine().start("b", { ...analysis, asked });
    expect(runs(sim)[0]).toMatchObject({ spec: { metrics: [{ name: "shared" }] } });
    const unknown = { ...analysis, asked: { templates: [{ templateName: "none" }], args: [] } };
    await expect(engine().start("c", unknown)).rejects.toMatchObject({ reason: { code: "ANALYSIS_TEMPLATE", kind: "None", name: "none" } });
  });

  test("a Secret that the server does not allow is refused, and so is one without an end where it must have one", async () => {
    const { engine, analysis } = await world();
    const none = { ...analysis, sources: { ...analysis.sources, secret: () => undefined } };
    await expect(engine().start("a", none)).rejects.toMatchObject({ reason: { code: "ANALYSIS_SECRET", secret: "web/token" } });
    await expect(engine().start("a", { ...analysis, mustEnd: true })).rejects.toMatchObject({
      reason: { code: "ANALYSIS_ENDLESS", metric: "webcheck" },
    });
  });

  test("without the right to make AnalysisRuns it says so, and may be tried again", async () => {
    const { engine, analysis } = await world({ token: (sim) => sim.addAccount("nobody", []) });
    const running = engine();
    await expect(running.start("a", analysis)).rejects.toThrow(/the AnalysisRun could not be made: .*cannot create/);
    expect(running.state("a")).toBeUndefined();
  });

  test.skipIf(!existsSync(CRD))("what it makes is valid by the real CRD (skipped where that is absent)", async () => {
    const { sim, engine, analysis } = await world();
    await engine().start("a", analysis);
    const crd = parse(readFileSync(CRD, "utf8")) as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } };
    const schema = crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
    expect(unfit(schema, runs(sim)[0], "")).toEqual([]);
    expect(unfit(schema, { spec: { metrics: [{ name: "m", interval: 5 }] } }, "")).toEqual([
      ".spec.metrics.0: no provider",
      ".spec.metrics.0.interval: not string",
    ]);
  });
});

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
}

/** Where a value does not fit the schema: types, required and unknown fields. */
function unfit(schema: Schema, value: unknown, at: string): string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["string", "number"].includes(typeof value) ? [] : [`${at}: no int or string`];
  if (schema.type === "array") {
    if (!Array.isArray(value)) return [`${at}: not array`];
    return value.flatMap((item, index) => unfit(schema.items ?? {}, item, `${at}.${index}`));
  }
  if (schema.type === "object" || schema.properties !== undefined) {
    if (typeof value !== "object" || value === null) return [`${at}: not object`];
    const missing = (schema.required ?? []).filter((key) => !(key in value)).map((key) => `${at}: no ${key}`);
    if (schema.properties === undefined) return missing;
    const { properties } = schema;
    return [
      ...missing,
      ...Object.entries(value).flatMap(([key, inner]) => {
        const known = properties[key];
        if (known !== undefined) return unfit(known, inner, `${at}.${key}`);
        return schema["x-kubernetes-preserve-unknown-fields"] === true ? [] : [`${at}.${key}: unknown`];
      }),
    ];
  }
  const type = schema.type === "integer" ? "number" : schema.type;
  return type === undefined || typeof value === type ? [] : [`${at}: not ${type}`];
}
