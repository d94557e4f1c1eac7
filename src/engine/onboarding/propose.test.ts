import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Inventory, readInventory } from "../../core/argocd/inventory-file.ts";
import type { Hindrance } from "../../core/reasons/onboarding.ts";
import { proposedFiles } from "../../core/report/onboarding/show.ts";
import type { Proposal } from "../../core/report/onboarding/types.ts";
import { proposeFor } from "../../surfaces/cli/init/init.ts";
import type { Checkout } from "../../surfaces/cli/lint/lint-checkout.ts";
import { lint, readRollouts } from "../../surfaces/cli/lint/lint-run.ts";
import { makePlan } from "../../surfaces/cli/plan/plan-make.ts";

const FLEET = fileURLToPath(new URL("../../../fixtures/fleet/", import.meta.url));

function checkoutOf(files: Record<string, string>): Checkout {
  return { root: "/", paths: () => Object.keys(files).sort(), read: (path) => files[path] ?? null };
}

function folder(path: string, but: RegExp): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    if (entry.isFile() && !but.test(relative(path, full))) files[relative(path, full)] = readFileSync(full, "utf8");
  }
  return files;
}

function secrets(clusters: Record<string, Record<string, string>>): Inventory {
  const items = Object.entries(clusters).map(([name, labels]) => ({
    kind: "Secret",
    metadata: { name: `cluster-${name}`, labels: { "argocd.argoproj.io/secret-type": "cluster", ...labels } },
    stringData: { name, server: `https://${name}.example.com` },
  }));
  return readInventory(JSON.stringify({ kind: "List", items }), "inventory.json");
}

/** What init proposes; every file of it must then pass lint without an error and give a plan that covers all clusters. */
function proposed(files: Record<string, string>, inventory?: Inventory): Proposal {
  const proposal = proposeFor(checkoutOf(files), inventory);
  const after = checkoutOf({ ...files, ...Object.fromEntries(proposedFiles(proposal)) });
  const names = proposal.rollouts.map((rollout) => rollout.file);
  expect(lint(after, names, inventory).problems.filter((problem) => problem.severity === "error")).toEqual([]);
  for (const rollout of readRollouts(after, names).rollouts) {
    const names = rollout.release?.kind === "values" ? Object.keys(rollout.release.values) : ["version"];
    const { plan, problems } = makePlan(rollout, after, inventory, Object.fromEntries(names.map((name) => [name, "v9.9.9"])));
    expect(problems.filter((problem) => problem.severity === "error")).toEqual([]);
    expect(plan?.uncovered).toEqual([]);
    expect(plan?.stages.flatMap((stage) => stage.batches).length).toBeGreaterThan(1);
  }
  return proposal;
}

test("a set that selects clusters by a label which none has is told with that label, not only that it yields nothing", () => {
  const generators = `    - matrix:
        generators:
          - clusters: { selector: { matchLabels: { env: prod }, matchExpressions: [{ key: enable_shop, operator: In, values: ["true"] }] } }
          - list: { elements: [{ tag: v1 }] }`;
  const files = {
    "appsets/shop.yaml": set(generators, "      source: { repoURL: https://github.com/acme/config.git, path: shop }", "{{name}}"),
  };
  const { undecided } = proposed(files, secrets({ "eu-1": { env: "prod" }, "us-1": { env: "prod" } }));
  expect(undecided.map(({ why }) => why)).toEqual([{ kind: "NoApplications", labels: ["enable_shop"], patterns: [] }]);
});

function set(generators: string, source: string, name = "{{cluster}}"): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: shop, namespace: argocd }
spec:
  generators:
${generators}
  template:
    metadata: { name: "shop-${name}" }
    spec:
      project: default
      destination: { name: "${name}", namespace: shop }
      syncPolicy: { automated: {} }
