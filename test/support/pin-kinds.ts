import { git } from "../../src/adapters/git/testing/repositories.ts";
import { asApplication } from "../../src/sim/argocd/types.ts";
import type { EmbeddedWorld, WorldOptions } from "../../src/sim/world.ts";

type Files = Map<string, string>;

export const SET_FILE = "appsets/my-app-set.yaml";
export const ROLLOUT_FILE = "rollouts/my-app.yaml";

const STAGES = `  stages:
    - name: canary
      clusters: { selector: { matchLabels: { area: emea } } }
      maxClusters: 2
      maxUnavailable: 2
    - name: the rest
      clusters: { selector: {} }
      maxUnavailable: 50%
`;

function rollout(release: string, more: string): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, name: my-app-set }
  release: ${release}
  mode: Run
${more}${STAGES}`;
}

function setWith(generators: string, template: { name: string; server: string; revision: string }, repoURL: string): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: my-app-set
  namespace: argocd
spec:
  generators:
${generators}  template:
    metadata:
      name: my-app-{{${template.name}}}
    spec:
      project: default
      source:
        repoURL: ${repoURL}
        path: apps/my-app
        targetRevision: "${template.revision}"
      destination:
        server: "{{${template.server}}}"
        namespace: my-app
      syncPolicy:
        automated: { prune: true, selfHeal: true }
        syncOptions: [CreateNamespace=true]
`;
}

function repoURLIn(files: Files): string {
  return /repoURL: (\S+)/.exec(files.get(SET_FILE) ?? "")?.[1] ?? "";
}

/** The sample with its version in a clusters generator: two entries between which clusters move. */
export const clustersGenerator: NonNullable<WorldOptions["files"]> = (files) => {
  const entry = (operator: string, comment: string) => `    - clusters:
        selector: { matchLabels: { argocd.argoproj.io/secret-type: cluster } }
        values: { revision: v1.4.1 } # ${comment}
      selector:
        matchExpressions:
          - key: name
            operator: ${operator}
            values: [no-cluster.stagecoach.dev]
`;
  const generators = entry("NotIn", "all but those named") + entry("In", "those named");
  files.set(SET_FILE, setWith(generators, { name: "name", server: "server", revision: "{{values.revision}}" }, repoURLIn(files)));
  const pin = "file: appsets/my-app-set.yaml, old: 'spec.generators[0]', new: 'spec.generators[1]', path: values.revision";
  files.set(
    ROLLOUT_FILE,
    rollout("{ from: { file: releases/my-app.yaml, path: version } }", `  pins:\n    - clusterGenerator: { ${pin} }\n`),
  );
};

const LIST_PIN =
  "  pins:\n    - file: appsets/my-app-set.yaml\n      path: spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision\n";

/** The sample released by whoever merges a change of the app: clusters follow full commit ids. */
export const releasedByCommit: NonNullable<WorldOptions["files"]> = (files) => {
  files.set(ROLLOUT_FILE, rollout('{ commit: { paths: ["apps/my-app/**"] } }', LIST_PIN));
};

/** The sample released by tags of the repo. */
export const releasedByTag: NonNullable<WorldOptions["files"]> = (files) => {
  files.set(ROLLOUT_FILE, rollout('{ tag: { range: "^1.4", prefix: v } }', LIST_PIN));
};

/** The sample with a branch for each cluster, to be followed once `followBranches` has made them. */
export const environmentBranches: NonNullable<WorldOptions["files"]> = (files) => {
  const pins = '  delivery: { strategy: Commit }\n  pins:\n    - branch: "env/{{ cluster.name }}"\n';
  files.set(ROLLOUT_FILE, rollout("{ version: v1.4.1 }", pins));
};

/** The same with a tag for each cluster. */
export const environmentTags: NonNullable<WorldOptions["files"]> = (files) => {
  const pins = '  delivery: { strategy: Commit }\n  pins:\n    - tag: "env/{{ cluster.name }}"\n';
  files.set(ROLLOUT_FILE, rollout("{ version: v1.4.1 }", pins));
};

