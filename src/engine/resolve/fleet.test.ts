import { describe, expect, test } from "vitest";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import type { ApplicationView, ClusterView } from "../../core/argocd/views.ts";
import { said } from "../../core/reasons/run.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import type { RepoContext } from "../round/context.ts";
import { clustersOf, clustersOn, unreachableClusters } from "./fleet.ts";
import { openPlanner } from "./plan-now.ts";

const SINCE = "2026-11-21T14:05:00.000Z";
const FORBIDDEN = "forbidden; grant the verbs get, list and watch on applications.argoproj.io";
const FILE = "clusters.yaml";

interface Hub {
  plane: ControlPlane;
  fresh: boolean;
}

/** A plane with one cluster and one Application, named alike on every plane. */
function hub(name: string): Hub {
  const self: Hub = { fresh: true, plane: {} as ControlPlane };
  const cluster: ClusterView = { name: "shop", server: `https://${name}.example`, labels: { hub: name }, registered: true };
  const raw = {
    metadata: {
      name: "payments",
      namespace: "argocd",
      uid: name,
      ownerReferences: [{ kind: "ApplicationSet", name: "payments", uid: "s", controller: true }],
    },
    spec: {
      project: "default",
      source: { repoURL: "https://github.example/o/r", path: "app", targetRevision: "v1" },
      destination: { name: "shop" },
    },
    status: {},
  };
  const application = decodeApplication(raw, 0) as ApplicationView;
  self.plane = {
    name,
    state: () => ({ fresh: self.fresh, since: SINCE, ...(self.fresh ? {} : { why: said(FORBIDDEN) }) }),
    clusters: () => [cluster],
    applications: () => [application],
  } as Partial<ControlPlane> as ControlPlane;
  return self;
}

const snapshot: Snapshot = {
  kept: 0,
  id: "a".repeat(40),
  paths: async () => [FILE],
  links: async () => [],
  read: async () => "hub-eu: v1\nhub-us: v1\n",
  with: async (work) => work({ read: (path) => (path === FILE ? "hub-eu: v1\nhub-us: v1\n" : null), paths: () => [FILE] }),
};

const NAMES = ["hub-eu", "hub-us"];

function contextOf(hubs: readonly Hub[]): RepoContext {
  return { planes: new Map(hubs.map(({ plane }) => [plane.name, plane])), repoURL: "https://github.example/o/r" } as unknown as RepoContext;
}

function planFor(hubs: readonly Hub[], partial = false, proof?: "content") {
  const source = { ...sampleRollout().source, controlPlanes: NAMES };
  const [first] = sampleRollout().stages;
  const stages = first === undefined ? [] : [{ ...first, maxUnavailable: { count: 2 } }];
  const pins = [{ kind: "value" as const, file: FILE, path: "{{ cluster.labels.hub }}", create: false, value: "{{ release.version }}" }];
  return openPlanner(contextOf(hubs))(
    sampleRollout({ source, stages, pins, ...(proof && { proof }) }),
    { values: { version: "v2" }, attempt: 1 },
    snapshot,
    "main",
    {
      partial,
    },
  );
}

