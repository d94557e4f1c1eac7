/** Small config repos as teams lay them out, each made by code: what `stagecoach init` makes of each is in `test/layouts.test.ts`. */

import { type Inventory, joinInventories, readInventory } from "../../src/core/argocd/inventory-file.ts";
import { application, BASE, CHART, DEPLOYMENT, ENVIRONMENTS, each, HOME, json, overlay, owned, REPO, set, spec } from "./layout-parts.ts";

export interface Layout {
  name: string;
  files: Record<string, string>;
  /** What lives, as kubectl prints it, where the repo alone does not say. */
  live?: Record<string, unknown>[];
  /** The same of several control planes, each with the label `env` of its name. */
  planes?: Record<string, Record<string, unknown>[]>;
}

/** What `--inventory` would be given; undefined: nothing, the repo says it all. `here`: what each text becomes first. */
export function inventoryOf({ live, planes }: Layout, here = (text: string) => text): Inventory | undefined {
  const read = (items: unknown) => readInventory(here(JSON.stringify({ kind: "List", items })), "live.json");
  if (planes === undefined) return live && read(live);
  const all = Object.entries(planes);
  const joined = joinInventories(new Map(all.map(([name, items]) => [name, read(items)])));
  return { ...joined, planeLabels: new Map(all.map(([env]) => [env, { env }])) };
}

