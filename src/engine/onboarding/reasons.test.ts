/** One right reason for what is not proposed, and what is proposed though some of it cannot be: as public repos have it. */
import { expect, test } from "vitest";
import { application, BASE, CHART, DEPLOYMENT, each, json, overlay, REPO, set, spec } from "../../../test/support/layout-parts.ts";
import type { Hindrance } from "../../core/reasons/onboarding.ts";
import { sayHindrance } from "../../core/report/onboarding/hindrance.ts";
import type { Proposal } from "../../core/report/onboarding/types.ts";
import { propose } from "./propose.ts";

function proposed(files: Record<string, string>, defaultBranch?: string): Proposal {
  const repo = { paths: () => Object.keys(files).sort(), read: (path: string) => files[path] ?? null };
  return propose({ files: repo, clusters: [], applications: [], isThisRepo: (url) => url === REPO, defaultBranch, verify: () => [] });
}

const why = (files: Record<string, string>, defaultBranch?: string): Hindrance[] =>
  proposed(files, defaultBranch).undecided.map((one) => one.why);
const stages = ({ rollouts }: Proposal) => rollouts.map((one) => one.stages.map(({ name, clusters }) => `${name} ${clusters}`).join(", "));
const shop = (env: string, source: Parameters<typeof application>[1], name = `shop-${env}`): [string, string] => [
  `apps/${name}.yaml`,
  json(application(name, source, { namespace: name, labels: { env } })),
];

test("what Helm makes is told once for a chart, however many templates and documents it has", () => {
  const template = (kind: string) =>
    `{{- if .Values.on }}\nkind: ${kind}\n{{- end }}\n---\n{{- range .Values.all }}\nkind: ${kind}\n{{- end }}\n`;
  const files = {
    "charts/apps/Chart.yaml": "name: apps\n",
    "charts/apps/templates/a.yaml": template("Application"),
    "charts/apps/templates/nested/b.yaml": template("ApplicationSet"),
    "loose.yaml": template("Application"),
  };
  const { undecided } = proposed(files);
  expect(undecided.map(({ file, why }) => [file, why])).toEqual([
    ["charts/apps", { kind: "HelmTemplate", templates: 2 }],
    ["loose.yaml", { kind: "HelmTemplate", templates: 1 }],
  ]);
});

test("a broken file with what an ApplicationSet has of templates is no chart's", () => {
  const files = {
    "a.json": '{"kind": "ApplicationSet",\n"name": "{{.cluster}}"\n"spec": {}}',
    "b.yaml": 'kind: ApplicationSet\nname: "{{.cluster}}"\nspec: [\n',
    "templates/c.json": '{"kind": "Application",\n{{ if .Values.on }}\n}',
  };
  expect(proposed(files).undecided.map(({ file, why }) => [file, why])).toEqual([
    ["a.json:3", { kind: "Broken", is: "JSON", problem: expect.any(String) }],
    ["b.yaml:4", { kind: "Broken", is: "YAML", problem: expect.any(String) }],
    [".", { kind: "HelmTemplate", templates: 1 }],
  ]);
});

test("a generator that finds nothing is told with what it looks for", () => {
  const git = { repoURL: REPO, revision: "main", directories: [{ path: "apps/*/prod" }, { path: "apps/old", exclude: true }] };
  const files = { "set.yaml": json(set("shop", [{ git }], { name: "{{path.basename}}", spec: spec({ path: "{{path}}" }, {}) })) };
  expect(why(files)).toEqual([{ kind: "NoApplications", labels: [], patterns: ["apps/*/prod"] }]);
});

