import { git } from "../../src/adapters/git/testing/repositories.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { type JourneyOptions, SHORT_CLUSTERS, short } from "./journey.ts";

type Files = Map<string, string>;
const SET_FILE = "appsets/my-app-set.yaml";
const ROLLOUT_FILE = "rollouts/my-app.yaml";

const clustersIn = (files: Files) => [...(files.get(SET_FILE) ?? "").matchAll(/cluster: (\S+)/g)].map(([, name = ""]) => name);
const repoIn = (files: Files) => /repoURL: (\S+)/.exec(files.get(SET_FILE) ?? "")?.[1] ?? "";

function write(files: Files, pin: string, source: string, fileOf: (cluster: string) => [path: string, text: string]): void {
  // What fails here mends itself: nothing is to count as failed meanwhile.
  short({ spec: "grace: 20m" })(files);
  const clusters = clustersIn(files);
  for (const cluster of clusters) files.set(...fileOf(cluster));
  const rollout = files.get(ROLLOUT_FILE) ?? "";
  files.set(ROLLOUT_FILE, rollout.replace(/ {2}pins:\n(?: {4}.*\n)+/, `  pins:\n    - ${pin}\n`));
  files.set(
    SET_FILE,
    `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-app-set, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${clusters.map((cluster) => `          - { cluster: ${cluster}, server: "https://${cluster}.k8s.example.com" }\n`).join("")}  template:
    metadata: { name: "my-app-{{cluster}}" }
    spec:
      project: default
      destination: { server: "{{server}}", namespace: my-app }
      syncPolicy: { automated: { prune: true } }
${source}`,
  );
}

/** A chart with a values file of each cluster in the repo, read at the head of main: several sources, and revisions that move on. */
export const valuesOfCharts: NonNullable<JourneyOptions["files"]> = (files) => {
  const source = `      sources:
        - { repoURL: "https://charts.example.com", chart: web, targetRevision: 1.2.3, helm: { valueFiles: ["$values/clusters/{{cluster}}.yaml"] } }
        - { repoURL: ${repoIn(files)}, targetRevision: main, ref: values }
`;
  write(files, '{ file: "clusters/{{ cluster.name }}.yaml", path: image.tag }', source, (cluster) => [
    `clusters/${cluster}.yaml`,
    "image: { tag: v1.4.1 }\n",
  ]);
};

/** Dry manifests a cluster, which Argo CD's source hydrator writes to a branch. */
export const hydrated: NonNullable<JourneyOptions["files"]> = (files) => {
  const source = `      sourceHydrator:
        drySource: { repoURL: ${repoIn(files)}, targetRevision: main, path: "clusters/{{cluster}}" }
        syncSource: { targetBranch: env/prod, path: "{{cluster}}" }
`;
  write(files, '{ file: "clusters/{{ cluster.name }}/config.yaml", path: data.version }', source, (cluster) => [
    `clusters/${cluster}/config.yaml`,
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: my-app }\ndata: { version: v1.4.1 }\n`,
  ]);
};

/** Version by cluster, as the base branch has it in the clusters' own files. */
export function versionsInFiles({ github, repository }: EmbeddedWorld): Map<string, string> {
  const lines = git(github.repoDirectory(repository), "grep", "-h", "--name-only", "-e", "v1.4.2", "main", "--", "clusters");
  const moved = SHORT_CLUSTERS.filter((cluster) => lines.includes(`clusters/${cluster}`));
  return new Map(moved.map((cluster) => [cluster, "v1.4.2"]));
}