${source}
`;
}

const LIST = `    - list:
        elements:
          - { cluster: dev-1, tag: v1.2.2 }
          - { cluster: prod-1, tag: v1.2.1 }
          - { cluster: prod-2, tag: v1.2.1 }`;
const OURS = "repoURL: https://github.com/acme/config.git, targetRevision: HEAD";
const each = (file: (cluster: string) => string, text: string): Record<string, string> =>
  Object.fromEntries(["dev-1", "prod-1", "prod-2"].map((cluster) => [file(cluster), text]));

describe("where versions live", () => {
  test.each<[string, Record<string, string>, unknown]>([
    [
      "targetRevision from a list element",
      { "set.yaml": set(LIST, `      source: { repoURL: https://charts.example.com, chart: shop, targetRevision: "{{tag}}" }`) },
      [{ file: "set.yaml", path: "spec.generators[0].list.elements[cluster={{ cluster.name }}].tag" }],
    ],
    [
      "a Helm parameter from a list element",
      {
        "set.yaml": set(
          LIST,
          `      source: { ${OURS}, path: chart, helm: { parameters: [ { name: image.tag, value: "{{tag}}" }, { name: replicas, value: "3" } ] } }`,
        ),
      },
      [{ file: "set.yaml", path: "spec.generators[0].list.elements[cluster={{ cluster.name }}].tag" }],
    ],
    [
      "a value of the Helm values inside the template",
      {
        "set.yaml": set(
          LIST,
          `      source:\n        ${OURS.replace(", ", "\n        ")}\n        path: chart\n        helm:\n          values: |\n            replicas: 2\n            image:\n              tag: "{{tag}}"`,
        ),
      },
      [{ file: "set.yaml", path: "spec.generators[0].list.elements[cluster={{ cluster.name }}].tag" }],
    ],
    [
      "the config file of a git generator",
      {
        "set.yaml": set(
          "    - git: { repoURL: https://github.com/acme/config.git, revision: HEAD, files: [ { path: clusters/*/config.json } ] }",
          `      source: { ${OURS.replace("HEAD", '"{{app.version}}"')}, path: shop }`,
          "{{path.basename}}",
        ),
        ...each((cluster) => `clusters/${cluster}/config.json`, '{ "app": { "version": "v1.2.1" } }\n'),
      },
      [{ file: "clusters/{{ cluster.name }}/config.json", path: "app.version" }],
    ],
    [
      "image.tag of a values file of its own",
      {
        "set.yaml": set(
          LIST.replaceAll(/, tag: \S+/g, ""),
          `      source: { ${OURS}, path: charts/shop, helm: { valueFiles: [ values.yaml, "values-{{cluster}}.yaml" ] } }`,
        ),
        "charts/shop/values.yaml": "image: { repository: acme/shop, tag: v0.0.1 }\n",
        ...each((cluster) => `charts/shop/values-${cluster}.yaml`, "image:\n  tag: v1.2.1\n"),
      },
      [{ file: "charts/shop/values-{{ cluster.name }}.yaml", path: "image.tag" }],
    ],
    [
      "a values file of another source ($values)",
      {
        "set.yaml": set(
          LIST.replaceAll(/, tag: \S+/g, ""),
          `      sources:\n        - { repoURL: https://charts.example.com, chart: shop, targetRevision: "^1", helm: { valueFiles: [ "$values/env/{{cluster}}/shop.yaml" ] } }\n        - { ${OURS}, ref: values }`,
        ),
        ...each((cluster) => `env/${cluster}/shop.yaml`, "shop:\n  image:\n    tag: v1.2.1\n"),
      },
      [{ file: "env/{{ cluster.name }}/shop.yaml", path: "shop.image.tag" }],
    ],
    [
      "newTag of a kustomization",
      {
        "set.yaml": set(LIST.replaceAll(/, tag: \S+/g, ""), `      source: { ${OURS}, path: "overlays/{{cluster}}" }`),
        ...each(
          (cluster) => `overlays/${cluster}/kustomization.yaml`,
          "resources: [../../base]\nimages:\n  - name: acme/shop\n    newTag: v1.2.1\n",
        ),
      },
      [{ file: "overlays/{{ cluster.name }}/kustomization.yaml", path: "images[name=acme/shop].newTag" }],
    ],
    [
      "helmCharts of a kustomization",
      {
        "set.yaml": set(LIST.replaceAll(/, tag: \S+/g, ""), `      source: { ${OURS}, path: "overlays/{{cluster}}" }`),
        ...each(
          (cluster) => `overlays/${cluster}/kustomization.yaml`,
          "helmCharts:\n  - name: shop\n    repo: https://charts.example.com\n    version: 1.2.1\n",
        ),
      },
      [{ file: "overlays/{{ cluster.name }}/kustomization.yaml", path: "helmCharts[name=shop].version" }],
    ],
    [
      "?ref= of a kustomization",
      {
        "set.yaml": set(LIST.replaceAll(/, tag: \S+/g, ""), `      source: { ${OURS}, path: "overlays/{{cluster}}" }`),
        ...each((cluster) => `overlays/${cluster}/kustomization.yaml`, "resources:\n  - https://github.com/acme/shop//deploy?ref=v1.2.1\n"),
      },
      [{ file: "overlays/{{ cluster.name }}/kustomization.yaml", path: "resources[0]", part: "ref" }],
    ],
    [
      "a dependency of Chart.yaml",
      {
        "set.yaml": set(LIST.replaceAll(/, tag: \S+/g, ""), `      source: { ${OURS}, path: "clusters/{{cluster}}/shop" }`),
        ...each(
          (cluster) => `clusters/${cluster}/shop/Chart.yaml`,
          "name: umbrella\nversion: 0.1.0\ndependencies:\n  - { name: shop, version: 1.2.1 }\n",
        ),
      },
      [{ file: "clusters/{{ cluster.name }}/shop/Chart.yaml", path: "dependencies[name=shop].version" }],
    ],
    [
      "the image of a workload in plain manifests",
      {
        "set.yaml": set(LIST.replaceAll(/, tag: \S+/g, ""), `      source: { ${OURS}, path: "clusters/{{cluster}}" }`),
        ...each(
          (cluster) => `clusters/${cluster}/deployment.yaml`,
          "kind: Deployment\nmetadata: { name: shop }\nspec:\n  template:\n    spec:\n      containers:\n        - { name: shop, image: acme/shop:v1.2.1 }\n",
        ),
      },
      [{ file: "clusters/{{ cluster.name }}/deployment.yaml", path: "spec.template.spec.containers[name=shop].image", part: "tag" }],
    ],
  ])("%s", (_name, files, pins) => {
    const { rollouts, undecided } = proposed(files);
    expect(undecided).toEqual([]);
    expect(rollouts[0]?.pins).toEqual(pins);
    expect(rollouts[0]?.version).toMatch(/^v?1\.2\.[12]$/);
  });

  test("targetRevision of hand-written Applications, a file each", () => {
    const files = Object.fromEntries(
      ["dev-1", "prod-1", "prod-2"].map((cluster) => [
        `apps/${cluster}/shop.yaml`,
        `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: shop-${cluster}, namespace: argocd }\nspec:\n  project: default\n  destination: { name: ${cluster}, namespace: shop }\n  syncPolicy: { automated: {} }\n  source: { repoURL: https://charts.example.com, chart: shop, targetRevision: 1.2.1 }\n`,
      ]),
    );
    const proposal = proposeFor(checkoutOf(files), applications(files));
    expect(proposal.rollouts[0]).toMatchObject({
      name: "shop",
      source: { kind: "Application" },
      pins: [{ file: "apps/{{ cluster.name }}/shop.yaml", path: "spec.source.targetRevision" }],
    });
    proposed(files, applications(files));
  });

  function applications(files: Record<string, string>): Inventory {
    return readInventory(Object.values(files).join("---\n"), "applications.yaml");
  }

  test("two clusters-generator entries", () => {
    const entry = (operator: string, revision: string) =>
      `    - clusters: { values: { revision: ${revision} } }\n      selector: { matchExpressions: [ { key: name, operator: ${operator}, values: [no-cluster.stagecoach.dev] } ] }`;
    const files = {
      "set.yaml": set(
        `${entry("NotIn", "v1.2.1")}\n${entry("In", "v1.2.2")}`,
        `      source: { ${OURS.replace("HEAD", '"{{values.revision}}"')}, path: shop }`,
        "{{name}}",
      ),
    };
    const inventory = secrets({ "dev-1": { env: "dev" }, "prod-1": { env: "prod" }, "prod-2": { env: "prod" } });
    expect(proposed(files, inventory).rollouts[0]?.pins).toEqual([{ clusterGenerator: { file: "set.yaml", path: "values.revision" } }]);
  });

  test("images of one maker have a value each, though they are at one version now, and others are asked about", () => {
    const files = {
      "set.yaml": set(LIST.replaceAll(/, tag: \S+/g, ""), `      source: { ${OURS}, path: "overlays/{{cluster}}" }`),
      ...each(
        (cluster) => `overlays/${cluster}/kustomization.yaml`,
        "images:\n  - { name: acme/shop, newTag: v1.2.1 }\n  - { name: acme/shop-worker, newTag: v1.2.1 }\n  - { name: redis, newTag: v7.2.0 }\n",
      ),
    };
    const [rollout] = proposed(files).rollouts;
    const file = "overlays/{{ cluster.name }}/kustomization.yaml";
    expect(rollout?.pins).toEqual([
      { file, path: "images[name=acme/shop].newTag", value: "{{ release.values.shop }}" },
      { file, path: "images[name=acme/shop-worker].newTag", value: "{{ release.values.shop_worker }}" },
    ]);
    expect(parse(rollout?.text ?? "").spec.release).toEqual({ values: { shop: "v1.2.1", shop_worker: "v1.2.1" } });
    expect(rollout?.questions).toMatchObject([{ kind: "BringAlong", slot: "kustomize newTag redis", values: ["v7.2.0"] }]);
  });
});

