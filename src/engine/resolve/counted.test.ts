import { describe, expect, test } from "vitest";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import { quarantineWhy } from "../../core/run/batches/quarantine.ts";
import type { Draft } from "../../core/run/state/draft.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import { parseRollouts } from "../../core/spec/parse/parse.ts";
import type { Rollout, TargetBy } from "../../core/spec/rollout.ts";
import { observeUnreachable } from "../round/observe/observe-joiners.ts";
import { countedOf } from "./counted.ts";
import { applicationsOf, type SeenApplication } from "./draft.ts";
import { clustersElsewhere, countedNow } from "./fleet.ts";
import { planOver } from "./plan-over.ts";

const ONE: Cluster = {
  key: "hub/one",
  name: "one",
  controlPlane: "hub",
  server: "https://one.invalid",
  labels: { region: "eu", env: "shared" },
  registered: true,
};

function view(name: string, labels: Record<string, string>, { namespace = "argocd", into = name, project = "shop" } = {}): ApplicationView {
  const source = { repoURL: "https://git.invalid/r", path: name, targetRevision: "main" };
  const spec = { project, source, destination: { server: ONE.server, namespace: into } };
  const found = decodeApplication({ metadata: { name, namespace, labels: { app: "shop", ...labels } }, spec }, 0);
  if (found === undefined) throw new Error(`${name} is no Application`);
  return found;
}

const on = (one: ApplicationView): SeenApplication => ({ controlPlane: "hub", view: one });
const DEV = on(view("shop-dev", { env: "dev" }));
const PROD = on(view("shop-prod", { env: "prod" }));
const WORKER = on(view("worker-prod", { env: "prod", tier: "worker" }, { into: "shop-prod" }));

function rollout(by: TargetBy, stages = "[ { name: all, targets: { selector: {} } } ]"): Rollout {
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: shop }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: shop } } }
  targetBy: ${by}
  release: { version: v2 }
  pins: [ { file: "{{ application.labels.env }}/{{ destination.namespace }}-{{ controlPlane }}-{{ cluster.labels.env }}.yaml", path: tag } ]
  stages: ${stages}