describe("a fleet over several control planes", () => {
  test("clusters and Applications of one name on two planes are two targets", async () => {
    const made = await planFor([hub("hub-eu"), hub("hub-us")]);
    const targets = made.ok ? made.plan.stages.flatMap((stage) => stage.batches.flatMap((batch) => batch.targets)) : [];
    expect(targets.map(({ key, cluster, edits }) => [key, cluster, edits[0]?.path])).toEqual([
      ["hub-eu/argocd/payments", "hub-eu/shop", "hub-eu"],
      ["hub-us/argocd/payments", "hub-us/shop", "hub-us"],
    ]);
  });

  test("proof: content is refused where a plane cannot be asked for objects, at its line, before batches fail at their deadlines", async () => {
    const hubs = [hub("hub-eu"), hub("hub-us")];
    Object.assign(hubs[0]?.plane ?? {}, { content: async () => ({ kind: "done", proof: "shown" }) });
    expect(await planFor(hubs, false, "content")).toMatchObject({
      ok: false,
      retry: false,
      problems: [{ code: "PROOF_UNREADABLE", planes: ["hub-us"], severity: "error", path: ["spec", "proof"] }],
    });
  });

  test("of one that is lost nothing is said, and the others are known", () => {
    const hubs = [hub("hub-eu"), hub("hub-us")];
    clustersOf(contextOf(hubs), NAMES);
    for (const one of hubs) one.fresh = one.plane.name === "hub-eu";
    const fleet = clustersOf(contextOf(hubs), NAMES);
    expect([fleet.known, fleet.clusters.map((cluster) => cluster.key), [...fleet.lost]]).toEqual([
      false,
      ["hub-eu/shop"],
      [["hub-us", { since: SINCE, why: said(FORBIDDEN) }]],
    ]);
    expect(clustersOf(contextOf(hubs), NAMES, { remembered: true }).clusters).toHaveLength(2);
  });

  test("a lost plane's part is planned as it was last read, with a warning that says which, since when, why and what to grant", async () => {
    const hubs = [hub("hub-eu"), hub("hub-us")];
    clustersOf(contextOf(hubs), NAMES);
    for (const one of hubs) one.fresh = one.plane.name === "hub-eu";
    const made = await planFor(hubs);
    expect(made).toMatchObject({
      ok: true,
      plan: {
        stages: [{ clusters: ["hub-eu/shop", "hub-us/shop"] }],
        warnings: [
          {
            code: "PLANE_LOST",
            said: expect.stringMatching(new RegExp(`hub-us since 2026-11-21 14:05:00 UTC: ${FORBIDDEN}$`)),
            clusters: 1,
          },
        ],
      },
    });
  });

  test("half an inventory is no plan to run: it waits, and shows what is known of it", async () => {
    const hubs = [hub("hub-eu"), hub("hub-us")];
    for (const one of hubs) one.fresh = one.plane.name === "hub-eu";
    expect(await planFor(hubs)).toMatchObject({
      ok: false,
      retry: true,
      problems: [{ code: "SOURCE_NOT_FOUND", kind: "Fleet", said: expect.stringMatching(`hub-us: ${FORBIDDEN}`) }],
    });
    const shown = await planFor(hubs, true);
    expect(shown).toMatchObject({
      ok: true,
      plan: { warnings: [{ code: "PLANE_LOST", clusters: undefined }] },
    });
  });

  test("with every plane lost there is nothing to plan", async () => {
    const hubs = [hub("hub-eu"), hub("hub-us")];
    clustersOf(contextOf(hubs), NAMES);
    for (const one of hubs) one.fresh = false;
    expect(await planFor(hubs, true)).toMatchObject({ ok: false, retry: true });
  });
});

describe("the clusters of a control plane with labels of its own", () => {
  const own: ClusterView = { name: "in-cluster", server: "https://kubernetes.default.svc", labels: {}, registered: false };
  const edge: ClusterView = { name: "edge", server: "https://edge.example", labels: { env: "dev" }, registered: true };
  const plane = (...views: ClusterView[]) => ({ name: "eu", labels: { env: "prod", region: "eu" }, clusters: () => views });
  const keys = (names: string[], ...views: ClusterView[]) => clustersOn(plane(...views), names).map(({ key }) => key);

  test("have them, where they have no label of that key themselves", () => {
    expect(clustersOn(plane(own, edge), ["eu"]).map(({ labels }) => labels)).toEqual([
      { env: "prod", region: "eu" },
      { env: "dev", region: "eu" },
    ]);
    // What only Applications say of a cluster their authors choose: it does not stand over the operator's word.
    expect(clustersOn(plane({ ...edge, derived: "name" }), ["eu"])[0]?.labels).toEqual({ env: "prod", region: "eu" });
  });

  test("in-cluster is called by its control plane where the rollout names several, and nothing else is called so", () => {
    expect(keys(["eu"], own, edge)).toEqual(["eu/in-cluster", "eu/edge"]);
    expect(keys([], own)).toEqual(["eu/in-cluster"]);
    expect(keys(["eu", "us"], own, edge)).toEqual(["eu/eu", "eu/edge"]);
    expect(keys(["eu", "us"], own, { ...edge, name: "eu" })).toEqual(["eu/in-cluster", "eu/eu"]);
    expect(keys(["eu", "us"], { ...own, registered: true })).toEqual(["eu/in-cluster"]);
  });

  test("a connection that failed is found by either name", () => {
    const failed = { ...own, connection: { status: "Failed" as const, message: "no route" } };
    const found = unreachableClusters([plane(failed) as unknown as ControlPlane]);
    expect([found.get("eu/in-cluster"), found.get("eu/eu")]).toEqual(["no route", "no route"]);
  });
});
