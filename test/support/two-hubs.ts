import { type JourneyOptions, short } from "./journey.ts";

const SET_FILE = "appsets/my-app-set.yaml";
const ROLLOUT_FILE = "rollouts/my-app.yaml";

/** Two control planes, each with the clusters of its area. */
export const PLANES: NonNullable<JourneyOptions["planes"]> = [
  { name: "hub-eu", labels: { area: "emea" } },
  { name: "hub-us", labels: { area: "amer" } },
];

/**
 * The sample on both: one ApplicationSet, applied on each, that takes the clusters its own Argo CD knows and their versions from
 * one list.
 */
export const overTwoHubs: NonNullable<JourneyOptions["files"]> = (files) => {
  short()(files);
  const set = files.get(SET_FILE) ?? "";
  const repoURL = /repoURL: (\S+)/.exec(set)?.[1] ?? "";
  const clusters = [...set.matchAll(/cluster: (\S+)/g)].map(([, name = ""]) => name);
  const element = (name: string) =>
    `                - cluster: ${name}\n                  name: ${name}\n                  targetRevision: v1.4.1\n`;
  files.set(
    SET_FILE,
    `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-app-set, namespace: argocd }
spec:
  generators:
    - merge:
        mergeKeys: [name]
        generators:
          - clusters: { selector: { matchLabels: { argocd.argoproj.io/secret-type: cluster } } }
          - list:
              elements:
${clusters.map(element).join("")}  template:
    metadata: { name: "my-app-{{name}}" }
    spec:
      project: default
      source: { repoURL: ${repoURL}, path: apps/my-app, targetRevision: "{{targetRevision}}" }
      destination: { server: "{{server}}", namespace: my-app }
      syncPolicy: { automated: { prune: true } }
`,
  );
  const rollout = (files.get(ROLLOUT_FILE) ?? "")
    .replace("    name: my-app-set\n", "    name: my-app-set\n    controlPlane: [hub-eu, hub-us]\n")
    .replace("spec.generators[0].list.", "spec.generators[0].merge.generators[1].list.");
  files.set(ROLLOUT_FILE, rollout);
};
