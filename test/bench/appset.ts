import { render } from "../../src/core/appset/render.ts";
import type { RenderContext } from "../../src/core/appset/types.ts";
import type { BenchRow } from "./row.ts";

const ELEMENTS = 10_000;
const NO_CLUSTERS: RenderContext = { clusters: [] };

function template(go: boolean): Record<string, unknown> {
  const tag = (name: string) => (go ? `{{ .${name} }}` : `{{${name}}}`);
  return {
    metadata: { name: `payments-${tag("cluster")}`, labels: { region: tag("region"), cluster: tag("cluster") } },
    spec: {
      project: "payments",
      source: {
        repoURL: "https://github.com/acme/config.git",
        path: `apps/payments/${tag("region")}`,
        targetRevision: tag("targetRevision"),
        helm: {
          valueFiles: ["values.yaml", `values-${tag("cluster")}.yaml`],
          parameters: [{ name: "image.tag", value: tag("targetRevision") }],
        },
      },
      destination: { name: tag("cluster"), namespace: "payments" },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
    },
  };
}

function listSet(go: boolean, patch?: string): Record<string, unknown> {
  const elements = Array.from({ length: ELEMENTS }, (_, index) => ({
    cluster: `cluster-${index}`,
    region: `eu-west-${index % 9}`,
    targetRevision: "v1.4.2",
  }));
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name: "payments", namespace: "argocd" },
    spec: {
      goTemplate: go,
      generators: [{ list: { elements } }],
      template: template(go),
      ...(patch === undefined ? {} : { templatePatch: patch }),
    },
  };
}

function fleet(count: number): RenderContext {
  const clusters = Array.from({ length: count }, (_, index) => ({
    name: `cluster-${index}`,
    server: `https://cluster-${index}.example.com`,
    labels: { "argocd.argoproj.io/secret-type": "cluster", region: `eu-west-${index % 9}` },
    annotations: {},
  }));
  return { clusters };
}

function matrixSet(): Record<string, unknown> {
  const services = Array.from({ length: 10 }, (_, index) => ({ service: `service-${index}`, targetRevision: "v1.4.2" }));
  const generators = [
    {
      clusters: {
        selector: { matchExpressions: [{ key: "region", operator: "Exists" }] },
        values: { cluster: "{{name}}", region: "{{metadata.labels.region}}" },
      },
    },
    { list: { elements: services } },
  ];
  return {
    metadata: { name: "matrix" },
    spec: {
      generators: [{ matrix: { generators } }],
      template: { metadata: { name: "{{service}}-{{name}}" }, spec: { project: "x", destination: { name: "{{name}}" } } },
    },
  };
}

/** Milliseconds of the best of three, after one run to warm up. */
function best(set: Record<string, unknown>, context: RenderContext): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round++) {
    const start = performance.now();
    const result = render(set, context);
    const took = performance.now() - start;
    if (!result.ok || result.applications.length !== ELEMENTS)
      throw new Error(`rendered ${result.applications.length}: ${JSON.stringify(result.problems[0])}`);
    if (round > 0) least = Math.min(least, took);
  }
  return least;
}

const PATCH = "spec:\n  source:\n    targetRevision: '{{ .targetRevision }}'\n";

/** How long a set of 10,000 Applications takes. */
export async function benchAppset(): Promise<BenchRow[]> {
  return [
    { name: "appset: list of 10,000 elements", value: best(listSet(false), NO_CLUSTERS), unit: "ms", limit: 1000 },
    { name: "appset: list of 10,000 elements, goTemplate", value: best(listSet(true), NO_CLUSTERS), unit: "ms", limit: 1000 },
    { name: "appset: the same with a templatePatch", value: best(listSet(true, PATCH), NO_CLUSTERS), unit: "ms" },
    { name: "appset: matrix of 1,000 clusters and 10 services", value: best(matrixSet(), fleet(1000)), unit: "ms", limit: 1000 },
  ];
}