describe("what only a person can decide", () => {
  test.each<[string, string, Partial<Hindrance>]>([
    [
      "a version that stands once for all",
      set(LIST, `      source: { repoURL: https://c.example.com, chart: shop, targetRevision: 1.2.1 }`),
      { kind: "OneVersionForAll", applications: 3 },
    ],
    ["a branch that all follow", set(LIST, `      source: { ${OURS}, path: shop }`), { kind: "NoVersion", anywhere: false }],
    [
      "one cluster",
      set("    - list: { elements: [ { cluster: a, tag: v1 } ] }", `      source: { ${OURS.replace("HEAD", '"{{tag}}"')}, path: x }`),
      { kind: "OneApplication", cluster: "a" },
    ],
    [
      "clusters that nobody named",
      set("    - clusters: {}", `      source: { ${OURS}, path: x }`, "{{name}}"),
      { kind: "ClustersUnknown" },
    ],
    [
      "a generator that cannot be rendered here",
      set("    - pullRequest: { github: { owner: a, repo: b } }", `      source: { ${OURS}, path: x }`),
      { kind: "NotRendered" },
    ],
    ["a Helm template", `{{- if .Values.on }}\n${set(LIST, "      source: {}")}\n{{- end }}\n`, { kind: "HelmTemplate" }],
  ])("%s is told with its reason", (_name, text, why) => {
    const { rollouts, undecided } = proposed({ "set.yaml": text });
    expect(rollouts).toEqual([]);
    expect(undecided[0]?.why).toMatchObject(why);
  });

  test("a version in the annotations of a cluster's Secret", () => {
    const files = {
      "set.yaml": set(
        "    - clusters: { values: { v: '{{metadata.annotations.version}}' } }",
        `      source: { ${OURS.replace("HEAD", "'{{values.v}}'")}, path: x }`,
        "{{name}}",
      ),
    };
    const inventory = secrets({ "a-1": {}, "b-1": {} });
    expect(proposed(files, inventory).undecided[0]?.why).toMatchObject({
      kind: "NoVersion",
      because: [{ kind: "OfSecret" }, { kind: "OtherBranch" }],
    });
  });
});

