import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { apiHarness, kubernetesHarness, putIn } from "../../../adapters/argocd/testing/harness.ts";
import { startArgoCd } from "../../../sim/argocd/index.ts";
import { fastClock } from "../../../sim/clock.ts";
import { startKubernetes } from "../../../sim/kubernetes/index.ts";
import { run as init } from "../init/init.ts";
import { run as lint } from "../lint/lint.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run as plan } from "./plan.ts";

const here = sampleRepo();
const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  for (const known of ["rollouts", ".github", "appsets", "inventory.yaml"]) rmSync(join(here.dir, known), { recursive: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

/** Hand-made Applications of three clusters, whose manifests are in no repo. */
const application = (cluster: string) => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Application",
  metadata: { name: `shop-${cluster}`, namespace: "argocd", labels: { app: "shop" } },
  spec: {
    project: "default",
    source: { repoURL: "https://github.com/acme/config", path: `overlays/${cluster}`, targetRevision: "main" },
    destination: { name: cluster, namespace: "shop" },
    syncPolicy: { automated: {} },
  },
});

/** An Argo CD that serves its API on the loopback without TLS. */
async function plainApi() {
  const clock = fastClock(1, Date.parse("2026-11-21T12:00:00Z"));
  const sim = await startKubernetes({ clock });
  const argo = await startArgoCd({ kubernetes: sim, clock, git: [] });
  return {
    ...{ url: argo.url, token: argo.api.token },
    addCluster: async (name: string, server: string, labels: Record<string, string>) => argo.addCluster({ name, server, labels }),
    put: async (object: Record<string, unknown>) => putIn(sim, object),
    async close() {
      await argo.close();
      await sim.close();
    },
  };
}

interface Harness {
  addCluster(name: string, server: string, labels: Record<string, string>, token: string): Promise<void>;
  put(object: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

async function live(harness: Harness): Promise<void> {
  closing.push(() => harness.close());
  for (const [cluster, env] of [
    ["one", "dev"],
    ["two", "prod"],
    ["three", "prod"],
  ] as const) {
    await harness.addCluster(cluster, `https://${cluster}.example.com`, { env }, "the credentials of a cluster");
    await harness.put(application(cluster));
    mkdirSync(join(here.dir, "overlays", cluster), { recursive: true });
    writeFileSync(join(here.dir, "overlays", cluster, "kustomization.yaml"), "images:\n  - { name: acme/shop, newTag: v1.4.1 }\n");
  }
}

describe("--from-argocd", () => {
  test("a kubeconfig: init proposes what lives there by the labels of its clusters, and lint and plan take it with the same option", async () => {
    const harness = await kubernetesHarness();
    await live(harness);
    const kubeconfig = join(here.dir, "kubeconfig");
    writeFileSync(kubeconfig, harness.sim.kubeconfig(harness.token));
    const given = ["--from-argocd", kubeconfig];
    expect(await init([here.dir, ...given, "--write"])).toBe(0);
    expect(here.out).toContain(`stagecoach plan shop --to VERSION --repo ${here.dir} --from-argocd ${kubeconfig}.`);
    const rollout = readFileSync(join(here.dir, "rollouts/shop.yaml"), "utf8");
    expect(rollout).toMatch(/env: dev[\s\S]*env: prod/);
    expect(await lint(["--repo", here.dir, ...given])).toBe(0);
    here.clear();
    expect(await plan(["shop", "--repo", here.dir, ...given, "--to", "v1.4.2"])).toBe(0);
    expect(here.out).toMatch(/3 clusters in 3 batches[\s\S]*two +shop-two +v1\.4\.1 → v1\.4\.2/);
    expect(here.out + here.err + rollout).not.toContain("credentials of a cluster");
  });

  test("an account that may read Argo CD's own namespace alone, and no Secret, is enough", async () => {
    const harness = await kubernetesHarness();
    await live(harness);
    const rights = {
      verbs: ["get", "list", "watch"] as ("get" | "list" | "watch")[],
      apiGroups: ["argoproj.io"],
      resources: ["*"],
      namespaces: ["argocd"],
    };
    const kubeconfig = join(here.dir, "kubeconfig");
    writeFileSync(kubeconfig, harness.sim.kubeconfig(harness.sim.addAccount("reader", [rights])));
    expect(await init([here.dir, "--from-argocd", kubeconfig])).toBe(0);
    expect(here.out).toContain("shop-two");
  });

  test("an address: the same, by the API of Argo CD and a token from the environment", async () => {
    const harness = await plainApi();
    await live(harness);
    vi.stubEnv("ARGOCD_AUTH_TOKEN", harness.token);
    expect(await init([here.dir, "--from-argocd", harness.url])).toBe(0);
    expect(here.out).toMatch(/shop\.yaml +Application shop at v1\.4\.1, 3 clusters[\s\S]*stages +dev \(1 cluster/);
    expect(here.out + here.err).not.toContain(harness.token);
  });

  test("an address wants its token in the environment, and says so without a word of what is there", async () => {
    const harness = await apiHarness();
    await live(harness);
    vi.stubEnv("ARGOCD_AUTH_TOKEN", "");
    const asked = init([here.dir, "--from-argocd", "https://me:x@secret@argocd.example.com"]);
    await expect(asked).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(/^(?!.*secret).*in ARGOCD_AUTH_TOKEN:/) });
    vi.stubEnv("ARGOCD_AUTH_TOKEN", harness.token);
    const untrusted = init([here.dir, "--from-argocd", harness.url]);
    await expect(untrusted).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining("no CA that is trusted here") });
  });

  test("what cannot be connected to is told with its cause at the first try, of an address as of a kubeconfig", async () => {
    vi.stubEnv("ARGOCD_AUTH_TOKEN", "a-token");
    const plain = await plainApi();
    closing.push(() => plain.close());
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => void closed.close(resolve));
    const kubeconfig = join(here.dir, "kubeconfig");
    const cluster = { name: "a", cluster: { server: `https://127.0.0.1:${port}` } };
    const context = { name: "a", context: { cluster: "a", user: "a" } };
    const users = [{ name: "a", user: { token: "a-token" } }];
    writeFileSync(kubeconfig, JSON.stringify({ "current-context": "a", contexts: [context], clusters: [cluster], users }));
    for (const [place, cause] of [
      [`https://127.0.0.1:${port}`, `no answer from https://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`],
      ["https://argocd.invalid", "no answer from https://argocd.invalid: getaddrinfo "],
      [plain.url.replace("http:", "https:"), "EPROTO"],
      [kubeconfig, `no answer from https://127.0.0.1:${port}: connect ECONNREFUSED`],
    ] as const)
      await expect(init([here.dir, "--from-argocd", place])).rejects.toMatchObject({
        exitCode: 3,
        message: expect.stringContaining(cause),
      });
  });
});