export const LAYOUTS: Layout[] = [
  {
    name: "one Argo CD per cluster",
    files: {
      ...BASE,
      ...each(["dev", "prod"], (env) => [
        `clusters/${env}/shop.yaml`,
        json(application("shop", { path: `overlays/${env}` }, { namespace: "shop" })),
      ]),
      ...each(["dev", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
    },
    planes: Object.fromEntries(
      ["dev", "prod"].map((env) => [env, [application("shop", { path: `overlays/${env}` }, { namespace: "shop" })]]),
    ),
  },
  {
    name: "environment folders",
    files: {
      ...BASE,
      ...each(ENVIRONMENTS, (env) => [
        `apps/shop-${env}.yaml`,
        json(application(`shop-${env}`, { path: `overlays/${env}` }, { namespace: `shop-${env}`, labels: { app: "shop", env } })),
      ]),
      ...each(ENVIRONMENTS, (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
    },
  },
  {
    name: "environment branches",
    files: {
      ...BASE,
      ...each(ENVIRONMENTS, (env) => [
        `apps/shop-${env}.yaml`,
        json(
          application(`shop-${env}`, { path: "base", revision: `env/${env}` }, { namespace: `shop-${env}`, labels: { app: "shop", env } }),
        ),
      ]),
    },
  },
  {
    name: "hub with app-of-apps",
    files: {
      "root.yaml": json(application("root", { path: "apps" }, { namespace: "argocd" })),
      ...each(["dev-1", "prod-eu", "prod-us"], (cluster) => [
        `apps/shop-${cluster}.yaml`,
        json(application(`shop-${cluster}`, { chart: "shop", revision: "1.0.0" }, { cluster, namespace: "shop", labels: { app: "shop" } })),
      ]),
    },
  },
  {
    name: "clusters × environments matrix",
    files: {
      ...CHART,
      "set.yaml": json(
        set(
          "shop",
          [
            {
              matrix: {
                generators: [
                  { list: { elements: [{ env: "dev" }, { env: "prod" }] } },
                  { list: { elements: [{ cluster: "eu-1" }, { cluster: "us-1" }] } },
                ],
              },
            },
          ],
          {
            name: "shop-{{env}}-{{cluster}}",
            labels: { env: "{{env}}", region: "{{cluster}}" },
            spec: spec({ path: "chart" }, { name: "{{cluster}}", namespace: "shop-{{env}}" }, "environments/{{env}}/{{cluster}}.yaml"),
          },
        ),
      ),
      ...each(["dev/eu-1", "dev/us-1", "prod/eu-1", "prod/us-1"], (place) => [`environments/${place}.yaml`, "image: { tag: v1.0.0 }\n"]),
    },
  },
  {
    name: "merge with overrides",
    files: {
      ...CHART,
      "set.json": json(
        set(
          "shop",
          [
            {
              merge: {
                mergeKeys: ["cluster"],
                generators: [
                  { list: { elements: ["dev-1", "prod-1", "prod-2"].map((cluster) => ({ cluster, replicas: "1" })) } },
                  { list: { elements: ["dev-1", "prod-1", "prod-2"].map((cluster) => ({ cluster, tag: "v1.0.0" })) } },
                ],
              },
            },
          ],
          {
            name: "shop-{{cluster}}",
            spec: spec({ path: "chart", targetRevision: "{{tag}}" }, { name: "{{cluster}}", namespace: "shop" }),
          },
        ),
      ),
    },
  },
  {
    name: "sets that kustomize patches",
    files: {
      ...BASE,
      "sets/base/kustomization.yaml": "resources: [set.yaml]\n",
      "sets/base/set.yaml": json(
        set("shop", [{ list: { elements: [] } }], {
          name: "shop-{{env}}",
          spec: spec({ path: "overlays/{{env}}" }, { ...HOME, namespace: "shop-{{env}}" }),
        }),
      ),
      "sets/hub/kustomization.yaml": "resources: [../base]\npatches: [ { path: elements.yaml } ]\n",
      "sets/hub/elements.yaml":
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: { name: shop, namespace: argocd }\nspec: { generators: [ { list: { elements: [ { env: dev }, { env: prod } ] } } ] }\n",
      ...each(["dev", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
    },
    live: ["dev", "prod"].map((env) =>
      owned("shop", application(`shop-${env}`, { path: `overlays/${env}` }, { namespace: `shop-${env}` })),
    ),
  },
  {
    name: "sets that Helm makes",
    files: {
      ...BASE,
      "sets/Chart.yaml": "apiVersion: v2\nname: sets\nversion: 0.1.0\n",
      "sets/values.yaml": "environments: [dev, prod]\n",
      "sets/templates/shop.yaml": `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: shop, namespace: argocd }
spec:
  generators:
    - list:
        elements:
          {{- range .Values.environments }}
          - { env: {{ . }} }
          {{- end }}
  template:
    metadata: { name: 'shop-{{ "{{env}}" }}' }
    spec:
      project: default
      source: { repoURL: "${REPO}", targetRevision: main, path: 'overlays/{{ "{{env}}" }}' }
      destination: { server: "${HOME.server}", namespace: 'shop-{{ "{{env}}" }}' }
      syncPolicy: { automated: {} }
`,
      ...each(["dev", "prod"], (env) => [`overlays/${env}/kustomization.yaml`, overlay("shop")]),
    },
    live: ["dev", "prod"].map((env) =>
      owned("shop", application(`shop-${env}`, { path: `overlays/${env}` }, { namespace: `shop-${env}` })),
    ),
  },
  {
    name: "umbrella chart",
    files: {
      "set.yaml": json(
        set("shop", [{ git: { repoURL: REPO, revision: "main", directories: [{ path: "environments/*" }] } }], {
          name: "shop-{{path.basename}}",
          labels: { environment: "{{path.basename}}" },
          spec: spec({ path: "{{path}}" }, { ...HOME, namespace: "shop-{{path.basename}}" }),
        }),
      ),
      ...each(["dev", "preprod", "prod"], (env) => [
        `environments/${env}/Chart.yaml`,
        "apiVersion: v2\nname: umbrella\nversion: 0.1.0\ndependencies:\n  - { name: shop, version: 1.0.0, repository: https://charts.example.com }\n",
      ]),
    },
  },
  {
    name: "several images in each overlay",
    files: {
      ...BASE,
      ...each(ENVIRONMENTS, (env) => [
        `apps/shop-${env}.json`,
        json(application(`shop-${env}`, { path: `overlays/${env}` }, { namespace: `shop-${env}`, labels: { app: "shop" } })),
      ]),
      ...each(ENVIRONMENTS, (env) => [`overlays/${env}/kustomization.yaml`, env === "prod" ? overlay("shop") : overlay("shop", "worker")]),
      "base/deployment.yaml": DEPLOYMENT.replace(
        'containers: [ { name: shop, image: "ghcr.io/acme/shop:v1.0.0" } ]',
        'containers: [ { name: shop, image: "ghcr.io/acme/shop:v1.0.0" }, { name: worker, image: "ghcr.io/acme/worker:v1.0.0" } ]',
      ),
    },
  },
  {
    name: "values for each cluster, the version a default",
    files: {
      ...CHART,
      "chart/values.yaml": "image: { repository: ghcr.io/acme/shop, tag: v1.0.0 }\n",
      "set.yaml": json(
        set("shop", [{ list: { elements: ["dev-1", "prod-1", "prod-2"].map((cluster) => ({ cluster })) } }], {
          name: "shop-{{cluster}}",
          spec: spec({ path: "chart", helm: { valueFiles: ["../clusters/{{cluster}}.yaml"] } }, { name: "{{cluster}}", namespace: "shop" }),
        }),
      ),
      ...each(["dev-1", "prod-1", "prod-2"], (cluster) => [`clusters/${cluster}.yaml`, "replicas: 2\n"]),
    },
  },
  {
    name: "monorepo of services",
    files: {
      "set.json": json(
        set(
          "services",
          [{ git: { repoURL: REPO, revision: "main", directories: [{ path: "services/*/overlays/*" }] } }],
          {
            name: "{{index .path.segments 1}}-{{.path.basename}}",
            labels: { service: "{{index .path.segments 1}}", env: "{{.path.basename}}" },
            spec: spec({ path: "{{.path.path}}" }, { ...HOME, namespace: "{{.path.basename}}" }),
          },
          true,
        ),
      ),
      ...Object.assign(
        {},
        ...["cart", "search"].map((service) => ({
          [`services/${service}/base/kustomization.yaml`]: "resources: [deployment.yaml]\n",
          [`services/${service}/base/deployment.yaml`]: DEPLOYMENT.replaceAll("shop", service),
          ...each(["dev", "prod"], (env) => [`services/${service}/overlays/${env}/kustomization.yaml`, overlay(service)]),
        })),
      ),
    },
  },
];
