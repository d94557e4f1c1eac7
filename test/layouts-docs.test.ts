/** docs/layouts.md: each rollout that stands on it, or that it leads to, lints and plans over a repo of that layout. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { targetsOf } from "../src/core/plan/plan-types.ts";
import { parseRollouts } from "../src/core/spec/parse/parse.ts";
import { type Checkout, openCheckout } from "../src/surfaces/cli/lint/lint-checkout.ts";
import { lint, readRollouts } from "../src/surfaces/cli/lint/lint-run.ts";
import { makePlan } from "../src/surfaces/cli/plan/plan-make.ts";
import { application, CHART, ENVIRONMENTS, each, HOME, json, set, spec } from "./support/layout-parts.ts";

const root = new URL("../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const PAGE = read("docs/layouts.md");

/** In a folder of its own: whole directories are copied. */
function checkoutOf(files: Record<string, string>): Checkout {
  const folder = mkdtempSync(join(tmpdir(), "stagecoach-layouts-"));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return openCheckout(folder);
}

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

type Spec = Record<string, unknown>;

/** The YAML below a heading. */
function blockOf(heading: string): Spec {
  const text = PAGE.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return parse(/```yaml\n(.*?)```/s.exec(text)?.[1] ?? "") as Spec;
}

const APPLICATIONS = blockOf("Environments are Applications");
const kustomization = (tag: string) => `images:\n  - { name: shop, newTag: ${tag} }\n`;
const ownFolder =
  (folder: string) =>
  (env: string): [string, string] => [
    `apps/shop-${env}.yaml`,
    json(application(`shop-${env}`, { path: `${folder}/${env}` }, { namespace: `shop-${env}`, labels: { app: "shop", env } })),
  ];

/** What stands below a heading, whole, over a repo as the page tells it; how many Applications each stage takes. */
const BLOCKS: Record<string, { spec: Spec; files: Record<string, string>; stages: Record<string, number> }> = {
  "Environments are Applications": {
    spec: APPLICATIONS,
    files: {
      ...each(ENVIRONMENTS, ownFolder("environments")),
      ...each(ENVIRONMENTS, (env) => [`environments/${env}/kustomization.yaml`, kustomization("v1.4.1")]),
    },
    stages: { dev: 1, staging: 1, production: 1 },
  },
  "Environments are copies": {
    spec: {
      ...APPLICATIONS,
      ...blockOf("Environments are copies"),
      sourceRef: {
        kind: "Application",
        selector: { matchLabels: { app: "shop" }, matchExpressions: [{ key: "env", operator: "In", values: ["prod"] }] },
      },
      stages: (APPLICATIONS["stages"] as unknown[]).slice(-1),
    },
    files: {
      ...each(["staging", "prod"], ownFolder("env")),
      ...each(["staging", "prod"], (env) => [`env/${env}/shop.yaml`, `kind: ConfigMap\nmetadata: { name: of-${env} }\n`]),
    },
    stages: { production: 1 },
  },
  "Environments are namespaces": {
    spec: blockOf("Environments are namespaces"),
    files: {
      ...CHART,
      "set.yaml": json(
        set("shop", [{ list: { elements: ["staging", "prod"].flatMap((env) => ["web", "jobs"].map((part) => ({ env, part }))) } }], {
          name: "{{part}}-{{env}}",
          spec: spec(
            { path: "chart", helm: { valueFiles: ["/environments/shop-{{env}}/values.yaml"] } },
            { ...HOME, namespace: "shop-{{env}}" },
          ),
        }),
      ),
      ...each(["staging", "prod"], (env) => [`environments/shop-${env}/values.yaml`, "image: { tag: v1.4.1 }\n"]),
    },
    stages: { staging: 1, production: 1 },
  },
};

const headings = [...PAGE.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);

test("every heading with a rollout is tried", () => {
  expect(Object.keys(BLOCKS).sort()).toEqual(headings.toSorted());
});

describe.each(Object.entries(BLOCKS))("%s", (_, { spec, files, stages }) => {
  test("lints clean, and its plan takes each Application once", () => {
    const file = "rollouts/shop.yaml";
    const rollout = stringify({ apiVersion: "stagecoach.dev/v1alpha1", kind: "ProgressiveRollout", metadata: { name: "shop" }, spec });
    const checkout = checkoutOf({ ...files, [file]: rollout });
    expect(lint(checkout, [file], undefined).problems.filter(({ severity }) => severity === "error")).toEqual([]);
    const [read] = readRollouts(checkout, [file]).rollouts;
    if (read === undefined) throw new Error("it does not parse");
    const { plan, problems } = makePlan(read, checkout, undefined, { version: "v1.4.2" });
    if (plan === undefined) throw new Error(JSON.stringify(problems));
    expect(Object.fromEntries(plan.stages.map((stage) => [stage.name, stage.clusters.length]))).toEqual(stages);
    expect([plan.uncovered, targetsOf(plan).filter(({ edits }) => edits.length === 0)]).toEqual([[], []]);
  });
});

test("each row leads to a rollout: on this page, on another, in rollouts/, or in the row itself", () => {
  const rows = PAGE.split("\n").filter((line) => /^\| (?!my repo|---)/.test(line));
  expect(rows.length).toBeGreaterThan(12);
  const without = rows.filter(
    (row) => !/rollouts\/[\w-]+\.yaml|\]\(#|\.md(?:#[\w-]+)?\)|pins:|path:|create: true|kind: Application/.test(row),
  );
  expect(without).toEqual([]);
  for (const [, file = ""] of PAGE.matchAll(/(rollouts\/[\w-]+\.yaml)/g)) {
    const { rollouts, problems } = parseRollouts(read(file), file);
    expect([file, rollouts.length, problems.filter(({ severity }) => severity === "error")]).toEqual([file, 1, []]);
  }
});

test("what a row writes as pins parses as pins of a rollout", () => {
  const pins = [...PAGE.matchAll(/`pins: (\[\{.*?\}\])`/g)].map(([, text = ""]) => parse(text) as unknown[]);
  expect(pins.length).toBeGreaterThan(1);
  for (const one of pins) {
    const isBranch = JSON.stringify(one).includes('"branch"');
    const rollout = { ...APPLICATIONS, pins: one, ...(isBranch ? { delivery: { strategy: "Commit" } } : {}) };
    const text = stringify({
      apiVersion: "stagecoach.dev/v1alpha1",
      kind: "ProgressiveRollout",
      metadata: { name: "shop" },
      spec: rollout,
    });
    expect(parseRollouts(text, "rollouts/shop.yaml").problems.filter(({ severity }) => severity === "error")).toEqual([]);
  }
});