describe("stages", () => {
  const files = folder(FLEET, /^(rollouts|\.github)\//);
  const stagesOf = (labels: Record<string, Record<string, string>>) => {
    const names = Object.keys(labels);
    const list = `    - list:\n        elements:\n${names.map((name) => `          - { cluster: ${name}, tag: v1.0.0 }`).join("\n")}`;
    const text = set(list, `      source: { ${OURS.replace("HEAD", '"{{tag}}"')}, path: x }`);
    return proposed({ "set.yaml": text }, secrets(labels)).rollouts[0]?.stages.map(
      (stage) => `${stage.name}: ${stage.clusters} by ${stage.maxUnavailable}`,
    );
  };

  test("the fleet of the examples: a canary, then region by region, and what is drained put off", () => {
    const inventory = readInventory(files["inventory.yaml"] ?? "", "inventory.yaml");
    const { rollouts, undecided, settings } = proposed(files, inventory);
    expect([rollouts.map((rollout) => rollout.file), undecided, settings?.file]).toEqual([
      ["rollouts/my-app.yaml"],
      [],
      ".github/stagecoach.yaml",
    ]);
    expect(parse(rollouts[0]?.text ?? "").spec.stages).toMatchObject([
      { name: "canary", maxClusters: 1, requeue: { selector: { matchLabels: { drained: "true" } } } },
      { name: "everywhere else", topologyKey: "region", maxUnavailable: "25%" },
    ]);
  });

  test("without an inventory it goes by what generators say, and lint and plan still hold", () => {
    expect(proposed(files).rollouts[0]?.version).toBe("v1.4.1");
  });

  test("environments go from furthest to nearest, whatever their letters, and the nearest is split", () => {
    const labels: Record<string, Record<string, string>> = { a: { env: "prod" }, b: { env: "staging" }, c: { env: "dev" } };
    for (const n of [1, 2, 3, 4]) labels[`p${n}`] = { env: "prod", region: n % 2 === 0 ? "eu" : "us" };
    expect(stagesOf(labels)).toEqual(["dev: 1 by 100%", "staging: 1 by 100%", "canary in prod: 1 by 1", "rest of prod: 4 by 25%"]);
  });

  test("waves go by number", () => {
    const labels = Object.fromEntries([1, 2, 10, 3].map((n) => [`c${n}`, { wave: `wave-${n}` }]));
    expect(stagesOf(labels)?.map((stage) => stage.split(":")[0])).toEqual(["wave-1", "wave-2", "wave-3", "wave-10"]);
  });

  test("clusters that share a values file by environment move as one stage each", () => {
    const text = set(
      `    - list:\n        elements:\n          - { cluster: d1, env: dev }\n          - { cluster: p1, env: prod }\n          - { cluster: p2, env: prod }`,
      `      source: { ${OURS}, path: chart, helm: { valueFiles: [ "values-{{env}}.yaml" ] } }`,
    );
    const files = {
      "set.yaml": text,
      "chart/values-dev.yaml": "image: { tag: v1.0.0 }\n",
      "chart/values-prod.yaml": "image: { tag: v1.0.0 }\n",
    };
    const inventory = secrets({ d1: { env: "dev" }, p1: { env: "prod" }, p2: { env: "prod" } });
    const [rollout] = proposed(files, inventory).rollouts;
    expect(rollout?.pins).toEqual([{ file: "chart/values-{{ params.env }}.yaml", path: "image.tag" }]);
    expect(rollout?.stages.map((stage) => [stage.name, stage.maxUnavailable])).toEqual([
      ["dev", "100%"],
      ["prod", "100%"],
    ]);
  });
});

/** Hand-written Applications of three environments, each of a folder of its own. */
function environments(folders: Record<string, string>, spec: Record<string, string> = {}): Record<string, string> {
  const files: Record<string, string> = { "base/kustomization.yaml": "resources: [deployment.yaml]\n" };
  files["base/deployment.yaml"] = `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec: { template: { spec: { containers: [{ name: shop, image: "ghcr.io/acme/shop:1.9.0" }] } } }
`;
  for (const [folder, kustomization] of Object.entries(folders)) {
    const env = folder.replace(/^.*-/, "");
    files[`apps/shop-${env}.yaml`] = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: shop-${env}, namespace: argocd }
spec:
  project: default
  source: { repoURL: https://github.com/acme/config.git, path: overlays/${folder}, targetRevision: main }
  destination: { server: https://kubernetes.default.svc, namespace: shop-${env} }
${spec[env] ?? "  syncPolicy: { automated: {} }"}
`;
    files[`overlays/${folder}/kustomization.yaml`] = `resources: [../../base]\n${kustomization}`;
  }
  return files;
}

const tagged = (tag: string) => `images:\n  - name: ghcr.io/acme/shop\n    newTag: ${tag}\n`;

describe("environments in folders", () => {
  test("a version that only the base has is overridden in each overlay, and one that an overlay has stays there", () => {
    const { rollouts, undecided } = proposed(environments({ dev: tagged("1.10.0"), staging: "", prod: "" }));
    expect(undecided).toEqual([]);
    const [rollout] = rollouts;
    const pin = { file: "{{ application.path }}/kustomization.yaml", path: "images[name=ghcr.io/acme/shop].newTag", create: true };
    expect(rollout).toMatchObject({
      pins: [pin],
      version: "1.10.0",
      guesses: expect.arrayContaining([{ kind: "DefaultForAll", version: "1.10.0" }]),
    });
  });

  test("folders that numbers put in order are one thing", () => {
    const { rollouts } = proposed(environments({ "01-dev": tagged("1.0.0"), "02-stage": tagged("1.0.0"), "03-prod": tagged("1.0.0") }));
    expect(rollouts.map(({ stages }) => stages.map(({ name }) => name))).toEqual([["dev", "stage", "prod"]]);
  });

  test("of several versions the newest is taken, so that nothing goes down, and asked about", () => {
    const { rollouts } = proposed(environments({ dev: tagged("1.10.0"), staging: tagged("1.9.0"), prod: tagged("1.9.0") }));
    expect(rollouts).toMatchObject([{ version: "1.10.0", questions: [{ kind: "WhichVersion", taken: "1.10.0" }] }]);
    const commits = proposed(environments({ dev: tagged("0a1b2c3d"), staging: tagged("4e5f6a7b"), prod: tagged("4e5f6a7b") }));
    expect(commits.rollouts).toMatchObject([{ version: "4e5f6a7b", questions: [{ kind: "WhichVersion", taken: "4e5f6a7b" }] }]);
  });

  test("a tag that is called as its environment is one, and the release begins with a version", () => {
    const { rollouts } = proposed(environments({ dev: tagged("develop-1a2b3c4"), qa: tagged("qa"), prod: tagged("v0.1.1") }));
    expect(rollouts).toMatchObject([{ version: "v0.1.1", questions: [{ versions: ["develop-1a2b3c4", "v0.1.1", "qa"] }] }]);
  });

  test("one that reads another branch is told so, whatever the others have", () => {
    const files = environments({ dev: tagged("v1"), prod: tagged("v1") });
    const app = files["apps/shop-prod.yaml"] ?? "";
    const { undecided } = proposed({ ...files, "apps/shop-prod.yaml": app.replace("targetRevision: main", "targetRevision: env/prod") });
    expect(undecided.map(({ why }) => why)).toEqual([
      { kind: "NoVersion", anywhere: false, because: [{ kind: "OtherBranch", branch: "env/prod", some: true }] },
    ]);
  });

  test("where nothing but the environment in a path differs, the label that would tell it is named", () => {
    const files: Record<string, string> = {};
    for (const env of ["dev", "prod"])
      files[`${env}/web.yaml`] = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: web-${env}, namespace: argocd }
spec:
  source: { repoURL: https://charts.example.com, chart: web, targetRevision: 1.2.0 }
  destination: { server: https://kubernetes.default.svc, namespace: web-${env} }
  syncPolicy: { automated: {} }
`;
    expect(proposed(files).undecided[0]?.why).toMatchObject({
      slots: [{ label: { values: ["dev", "prod"], text: "{{ application.labels.env }}/web.yaml" } }],
    });
    const parents = Object.fromEntries(
      ["dev", "prod"].map((env) => [
        `root-${env}.yaml`,
        (files[`${env}/web.yaml`] ?? "")
          .replaceAll("web-", "root-")
          .replace(/source: .*/, `source: { repoURL: https://github.com/acme/config.git, path: ${env}, targetRevision: main }`),
      ]),
    );
    expect(
      proposed({ ...files, ...parents })
        .undecided.map(({ why }) => why.kind)
        .sort(),
    ).toEqual(["NoPin", "Parents"]);
  });

  test("production that people sync waits for them, and who syncs is asked", () => {
    const byHand = { prod: "  syncPolicy: { syncOptions: [CreateNamespace=true] }" };
    const { rollouts } = proposed(environments({ dev: tagged("1.0.0"), prod: tagged("1.0.0") }, byHand));
    expect(rollouts[0]?.stages.map(({ name, sync }) => [name, sync])).toEqual([
      ["dev", undefined],
      ["prod", "Wait"],
    ]);
    expect(rollouts[0]?.questions).toEqual([{ kind: "WhoSyncs", stages: ["prod"] }]);
    expect(rollouts[0]?.text).toMatch(/# Question: Applications of prod have no automated sync[\s\S]*sync: Wait/);
  });
});

test("what is there is not proposed again under its name, and settings that are there are left alone", () => {
  const files = { ...folder(FLEET, /^$/), ".github/stagecoach.yaml": "mode: Run\n" };
  const { rollouts, existing, settings } = proposeFor(checkoutOf(files), undefined);
  expect([rollouts, existing]).toEqual([[], ["my-app"]]);
  expect(settings).toBeUndefined();
});

test("a rollout of Skyscanner's controller counts as one: its ApplicationSet is not proposed again", () => {
  const sample = readFileSync(new URL("../../../fixtures/skyscanner/progressiverollout-sample.yaml", import.meta.url), "utf8");
  const settings = readFileSync(new URL("../../../fixtures/skyscanner/stagecoach.yaml", import.meta.url), "utf8");
  const files = { ...folder(FLEET, /^(rollouts|\.github)\//), "rollouts/sample.yaml": sample, ".github/stagecoach.yaml": settings };
  const { rollouts, existing, undecided } = proposeFor(checkoutOf(files), undefined);
  expect([rollouts, existing, undecided]).toEqual([[], ["progressiverollout-sample"], []]);
});