test("production is of its group, though it alone has no word for it in its name", () => {
  const files = {
    ...BASE,
    ...Object.fromEntries([shop("staging", { path: "overlays/staging" }), shop("production", { path: "overlays/production" }, "shop")]),
    ...each(["staging", "production"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
  };
  expect(stages(proposed(files))).toEqual(["staging 1, production 1"]);
});

test("one of a group without any version, such as a preview, is left out and told; the others are staged", () => {
  const files = {
    ...BASE,
    ...Object.fromEntries(["preview", "dev", "prod"].map((env) => shop(env, { path: `overlays/${env}` }))),
    "overlays/preview/kustomization.yaml": "resources: [config.yaml]\n",
    "overlays/preview/config.yaml": "kind: ConfigMap\nmetadata: { name: a }\n",
    ...each(["dev", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
  };
  const proposal = proposed(files);
  expect([stages(proposal), proposal.undecided]).toEqual([["dev 1, prod 1"], []]);
  expect(proposal.rollouts[0]?.guesses).toContainEqual({ kind: "LeftOut", applications: ["shop-preview"] });
  expect(proposal.rollouts[0]?.text).not.toContain("- shop-preview");
});

test("one that reads another branch is left out with that branch, where the others can be staged", () => {
  const files = {
    ...BASE,
    ...Object.fromEntries(
      ["dev", "staging", "prod"].map((env) => shop(env, { path: `overlays/${env}`, revision: env === "dev" ? "develop" : "main" })),
    ),
    ...each(["dev", "staging", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
  };
  const proposal = proposed(files, "main");
  expect(stages(proposal)).toEqual(["staging 1, prod 1"]);
  expect(proposal.rollouts[0]?.guesses).toContainEqual({ kind: "LeftOut", applications: ["shop-dev"], branch: "develop" });
});

test("an Application without a word of an environment is production, where all others come before it", () => {
  const files = (names: string[]) => ({
    ...CHART,
    ...Object.fromEntries(
      names.map((name) => [
        `apps/${name}.yaml`,
        json(application(name, { path: "chart", valueFiles: [`of-${name}.yaml`] }, { namespace: "all" })),
      ]),
    ),
    ...each(names, (name) => [`chart/of-${name}.yaml`, "image: { repository: ghcr.io/acme/shop, tag: v1.0.0 }\n"]),
  });
  const two = proposed(files(["shop", "shop-stage"]));
  expect(stages(two)).toEqual(["stage 1, production 1"]);
  expect(two.rollouts[0]?.guesses).toContainEqual({ kind: "TakenForProduction", applications: ["shop"] });
  // Beside one that says it is production nobody can tell.
  expect(proposed(files(["shop", "shop-prod"])).rollouts[0]?.guesses).toContainEqual({ kind: "OneEnvironment" });
});

test("images of the team come before those of the world, which bases have beside them", () => {
  const overlays = ["redis", "postgres"].map((name) => `  - { name: ${name}, newTag: "7" }\n`).join("");
  const files = {
    ...BASE,
    ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: `overlays/${env}` }))),
    ...each(["dev", "prod"], (env) => [
      `overlays/${env}/kustomization.yaml`,
      `resources: [../../base]\nimages:\n${overlays}  - { name: acme/till, newTag: v1.0.0 }\n  - { name: acme/cart, newTag: v2.0.0 }\n`,
    ]),
  };
  expect(proposed(files).rollouts[0]?.pins.map((pin) => "path" in pin && pin.path)).toEqual([
    "images[name=acme/till].newTag",
    "images[name=acme/cart].newTag",
  ]);
});

test("a folder without any version is named, not guessed at", () => {
  const files = {
    ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: `config/${env}` }))),
    ...each(["dev", "prod"], (env) => [`config/${env}/map.yaml`, "kind: ConfigMap\nmetadata: { name: a }\n"]),
  };
  const because = ["config/dev", "config/prod"].map((folder) => ({ kind: "NothingThere", folder }));
  expect(why(files)).toEqual([{ kind: "NoVersion", anywhere: false, because }]);
});

const OF_BRANCHES = {
  ...BASE,
  ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: "base", revision: env === "dev" ? "dev" : "release" }))),
};

test("branches are moved where none of them is the one that is merged into", () => {
  const [rollout] = proposed(
    { ...OF_BRANCHES, ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: "base", revision: env }))) },
    "main",
  ).rollouts;
  expect([rollout?.pins, rollout?.kinds]).toEqual([[{ branch: "{{ application.labels.env }}" }], ["branch"]]);
  expect(rollout?.text).toContain("strategy: Commit");
  expect(rollout?.text).toContain("base/**");
});

