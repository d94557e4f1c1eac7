import { afterEach, expect, test } from "vitest";
import { proposedFiles } from "../../src/core/report/onboarding/show.ts";
import { proposeFor } from "../../src/surfaces/cli/init/init.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import { mergeChange, onMain, untilRunOf } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const ENVIRONMENTS = ["dev", "prod"];
const SERVICES = ["cart", "search"];
const kustomization = (service: string, env: string) => `services/${service}/overlays/${env}/kustomization.yaml`;

/** One ApplicationSet of two services in two environments on one cluster, and what init proposes for it: nobody wrote a rollout. */
function services(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  const folder = ["kustomization.yaml", "deployment.yaml", "service.yaml"].map((name) => [name, files.get(`apps/my-app/${name}`) ?? ""]);
  files.clear();
  for (const service of SERVICES)
    for (const env of ENVIRONMENTS)
      for (const [name, text = ""] of folder) files.set(`services/${service}/overlays/${env}/${name}`, text.replaceAll("my-app", service));
  files.set(
    "appsets/services.yaml",
    `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: services, namespace: argocd }
spec:
  goTemplate: true
  generators: [ { git: { repoURL: "${repoURL}", revision: main, directories: [ { path: "services/*/overlays/*" } ] } } ]
  template:
    metadata:
      name: "{{index .path.segments 1}}-{{.path.basename}}"
      labels: { service: "{{index .path.segments 1}}", env: "{{.path.basename}}" }
    spec:
      project: default
      source: { repoURL: "${repoURL}", path: "{{.path.path}}", targetRevision: main }
      destination: { server: "https://one.k8s.example.com", namespace: "{{.path.basename}}" }
      syncPolicy: { automated: {} }
`,
  );
  const checkout = {
    root: "/",
    paths: () => [...files.keys()].sort(),
    read: (path: string) => files.get(path) ?? null,
  };
  for (const [path, text] of proposedFiles(proposeFor(checkout, undefined))) files.set(path, text.replace("mode: Propose", "mode: Run"));
}

test("what init proposes for a repo that nobody prepared carries a release, stage by stage, and back again", async () => {
  journey = await startJourney({
    files: services,
    clusters: [{ name: "one", server: "https://one.k8s.example.com", labels: {} }],
    sets: 1,
    rollout: "cart",
  });
  const of = journey;
  const versions = () =>
    SERVICES.flatMap((service) => ENVIRONMENTS.map((env) => /newTag: (\S+)/.exec(onMain(of, kustomization(service, env)))?.[1]));
  expect(versions()).toEqual(["v1.4.1", "v1.4.1", "v1.4.1", "v1.4.1"]);
  const rollout = onMain(of, "rollouts/cart.yaml");
  const pull = await mergeChange(of, "alice", { "rollouts/cart.yaml": rollout.replace("v1.4.1", "v1.4.2") }, "Release cart v1.4.2");
  const run = await untilRunOf(of, "cart", "the run ends", ended);
  expect(run.plan.stages.map(({ name, clusters }) => [name, clusters])).toEqual([
    ["dev", ["hub/cart-dev"]],
    ["prod", ["hub/cart-prod"]],
  ]);
  expect([run.phase, versions(), of.errors]).toEqual(["Succeeded", ["v1.4.2", "v1.4.2", "v1.4.1", "v1.4.1"], []]);
  of.world.github.actAs("bob").comment(of.world.repository, pull, "/rollback");
  const back = await untilRunOf(of, "cart", "the way back ends", (one) => one.kind === "Rollback" && ended(one));
  expect([back.phase, versions(), of.errors]).toEqual(["RolledBack", ["v1.4.1", "v1.4.1", "v1.4.1", "v1.4.1"], []]);
});
