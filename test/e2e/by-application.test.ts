import { afterEach, describe, expect, test } from "vitest";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import { mergeChange, onMain } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const ENVIRONMENTS = ["dev", "staging", "prod"];

/** One cluster without labels, three Applications on it, and a folder for each. */
function environments(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  files.delete("appsets/my-app-set.yaml");
  for (const env of ENVIRONMENTS) {
    for (const name of ["kustomization.yaml", "deployment.yaml", "service.yaml"])
      files.set(`environments/${env}/${name}`, files.get(`apps/my-app/${name}`) ?? "");
    files.set(
      `appsets/app-${env}.yaml`,
      `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: app-${env}, namespace: argocd, labels: { app: my-app, env: ${env} } }
spec:
  project: default
  source: { repoURL: "${repoURL}", path: environments/${env}, targetRevision: main }
  destination: { server: "https://one.k8s.example.com", namespace: app-${env} }
  syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`,
    );
  }
  const stages = ENVIRONMENTS.map((env) => `    - { name: ${env}, targets: { selector: { matchLabels: { env: ${env} } } } }\n`);
  files.set(
    "rollouts/my-app.yaml",
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: my-app } } }
  targetBy: application
  release: { from: { file: releases/my-app.yaml, path: version } }
  mode: Run
  pins: [ { file: "environments/{{ application.labels.env }}/kustomization.yaml", path: "images[0].newTag" } ]
  stages:
${stages.join("")}`,
  );
}

const versionIn = (of: Journey, env: string) => /newTag: (\S+)/.exec(onMain(of, `environments/${env}/kustomization.yaml`))?.[1];

describe("environments that are Applications of one cluster", () => {
  test("dev, then staging, which fails: /rollback puts back what moved, though the selector matches nothing any more; prod stays", async () => {
    journey = await startJourney({
      files: environments,
      clusters: [{ name: "one", server: "https://one.k8s.example.com", labels: {} }],
      sets: ENVIRONMENTS.length,
    });
    const { world } = journey;
    world.argocd.setFault("one", { kind: "degraded", application: "app-staging", revision: "v1.4.2" });
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    const plan = await world.untilComment(pull, "Plan:");
    expect(plan).toContain("**3 Applications** in **3 batches** over **3 stages**");
    expect(plan).not.toMatch(/\bclusters?\b/);
    await alice.mergePull(world.repository, pull, "squash");
    const paused = await journey.until("the run pauses", (run) => run.phase === "Paused");
    expect(paused.plan.stages.map(({ clusters }) => clusters)).toEqual([["hub/app-dev"], ["hub/app-staging"], ["hub/app-prod"]]);
    expect(
      paused.batches.flatMap(({ targets, merged }) => (merged ? targets.map(({ application, phase }) => [application, phase]) : [])),
    ).toEqual([
      ["app-dev", "Baked"],
      ["app-staging", "Failed"],
    ]);
    expect(ENVIRONMENTS.map((env) => journey && versionIn(journey, env))).toEqual(["v1.4.2", "v1.4.2", "v1.4.1"]);
    const comment = await world.untilComment(pull, "**Paused");
    expect(comment).toContain("app-staging");
    // The cluster itself is meant where its last answer is.
    expect(comment.replace(/Stagecoach cannot see when .*/, "")).not.toMatch(/\bclusters?\b/);
    const renamed = ENVIRONMENTS.map((env) => `appsets/app-${env}.yaml`).map((file) => [
      file,
      onMain(journey as Journey, file).replace("app: my-app", "app: your-app"),
    ]);
    await mergeChange(journey, "bob", Object.fromEntries(renamed), "Call it otherwise");
    await world.untilComment(pull, "sourceRef no longer takes app-dev, app-staging, app-prod: the plan stands");
    world.github.actAs("bob").comment(world.repository, pull, "/rollback");
    const back = await journey.until("the way back ends", (run) => run.kind === "Rollback" && ended(run));
    expect([back.phase, journey.errors]).toEqual(["RolledBack", []]);
    expect(ENVIRONMENTS.map((env) => journey && versionIn(journey, env))).toEqual(["v1.4.1", "v1.4.1", "v1.4.1"]);
  });
});

const SETS = ["shop", "cart"];

/** A set for each service, with an element for each environment; both bear a label of their team. */
function services(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  files.delete("appsets/my-app-set.yaml");
  for (const set of SETS) files.set(`appsets/${set}.yaml`, setOf(set, repoURL));
  files.set(
    "rollouts/my-app.yaml",
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, selector: { matchLabels: { team: web } } }
  targetBy: application
  release: { from: { file: releases/my-app.yaml, path: version } }
  mode: Run
  pins: [ { file: "appsets/{{ application.set }}.yaml", path: "spec.generators[0].list.elements[env={{ application.labels.env }}].version" } ]
  stages:
    - { name: dev, targets: { selector: { matchLabels: { env: dev } } }, maxUnavailable: 2 }
    - { name: prod, targets: { selector: { matchLabels: { env: prod } } } }
`,
  );
}

