import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { openCheckout } from "../lint/lint-checkout.ts";
import { lint, readRollouts, rolloutFilesIn } from "../lint/lint-run.ts";
import { type InventoryOptions, inventoryAt } from "./plan-args.ts";
import { makePlan } from "./plan-make.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "planes-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function put(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

/** What `kubectl get applications` prints in each of three clusters that have an Argo CD of their own. */
const application = () => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: shop, namespace: argocd, labels: { app: shop } }
spec:
  project: default
  source: { repoURL: "https://github.com/acme/fleet", path: shop, targetRevision: main }
  destination: { server: "https://kubernetes.default.svc", namespace: shop }
`;

const rollout = (more = "", pin = "envs/{{ controlPlane.name }}.yaml") => `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: shop }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: shop } }, controlPlane: [eu, us, ap] }
  release: { version: v2 }
  pins: [{ file: "${pin}", path: image.tag }]
${more}  stages:
    - name: canary
      clusters: { selector: { matchLabels: { env: canary } } }
    - name: prod
      clusters: { selector: { matchLabels: { env: prod } } }
`;

const OPTIONS: InventoryOptions = {
  inventory: [],
  planeLabels: ["eu:env=canary", "us:env=prod,region=us-east-1", "ap:env=prod"],
};

function planned({ inventory = [], ...labels }: InventoryOptions) {
  const given = inventory.map((one) => one.replace("=", `=${dir}/`));
  const checkout = openCheckout(dir);
  const { rollouts } = readRollouts(checkout, rolloutFilesIn(checkout));
  const [first] = rollouts;
  if (first === undefined) throw new Error("no rollout");
  const made = makePlan(first, checkout, inventoryAt({ ...labels, inventory: given }), {});
  const stages = made.plan?.stages.map((stage) =>
    stage.batches.map((batch) => batch.targets.map(({ key, cluster }) => `${key} on ${cluster}`)),
  );
  const files = made.plan?.stages.flatMap((stage) =>
    stage.batches.flatMap((one) => one.targets.flatMap(({ edits }) => edits[0]?.file ?? [])),
  );
  return { stages, files, problems: made.problems.map((one) => `${one.code} ${sayProblem(one).message}`), plan: made.plan };
}

const THREE = ["eu=eu.yml", "us=us.yml", "ap=ap.yml"];

function threePlanes(text = rollout()): void {
  const envs = Object.fromEntries(["eu", "us", "ap"].map((name) => [`envs/${name}.yaml`, "image: { tag: v1 }\n"]));
  const inventories = Object.fromEntries(["eu", "us", "ap"].map((name) => [`${name}.yml`, application()]));
  put({ "rollouts/shop.yaml": text, ...envs, ...inventories });
}

test("one Argo CD a cluster: each is a target of its own, called by its control plane, with that one's labels", () => {
  threePlanes();
  const { stages, files, problems, plan } = planned({ ...OPTIONS, inventory: THREE });
  expect(problems).toEqual([]);
  expect(plan?.warnings).toEqual([]);
  expect(stages).toEqual([[["eu/argocd/shop on eu/eu"]], [["ap/argocd/shop on ap/ap"], ["us/argocd/shop on us/us"]]]);
  expect(files).toEqual(["envs/eu.yaml", "envs/ap.yaml", "envs/us.yaml"]);
});

test("cluster.name of an in-cluster is its control plane's, and a Secret of its own goes before both", () => {
  threePlanes(rollout("", "envs/{{ cluster.name }}.yaml"));
  const secret = `---
