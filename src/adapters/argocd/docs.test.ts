import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";
import type { Rule } from "../../sim/kubernetes/auth.ts";
import { openApiPlane } from "./api/index.ts";
import { openKubernetes } from "./kubernetes/index.ts";
import type { ControlPlane } from "./port.ts";
import { named } from "./testing/contract.ts";
import { apiHarness, kubernetesHarness } from "./testing/harness.ts";
import { ROLLOUT_VIEW, rawProject, rawReplicaSet, rawRollout } from "./testing/rollout.ts";

const page = readFileSync(new URL("../../../docs/argocd.md", import.meta.url), "utf8");
const log = { info: () => undefined, warn: () => undefined };
const nightly = rawProject([{ kind: "allow", schedule: "0 22 * * *", duration: "1h", applications: ["*"] }]);

let plane: ControlPlane | undefined;
let close: () => Promise<void> = async () => undefined;
afterEach(async () => {
  await plane?.close();
  await close();
});

/** Everything that reading alone should give. */
async function everything(known: ControlPlane): Promise<void> {
  await known.ready();
  expect(known.state()).toMatchObject({ fresh: true });
  expect(await known.rollouts?.("argocd", "a")).toEqual([ROLLOUT_VIEW]);
  expect(await known.syncWindows?.("argocd", "a")).toMatchObject({ open: false, opensAt: "2026-11-21T22:00:00.000Z" });
}

test("the lines of policy in docs/argocd.md are enough to read everything", async () => {
  const policies = page
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("p, stagecoach,"));
  expect(policies).toHaveLength(4);
  const { api, url, ca, clock, ...harness } = await apiHarness();
  close = harness.close;
  for (const object of [named("a"), rawReplicaSet(), rawRollout("a"), nightly]) await harness.put(object);
  await harness.addCluster("eu-1", "https://eu-1.example.com", { area: "emea" }, "x");
  plane = openApiPlane({ name: "hub", url, ca, token: api.addAccount("stagecoach", policies), clock, log });
  await everything(plane);
  expect(plane.clusters()).toMatchObject([{ name: "eu-1", labels: { area: "emea" }, connection: { status: "Successful" } }]);
  expect(await plane.refresh?.("argocd", "a")).toBe("asked");
});

test("the ClusterRole in docs/argocd.md is enough to read everything, and writes nothing", async () => {
  const block =
    page
      .split("```yaml\n")
      .find((text) => text.includes("kind: ClusterRole"))
      ?.split("```")[0] ?? "";
  const { rules } = parse(block) as { rules: Rule[] };
  expect(rules.flatMap(({ verbs }) => verbs).filter((verb) => !["get", "list", "watch"].includes(verb))).toEqual([]);
  const { sim, clock, ...harness } = await kubernetesHarness();
  close = harness.close;
  const resources = [{ group: "argoproj.io", version: "v1alpha1", kind: "Rollout", namespace: "payments", name: "api" }];
  const spec = { project: "default", destination: { name: "in-cluster", namespace: "payments" } };
  for (const object of [{ ...named("a"), spec, status: { resources } }, rawReplicaSet(), rawRollout("a"), nightly])
    await harness.put(object);
  const kubeConfig = { kubeconfig: sim.kubeconfig(sim.addAccount("stagecoach", rules)) };
  plane = openKubernetes({ name: "hub", kubeConfig, clusterSecrets: false, annotationRefresh: false, clock, log });
  await everything(plane);
});
