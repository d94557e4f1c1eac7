/** What the config repo of the real journey holds. Everything that carries the id is of one try, and goes with it. */
export interface RealNames {
  id: string;
  /** Where Argo CD's own objects are. */
  argocd: string;
  /** Names of the clusters, and of the namespaces the workload goes to. */
  clusters: readonly string[];
  /** Seconds a target has to be well before it counts. */
  settle: string;
  /** Runs pods of this image; absent: none, so that nothing has to be pulled. */
  image?: string;
}

/** How a repo brings the Applications of the try. */
export interface Layout {
  /** The folder that their parent applies. */
  parent: string;
  /** All that Argo CD and the bot read, at the first version. */
  files(names: RealNames, repoURL: string): Map<string, string>;
  /** The target whose Application only a person, or the bot, syncs. */
  byHand?(names: RealNames): string | undefined;
}

export const FIRST = "v1.0.0";
export const NEXT = "v1.1.0";
const SET_FILE = "appsets/set.yaml";
export const RELEASE_FILE = "releases/app.yaml";

export const setName = ({ id }: RealNames) => `stagecoach-real-${id}`;
export const applicationOf = (names: RealNames, cluster: string) => `${setName(names)}-${cluster}`;

/** The workload at a version: a ConfigMap, and a Deployment that has no pods unless an image is given. */
export function workload({ image }: RealNames, version: string): Record<string, string> {
  return {
    "apps/app/config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: { name: app }
data: { version: ${version} }
`,
    "apps/app/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: { name: app }
spec:
  replicas: ${image === undefined ? 0 : 1}
  selector: { matchLabels: { app: stagecoach-real } }
  template:
    metadata: { labels: { app: stagecoach-real }, annotations: { version: ${version} } }
    spec: { containers: [{ name: app, image: "${image ?? "registry.k8s.io/pause:3.10"}" }] }
`,
  };
}

/** An ApplicationSet with an element for each cluster, which the bot writes. */
export const SET: Layout = { parent: "appsets", files: filesOfSet };

function filesOfSet(names: RealNames, repoURL: string): Map<string, string> {
  const element = (cluster: string) => `          - { cluster: ${cluster}, targetRevision: ${FIRST} }\n`;
  return new Map([
    ...Object.entries(workload(names, FIRST)),
    [RELEASE_FILE, `version: ${FIRST}\n`],
    [
      SET_FILE,
      `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: ${setName(names)}, namespace: ${names.argocd} }
spec:
  generators:
    - list:
        elements:
${names.clusters.map(element).join("")}  template:
    metadata: { name: "${setName(names)}-{{cluster}}" }
    spec:
      project: ${setName(names)}
      source: { repoURL: "${repoURL}", path: apps/app, targetRevision: "{{targetRevision}}" }
      destination: { name: "{{cluster}}", namespace: "{{cluster}}" }
      syncPolicy: { automated: { prune: true } }
`,
    ],
    [
      "rollouts/app.yaml",
      `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: app }
spec:
  sourceRef: { kind: ApplicationSet, name: ${setName(names)}, namespace: ${names.argocd} }
  release: { from: { file: ${RELEASE_FILE}, path: version } }
  pins:
    - file: ${SET_FILE}
      path: spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision
  mode: Run
  settle: ${names.settle}
  stages:
    - name: canary
      clusters: { selector: { matchLabels: { stagecoach.dev/wave: canary } } }
    - name: the rest
      clusters: { selector: { matchLabels: { stagecoach.dev/try: "${names.id}" } } }
      maxUnavailable: 100%
`,
    ],
  ]);
}

/** Environments are Applications that a kustomization makes of patches, which the bot writes; the last one is not synced by itself. */
export const HUB: Layout = { parent: "fleet", files: filesOfHub, byHand: ({ clusters }) => clusters.at(-1) };

const patchOf = (env: string) => `fleet/${env}.yaml`;

/** Of the target at an index: dev, then as many of staging as there are, then prod. */
const envOf = (names: RealNames, index: number) =>
  index === 0 ? "dev" : index === names.clusters.length - 1 ? "prod" : `staging-${index}`;

function filesOfHub(names: RealNames, repoURL: string): Map<string, string> {
  const name = setName(names);
  const environments = names.clusters.map((cluster, index) => ({ cluster, env: envOf(names, index) }));
  const applications = environments.map(
    ({ cluster, env }) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: ${applicationOf(names, cluster)}
  namespace: ${names.argocd}
  labels: { app: ${name}, env: ${env} }
  finalizers: [resources-finalizer.argocd.argoproj.io]
spec:
  project: ${name}
  source: { repoURL: "${repoURL}", path: apps/app, targetRevision: main }
  destination: { name: ${cluster}, namespace: ${cluster} }
  syncPolicy: ${cluster === HUB.byHand?.(names) ? "{}" : "{ automated: { prune: true } }"}
`,
  );
  const patches = environments.map(
    ({ cluster, env }) => `  - path: ${env}.yaml\n    target: { kind: Application, name: ${applicationOf(names, cluster)} }\n`,
  );
  const stages = environments.map(
    ({ cluster, env }) =>
      `    - { name: ${env}, targets: { selector: { matchLabels: { env: ${env} } } }${cluster === HUB.byHand?.(names) ? ", sync: Request" : ""} }\n`,
  );
  return new Map([
    ...Object.entries(workload(names, FIRST)),
    [RELEASE_FILE, `version: ${FIRST}\n`],
    ["fleet/applications.yaml", applications.join("---\n")],
    ["fleet/kustomization.yaml", `resources: [applications.yaml]\npatches:\n${patches.join("")}`],
    ...environments.map(({ env }): [string, string] => [
      patchOf(env),
      `- { op: replace, path: /spec/source/targetRevision, value: ${FIRST} }\n`,
    ]),
    [
      "rollouts/app.yaml",
      `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: app }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: ${name} } } }
  targetBy: application
  release: { from: { file: ${RELEASE_FILE}, path: version } }
  pins: [ { file: "fleet/{{ application.labels.env }}.yaml", path: "[0].value" } ]
  mode: Run
  settle: ${names.settle}
  stages:
${stages.join("")}`,
    ],
  ]);
}