apiVersion: v1
kind: Secret
metadata: { name: own, labels: { argocd.argoproj.io/secret-type: cluster, env: prod } }
stringData: { name: tokyo, server: "https://kubernetes.default.svc" }
`;
  put({ "ap.yml": `${application()}${secret}`, "envs/tokyo.yaml": "image: { tag: v1 }\n" });
  const { stages, files } = planned({ inventory: THREE, planeLabels: ["eu:env=canary", "us:env=prod", "ap:env=canary"] });
  expect(stages?.[1]).toEqual([["ap/argocd/shop on ap/tokyo"], ["us/argocd/shop on us/us"]]);
  expect(files).toEqual(["envs/eu.yaml", "envs/tokyo.yaml", "envs/us.yaml"]);
});

test("of one file for all of them none is another's: without templates by control plane they share the pin, which is refused", () => {
  threePlanes(rollout("", "envs/eu.yaml"));
  expect(planned({ ...OPTIONS, inventory: THREE }).problems.join()).toMatch(/SHARED_PIN|UNIT/);
});

test("a control plane without an inventory, and one misspelt, are told", () => {
  threePlanes();
  expect(planned({ ...OPTIONS, inventory: THREE.slice(0, 2) }).problems).toEqual([
    "PLANE_WITHOUT_INVENTORY --inventory gives nothing of control plane ap: its clusters are not planned",
  ]);
  const labels = ["eu:env=canary", "us:env=prod", "apx:env=prod"];
  expect(planned({ inventory: THREE, planeLabels: labels }).problems).toContain(
    "PLANE_WITHOUT_INVENTORY --plane-labels names apx, which is no control plane of this rollout",
  );
});

test.each([
  [["eu=eu.yml", "eu=us.yml"], [], "names control plane eu twice"],
  [["eu=eu.yml", "us.yml"], [], "each says its control plane"],
  [["eu=none.yml"], [], "is not a file"],
  [[], ["eu"], "write hub-eu:env=prod"],
  [[], ["eu:env"], "write hub-eu:env=prod"],
  [[], ["eu:a b=c"], "write hub-eu:env=prod"],
])("%j %j is wrong usage", (inventory, planeLabels, said) => {
  threePlanes();
  expect(() => planned({ inventory, planeLabels })).toThrow(said);
});

test("spec.inventory.files: each control plane has its own; one of another's name, or none, is a mistake with its place", () => {
  const secrets = (name: string, env: string) => `apiVersion: v1
kind: Secret
metadata: { name: ${name}, labels: { argocd.argoproj.io/secret-type: cluster, env: ${env} } }
data: { name: ${Buffer.from(name).toString("base64")}, server: ${Buffer.from("https://kubernetes.default.svc").toString("base64")} }
`;
  threePlanes(rollout("  inventory: { files: { eu: fleet/eu.yaml, us: fleet/us.yaml } }\n"));
  put({ "fleet/eu.yaml": secrets("frankfurt", "canary"), "fleet/us.yaml": secrets("ohio", "prod") });
  const { stages } = planned({ inventory: THREE, planeLabels: ["ap:env=prod"] });
  expect(stages).toEqual([[["eu/argocd/shop on eu/frankfurt"]], [["ap/argocd/shop on ap/ap"], ["us/argocd/shop on us/ohio"]]]);
  const said = (inventory: string) => {
    put({ "rollouts/shop.yaml": rollout(inventory) });
    const checkout = openCheckout(dir);
    return lint(checkout, ["rollouts/shop.yaml"], undefined).problems.map(
      ({ code, line, column, ...one }) => `${line}:${column} ${code} ${sayProblem({ code, line, column, ...one } as never).hint}`,
    );
  };
  expect(said("  inventory: { files: { eo: fleet/eu.yaml } }\n").join("\n")).toBe("8:25 INVENTORY_FILES did you mean eu?");
  expect(said("  inventory: { files: { eu: fleet/e.yaml } }\n").join("\n")).toContain("INVENTORY_NOT_FOUND did you mean fleet/eu.yaml?");
  expect(said("  inventory: {}\n").join("\n")).toContain("8:14 INVENTORY_FILES give file");
  expect(said("  inventory: { file: a.yaml, files: {} }\n").join("\n")).toContain("8:30 INVENTORY_FILES take one out");
});
