import { afterEach, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { epoch } from "../../src/core/base/time.ts";
import { renderTree } from "../../src/core/report/tree/tree.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import { mergeChange, onMain, untilRunOf } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const SET = "appsets/my-app-set.yaml";
const ROLLOUT = "rollouts/my-app.yaml";
const PIN = "spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision";

/** Rules that most rollouts leave at their defaults, all in one. */
const RULES = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app, namespace: argocd, labels: { team: shop }, annotations: { note: for kubectl } }
spec:
  sourceRef: { apiGroup: argoproj.io/v1alpha1, kind: ApplicationSet, name: my-app-set, namespace: argocd, controlPlane: hub }
  release: { from: { file: releases/my-app.yaml, path: version } }
  mode: Run
  pins: [ { file: ${SET}, path: "${PIN}" } ]
  delivery:
    strategy: PullRequest
    merge: Auto
    ahead: false
    method: rebase
    base: main
    title: "[{{ stage.name }}] {{ release.version }} to {{ batch.size }}"
    body: "Asked for by {{ release.author }}."
    commitMessage: "my-app {{ release.version }} ({{ batch.number }} of {{ batch.of }})"
    signoff: true
  settle: 5s
  grace: 30s
  seenDeadline: 10m
  waitingDeadline: 6h
  baseline: Tolerate
  suspended: Accept
  proof: revision
  flap: { ignore: 30s, most: 3, window: 10m }
  allowUnstaged: true
  joiners: Ignore
  quarantine: { max: 25%, onReturn: Skip, selector: { matchLabels: { stopped: "true" } } }
  onFailure: { action: Continue, maxFailures: 1 }
  rollback: { maxUnavailable: 100%, skipBake: false }
  stages:
    - name: first
      clusters: { selector: { matchExpressions: [ { key: priority, operator: Exists } ] } }
      maxClusters: 75%
      order: { by: label, key: priority }
      maxUnavailable: { start: 1, factor: 2, max: 100% }
      jitter: 2m
      bake: 30s
      progressDeadline: 10m
    - name: second
      clusters: { selector: { matchLabels: { region: us-east-1 } } }
      order: { by: seeded, seed: fleet, pairs: [ [us-east-1-a, us-east-1-b] ] }
      maxUnavailable: 2
      progressDeadline: 10m
`;

/** Applications that people wrote by hand, each with its values in a file; two clusters, one pull request after the other. */
const BY_HAND = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: web }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { by: hand } } }
  release: { values: { image: v1.4.1, revision: v1.4.1 }, attempt: 1 }
  mode: Run
  pins:
    - { file: "appsets/web-{{ cluster.name }}.yaml", path: spec.source.targetRevision, value: "{{ release.values.revision }}" }
    - { file: "web/{{ cluster.name }}.yaml", path: image, part: tag, value: "{{ release.values.image }}" }
    - { file: "web/{{ cluster.name }}.yaml", path: deployed.version, create: true, value: "{{ release.values.revision }}" }
  dependsOn: [ { rollout: my-app, atLeast: v1.4.0 } ]
  inventory: { file: fleet/clusters.yaml }
  stages:
    - name: all
      clusters: { selector: { matchLabels: { tier: web } } }
      batching: Rolling
      maxUnavailable: 1
      requeue: { selector: { matchLabels: { busy: "yes" } }, attempts: 50, interval: 1m }
`;

const WEB = ["eu-central-1-c", "eu-central-1-d"];
const LATE = "eu-west-1-c";

