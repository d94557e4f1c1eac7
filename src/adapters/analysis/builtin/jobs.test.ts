import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, describe, expect, test } from "vitest";
import { readTemplates } from "../../../core/analysis/template.ts";
import { fastClock } from "../../../sim/clock.ts";
import { type KubernetesSim, startKubernetes } from "../../../sim/kubernetes/index.ts";
import type { KubeObject } from "../../../sim/kubernetes/types.ts";
import { type AnalysisState, isOver } from "../port.ts";
import { builtinEngine } from "./index.ts";
import { jobRunner } from "./jobs.ts";

let kubernetes: KubernetesSim | undefined;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  await kubernetes?.close();
  kubernetes = undefined;
});

/** As the seed has it: one run of a load generator decides. */
const BENCHMARK = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata:
  name: http-benchmark
spec:
  args: [{ name: host }]
  metrics:
    - name: http-benchmark
      count: 1
      provider:
        job:
          metadata: { labels: { team: sre } }
          spec:
            backoffLimit: 0
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: load-tester
                    image: argoproj/load-tester:latest
                    args: ["wrk -t10 -c40 -d45s http://{{ args.host }}/"]
`;

async function world() {
  const clock = fastClock(60);
  const sim = await startKubernetes({ clock });
  kubernetes = sim;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(sim.kubeconfig());
  const { templates } = readTemplates(BENCHMARK, "b.yaml", { builtin: true });
  const asked = { templates: [{ templateName: "http-benchmark" }], args: [{ name: "host", value: "eu-1.example.com" }] };
  const analysis = { asked, sources: { templates, secret: () => undefined, field: () => undefined }, mustEnd: true };
  const engine = () => {
    const made = builtinEngine({
      clock,
      policy: { allow: [] },
      jobs: jobRunner({ kubeConfig, namespace: "default", clock, timeoutMs: 600_000 }),
    });
    open.push(() => made.close());
    return made;
  };
  const jobs = () => sim.store.list("jobs");
  return { sim, engine, analysis, jobs };
}

/** Ends the Job as its controller would. */
function endJob(sim: KubernetesSim, { metadata }: KubeObject, type: "Complete" | "Failed", message: string): void {
  const status = { conditions: [{ type, status: "True", message }] };
  sim.store.change("jobs", metadata.namespace ?? "", metadata.name, (job) => ({ ...job, status }));
}

function nextJob(sim: KubernetesSim): Promise<KubeObject> {
  return new Promise((resolve) => {
    const off = sim.store.subscribe("jobs", ({ type, object }) => {
      if (type !== "ADDED") return;
      off();
      resolve(object);
    });
  });
}

function over(engine: { state(id: string): AnalysisState | undefined; onChange(listener: (id: string) => void): () => void }, id: string) {
  return new Promise<AnalysisState>((resolve) => {
    engine.onChange(() => {
      const state = engine.state(id);
      if (state !== undefined && isOver(state)) resolve(state);
    });
  });
}

describe("http-benchmark, a Job", () => {
  test.each([
    ["Complete", "Successful"],
    ["Failed", "Failed"],
  ] as const)("that is %s makes the analysis %s; its arguments and labels are in the Job", async (condition, phase) => {
    const { sim, engine, analysis, jobs } = await world();
    const running = engine();
    const ended = over(running, "a");
    const made = nextJob(sim);
    await running.start("a", analysis);
    const job = await made;
    expect(job.metadata.labels).toEqual({ team: "sre", "stagecoach.dev/analysis": "true" });
    expect(JSON.stringify(job["spec"])).toContain("http://eu-1.example.com/");
    endJob(sim, job, condition, "the load was driven");
    const state = await ended;
    expect([state.phase, state.metrics[0]?.message ?? ""]).toEqual([
      phase,
      expect.stringContaining(phase === "Failed" ? "failed" : "load"),
    ]);
    expect(jobs()).toHaveLength(1);
  });

  test("a restart goes on with the Job that is there, instead of driving the load twice", async () => {
    const { sim, engine, analysis, jobs } = await world();
    const first = engine();
    const made = nextJob(sim);
    await first.start("a", analysis);
    const job = await made;
    await first.close();
    const second = engine();
    const ended = over(second, "a");
    await second.start("a", analysis);
    endJob(sim, job, "Complete", "done");
    expect((await ended).phase).toBe("Successful");
    expect(jobs()).toHaveLength(1);
  });
});