test("an Application that follows the default branch would move with every merge: nothing is proposed, and the other branch is named", () => {
  const onMain = { ...OF_BRANCHES, ...Object.fromEntries([shop("prod", { path: "base", revision: "main" })]) };
  expect(why(onMain, "main")).toMatchObject([{ because: [{ kind: "OtherBranch", branch: "dev" }] }]);
  // And where `dev` is where people merge to, prod is the odd one.
  expect(why(onMain, "dev")).toMatchObject([{ because: [{ kind: "OtherBranch", branch: "main" }] }]);
});

test("what else follows one of the branches would move with it: nothing is proposed", () => {
  const other = json(application("jobs", { path: "jobs", revision: "dev" }, { namespace: "jobs" }));
  const files = {
    ...OF_BRANCHES,
    ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: "base", revision: env }))),
    "apps/jobs.yaml": other,
  };
  expect(proposed(files, "main").rollouts).toEqual([]);
});

test("one Application alone is told so, and one whose folder Jsonnet renders by that", () => {
  const alone = Object.fromEntries([shop("prod", { path: "base" }, "shop")]);
  const told = (files: Record<string, string>) => proposed(files).undecided.map(({ what, why }) => [what, why]);
  expect(told({ ...BASE, ...alone })).toEqual([["Application shop", { kind: "OnlyOne" }]]);
  const index = json(application("index", { path: "index" }, { namespace: "argocd" }));
  const jsonnet = { "index.yaml": index, "index/all/apps.jsonnet": "{}\n" };
  expect(told(jsonnet)).toEqual([["Application index", { kind: "Jsonnet", folder: "index" }]]);
  expect(told({ ...BASE, ...alone, ...jsonnet }).map(([, why]) => why)).toEqual([
    { kind: "Jsonnet", folder: "index" },
    { kind: "EachAlone", applications: 1 },
  ]);
});

test("what only Argo CD can render is to be given as it lives, and documents of one file are to be files", () => {
  const own = { name: "{{repository}}", spec: spec({ path: "{{repository}}" }, {}) };
  const [online] = why({ "set.yaml": json(set("shop", [{ plugin: { configMapRef: { name: "x" } } }], own)) });
  expect(online && sayHindrance(online).hint).toContain("kubectl get applications");
  const both = ["dev", "prod"].map((env) => {
    const source = {
      ...spec({ path: "chart" }, { namespace: env, server: "https://kubernetes.default.svc" }),
      source: { repoURL: REPO, path: "chart", helm: { parameters: [{ name: "image.tag", value: "v1.0.0" }] } },
    };
    return json(set(`shop-${env}`, [{ list: { elements: [{ e: env }] } }], { name: "shop-{{e}}", spec: source }));
  });
  const [joined] = why({ ...CHART, "chart/values.yaml": "x: 1\n", "sets.yaml": both.join("---\n") });
  expect(joined && sayHindrance(joined).hint).toContain("a file of its own, called for its environment");
});

const IN_A_KUSTOMIZATION = ["dev", "prod"].flatMap((env): [string, string][] => [
  [`apps/${env}/api.yaml`, json(application(`api-${env}`, { path: `overlays/${env}` }, { namespace: `api-${env}`, labels: { env } }))],
  [`overlays/${env}/kustomization.yaml`, overlay("shop")],
]);
const kustomized = (text: string) => ({
  ...BASE,
  ...Object.fromEntries(IN_A_KUSTOMIZATION),
  ...each(["dev", "prod"], (env) => [`apps/${env}/kustomization.yaml`, `resources: [api.yaml]\n${text}`]),
});
const patch = (target: string, body: string) => `patches: [{ target: ${target}, patch: ${JSON.stringify(body)} }]\n`;

