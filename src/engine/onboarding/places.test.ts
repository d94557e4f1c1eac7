/** Where init finds places of a generator's elements, and how it tells them apart. */
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { previewsOf, proposeFor } from "../../surfaces/cli/init/init.ts";
import { lint, readRollouts } from "../../surfaces/cli/lint/lint-run.ts";
import { makePlan } from "../../surfaces/cli/plan/plan-make.ts";

function checkoutOf(files: Record<string, string>) {
  return {
    root: "/",
    paths: () => Object.keys(files).sort(),
    read: (path: string) => files[path] ?? null,
    made: new WeakMap<object, unknown>(),
  };
}

interface SetOf {
  elements: Record<string, string>[];
  name?: string;
  source?: object;
  destination?: object;
}

const CHART = { repoURL: "https://charts.example.com", chart: "shop", targetRevision: "{{version}}" };

function setOf({ elements, name = "shop-{{cluster}}", source = CHART, destination = { name: "{{cluster}}", namespace: "shop" } }: SetOf) {
  const spec = { project: "default", source, destination, syncPolicy: { automated: {} } };
  return {
    ...{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", metadata: { name: "shop", namespace: "argocd" } },
    spec: { generators: [{ list: { elements } }], template: { metadata: { name }, spec } },
  };
}

/** What is proposed, with what each batch of its plan takes. */
function proposed(files: Record<string, string>) {
  const { rollouts, undecided } = proposeFor(checkoutOf(files), undefined);
  return rollouts.map(({ file, text }) => {
    const after = checkoutOf({ ...files, [file]: text });
    expect(lint(after, [file], undefined).problems).toEqual([]);
    const [rollout] = readRollouts(after, [file]).rollouts;
    const plan = rollout && makePlan(rollout, after, undefined, { version: "v2.0.0" }).plan;
    const batches = plan?.stages.map((stage) => stage.batches.flatMap(({ targets }) => targets.map(({ application }) => application)));
    return { pins: parse(text).spec.pins, batches, undecided };
  });
}

const kustomization = "resources: []\nimages:\n  - name: web\n    newTag: v1.0.0\n";

describe("elements of a list", () => {
  test("several of an environment are told apart by what tells all of them apart, not each by what is its own", () => {
    const elements = [
      { env: "dev", url: "https://10.0.0.1", id: "1", version: "v1.0.0" },
      { env: "prod", url: "https://10.0.0.2", id: "2", version: "v1.0.0" },
      { env: "prod", url: "https://10.0.0.3", id: "3", version: "v1.0.0" },
    ];
    const set = setOf({ elements, name: "shop-{{env}}-{{id}}", destination: { server: "{{url}}", namespace: "shop" } });
    expect(proposed({ "set.json": JSON.stringify(set) })).toMatchObject([
      {
        pins: [{ file: "set.json", path: "spec.generators[0].list.elements[url={{ params.url }}].version" }],
        batches: [["shop-dev-1"], ["shop-prod-2", "shop-prod-3"]],
      },
    ]);
  });

  test("where environment and cluster have one name today, the pin goes by the cluster", () => {
    const elements = ["dev", "prod"].map((env) => ({ env, cluster: env }));
    const source = { repoURL: "https://github.com/acme/config.git", path: "overlays/{{cluster}}", targetRevision: "HEAD" };
    const set = setOf({ elements, source, destination: { server: "https://{{cluster}}.example.com", namespace: "shop" } });
    const files = { "overlays/dev/kustomization.yaml": kustomization, "overlays/prod/kustomization.yaml": kustomization };
    expect(proposed({ ...files, "set.json": JSON.stringify(set) })).toMatchObject([
      {
        pins: [{ file: "overlays/{{ params.cluster }}/kustomization.yaml", path: "images[name=web].newTag" }],
        batches: [["shop-dev"], ["shop-prod"]],
      },
    ]);
  });

  test("a server that the template leaves open is no cluster of all of them: nothing is proposed, and it is named", () => {
    const elements = ["dev", "prod-eu", "prod-us"].map((cluster) => ({ cluster, version: "v1.0.0" }));
    const set = setOf({ elements, destination: { server: "{{url}}", namespace: "shop" } });
    const { rollouts, undecided } = proposeFor(checkoutOf({ "set.json": JSON.stringify(set) }), undefined);
    expect(rollouts).toEqual([]);
    expect(undecided.map(({ why }) => why)).toMatchObject([{ kind: "ClusterUnknown", application: "shop-dev", destination: "{{url}}" }]);
  });
});

describe("a List", () => {
  const elements = ["dev", "prod"].map((cluster) => ({ cluster, version: "v1.0.0" }));

  test("of sets: each is proposed, its pins by their place in it, and a release changes that one alone", () => {
    const other = { ...setOf({ elements }), metadata: { name: "cart", namespace: "argocd" } };
    other.spec.template.metadata.name = "cart-{{cluster}}";
    const list = { apiVersion: "v1", kind: "List", items: [setOf({ elements }), other] };
    expect(proposed({ "sets.json": JSON.stringify(list) })).toMatchObject(
      ["shop", "cart"].map((name, at) => ({
        pins: [{ file: "sets.json", path: `items[${at}].spec.generators[0].list.elements[cluster={{ cluster.name }}].version` }],
        batches: [[`${name}-dev`], [`${name}-prod`]],
        undecided: [],
      })),
    );
  });

  test("of Applications: they are grouped as any others", () => {
    const items = ["dev", "prod"].map((env) => ({
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { name: `shop-${env}`, namespace: "argocd" } },
      spec: {
        project: "default",
        source: { repoURL: "https://github.com/acme/config.git", path: `overlays/${env}`, targetRevision: "HEAD" },
        destination: { name: env, namespace: "shop" },
        syncPolicy: { automated: {} },
      },
    }));
    const files = { "overlays/dev/kustomization.yaml": kustomization, "overlays/prod/kustomization.yaml": kustomization };
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    expect(proposed({ ...files, "apps.json": list })).toMatchObject([
      { pins: [{ file: "overlays/{{ cluster.name }}/kustomization.yaml" }], batches: [["shop-dev"], ["shop-prod"]] },
    ]);
  });
});

test("the preview of a rollout with two values begins with both, and has every stage", () => {
  const overlay = `${kustomization}  - name: worker\n    newTag: v3.0.0\n`;
  const source = { repoURL: "https://github.com/acme/config.git", path: "overlays/{{cluster}}", targetRevision: "HEAD" };
  const files = {
    "set.json": JSON.stringify(setOf({ elements: ["dev", "prod"].map((cluster) => ({ cluster })), source })),
    "overlays/dev/kustomization.yaml": overlay,
    "overlays/prod/kustomization.yaml": overlay,
  };
  const proposal = proposeFor(checkoutOf(files), undefined);
  const [lines = []] = [...previewsOf(proposal, checkoutOf(files), undefined).values()];
  const text = lines.join("\n");
  expect(text).toMatch(/^ *web .*v1\.0\.0.*\n *worker .*v3\.0\.0/);
  expect(text).toMatch(/^1 {2}dev[\s\S]*^2 {2}prod/m);
  expect(text).not.toContain("writes");
});
