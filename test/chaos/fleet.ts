/** The config repositories that chaos is tried on, all of one shape: a canary of two clusters, then the others by two. */

export const OWNER = "acme";
const AT_ONCE = 2;
const clusters = (batches: number) => Array.from({ length: batches * AT_ONCE }, (_, n) => `c${n + 1}`);

/** Path → text. */
export function configRepo(repoURL: string, controlPlane: string, batches: number): Record<string, string> {
  const elements = clusters(batches)
    .map((cluster) => `          - { cluster: ${cluster}, version: v1 }\n`)
    .join("");
  return {
    "releases/app.yaml": "version: v1\n",
    "apps/app/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: app }\n",
    "appsets/app.yaml": `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: app, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${elements}  template:
    metadata: { name: "app-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: "${repoURL}", path: apps/app, targetRevision: main, helm: { parameters: [{ name: version, value: "{{version}}" }] } }
      destination: { name: "{{cluster}}", namespace: app }
      syncPolicy: { automated: {} }
`,
    "rollouts/app.yaml": `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: app }
spec:
  sourceRef: { kind: ApplicationSet, name: app, namespace: argocd, controlPlane: ${controlPlane} }
  release: { from: { file: releases/app.yaml, path: version } }
  pins:
    - file: appsets/app.yaml
      path: spec.generators[0].list.elements[cluster={{ cluster.name }}].version
  mode: Run
  settle: 2s
  stages:
    - name: canary
      clusters: { selector: { matchLabels: { canary: "true" } } }
      maxUnavailable: ${AT_ONCE}
      bake: 2s
    - name: everywhere
      clusters: { selector: {} }
      maxUnavailable: ${AT_ONCE}
`,
  };
}

/** As kubectl prints the cluster Secrets. */
export function inventory(batches: number): string {
  const secret = (name: string, n: number) => `apiVersion: v1
kind: Secret
metadata: { name: cluster-${name}, labels: { argocd.argoproj.io/secret-type: cluster, canary: "${n < AT_ONCE}" } }
stringData: { name: ${name}, server: "https://${name}.example.com:6443" }
`;
  return clusters(batches).map(secret).join("---\n");
}
