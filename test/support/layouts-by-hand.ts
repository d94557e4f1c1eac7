/** Layouts whose rollout people write by hand, as `rollouts/` has it: `init` proposes none, or another. With those of `layouts.ts` they have pages in docs/layouts/. */
import { readFileSync } from "node:fs";
import { application, CHART, ENVIRONMENTS, each, HOME, json, set, spec } from "./layout-parts.ts";
import type { Layout } from "./layouts.ts";

export interface LayoutByHand extends Layout {
  /** Its file in `rollouts/`. */
  rollout: string;
  /** How many targets each stage takes. */
  stages: Record<string, number>;
}

export const rolloutText = ({ rollout }: LayoutByHand): string =>
  readFileSync(new URL(`../../rollouts/${rollout}`, import.meta.url), "utf8");

export const LAYOUTS_BY_HAND: LayoutByHand[] = [
  {
    name: "environments are copies",
    rollout: "copied-directories.yaml",
    files: {
      ...each(["staging", "prod-canary", "prod"], (env) => [
        `apps/shop-${env}.yaml`,
        json(
          application(
            `shop-${env}`,
            { path: `env/${env}` },
            { namespace: `shop-${env}`, labels: { app: env === "staging" ? "shop" : "copied-shop", env } },
          ),
        ),
      ]),
      ...each(["staging", "prod-canary", "prod"], (env) => [`env/${env}/shop.yaml`, `kind: ConfigMap\nmetadata: { name: of-${env} }\n`]),
    },
    stages: { canary: 1, production: 1 },
  },
  {
    name: "environments are namespaces",
    rollout: "shared-namespaces.yaml",
    files: {
      ...CHART,
      "set.yaml": json(
        set("parts", [{ list: { elements: ["staging", "prod"].flatMap((env) => ["web", "jobs"].map((part) => ({ env, part }))) } }], {
          name: "{{part}}-{{env}}",
          spec: spec(
            { path: "chart", helm: { valueFiles: ["/environments/shop-{{env}}/values.yaml"] } },
            { ...HOME, namespace: "shop-{{env}}" },
          ),
        }),
      ),
      ...each(["staging", "prod"], (env) => [`environments/shop-${env}/values.yaml`, "image: { tag: v1.0.0 }\n"]),
    },
    stages: { staging: 1, production: 1 },
  },
  {
    name: "environment tags",
    rollout: "environment-tags.yaml",
    files: {
      ...CHART,
      ...each(ENVIRONMENTS.slice(1), (env) => [
        `apps/web-${env}.yaml`,
        json(
          application(`web-${env}`, { path: "chart", revision: `env/${env}` }, { namespace: `web-${env}`, labels: { app: "web", env } }),
        ),
      ]),
    },
    stages: { staging: 1, production: 1 },
  },
];