`;
  const { rollouts, problems } = parseRollouts(text, "rollouts/shop.yaml");
  if (rollouts[0] === undefined) throw new Error(JSON.stringify(problems));
  return rollouts[0];
}

const TEXTS: Record<string, string> = { "dev/shop-dev-hub-shared.yaml": "tag: v1\n", "prod/shop-prod-hub-shared.yaml": "tag: v1\n" };
const FILES = { paths: () => Object.keys(TEXTS), read: (path: string) => TEXTS[path] ?? null };

function planned(by: TargetBy, stages: string, applications: readonly SeenApplication[]) {
  const release = { values: { version: "v2" }, attempt: 1 };
  return planOver({ rollout: rollout(by, stages), release, applications, clusters: [ONE], files: FILES });
}

describe("targetBy", () => {
  test("application: each Application is one, with its own labels over its cluster's", () => {
    const counted = countedOf(rollout("application"), [ONE], [DEV, PROD]);
    expect(counted.all().map(({ key, name, on: host }) => [key, name, host?.key])).toEqual([
      ["hub/shop-dev", "shop-dev", "hub/one"],
      ["hub/shop-prod", "shop-prod", "hub/one"],
    ]);
    expect(counted.all()[0]?.labels).toEqual({
      region: "eu",
      env: "dev",
      app: "shop",
      "stagecoach.dev/name": "shop-dev",
      "stagecoach.dev/namespace": "shop-dev",
      "stagecoach.dev/project": "shop",
      "stagecoach.dev/cluster": "one",
    });
  });

  test("namespace: those of one namespace are one, with the labels that they share", () => {
    const counted = countedOf(rollout("namespace"), [ONE], [DEV, PROD, WORKER]);
    expect(counted.all().map(({ key, labels }) => [key, labels["env"], labels["tier"], labels["stagecoach.dev/name"]])).toEqual([
      ["hub/one:shop-dev", "dev", undefined, undefined],
      ["hub/one:shop-prod", "prod", undefined, undefined],
    ]);
  });

  test("no Application says by a label of ours where it is", () => {
    const own = ["name", "namespace", "project", "cluster", "more"].map((key) => [`stagecoach.dev/${key}`, "elsewhere"]);
    const bare = view("shop-bare", Object.fromEntries(own), { project: "" });
    delete bare.spec.destination.namespace;
    const labelsBy = (by: TargetBy) => countedOf(rollout(by), [ONE], [on(bare)]).all()[0]?.labels;
    const place = { region: "eu", env: "shared", app: "shop", "stagecoach.dev/cluster": "one" };
    expect(labelsBy("namespace")).toEqual(place);
    expect(labelsBy("application")).toEqual({ ...place, "stagecoach.dev/name": "shop-bare" });
  });

  test("what the operator says of a control plane an Application does not say otherwise, where it alone tells of the cluster", () => {
    const relabelled = { ...on(view("shop", { env: "dev", tier: "web" })), planeLabels: { env: "prod" } };
    const { targetBy, ...byCluster } = rollout("application");
    expect(targetBy).toBe("application");
    const found = countedOf(byCluster, [], [relabelled]).find(relabelled);
    expect("missing" in found ? found : found.cluster.labels).toEqual({ app: "shop", env: "prod", tier: "web" });
  });

  test("without access to Secrets the labels of one Application are not its neighbour's", () => {
    const canary = on(view("shop-canary", { env: "prod", canary: "true" }));
    const counted = countedOf(rollout("application"), [], [canary, PROD]);
    expect(counted.all().map(({ name, labels }) => [name, labels["canary"]])).toEqual([
      ["shop-canary", "true"],
      ["shop-prod", undefined],
    ]);
  });

  test("an Application that two stages select is taken by the first; each has its own pin and batch", () => {
    const stages = "[ { name: dev, targets: { selector: { matchLabels: { env: dev } } } }, { name: rest, targets: { selector: {} } } ]";
    const { plan, problems } = planned("application", stages, [PROD, DEV]);
    expect(problems).toEqual([]);
    expect(plan?.stages.map(({ clusters }) => clusters)).toEqual([["hub/shop-dev"], ["hub/shop-prod"]]);
    expect(plan?.stages[0]?.batches[0]?.targets).toMatchObject([
      { key: "hub/argocd/shop-dev", cluster: "hub/shop-dev", on: "hub/one", edits: [{ file: "dev/shop-dev-hub-shared.yaml", from: "v1" }] },
    ]);
  });

  test("batches, percentages, maxClusters and topology are of Applications, though all are on one cluster", () => {
    const four = ["a", "b", "c", "d"].map((tier) => on(view(`shop-${tier}`, { env: "dev", tier: tier < "c" ? "web" : "jobs" })));
    const texts = four.map(({ view: { name } }) => [`dev/${name}-hub-shared.yaml`, "tag: v1\n"]);
    Object.assign(TEXTS, Object.fromEntries(texts));
    const batches = (stage: string) =>
      planned("application", `[ { name: all, targets: { selector: {} }, ${stage} } ]`, four).plan?.stages[0]?.batches.map(({ targets }) =>
        targets.map(({ application }) => application.slice(-1)).join(""),
      );
    expect(batches("maxUnavailable: 75%")).toEqual(["abc", "d"]);
    expect(batches("maxUnavailable: 2, topologyKey: tier")).toEqual(["ac", "bd"]);
    expect(batches("maxUnavailable: 1, maxClusters: 2")).toEqual(["a", "b"]);
  });

  test("Applications of one namespace travel in one batch; stages choose by it without any label", () => {
    const stages = "[ { name: prod, targets: { selector: { matchLabels: { stagecoach.dev/namespace: shop-prod } } } } ]";
    const { plan } = planned("namespace", stages, [WORKER, DEV, PROD]);
    expect(plan?.stages[0]?.batches.map(({ targets }) => targets.map(({ application }) => application))).toEqual([
      ["shop-prod", "worker-prod"],
    ]);
    expect(plan?.uncovered).toEqual([{ cluster: "hub/one:shop-dev", why: { code: "NotSelected" } }]);
  });

  test("one of the same name in another namespace is not the source's", () => {
    const other = on(view("shop-dev", { env: "prod" }, { namespace: "team-b" }));
    const own = applicationsOf(rollout("application"), [DEV, other]);
    expect(own).toEqual([DEV]);
    expect(countedOf(rollout("application"), [ONE], own).all()).toHaveLength(1);
  });

  test("environments that share a pin and stand in two stages are refused", () => {
    const stages =
      "[ { name: worker, targets: { selector: { matchLabels: { tier: worker } } } }, { name: rest, targets: { selector: {} } } ]";
    expect(planned("application", stages, [PROD, WORKER]).problems.map(({ code }) => code)).toEqual(["UNIT_SPANS_STAGES"]);
  });
});

describe("during a run", () => {
  const { plan } = planned("application", "[ { name: all, targets: { selector: {} } } ]", [DEV, PROD]);
  if (plan === undefined) throw new Error("no plan");
  const run = { spec: rollout("application"), plan, joined: undefined };
  const now = (...applications: ApplicationView[]) => {
    const plane = {
      name: "hub",
      applications: () => applications,
      application: (_: string, name: string) => applications.find((one) => one.name === name),
    } as unknown as ControlPlane;
    return countedNow(new Map([["hub", plane]]), run, { clusters: [ONE], lost: new Map() });
  };

  test("an Application that the source's selector matches no more stays, with its labels of now", () => {
    const relabelled = { ...DEV.view, labels: { app: "other", env: "none" } };
    expect(now(relabelled, PROD.view).map(({ name, labels }) => [name, labels["env"]])).toEqual([
      ["shop-dev", "none"],
      ["shop-prod", "prod"],
    ]);
  });

  test("one that is deleted is gone, and one that appears is there", () => {
    const leaving = { ...DEV.view, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const fresh = view("shop-test", { env: "test" });
    expect(now(leaving, PROD.view, fresh).map(({ name }) => name)).toEqual(["shop-prod", "shop-test"]);
  });

  test("quarantine takes every Application of a cluster out of reach, and one whose own labels say that it is stopped", () => {
    const far = on(view("shop-far", { env: "prod" }));
    far.view.spec.destination.server = "https://two.invalid";
    const stopped = on(view("shop-stopped", { env: "stopped" }));
    const all = [DEV, stopped, far].map((one) => one.view);
    const two: Cluster = { ...ONE, key: "hub/two", name: "two", server: "https://two.invalid", labels: { env: "stopped" } };
    const plane = {
      name: "hub",
      state: () => ({ fresh: true }),
      applications: () => all,
      application: (_: string, name: string) => all.find((one) => one.name === name),
      clusters: () => [{ ...two, connection: { status: "Failed", message: "dial tcp: i/o timeout" } }, ONE],
    } as unknown as ControlPlane;
    const planes = new Map([["hub", plane]]);
    const left = (by: TargetBy) => {
      const of = {
        ...rollout(by),
        quarantine: {
          max: { count: 1 },
          onReturn: "CatchUp" as const,
          selector: { matchLabels: { env: "stopped" }, matchExpressions: [] },
        },
      };
      const run = { spec: of, plan, joined: undefined, batches: [] } as unknown as Run;
      const counted = countedNow(planes, run, { clusters: [ONE, two], lost: new Map() });
      const unreachable = observeUnreachable(planes, run, [ONE, two], counted);
      const world = { clusters: new Map(counted.map((one) => [one.key, one])), unreachable } as unknown as World;
      return counted.map(({ name, key }) => [name, quarantineWhy({ run, world, now: 0 } as Draft, key)?.code]);
    };
    expect(left("application")).toEqual([
      ["shop-dev", undefined],
      ["shop-far", "QUARANTINE_UNREACHABLE"],
      ["shop-stopped", "QUARANTINE_MATCHED"],
    ]);
    expect(left("namespace")).toEqual([
      ["one:shop-dev", undefined],
      ["one:shop-stopped", "QUARANTINE_MATCHED"],
      ["two:shop-far", "QUARANTINE_UNREACHABLE"],
    ]);
  });

  test("limits hear of clusters and Applications of a run on another control plane, and of none while that is unread", () => {
    const far = (phase: string) =>
      ({
        name: "far",
        state: () => ({ fresh: phase === "fresh", why: "timeout" }),
        clusters: () => [{ name: "two", server: ONE.server, labels: { tier: "web" }, registered: true }],
        applications: () => [PROD.view],
        application: () => undefined,
      }) as unknown as ControlPlane;
    const spec = rollout("application");
    const theirs = { ...run, plan: { ...plan, stages: [] }, spec: { ...spec, source: { ...spec.source, controlPlanes: ["far"] } } };
    const seen = (phase: string) =>
      clustersElsewhere({ planes: new Map([["far", far(phase)]]) }, [{ run: theirs, declared: undefined }], new Map([[ONE.key, ONE]]));
    expect(seen("fresh")).toMatchObject([
      { key: "far/two" },
      { key: "far/shop-prod", labels: { env: "prod", tier: "web" }, on: { key: "far/two" } },
    ]);
    expect(seen("lost")).toBe("unread");
  });
});