/** Clusters as the repo's own inventory has them: Argo CD knows none of these labels. */
function inventory(clusters: Record<string, string>): string {
  const items = Object.entries(clusters).map(
    ([name, labels]) => `- apiVersion: v1
  kind: Secret
  metadata: { name: ${name}, labels: { argocd.argoproj.io/secret-type: cluster, tier: web${labels} } }
  stringData: { name: ${name}, server: "https://${name}.k8s.example.com" }
`,
  );
  return `apiVersion: v1\nkind: List\nitems:\n${items.join("")}`;
}
/** A set that nobody can render here once it has its last generator; versions stand beside it, so what runs goes on by them. */
const PREVIEWS = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: previews }
spec:
  sourceRef: { kind: ApplicationSet, name: previews-set, unverified: true }
  release: { from: { file: releases/previews.yaml, paths: { image: version, notes: notes } } }
  mode: Run
  pins:
    - { file: "previews/{{ cluster.name }}/kustomization.yaml", path: "images[0].newTag", value: "{{ release.values.image }}" }
    - { file: "previews/{{ cluster.name }}/kustomization.yaml", path: "commonAnnotations.notes", value: "{{ release.values.notes }}" }
  stages:
    - { name: all, clusters: { selector: {} }, maxUnavailable: 2 }
`;

function previewsSet(set: string, last = ""): string {
  const elements = WEB.map((cluster) => `          - { cluster: ${cluster}, server: "https://${cluster}.k8s.example.com" }\n`).join("");
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: previews-set, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${elements}${last}  template:
    metadata: { name: "previews-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: "${/repoURL: (\S+)/.exec(set)?.[1]}", path: "previews/{{cluster}}", targetRevision: main }
      destination: { server: "{{server}}", namespace: previews }
      syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`;
}

const SETTINGS = `mode: Propose
bots: ["renovate[bot]"]
limits: { clusters: 6, targets: 6, label: { key: region, percent: 100 } }
journal: { keep: 1 }
`;

const NOTES = "commonAnnotations:\n  notes: n1\n";

function handWritten(cluster: string, template: string): string {
  const [, source = ""] = /\n {6}source:\n([\s\S]*?)\n {6}destination:/.exec(template) ?? [];
  return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: web-${cluster}, namespace: argocd, labels: { by: hand } }
spec:
  project: default
  source:
${source.replace(/^ {4}/gm, "").replace(/targetRevision: .*/, "targetRevision: v1.4.1")}
  destination: { server: "https://${cluster}.k8s.example.com", namespace: web }
  syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`;
}

function files(all: Map<string, string>): void {
  const set = all.get(SET) ?? "";
  all.set(ROLLOUT, RULES);
  all.set("rollouts/web.yaml", BY_HAND);
  all.set(".github/stagecoach.yaml", SETTINGS);
  all.set("rollouts/previews.yaml", PREVIEWS);
  all.set("releases/previews.yaml", "version: v1.4.1\nnotes: n1\n");
  all.set("appsets/previews-set.yaml", previewsSet(set));
  for (const cluster of WEB)
    for (const name of ["kustomization.yaml", "deployment.yaml", "service.yaml"])
      all.set(`previews/${cluster}/${name}`, `${all.get(`apps/my-app/${name}`) ?? ""}${name === "kustomization.yaml" ? NOTES : ""}`);
  const [first = "", second = ""] = WEB;
  all.set("fleet/clusters.yaml", inventory({ [first]: "", [second]: ', busy: "yes"' }));
  for (const cluster of WEB) for (const [path, text] of Object.entries(webOn(cluster, set))) all.set(path, text);
}

function webOn(cluster: string, set: string): Record<string, string> {
  const values = "image: registry.example.com/web:v1.4.1\ndeployed: {}\n";
  return { [`appsets/web-${cluster}.yaml`]: handWritten(cluster, set), [`web/${cluster}.yaml`]: values };
}

const clusters = (run: Run) => run.batches.map((batch) => batch.targets.map((target) => target.cluster.slice(4)).sort());
const target = (run: Run, cluster: string) => run.batches.flatMap((batch) => batch.targets).find((one) => one.cluster.endsWith(cluster));

test("rules that most rollouts leave at their defaults, hand-written Applications, and the way back by them", async () => {
  const here = await startJourney({ files });
  journey = here;
  const { world } = here;
  const page = githubPage(world);
  const bob = world.github.actAs("bob");
  // eu-west-1-c comes first by its label, past maxClusters comes -d; one is ill before, one is stopped, one stands still for ever.
  for (const [cluster, priority] of Object.entries({ "eu-west-1-c": "1", "eu-west-1-b": "2", "eu-west-1-a": "10", "eu-west-1-d": "11" }))
    world.argocd.relabel(cluster, { priority, drained: null });
  world.argocd.relabel("us-east-1-c", { stopped: "true" });
  world.argocd.setFault("us-east-1-d", { kind: "degraded", scope: "now", application: "my-app-us-east-1-d" });
  world.argocd.setFault("eu-west-1-b", { kind: "suspended", revision: "v1.4.2" } as never);
  world.argocd.setFault("eu-west-1-a", { kind: "degraded", revision: "v1.4.2" });

  // A change that passes the stages by is allowed here, and named.
  const past = onMain(here, SET).replace("namespace: my-app", "namespace: my-app-2");
  await bob.push(world.repository, { branch: "past", files: { [SET]: past }, message: "Another namespace" });
  const allowed = await bob.openPull(world.repository, { head: "past", title: "Another namespace" });

  const release = await here.release("v1.4.2");
  const first = await here.until("its first batch has merged", (run) => run.batches[0]?.merged !== undefined);
  const pull = await page.pull(first.batches[0]?.pull?.number ?? 0);
  expect(pull.title).toBe("[first] v1.4.2 to 1");
  expect(pull.body).toContain("Asked for by alice.");
  expect((await page.check((await page.pull(allowed)).head.sha, "stagecoach/plan")) ?? "").toContain("success");
  const repo = world.github.repoDirectory(world.repository);
  const message = git(repo, "log", "-1", "--format=%B", first.batches[0]?.merged?.commit ?? "");
  expect(message).toMatch(/^my-app v1\.4\.2 \(1 of \d\)\n[\s\S]*Signed-off-by: /);

  // A cluster that appears is named, and left as it is; one that comes out of quarantine, too.
  const joiner = "us-east-1-z";
  world.argocd.addCluster({ name: joiner, server: `https://${joiner}.k8s.example.com`, labels: { region: "us-east-1" } });
  const text = onMain(here, SET);
  const [element = ""] = / {10}- cluster: us-east-1-a\n(?: {12}.*\n)*/.exec(text) ?? [];
  await bob.push(world.repository, {
    branch: "main",
    files: { [SET]: text.replace(element, element + element.replaceAll("us-east-1-a", joiner)) },
    message: "One more",
  });
  await here.until("us-east-1-c is left out", (run) => (run.quarantined ?? []).length === 1);
  world.argocd.relabel("us-east-1-c", { stopped: null });
  const run = await here.until("it ends", ended);

  expect([run.phase, run.why]).toEqual([
    "Succeeded",
    expect.toHaveCode("RUN_THROUGH", { failed: expect.arrayContaining([expect.stringMatching(/\/eu-west-1-a$/)]) }),
  ]);
  expect(clusters(run).slice(0, 2)).toEqual([["eu-west-1-c"], ["eu-west-1-a", "eu-west-1-b"]]);
  expect(clusters(run).flat()).not.toContain("eu-west-1-d");
  expect(clusters(run).some((all) => all.includes("us-east-1-a") && all.includes("us-east-1-b"))).toBe(false);
  expect(target(run, "eu-west-1-b")?.phase).toBe("Baked");
  expect(target(run, "us-east-1-d")).toMatchObject({ phase: "Failed", excused: true });
  expect(run.notJoined?.map((one) => one.cluster)).toEqual([`hub/${joiner}`]);
  expect([here.versions().get("us-east-1-c"), here.versions().get(joiner)]).toEqual(["v1.4.1", "v1.4.1"]);
  const waited = run.batches.slice(0, 2).map((one) => epoch(one.intention?.at ?? one.merged?.at ?? "") - epoch(one.pull?.openedAt ?? ""));
  expect(Math.max(...waited)).toBeGreaterThan(0);
  const tree = renderTree(run, world.clock.now(), { color: false, width: 160 });
  for (const words of ["us-east-1-d", "as before its batch", joiner]) expect(tree).toContain(words);
  await world.untilComment(release, joiner);

  // Applications written by hand: each its own file, the image's tag, and a key that was not there.
  const asked = onMain(here, "rollouts/web.yaml").replaceAll("v1.4.1", "v1.4.2").replace("attempt: 1", "attempt: 2");
  await mergeChange(here, "alice", { "rollouts/web.yaml": asked }, "Release web v1.4.2");
  // Labels are those of the repo's own inventory: one is put off by them, until it is relabelled there; one more joins by it.
  const putOff = await untilRunOf(here, "web", "its first cluster is settled", (one) => one.batches[0]?.phase === "Settled");
  expect([clusters(putOff), putOff.requeued.map((one) => one.cluster)]).toEqual([[[WEB[0]]], [`hub/${WEB[1]}`]]);
  const fleet = inventory(Object.fromEntries([...WEB, LATE].map((cluster) => [cluster, ""])));
  await bob.push(world.repository, {
    branch: "main",
    files: { ...webOn(LATE, onMain(here, SET)), "fleet/clusters.yaml": fleet },
    message: "One is free again, one more comes",
  });
  const web = await untilRunOf(here, "web", "it ends", ended);
  expect([web.phase, clusters(web)]).toEqual(["Succeeded", [...WEB, LATE].map((cluster) => [cluster])]);
  expect(web.joined?.map((one) => one.cluster)).toEqual([`hub/${LATE}`]);
  expect(onMain(here, `web/${WEB[0]}.yaml`)).toContain("image: registry.example.com/web:v1.4.2\n");
  expect(onMain(here, `web/${WEB[0]}.yaml`)).toContain("version: v1.4.2");

  // A generator that only a real Argo CD could run comes last: what a batch would delete cannot be worked out, and is not asked.
  const scm = "    - scmProvider:\n        github: { organization: acme }\n";
  const unrendered = { "appsets/previews-set.yaml": previewsSet(onMain(here, SET), scm) };
  await bob.push(world.repository, { branch: "main", files: unrendered, message: "Previews of every repo" });
  // Renovate opens that release, of one of two values, and a person merges it.
  world.github.collaborator(world.repository, "renovate[bot]", "write");
  const bumped = { "releases/previews.yaml": "version: v1.4.2\nnotes: n1\n" };
  const bump = await mergeChange(here, "alice", bumped, "Update previews to v1.4.2", "renovate[bot]");
  const previews = await untilRunOf(here, "previews", "it ends, or asks", (one) => ended(one) || one.phase === "Paused");
  expect([previews.phase, previews.why, clusters(previews)]).toEqual(["Succeeded", expect.anything(), [WEB]]);
  expect([previews.trigger.author, previews.release.values]).toEqual(["renovate[bot]", { image: "v1.4.2", notes: "n1" }]);
  expect(JSON.stringify(world.kubernetes.store.list("applicationsets"))).toContain("scmProvider");
  for (const cluster of WEB) expect(onMain(here, `previews/${cluster}/kustomization.yaml`)).toContain("newTag: v1.4.2");

  // Both go back together, and the release says so again.
  bob.comment(world.repository, bump, "/rollback");
  const undone = await untilRunOf(here, "previews", "it is taken back", (one) => one.number === 2 && ended(one));
  expect([undone.phase, undone.release.values]).toEqual(["RolledBack", { image: "v1.4.1", notes: "n1" }]);
  expect(onMain(here, "releases/previews.yaml")).toBe("version: v1.4.1\nnotes: n1\n");
  for (const cluster of WEB) expect(onMain(here, `previews/${cluster}/kustomization.yaml`)).toContain("newTag: v1.4.1");

  // The way back: a stage at once but for the pair, and baked. Of my-app's runs only the last stays in the journal's newest state.
  world.argocd.setFault("eu-west-1-a", null);
  bob.comment(world.repository, release, "/rollback");
  const back = await here.until("it is taken back", (one) => one.number === 2 && ended(one));
  expect(back.phase).toBe("RolledBack");
  expect(back.batches.map((batch) => [batch.stage, batch.bake !== undefined])).toEqual([
    [0, false],
    [0, false],
    [1, true],
  ]);
  expect(git(repo, "ls-tree", "--name-only", "stagecoach/journal", "runs/my-app/").trim()).toBe("runs/my-app/2");
  expect(here.errors).toEqual([]);
});
