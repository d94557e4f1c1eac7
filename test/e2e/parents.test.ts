/** A chart or a kustomization makes the rollout's sets or Applications, and pins are its values or patches: only what Argo CD renders tells what a batch would change. */
import { afterEach, describe, expect, test } from "vitest";
import { hasCode } from "../../src/core/base/reason.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import { onMain } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const VALUES = "charts/fleet/values.yaml";
const CLUSTERS = ["dev", "prod"].map((env) => ({ name: `${env}-1`, server: `https://${env}-1.k8s.example.com`, labels: { env } }));
const OWN = "{{ .version }}";
const OF_THE_FIRST = "{{ (index $.Values.clusters 0).version }}";

/** `version`: what the template makes of an item of the values. */
function chart(version: string): (files: Map<string, string>) => void {
  return (files) => {
    const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
    files.set(
      "appsets/my-app-set.yaml",
      `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: fleet, namespace: argocd }
spec:
  project: default
  source: { repoURL: "${repoURL}", path: charts/fleet, targetRevision: main }
  destination: { server: "https://kubernetes.default.svc", namespace: argocd }
  syncPolicy: { automated: { prune: true, selfHeal: true } }
`,
    );
    files.set("charts/fleet/Chart.yaml", "apiVersion: v2\nname: fleet\nversion: 1.0.0\n");
    files.set(VALUES, `clusters:\n${CLUSTERS.map(({ name }) => `  - name: ${name}\n    version: v1.4.1\n`).join("")}`);
    files.set(
      "charts/fleet/templates/set.yaml",
      `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-app-set, namespace: argocd }
spec:
  generators:
    - list:
        elements:
          {{- range .Values.clusters }}
          - { cluster: {{ .name }}, targetRevision: ${version} }
          {{- end }}
  template:
    metadata: { name: 'my-app-{{ "{{cluster}}" }}' }
    spec:
      project: default
      source: { repoURL: "${repoURL}", path: apps/my-app, targetRevision: '{{ "{{targetRevision}}" }}' }
      destination: { name: '{{ "{{cluster}}" }}', namespace: my-app }
      syncPolicy: { automated: {} }
`,
    );
    const rollout = files.get("rollouts/my-app.yaml") ?? "";
    files.set(
      "rollouts/my-app.yaml",
      `${rollout.split("  pins:")[0]}  pins: [ { file: ${VALUES}, path: "clusters[name={{ cluster.name }}].version" } ]
  mode: Run
  stages:
    - { name: dev, clusters: { selector: { matchLabels: { env: dev } } } }
    - { name: prod, clusters: { selector: { matchLabels: { env: prod } } } }
`,
    );
  };
}

const versions = (of: Journey) => [...onMain(of, VALUES).matchAll(/version: (\S+)/g)].map(([, version]) => version);

describe("a set that a chart makes of values", () => {
  test("is released stage by stage, each batch as Argo CD renders it", async () => {
    journey = await startJourney({ files: chart(OWN), clusters: CLUSTERS, overApi: true });
    const { world } = journey;
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    expect(await world.untilComment(pull, "Plan:")).not.toContain("would be refused");
    await alice.mergePull(world.repository, pull, "squash");
    await journey.until("dev is merged", ({ batches }) => batches[0]?.merged !== undefined);
    expect(versions(journey)).toEqual(["v1.4.2", "v1.4.1"]);
    const done = await journey.until("it is done", ended);
    expect([done.phase, versions(journey), journey.errors]).toEqual(["Succeeded", ["v1.4.2", "v1.4.2"], []]);
    expect(world.argocd.api.requests().get("GET /api/v1/applications/{}/manifests")).toBeGreaterThan(2);
  });

  test("is refused where the chart gives the batch's version to others, too, and nothing moves", async () => {
    journey = await startJourney({ files: chart(OF_THE_FIRST), clusters: CLUSTERS, overApi: true });
    await journey.release();
    const held = await journey.until(
      "it is refused",
      (run) => hasCode(run.why, "GUARD_CHANGES") || run.batches.some((one) => hasCode(one.why, "GUARD_CHANGES")),
    );
    expect(held.batches.every(({ merged }) => merged === undefined)).toBe(true);
    expect([versions(journey), journey.errors]).toEqual([["v1.4.1", "v1.4.1"], []]);
  });
});

const patchOf = (env: string) => `fleet/${env}.yaml`;

/** A kustomization that makes an Application of a base for each environment, by a patch of its own. */
function kustomization(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  const header = (name: string) => `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: ${name}, namespace: argocd }\n`;
  files.set(
    "appsets/my-app-set.yaml",
    `${header("fleet")}spec:
  project: default
  source: { repoURL: "${repoURL}", path: fleet, targetRevision: main }
  destination: { server: "https://kubernetes.default.svc", namespace: argocd }
  syncPolicy: { automated: { prune: true, selfHeal: true } }
`,
  );
  const patches = CLUSTERS.map(({ labels: { env } }) => `  - path: ${env}.yaml\n    target: { kind: Application, name: my-app-${env} }\n`);
  files.set("fleet/kustomization.yaml", `resources: [applications.yaml]\ncommonLabels: { app: my-app }\npatches:\n${patches.join("")}`);
  const applications = CLUSTERS.map(
    ({ name, labels: { env } }) => `${header(`my-app-${env}`)}spec:
  project: default
  source: { repoURL: "${repoURL}", path: apps/my-app, targetRevision: main }
  destination: { name: ${name}, namespace: my-app }
  syncPolicy: { automated: {} }
`,
  );
  files.set("fleet/applications.yaml", applications.join("---\n"));
  for (const { labels } of CLUSTERS)
    files.set(patchOf(labels.env), `- { op: replace, path: /spec/source/targetRevision, value: v1.4.1 }\n`);
  const rollout = files.get("rollouts/my-app.yaml") ?? "";
  files.set(
    "rollouts/my-app.yaml",
    `${rollout.split("  sourceRef:")[0]}  sourceRef: { kind: Application, selector: { matchLabels: { app: my-app } } }
  release: { from: { file: releases/my-app.yaml, path: version } }
  pins: [ { file: "fleet/{{ cluster.labels.env }}.yaml", path: "[0].value" } ]
  mode: Run
  stages:
    - { name: dev, clusters: { selector: { matchLabels: { env: dev } } } }
    - { name: prod, clusters: { selector: { matchLabels: { env: prod } } } }
`,
  );
}

describe("Applications that a kustomization makes of patches", () => {
  const pins = (of: Journey) => CLUSTERS.map(({ labels: { env } }) => /value: (\S+)/.exec(onMain(of, patchOf(env)))?.[1]);

  test("are released stage by stage, each batch as Argo CD renders it, and taken back", async () => {
    journey = await startJourney({ files: kustomization, clusters: CLUSTERS, overApi: true });
    const { world } = journey;
    const pull = await journey.release();
    await journey.until("dev is merged", ({ batches }) => batches[0]?.merged !== undefined);
    expect(pins(journey)).toEqual(["v1.4.2", "v1.4.1"]);
    const done = await journey.until("it is done", ended);
    expect([done.phase, pins(journey), journey.errors]).toEqual(["Succeeded", ["v1.4.2", "v1.4.2"], []]);
    expect(world.argocd.api.requests().get("GET /api/v1/applications/{}/manifests")).toBeGreaterThan(2);
    world.github.actAs("bob").comment(world.repository, pull, "/rollback");
    const back = await journey.until("it is taken back", (run) => run.number === 2 && ended(run));
    expect([back.phase, pins(journey)]).toEqual(["RolledBack", ["v1.4.1", "v1.4.1"]]);
  });
});