test.each([
  ["namePrefix", "namePrefix: x-\n"],
  ["nameSuffix", "nameSuffix: -x\n"],
  ["namespace", "namespace: other\n"],
  ["commonLabels", "commonLabels: { env: x }\n"],
  ["labels", "labels: [{ pairs: { env: x } }]\n"],
  ["patches", patch("{ kind: Application }", "- { op: replace, path: /spec/source/path, value: x }")],
  ["patches", patch("{ name: api-.*|web }", "spec: { destination: { namespace: x } }")],
  ["patches", patch("{ kind: Application }", "- { op: add, path: /metadata/labels/env, value: x }")],
  ["patches", "patches: [{ path: gone.yaml }]\n"],
  [
    "patchesJson6902",
    `patchesJson6902: [{ target: { kind: App.* }, patch: '[{ "op": "replace", "path": "/spec/source/targetRevision", "value": "x" }]' }]\n`,
  ],
  ["replacements", "replacements: [{ targets: [{ select: { kind: Application }, fieldPaths: [spec.destination.namespace] }] }]\n"],
])("Applications that the %s of their kustomization changes are not proposed as their files say", (by, text) => {
  const { rollouts, undecided } = proposed(kustomized(text));
  expect(rollouts).toEqual([]);
  expect(undecided.map((one) => one.why)).toEqual(
    ["dev", "prod"].map((env) => ({ kind: "Changed", folder: `apps/${env}`, by, applications: [`api-${env}`] })),
  );
});

test.each([
  "",
  "namespace: argocd\n",
  "commonAnnotations: { owner: shop }\n",
  "labels: [{ pairs: { team: shop } }]\ncommonLabels: { tier: web }\n",
  patch("{ kind: Application }", "- { op: replace, path: /spec/syncPolicy/automated/prune, value: true }"),
  patch("{ kind: Deployment }", "- { op: replace, path: /spec/source/path, value: x }"),
  patch("{ name: web|till-.* }", "metadata: { labels: { env: x } }"),
  patch("{ kind: Application }", "metadata: { labels: { team: shop } }"),
  `patches: [{ patch: '{ kind: ConfigMap, metadata: { name: argocd-cm }, spec: { source: x } }' }]\n`,
  "replacements: [{ targets: [{ select: { kind: Application }, fieldPaths: [spec.project] }] }]\n",
])("a kustomization that changes nothing of what an Application is lets it be proposed: %j", (text) => {
  const { rollouts, undecided } = proposed(kustomized(text));
  expect([rollouts.map(({ targets }) => targets), undecided]).toEqual([[2], []]);
});