export const forcedTags: NonNullable<WorldOptions["files"]> = (files) => {
  environmentTags(files);
  files.set(ROLLOUT_FILE, (files.get(ROLLOUT_FILE) ?? "").replace("    - tag:", "    - fastForward: false\n      tag:"));
};

/** Makes a branch (or an annotated tag) for each cluster and has its Application follow it. Resolves once all of them are live there. */
export async function followBranches(world: EmbeddedWorld, as: "branch" | "tag" = "branch"): Promise<void> {
  const directory = world.github.repoDirectory(world.repository);
  const more = as === "tag" ? ["-a", "-m", "where it is"] : [];
  for (const cluster of world.clusters) git(directory, as, ...more, `env/${cluster}`, "main");
  const files = new Map([[SET_FILE, git(directory, "show", `main:${SET_FILE}`)]]);
  const elements = world.clusters.map((cluster) => `          - { cluster: ${cluster}, server: "https://${cluster}.k8s.example.com" }\n`);
  const set = setWith(
    `    - list:\n        elements:\n${elements.join("")}`,
    { name: "cluster", server: "server", revision: "env/{{cluster}}" },
    repoURLIn(files),
  );
  const following = untilApplications(world, (application) => {
    const { sync, health } = application.status ?? {};
    const revision = application.spec.source?.targetRevision ?? "";
    return revision.startsWith("env/") && sync?.status === "Synced" && health?.status === "Healthy";
  });
  await world.github.actAs("alice").push(world.repository, { branch: "main", files: { [SET_FILE]: set }, message: "A branch a cluster" });
  await following;
}

type Application = ReturnType<typeof asApplication>;

/** The Applications of the sample; their parent is not one of them. */
export function applications(world: EmbeddedWorld): Application[] {
  return world.kubernetes.store
    .list("applications")
    .map(asApplication)
    .filter((application) => application.metadata.name.startsWith("my-app-"));
}

function untilApplications(world: EmbeddedWorld, holds: (application: Application) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const off = world.kubernetes.store.subscribe("applications", look);
    look();
    function look(): void {
      const all = applications(world);
      if (all.length !== world.clusters.length || !all.every(holds)) return;
      off();
      resolve();
    }
  });
}

/** A commit that changes the app, tagged, and a merged PR that asks for it. Gives the tagged commit. */
export async function releaseTag(world: EmbeddedWorld, version: string): Promise<string> {
  const alice = world.github.actAs("alice");
  const directory = world.github.repoDirectory(world.repository);
  const path = "apps/my-app/kustomization.yaml";
  const text = git(directory, "show", `main:${path}`);
  const built = await alice.push(world.repository, {
    branch: "main",
    files: { [path]: `${text.replaceAll("v1.4.1", version)}\n` },
    message: `my-app ${version}`,
  });
  git(directory, "tag", "-a", "-m", version, version, built);
  await askFor(world, version);
  return built;
}

/** A merged PR that asks for this version in the rollout itself. */
export async function askFor(world: EmbeddedWorld, version: string): Promise<void> {
  const alice = world.github.actAs("alice");
  const directory = world.github.repoDirectory(world.repository);
  const asked = git(directory, "show", `main:${ROLLOUT_FILE}`).replace(/version: \S+/, `version: ${version}`);
  const branch = `release-${version}`;
  await alice.push(world.repository, { branch, files: { [ROLLOUT_FILE]: `${asked}\n` }, message: `Release ${version}` });
  const pull = await alice.openPull(world.repository, { head: branch, title: `Release ${version}` });
  await alice.mergePull(world.repository, pull, "squash");
}

/** Head of each cluster's branch, or what its tag names. */
export function branchHeads(world: EmbeddedWorld, under: "heads" | "tags" = "heads"): Map<string, string> {
  const lines = git(
    world.github.repoDirectory(world.repository),
    "for-each-ref",
    "--format=%(refname:lstrip=3) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)",
    `refs/${under}/env`,
  );
  return new Map(lines.split("\n").map((line) => line.split(" ") as [string, string]));
}
