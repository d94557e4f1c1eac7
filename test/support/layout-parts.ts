/** What the repos of `layouts.ts` are made of. */

export const REPO = "https://github.com/acme/config.git";
export const ENVIRONMENTS = ["dev", "staging", "prod"];

interface Source {
  path?: string;
  /** Of an OCI registry. */
  chart?: string;
  revision?: string;
  valueFiles?: string[];
}

/** An Application written by hand, in JSON, which is YAML. */
export function application(name: string, source: Source, at: { cluster?: string; namespace: string; labels?: Record<string, string> }) {
  const { path, chart, revision = "main", valueFiles } = source;
  const repoURL = chart === undefined ? REPO : "ghcr.io/acme/charts";
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace: "argocd", ...(at.labels === undefined ? {} : { labels: at.labels }) },
    spec: {
      project: "default",
      source: { repoURL, path, chart, targetRevision: revision, ...(valueFiles === undefined ? {} : { helm: { valueFiles } }) },
      destination: {
        ...(at.cluster === undefined ? { server: "https://kubernetes.default.svc" } : { name: at.cluster }),
        namespace: at.namespace,
      },
      syncPolicy: { automated: {} },
    },
  };
}

export function set(
  name: string,
  generators: unknown[],
  template: { name: string; labels?: Record<string, string>; spec: unknown },
  goTemplate = false,
) {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name, namespace: "argocd" },
    spec: {
      ...(goTemplate ? { goTemplate: true } : {}),
      generators,
      template: { metadata: { name: template.name, labels: template.labels ?? {} }, spec: template.spec },
    },
  };
}

/** `values`: a file beside the chart, by a source of its own. */
export function spec(source: Record<string, unknown>, destination: Record<string, unknown>, values?: string) {
  const own = { repoURL: REPO, targetRevision: "main", ...source };
  const beside = { repoURL: REPO, targetRevision: "main", ref: "values" };
  const made = values === undefined ? { source: own } : { sources: [{ ...own, helm: { valueFiles: [`$values/${values}`] } }, beside] };
  return { project: "default", ...made, destination, syncPolicy: { automated: {} } };
}

export const json = (object: unknown): string => `${JSON.stringify(object, null, 2)}\n`;
export const each = (names: readonly string[], make: (name: string) => [string, string]): Record<string, string> =>
  Object.fromEntries(names.map(make));
export const HOME = { server: "https://kubernetes.default.svc" };

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec:
  template:
    spec:
      containers: [ { name: shop, image: "ghcr.io/acme/shop:v1.0.0" } ]
`;
export const overlay = (...images: string[]): string =>
  `resources: [../../base]\nimages:\n${images.map((image) => `  - { name: ghcr.io/acme/${image}, newTag: v1.0.0 }\n`).join("")}`;
export const BASE = { "base/kustomization.yaml": "resources: [deployment.yaml]\n", "base/deployment.yaml": DEPLOYMENT };
export const CHART = {
  "chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
  "chart/templates/shop.yaml": "kind: ConfigMap\n",
};

export function owned(name: string, object: ReturnType<typeof application>): Record<string, unknown> {
  const owner = { apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid: "1", controller: true };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
}
