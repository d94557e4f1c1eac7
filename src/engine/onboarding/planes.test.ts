import { expect, test } from "vitest";
import { type Inventory, joinInventories, readInventory } from "../../core/argocd/inventory-file.ts";
import { proposedFiles } from "../../core/report/onboarding/show.ts";
import { proposeFor } from "../../surfaces/cli/init/init.ts";
import type { Checkout } from "../../surfaces/cli/lint/lint-checkout.ts";
import { lint, readRollouts } from "../../surfaces/cli/lint/lint-run.ts";
import { makePlan } from "../../surfaces/cli/plan/plan-make.ts";

function checkoutOf(files: Record<string, string>): Checkout {
  return { root: "/", made: new WeakMap(), paths: () => Object.keys(files).sort(), read: (path) => files[path] ?? null };
}

/** The same name on every Argo CD, each on its own cluster. */
const application = (name: string, plane: string, targetRevision = "main") => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: ${name}, namespace: argocd, labels: { app: ${name} } }
spec:
  project: default
  source: { repoURL: "https://github.com/acme/fleet", path: ${name}/${plane}, targetRevision: ${targetRevision} }
  destination: { server: "https://kubernetes.default.svc", namespace: ${name} }
  syncPolicy: { automated: {} }
`;

const PLANES = ["dev", "prod-eu", "prod-us"];
const KUSTOMIZATION = "resources: []\nimages:\n  - name: acme/shop\n    newTag: v1.4.1\n";

function inventoryOf(texts: Record<string, string>, planeLabels?: Inventory["planeLabels"]): Inventory {
  const planes = new Map(Object.entries(texts).map(([name, text]) => [name, readInventory(text, name)]));
  return { ...joinInventories(planes), ...(planeLabels === undefined ? {} : { planeLabels }) };
}

/** Stages with the targets and files of the plan that the proposal gives. */
function planned(files: Record<string, string>, inventory: Inventory) {
  const proposal = proposeFor(checkoutOf(files), inventory);
  const after = checkoutOf({ ...files, ...Object.fromEntries(proposedFiles(proposal)) });
  const names = proposal.rollouts.map(({ file }) => file);
  const problems = lint(after, names, inventory).problems.map(({ code }) => code);
  const plans = readRollouts(after, names).rollouts.map((rollout) => {
    const { plan } = makePlan(rollout, after, inventory, { version: "v9.9.9" });
    const stages = plan?.stages.map(({ name, batches }) => {
      const targets = batches.flatMap((batch) => batch.targets.map(({ key, edits }) => `${key} ${edits[0]?.file}`));
      return [name, ...targets.sort()];
    });
    return [rollout.name, stages];
  });
  return { proposal, problems, plans: Object.fromEntries(plans) };
}

const files = {
  ...Object.fromEntries(PLANES.map((plane) => [`clusters/${plane}/shop.yaml`, application("shop", plane)])),
  ...Object.fromEntries(PLANES.map((plane) => [`shop/${plane}/kustomization.yaml`, KUSTOMIZATION])),
};
const live = Object.fromEntries(PLANES.map((plane) => [plane, application("shop", plane)]));

test("one Argo CD a cluster: each in-cluster is a target of its own, by its control plane", () => {
  const { proposal, problems, plans } = planned(files, inventoryOf(live));
  expect(proposal.undecided).toEqual([]);
  expect(problems).toEqual(["IN_CLUSTER"]);
  expect(plans).toEqual({
    shop: [
      ["dev", "dev/argocd/shop shop/dev/kustomization.yaml"],
      ["prod", "prod-eu/argocd/shop shop/prod-eu/kustomization.yaml", "prod-us/argocd/shop shop/prod-us/kustomization.yaml"],
    ],
  });
});

test("labels of the control planes tell the stages, and a manifest that is as one lives there holds its version", () => {
  const files = Object.fromEntries(PLANES.map((plane) => [`clusters/${plane}/shop.yaml`, application("shop", plane, "v1.4.1")]));
  const live = Object.fromEntries(PLANES.map((plane) => [plane, application("shop", plane, "v1.4.1")]));
  const labels = new Map(PLANES.map((plane) => [plane, { env: plane.split("-")[0] ?? "" }]));
  const { proposal, problems, plans } = planned(files, inventoryOf(live, labels));
  expect([proposal.undecided, problems]).toEqual([[], []]);
  expect(proposal.rollouts[0]?.text).toMatch(/controlPlane:\n\s+- dev\n\s+- prod-eu\n\s+- prod-us[\s\S]*matchLabels:\n\s+env: dev/);
  expect(plans["shop"]?.[0]).toEqual(["dev", "dev/argocd/shop clusters/dev/shop.yaml"]);
});

test("what lives on one of them alone names that one, whose own cluster is called as ever", () => {
  const hub = ["dev", "prod"].map((env) => application("web", env).replace("name: web,", `name: web-${env},`)).join("---\n");
  const web = Object.fromEntries(["dev", "prod"].map((env) => [`web/${env}/kustomization.yaml`, KUSTOMIZATION]));
  const other = application("redis", "eu");
  const { proposal, problems, plans } = planned(web, inventoryOf({ hub, other }));
  expect(problems).toEqual([]);
  expect(proposal.rollouts[0]?.text).toMatch(/controlPlane:\n\s+- hub\n/);
  expect(plans["web"]).toEqual([
    ["dev", "hub/argocd/web-dev web/dev/kustomization.yaml"],
    ["prod", "hub/argocd/web-prod web/prod/kustomization.yaml"],
  ]);
});

test("a plane that is called as an environment does not name its own cluster where it is the only one of a rollout", () => {
  const remote = application("web", "prod-1")
    .replace("name: web,", "name: web-prod-1,")
    .replace('server: "https://kubernetes.default.svc"', "name: prod-1");
  const own = application("web", "in-cluster").replace("name: web,", "name: web-in-cluster,");
  const secret = `apiVersion: v1
kind: Secret
metadata: { name: prod-1, labels: { argocd.argoproj.io/secret-type: cluster } }
stringData: { name: prod-1, server: "https://prod-1.example.com" }
`;
  const web = Object.fromEntries(["in-cluster", "prod-1"].map((name) => [`web/${name}/kustomization.yaml`, KUSTOMIZATION]));
  const { proposal, plans } = planned(
    web,
    inventoryOf({ "dev-hub": [own, remote, secret].join("---\n"), other: application("redis", "eu") }),
  );
  expect(proposal.undecided.map(({ why }) => why)).toEqual([]);
  expect(plans["web"]).toHaveLength(1);
});
