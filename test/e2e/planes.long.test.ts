import { afterEach, describe, expect, test } from "vitest";

import type { ControlPlane } from "../../src/adapters/argocd/port.ts";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { hasCode } from "../../src/core/base/reason.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";

const SET = (repoURL: string) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-app-set, namespace: argocd }
spec:
  generators:
    - matrix:
        generators:
          - clusters: { selector: { matchExpressions: [{ key: area, operator: Exists }] } }
          - git: { repoURL: "${repoURL}", revision: main, files: [{ path: "clusters/{{name}}.yaml" }] }
  template:
    metadata: { name: "my-app-{{name}}" }
    spec:
      project: default
      source: { repoURL: "${repoURL}", path: apps/my-app, targetRevision: "{{targetRevision}}" }
      destination: { server: "{{server}}", namespace: my-app }
      syncPolicy: { automated: { prune: true, selfHeal: true } }
`;

const ROLLOUT = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, name: my-app-set, controlPlane: [hub-eu, hub-us] }
  release: { from: { file: releases/my-app.yaml, path: version } }
  pins: [{ file: "clusters/{{ cluster.name }}.yaml", path: targetRevision }]
  mode: Run
  stages:
    - name: one of each
      clusters: { selector: {} }
      maxClusters: 2
      maxUnavailable: 2
      topologyKey: area
    - name: eu-west-1
      clusters: { selector: { matchLabels: { region: eu-west-1 } } }
      maxUnavailable: 4
    - name: us-east-1
      clusters: { selector: { matchLabels: { region: us-east-1 } } }
      maxUnavailable: 4
`;

/** One file a cluster; each hub generates from those of its own clusters. */
function onTwoHubs(files: Map<string, string>): void {
  const set = files.get("appsets/my-app-set.yaml") ?? "";
  const repoURL = /repoURL: (\S+)/.exec(set)?.[1] ?? "";
  for (const [, cluster] of set.matchAll(/- cluster: (\S+)/g)) files.set(`clusters/${cluster}.yaml`, "targetRevision: v1.4.1\n");
  files.set("appsets/my-app-set.yaml", SET(repoURL));
  files.set("rollouts/my-app.yaml", ROLLOUT);
}

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const targetsOf = (run: Run, batch: number) => run.batches[batch - 1]?.targets ?? [];
const onPlane = (run: Run, batch: number, plane: string) => targetsOf(run, batch).find((target) => target.key.startsWith(`${plane}/`));

describe("one rollout over two control planes", () => {
  test("one that is unreachable holds its own targets, with a reason; the others go on as far as the order lets them", async () => {
    const planes = ["emea", "amer"].map((area) => ({ name: area === "emea" ? "hub-eu" : "hub-us", labels: { area } }));
    journey = await startJourney({ files: onTwoHubs, planes });
    const { world } = journey;
    const us = world.planes[1];
    if (us === undefined) throw new Error("there is no second control plane");
    const version = (cluster: string) => git(world.github.repoDirectory(world.repository), "show", `main:clusters/${cluster}.yaml`);
    const release = await journey.release();

    await journey.until("the first batch is merged", (run) => run.batches[0]?.phase === "Merged");
    us.kubernetes.faults.down(true);
    const held = await journey.until(
      "one cluster is confirmed, the other waits",
      (run) => onPlane(run, 1, "hub-eu")?.phase === "Healthy" && hasCode(onPlane(run, 1, "hub-us")?.why, "CONTROL_PLANE_UNSEEN"),
    );
    const merged = held.batches.filter((batch) => batch.merged !== undefined).length;
    expect([held.phase, merged, held.unseen?.map((one) => one.plane)]).toEqual(["Progressing", 1, ["hub-us"]]);
    expect(held.why).toHaveCode("CONTROL_PLANE_UNSEEN", { plane: "hub-us", since: expect.any(String) });
    const comment = await world.untilComment(release, "for it; the others go on");
    expect(comment).toContain("control plane hub-us");
    us.kubernetes.faults.down(false);
    await journey.until("the first batch settles", (run) => run.batches[0]?.phase === "Settled" && run.unseen === undefined);

    us.kubernetes.faults.down(true);
    const waiting = await journey.until(
      "the stage of the hub that is there is through, that of the other waits",
      (run) => run.batches[1]?.phase === "Settled" && hasCode(run.batches[2]?.why, "CONTROL_PLANE_UNSEEN"),
    );
    expect(targetsOf(waiting, 2).every((target) => target.key.startsWith("hub-eu/") && target.phase === "Baked")).toBe(true);
    expect(targetsOf(waiting, 3).every((target) => target.key.startsWith("hub-us/"))).toBe(true);
    expect([waiting.batches[2]?.merged, version("eu-west-1-b"), version("us-east-1-b")]).toEqual([
      undefined,
      "targetRevision: v1.4.2",
      "targetRevision: v1.4.1",
    ]);
    us.kubernetes.faults.down(false);
    const done = await journey.until("it ends", ended);
    expect([done.phase, version("us-east-1-b"), journey.errors]).toEqual(["Succeeded", "targetRevision: v1.4.2", []]);
  });
});