function setOf(name: string, repoURL: string, team = "labels: { team: web }"): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: ${name}, namespace: argocd, ${team} }
spec:
  generators: [ { list: { elements: [ { env: dev, version: v1.4.1 }, { env: prod, version: v1.4.1 } ] } } ]
  template:
    metadata: { name: "${name}-{{env}}", labels: { env: "{{env}}" } }
    spec:
      project: default
      source: { repoURL: ${repoURL}, path: apps/my-app, targetRevision: "{{version}}" }
      destination: { server: "https://one.k8s.example.com", namespace: "${name}-{{env}}" }
      syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`;
}

test("two sets by a label of theirs are carried as one, and one that gets another label mid-run stays in it", async () => {
  journey = await startJourney({
    files: services,
    clusters: [{ name: "one", server: "https://one.k8s.example.com", labels: {} }],
    sets: 4,
  });
  const { world } = journey;
  const alice = world.github.actAs("alice");
  const pull = await world.openReleasePull(alice);
  expect(await world.untilComment(pull, "Plan:")).toContain("**4 Applications** in **3 batches** over **2 stages**");
  await alice.mergePull(world.repository, pull, "squash");
  await journey.until("dev has the version", ({ batches }) => batches[0]?.targets.every(({ phase }) => phase === "Baked") === true);
  alice.comment(world.repository, pull, "/pause");
  await journey.until("the run pauses", ({ phase }) => phase === "Paused");
  const cart = onMain(journey, "appsets/cart.yaml").replace("team: web", "team: till");
  await mergeChange(journey, "bob", { "appsets/cart.yaml": cart }, "Give cart to another team");
  await world.untilComment(pull, "sourceRef no longer takes");
  // So that the next release finds it again.
  const named = onMain(journey, "rollouts/my-app.yaml").replace("selector: { matchLabels: { team: web } }", "names: [shop, cart]");
  const files = { "rollouts/my-app.yaml": named, "releases/my-app.yaml": "version: v1.4.3\n" };
  const bob = world.github.actAs("bob");
  await bob.push(world.repository, { branch: "both", files, message: "Name both sets" });
  const mend = await bob.openPull(world.repository, { head: "both", title: "Name both sets" });
  expect(await world.untilComment(mend, "Plan:")).toContain("cart-prod");
  alice.comment(world.repository, pull, "/resume");
  const run = await journey.until("the run ends", ended);
  expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
  expect(run.batches.map(({ targets }) => targets.map(({ application }) => application))).toEqual([
    ["cart-dev", "shop-dev"],
    ["cart-prod"],
    ["shop-prod"],
  ]);
  for (const set of SETS) expect(onMain(journey, `appsets/${set}.yaml`).match(/version: v1\.4\.2/g)).toHaveLength(2);
});

/** An Application for each environment on the hub, which makes the service's own from a folder. The parents are the targets. */
function appsOfApps(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  files.delete("appsets/my-app-set.yaml");
  const one = (name: string, labels: string, path: string, revision: string, destination: string) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: ${name}, namespace: argocd, labels: { ${labels} } }
spec:
  project: default
  source: { repoURL: "${repoURL}", path: ${path}, targetRevision: ${revision} }
  destination: { ${destination} }
  syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`;
  for (const env of ["dev", "prod"]) {
    const hub = 'server: "https://kubernetes.default.svc", namespace: argocd';
    files.set(`appsets/root-${env}.yaml`, one(`root-${env}`, `app: root, env: ${env}`, `environments/${env}`, "main", hub));
    const there = `server: "https://one.k8s.example.com", namespace: web-${env}`;
    files.set(`environments/${env}/web.yaml`, one(`web-${env}`, `app: web, env: ${env}`, "apps/my-app", "v1.4.1", there));
  }
  files.set(
    "rollouts/my-app.yaml",
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: root } } }
  targetBy: application
  release: { from: { file: releases/my-app.yaml, path: version } }
  mode: Run
  pins: [ { file: "environments/{{ application.labels.env }}/web.yaml", path: spec.source.targetRevision } ]
  stages:
    - { name: dev, targets: { selector: { matchLabels: { env: dev } } } }
    - { name: prod, targets: { selector: { matchLabels: { env: prod } } } }
`,
  );
}

test("an app of apps stands still where an Application that it makes is Degraded, though Argo CD calls the parent Healthy", async () => {
  journey = await startJourney({
    files: appsOfApps,
    clusters: [{ name: "one", server: "https://one.k8s.example.com", labels: {} }],
    sets: 4,
  });
  const { world } = journey;
  world.argocd.setFault("one", { kind: "degraded", application: "web-dev", revision: "v1.4.2" });
  const alice = world.github.actAs("alice");
  const pull = await world.openReleasePull(alice);
  await world.untilComment(pull, "Plan:");
  await alice.mergePull(world.repository, pull, "squash");
  const paused = await journey.until("the run pauses", (run) => run.phase === "Paused");
  expect(
    paused.batches.flatMap(({ targets, merged }) => (merged ? targets.map(({ application, phase }) => [application, phase]) : [])),
  ).toEqual([["root-dev", "Failed"]]);
  expect(await world.untilComment(pull, "**Paused")).toContain("argocd/web-dev does not count as healthy: it has been Degraded");
  expect(onMain(journey, "environments/prod/web.yaml")).toContain("targetRevision: v1.4.1");
  expect(journey.errors).toEqual([]);
});