const SET_IN_A_KUSTOMIZATION = (text: string) => ({
  ...BASE,
  ...each(["dev", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
  "sets/shop.yaml": json(
    set("shop", [{ list: { elements: [{ env: "dev" }, { env: "prod" }] } }], {
      name: "shop-{{env}}",
      spec: spec({ path: "overlays/{{env}}" }, { server: "https://kubernetes.default.svc", namespace: "shop-{{env}}" }),
    }),
  ),
  "sets/kustomization.yaml": `resources: [shop.yaml]\n${text}`,
});
const setPatch = (body: string) => patch("{ kind: ApplicationSet }", body);

test.each([
  ["namePrefix", "namePrefix: x-\n"],
  ["namespace", "namespace: other\n"],
  ["patches", setPatch("spec: { generators: [] }")],
  ["patches", setPatch("- { op: add, path: /spec/generators/0/list/elements/-, value: { env: test } }")],
  ["patches", setPatch("- { op: replace, path: /spec/template/spec/source/path, value: x }")],
  ["patches", setPatch("spec: { template: { metadata: { labels: { env: x } } } }")],
  ["patches", setPatch("spec: { template: { spec: { destination: { namespace: x } } } }")],
])("a set that the %s of its kustomization changes is not proposed as its file says", (by, text) => {
  const { rollouts, undecided } = proposed(SET_IN_A_KUSTOMIZATION(text));
  expect(rollouts).toEqual([]);
  expect(undecided.map((one) => one.why)).toEqual([{ kind: "Changed", folder: "sets", by, applications: ["shop-dev", "shop-prod"] }]);
});

test.each([
  "",
  "namespace: argocd\ncommonLabels: { team: shop }\n",
  setPatch("spec: { template: { spec: { syncPolicy: { automated: { prune: true } } } } }"),
  setPatch("- { op: add, path: /spec/strategy, value: { type: RollingSync } }"),
])("a kustomization that changes nothing of what a set makes lets it be proposed: %j", (text) => {
  const { rollouts, undecided } = proposed(SET_IN_A_KUSTOMIZATION(text));
  expect([rollouts.map(({ targets }) => targets), undecided]).toEqual([[2], []]);
});

test("a component changes what its kustomization passes on; a patch of an Application is none itself", () => {
  const files = {
    ...kustomized("components: [../../named]\npatches: [{ path: more.yaml }]\n"),
    "apps/dev/more.yaml": json({
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { name: "api-dev" },
      spec: { project: "x" },
    }),
    "apps/prod/more.yaml": json({ kind: "Application", metadata: { name: "api-prod" }, spec: { project: "x" } }),
    "named/kustomization.yaml": "kind: Component\nnamePrefix: x-\n",
  };
  expect(why(files)).toEqual([{ kind: "Changed", folder: "named", by: "namePrefix", applications: ["api-dev", "api-prod"] }]);
});

test("what they are live is proposed where that is known", () => {
  const applications = ["dev", "prod"].map((env) =>
    application(`x-api-${env}`, { path: `overlays/${env}` }, { namespace: `api-${env}`, labels: { env } }),
  );
  const files = kustomized("namePrefix: x-\n");
  const repo = { paths: () => Object.keys(files).sort(), read: (path: string) => (files as Record<string, string>)[path] ?? null };
  const { rollouts, undecided } = propose({ files: repo, clusters: [], applications, isThisRepo: (url) => url === REPO, verify: () => [] });
  expect([rollouts.map(({ targets }) => targets), undecided]).toEqual([[2], []]);
});

const BY_ENV = { ...BASE, ...Object.fromEntries(["dev", "staging", "prod"].map((env) => shop(env, { path: `overlays/${env}` }))) };

test.each([
  ["overlays/prod/kustomization.yaml", "resources: [../../base]\nimages:\n\t- { name: ghcr.io/acme/shop, newTag: v1.0.0 }\n", 3],
  ["base/kustomization.yaml", "resources:\n\t- deployment.yaml\n", 2],
  ["base/deployment.yaml", `${DEPLOYMENT}more: [\n`, undefined],
])("a broken %s is named with its line, and its environment is not left out", (file, text, line) => {
  const images = file.startsWith("base/") ? "resources: [../../base]\n" : overlay("shop");
  const files = { ...BY_ENV, ...each(["dev", "staging", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, images]), [file]: text };
  const { rollouts, undecided } = proposed(files);
  expect(rollouts).toEqual([]);
  const because = { kind: "BrokenFile", file, line: line ?? expect.any(Number), problem: expect.any(String) };
  expect(undecided.map((one) => one.why)).toEqual([{ kind: "NoVersion", anywhere: false, because: expect.arrayContaining([because]) }]);
  expect(sayHindrance(undecided[0]?.why as Hindrance).why).toContain(`${file}:${line ?? ""}`);
});

test("broken Helm values are named, too", () => {
  const files = {
    ...CHART,
    ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: "chart", valueFiles: [`${env}.yaml`] }))),
    "chart/dev.yaml": "image: { repository: ghcr.io/acme/shop, tag: v1.0.0 }\n",
    "chart/prod.yaml": "image:\n\ttag: v1.0.0\n",
  };
  expect(why(files)).toEqual([
    {
      kind: "NoVersion",
      anywhere: false,
      because: expect.arrayContaining([expect.objectContaining({ file: "chart/prod.yaml", line: 2 })]),
    },
  ]);
});

test("Applications that share a kustomization are told of overlays, those that are there by their names", () => {
  const files = {
    ...Object.fromEntries(["dev", "prod"].map((env) => shop(env, { path: "base" }))),
    "base/kustomization.yaml": "images: [{ name: ghcr.io/acme/shop, newTag: v1.0.0 }]\n",
  };
  const hint = (all: Record<string, string>) => why(all).map((one) => sayHindrance(one).hint);
  expect(hint(files)).toEqual(["point each Application at an overlay of its own, which takes in what they share and says its version"]);
  const overlays = each(["dev", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, "resources: [../../base]\n"]);
  expect(hint({ ...files, ...overlays })).toEqual([
    "point each Application at an overlay of its own (overlays/dev, overlays/prod), with its version there",
  ]);
});