const OWN = { "edge-eu": { env: "canary" }, "edge-us": { env: "prod" }, "edge-ap": { env: "prod" } };

/** What one of them is called by the repo. */
const OHIO = `apiVersion: v1
kind: Secret
metadata: { name: ohio, labels: { argocd.argoproj.io/secret-type: cluster } }
stringData: { name: ohio, server: https://kubernetes.default.svc }
`;

/** In each cluster an Argo CD that knows no other, and applies a folder of its own: Applications of one name on one destination. */
function oneArgoACluster(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  files.delete("appsets/my-app-set.yaml");
  for (const plane of Object.keys(OWN))
    files.set(
      `planes/${plane}/my-app.yaml`,
      `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: my-app, namespace: argocd, labels: { app: my-app } }
spec:
  project: default
  source: { repoURL: "${repoURL}", path: apps/my-app, targetRevision: v1.4.1 }
  destination: { name: in-cluster, namespace: my-app }
  syncPolicy: { automated: { prune: true, selfHeal: true } }
`,
    );
  files.set("fleet/us.yaml", OHIO);
  files.set(
    "rollouts/my-app.yaml",
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: my-app } }, controlPlane: [edge-eu, edge-us, edge-ap] }
  release: { from: { file: releases/my-app.yaml, path: version } }
  pins: [{ file: "planes/{{ controlPlane.name }}/my-app.yaml", path: spec.source.targetRevision }]
  inventory: { files: { edge-us: fleet/us.yaml } }
  mode: Run
  stages:
    - name: canary
      clusters: { selector: { matchLabels: { env: canary } } }
    - name: prod
      clusters: { selector: { matchLabels: { env: prod } } }
      maxUnavailable: 2
`,
  );
  // Its labels are those of the control planes: all of them have an `in-cluster`, and each is one of its own.
  files.set(".github/stagecoach.yaml", "limits: { selected: [{ selector: { matchLabels: { env: prod } }, clusters: 1 }] }\n");
}

describe("one Argo CD a cluster, all destinations in-cluster", () => {
  test("each is a target of its own, limits count over all of them, and the one that is lost holds its batch, though all it showed was green", async () => {
    const planes = Object.keys(OWN).map((name) => ({ name, labels: null, path: `planes/${name}` }));
    const labelled = (plane: ControlPlane) => ({ ...plane, labels: OWN[plane.name as keyof typeof OWN] });
    journey = await startJourney({ files: oneArgoACluster, planes, seenAs: labelled });
    const { world } = journey;
    const ap = world.planes[2];
    if (ap === undefined) throw new Error("there is no third control plane");
    const version = (plane: string) =>
      /targetRevision: (\S+)/.exec(git(world.github.repoDirectory(world.repository), "show", `main:planes/${plane}/my-app.yaml`))?.[1];
    const release = await journey.release();

    const merged = await journey.until("the batch of edge-ap is merged", (run) => run.batches[1]?.phase === "Merged");
    const keys = merged.plan.stages.map((stage) => stage.batches.map((batch) => batch.targets.map(({ key, cluster }) => [key, cluster])));
    expect(keys).toEqual([
      [[["edge-eu/argocd/my-app", "edge-eu/edge-eu"]]],
      [[["edge-ap/argocd/my-app", "edge-ap/edge-ap"]], [["edge-us/argocd/my-app", "edge-us/ohio"]]],
    ]);
    ap.kubernetes.faults.down(true);
    const held = await journey.until("it waits for the control plane", (run) =>
      hasCode(onPlane(run, 2, "edge-ap")?.why, "CONTROL_PLANE_UNSEEN"),
    );
    expect(held.why).toHaveCode("CONTROL_PLANE_UNSEEN", { plane: "edge-ap", since: expect.any(String) });
    expect([held.phase, held.batches[1]?.phase, held.batches[2]?.merged, version("edge-us")]).toEqual([
      "Progressing",
      "Merged",
      undefined,
      "v1.4.1",
    ]);
    expect(await world.untilComment(release, "control plane edge-ap")).toContain("edge-ap");
    ap.kubernetes.faults.down(false);
    const done = await journey.until("it ends", ended);
    expect([done.phase, Object.keys(OWN).map(version), journey.errors]).toEqual(["Succeeded", ["v1.4.2", "v1.4.2", "v1.4.2"], []]);
  });
});
