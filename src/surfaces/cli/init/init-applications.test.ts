import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { run as lint } from "../lint/lint.ts";
import { run as plan } from "../plan/plan.ts";
import { run as init } from "./init.ts";

const CLUSTERS = ["dev-1", "prod-1", "prod-2"];

let out = "";
let dir = "";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "init-applications-"));
  put("base/kustomization.yaml", "resources: []\n");
  for (const cluster of CLUSTERS) {
    put(`apps/shop-${cluster}.yaml`, application(cluster));
    put(`overlays/${cluster}/kustomization.yaml`, "resources: [../../base]\nimages:\n  - name: ghcr.io/acme/shop\n    newTag: v1.4.1\n");
  }
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => {
      out += String(text);
      return true;
    });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true });
});

function put(file: string, text: string): void {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
}

function application(cluster: string): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: shop-${cluster}, namespace: argocd }
spec:
  project: default
  source: { repoURL: https://github.com/acme/config, path: overlays/${cluster}, targetRevision: main }
  destination: { name: ${cluster}, namespace: shop }
  syncPolicy: { automated: {} }
`;
}

async function told(command: typeof init, ...args: string[]): Promise<{ exit: number; out: string }> {
  out = "";
  return { exit: await command(args), out };
}

function rollout(change: (text: string) => string): string {
  return change(readFileSync(join(dir, "rollouts/shop.yaml"), "utf8"));
}

test("what is proposed for hand-written Applications is planned without --inventory, as it is", async () => {
  expect((await told(init, dir, "--write")).exit).toBe(0);
  expect((await told(lint, dir)).out).toMatch(/^1 rollout in 1 file: 0 errors, 0 warnings\n/);
  const made = await told(plan, "shop", "--repo", dir, "--to", "v1.4.2");
  expect(made.out).toMatch(/^shop → v1\.4\.2 {3}3 clusters in \d batches over \d stages/);
  for (const cluster of CLUSTERS) expect(made.out).toMatch(new RegExp(`${cluster} +shop-${cluster} +v1\\.4\\.1 → v1\\.4\\.2`));
  expect(made.exit).toBe(0);
});

test("lint and plan warn where a kustomization makes others of them than their files say", async () => {
  await told(init, dir, "--write");
  const listed = CLUSTERS.map((cluster) => `shop-${cluster}.yaml`).join(", ");
  put("apps/kustomization.yaml", `resources: [${listed}]\ncommonAnnotations: { team: shop }\n`);
  expect((await told(lint, dir)).out).toMatch(/^1 rollout in 1 file: 0 errors, 0 warnings\n/);
  put("apps/kustomization.yaml", `resources: [${listed}]\nnameSuffix: -x\n`);
  for (const { out: said } of [await told(lint, dir), await told(plan, "shop", "--repo", dir, "--to", "v1.4.2")])
    expect(said).toContain("kustomize changes shop-dev-1, shop-prod-1, shop-prod-2 before Argo CD has them (nameSuffix in apps)");
});

test("one that is on Argo CD's own cluster is there under the name of that", async () => {
  const own = application("in-cluster").replace("name: in-cluster, namespace", "server: https://kubernetes.default.svc, namespace");
  put("apps/shop-in-cluster.yaml", own);
  put("overlays/in-cluster/kustomization.yaml", readFileSync(join(dir, "overlays/dev-1/kustomization.yaml"), "utf8"));
  expect((await told(init, dir, "--write")).exit).toBe(0);
  const made = await told(plan, "shop", "--repo", dir, "--to", "v1.4.2");
  expect(made.exit).toBe(0);
  expect(made.out).toMatch(/in-cluster +shop-in-cluster +v1\.4\.1 → v1\.4\.2/);
});

test("Applications that a rollout has are not proposed again, and ones that it has not are named", async () => {
  await told(init, dir, "--write");
  const again = await told(init, dir, "--write");
  expect(again).toMatchObject({ exit: 1, out: expect.stringContaining("has a rollout already. There are already: shop.") });
  put("apps/shop-prod-3.yaml", application("prod-3"));
  const more = await told(init, dir);
  expect(more.exit).toBe(1);
  expect(more.out).toContain('rollout "shop" has some of them already, but not shop-prod-3');
  expect(more.out).toContain("→ widen sourceRef.selector of rollouts/shop.yaml");
});

test("two rollouts of the same Applications do not pass lint", async () => {
  await told(init, dir, "--write");
  put(
    "rollouts/shop-2.yaml",
    rollout((text) => text.replace("name: shop\n", "name: shop-2\n")),
  );
  const { exit, out } = await told(lint, dir);
  expect(exit).toBe(1);
  expect(out).toMatch(
    /^rollouts\/shop\.yaml:\d+:\d+ error .* belong to rollout "shop-2" \(rollouts\/shop-2\.yaml\) already SOURCE_SHARED$/m,
  );
});

test("the later of two rollouts that take the same Application, or write the same place, is not planned either", async () => {
  await told(init, dir, "--write");
  const answer = async (name: string, change: (text: string) => string) => {
    put("rollouts/zweite.yaml", rollout(change).replace("name: shop\n", "name: zweite\n"));
    const planned = await told(plan, name, "--repo", dir);
    return `${planned.exit} ${/SOURCE_SHARED/.exec(planned.out)?.[0] ?? "planned"}`;
  };
  const fewer = (text: string) => text.replace(/ +- shop-dev-1\n/, "");
  expect(await answer("zweite", fewer)).toBe("1 SOURCE_SHARED");
  expect(await answer("shop", fewer)).toBe("0 planned");
  for (const cluster of CLUSTERS) put(`apps/web-${cluster}.yaml`, application(cluster).replace("name: shop-", "name: web-"));
  const others = (text: string) => text.replaceAll(/- shop-(dev|prod)-/g, "- web-$1-");
  expect(await answer("zweite", others)).toBe("1 SOURCE_SHARED");
  expect(await answer("zweite", (text) => others(text).replace("newTag", "newName"))).not.toContain("SOURCE_SHARED");
});

test("nor do two whose selectors differ and take the same Application, or that write the same place", async () => {
  await told(init, dir, "--write");
  const lintedWith = async (change: (text: string) => string) => {
    put("rollouts/zweite.yaml", rollout(change).replace("name: shop\n", "name: zweite\n"));
    const { exit, out } = await told(lint, dir);
    return { exit, shared: out.split("\n").filter((line) => line.includes("SOURCE_SHARED")) };
  };
  const fewer = await lintedWith((text) => text.replace(/ +- shop-dev-1\n/, ""));
  expect(fewer).toEqual({
    exit: 1,
    shared: [expect.stringMatching(/^rollouts\/zweite\.yaml:\d+:\d+ error .*argocd\/shop-prod-1 .*rollouts\/shop\.yaml/)],
  });
  for (const cluster of CLUSTERS) put(`apps/web-${cluster}.yaml`, application(cluster).replace("name: shop-", "name: web-"));
  const others = (text: string) => text.replaceAll(/- shop-(dev|prod)-/g, "- web-$1-");
  const place = await lintedWith(others);
  expect(place.exit).toBe(1);
  expect(place.shared).toEqual([
    expect.stringContaining('overlays/dev-1/kustomization.yaml images[name=ghcr.io/acme/shop].newTag is written by rollout "shop"'),
  ]);
  const elsewhere = await lintedWith((text) => others(text).replace("newTag", "newName"));
  expect(elsewhere.shared).toEqual([]);
});

test("a plan without an Application says what it looked for, and fails", async () => {
  await told(init, dir, "--write");
  put(
    "rollouts/shop.yaml",
    rollout((text) => text.replaceAll(/\bshop-(dev|prod)-/g, "cart-$1-")),
  );
  const empty = await told(plan, "shop", "--repo", dir, "--to", "v1.4.2");
  expect(empty.exit).toBe(1);
  expect(empty.out).toContain("with name in (cart-dev-1,cart-prod-1,cart-prod-2)");
  expect(empty.out).not.toContain("argocd/ ");
});

test("sets of environments, of which production's have no automated sync: its stage says who syncs, and init asks", async () => {
  for (const cluster of CLUSTERS) rmSync(join(dir, `apps/shop-${cluster}.yaml`));
  for (const env of ["dev", "prod"]) {
    const source = { repoURL: "https://github.com/acme/config", targetRevision: "main", path: `overlays/${env}-1` };
    const destination = { server: "https://kubernetes.default.svc", namespace: `cart-${env}` };
    const spec = { project: "default", source, destination, ...(env === "dev" ? { syncPolicy: { automated: {} } } : {}) };
    const generators = [{ list: { elements: [{ env }] } }];
    const set = {
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", metadata: { name: `cart-${env}`, namespace: "argocd" } },
      spec: { generators, template: { metadata: { name: "cart-{{env}}" }, spec } },
    };
    put(`sets/${env}.yaml`, JSON.stringify(set));
  }
  const { exit, out } = await told(init, dir);
  expect([exit, out]).toEqual([0, expect.stringMatching(/rollouts\/cart\.yaml[\s\S]*ask +Applications of prod have no automated sync/)]);
});
