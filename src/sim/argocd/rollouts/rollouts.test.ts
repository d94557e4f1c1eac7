import { afterEach, describe, expect, it } from "vitest";
import { decodeRollout } from "../../../core/argocd/decode/rollout.ts";
import { type TestWorld, testWorld } from "../testing/world.ts";
import type { Application } from "../types.ts";
import type { RolloutObject } from "./objects.ts";

const STEPS = "[{ setWeight: 20 }, { pause: {} }, { setWeight: 60 }, { pause: { duration: 30s } }]";
const files = (tag: string) => ({
  "app/rollout.yaml": `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: { name: web }
spec:
  replicas: 5
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: ghcr.io/example/web }] }
  strategy: { canary: { steps: ${STEPS} } }
`,
  "app/kustomization.yaml": `resources: [rollout.yaml]\nimages:\n  - { name: ghcr.io/example/web, newTag: ${tag} }\n`,
});

let world: TestWorld;
afterEach(() => world.close());

const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;
const rollout = (name = "eu-1") => world.argo.rolloutsOf(name)[0] as RolloutObject | undefined;
const health = (name = "eu-1") => world.app(name).status?.health?.status;

async function live(): Promise<void> {
  world = await testWorld(files("v1"), { clusters: [{ name: "eu-1" }, { name: "us-1" }] });
  for (const name of ["eu-1", "us-1"]) world.create(name, { destination: { name, namespace: "app" } });
  await world.until("both are live", () => isLive(world.app("eu-1")) && isLive(world.app("us-1")));
}

async function release(tag: string): Promise<void> {
  await world.repo.commit(files(tag));
  world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
}

/** As Argo CD's API does for `argocd app actions run`. */
async function act(name: string, action: string): Promise<number> {
  const headers = { authorization: `Bearer ${world.argo.api.token}`, "content-type": "application/json" };
  const body = { namespace: "app", resourceName: "web", group: "argoproj.io", version: "v1alpha1", kind: "Rollout", action };
  const url = `${world.argo.url}/api/v1/applications/${name}/resource/actions/v2`;
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).status;
}

async function canary(): Promise<void> {
  await live();
  await release("v2");
  await world.until("both wait at the first pause", () => health("eu-1") === "Suspended" && health("us-1") === "Suspended");
}

describe("Argo Rollouts in the clusters of the embedded Argo CD", () => {
  it("(11) a new image walks the steps: Suspended at a pause without end, until it is resumed; the next cluster has its own", async () => {
    await canary();
    expect(decodeRollout(rollout(), { images: new Map([[rollout()?.status?.stableRS ?? "", ["ghcr.io/example/web:v1"]]]) })).toMatchObject({
      phase: "Paused",
      message: "CanaryPauseStep",
      paused: true,
      step: 1,
      steps: 4,
      setWeight: 20,
      actualWeight: 20,
      stableImages: ["ghcr.io/example/web:v1"],
      canaryImages: ["ghcr.io/example/web:v2"],
    });
    expect(await act("eu-1", "resume")).toBe(200);
    await world.until("it is through", () => isLive(world.app("eu-1")));
    expect([rollout("eu-1")?.status?.phase, rollout("us-1")?.status?.phase]).toEqual(["Healthy", "Paused"]);
    const healths = world.states("eu-1").map(({ status }) => status?.health?.status);
    expect(healths.filter((value, i) => value !== healths[i - 1]).slice(-5)).toEqual([
      "Suspended",
      "Progressing",
      "Suspended",
      "Progressing",
      "Healthy",
    ]);
  });

  it("promote-full passes all steps, abort goes back and degrades, retry begins anew", async () => {
    await canary();
    await act("us-1", "promote-full");
    await world.until("it is promoted", () => isLive(world.app("us-1")));
    await act("eu-1", "abort");
    await world.until("it is aborted", () => health() === "Degraded");
    expect(rollout()?.status).toMatchObject({ updatedReplicas: 0, message: expect.stringContaining("RolloutAborted") });
    await act("eu-1", "retry");
    await world.until("it waits at its pause again", () => health() === "Suspended");
    await release("v1");
    await world.until("back at the stable version no step is walked", () => isLive(world.app("eu-1")));
    expect(rollout()?.status?.stableRS).toBe(rollout()?.status?.currentPodHash);
  });

  it("a version that does not come up degrades at its first step, and goes on once it can", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "degraded", revision: "newTag: v2" });
    await release("v2");
    await world.until("it is Degraded", () => health() === "Degraded");
    expect(rollout()?.status?.message).toContain("ProgressDeadlineExceeded");
    world.argo.setFault("eu-1", null);
    await world.until("it goes on", () => health() === "Suspended");
  });

  it("in Argo CD's own cluster they stand in its Kubernetes API, with the ReplicaSets of their templates", async () => {
    world = await testWorld(files("v1"), {});
    world.create("local", { destination: { server: "https://kubernetes.default.svc", namespace: "app" } });
    await world.until("it is live", () => isLive(world.app("local")));
    const { store } = world.kubernetes;
    await release("v2");
    await world.until("it waits", () => health("local") === "Suspended");
    expect(store.list("replicasets", "app")).toHaveLength(2);
    store.change("rollouts", "app", "web", (object) => {
      const { pauseConditions: _, ...status } = object["status"] as Record<string, unknown>;
      return { ...object, status };
    });
    await world.until("kubectl argo rollouts promote goes on with it", () => isLive(world.app("local")));
    expect(world.app("local").status?.resources).toContainEqual(
      expect.objectContaining({ kind: "Rollout", name: "web", namespace: "app" }),
    );
  });
});
