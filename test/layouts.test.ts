/** Every layout of `support/layouts.ts` as a new user meets it: init → lint → plan → a whole run in the simulated world, one that fails, and its rollback. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Inventory } from "../src/core/argocd/inventory-file.ts";
import { type Plan, targetsOf } from "../src/core/plan/plan-types.ts";
import { sayHindrance } from "../src/core/report/onboarding/hindrance.ts";
import { proposedFiles } from "../src/core/report/onboarding/show.ts";
import type { Proposal } from "../src/core/report/onboarding/types.ts";
import { parseRepoConfig } from "../src/core/spec/parse/config.ts";
import { SETTINGS_FILE } from "../src/core/spec/repo-config.ts";
import type { Rollout } from "../src/core/spec/rollout.ts";
import { simulate } from "../src/simulate/plan/simulate.ts";
import { proposeFor } from "../src/surfaces/cli/init/init.ts";
import { type Checkout, openCheckout } from "../src/surfaces/cli/lint/lint-checkout.ts";
import { lint, readRollouts } from "../src/surfaces/cli/lint/lint-run.ts";
import { makePlan } from "../src/surfaces/cli/plan/plan-make.ts";
import { parseFaults } from "../src/surfaces/cli/simulate/simulate-options.ts";
import { inventoryOf, LAYOUTS, type Layout } from "./support/layouts.ts";
import { LAYOUTS_BY_HAND, type LayoutByHand, rolloutText } from "./support/layouts-by-hand.ts";

/** What init makes of each: stages with how many they take, and where versions are written; or why it proposes nothing. */
const EXPECTED: Record<string, Record<string, string> | string> = {
  "one Argo CD per cluster": "several files declare an Application of one name",
  "one Argo CD per cluster, seen live": { shop: "dev 1, prod 1 by overlays/{{ controlPlane.name }}/kustomization.yaml" },
  "environment folders": { shop: "dev 1, staging 1, prod 1 by {{ application.path }}/kustomization.yaml" },
  "environment branches": { shop: "dev 1, staging 1, prod 1 by branch env/{{ application.labels.env }}" },
  "hub with app-of-apps": { shop: "dev 1, prod 2 by apps/shop-{{ cluster.name }}.yaml" },
  "clusters × environments matrix": { shop: "dev 2, prod 2 by {{ application.valuesFile }}" },
  "merge with overrides": { shop: "dev 1, prod 2 by set.json" },
  "sets that kustomize patches": "kustomize patches it in sets/hub",
  "sets that kustomize patches, seen live": { shop: "dev 1, prod 1 by {{ application.path }}/kustomization.yaml" },
  "sets that Helm makes": "Helm makes them, of a template",
  "sets that Helm makes, seen live": { shop: "dev 1, prod 1 by {{ application.path }}/kustomization.yaml" },
  "umbrella chart": { shop: "dev 1, preprod 1, prod 1 by {{ params.path }}/Chart.yaml" },
  "several images in each overlay": {
    shop: "dev 1, staging 1, prod 1 by {{ application.path }}/kustomization.yaml, {{ application.path }}/kustomization.yaml",
  },
  "values for each cluster, the version a default": { shop: "dev 1, prod 2 by clusters/{{ cluster.name }}.yaml" },
  "monorepo of services": {
    cart: "dev 1, prod 1 by {{ application.path }}/kustomization.yaml",
    search: "dev 1, prod 1 by {{ application.path }}/kustomization.yaml",
  },
};

const cases = LAYOUTS.flatMap((layout): [string, Layout, Inventory | undefined][] => {
  const plain: [string, Layout, undefined] = [layout.name, layout, undefined];
  const seen = inventoryOf(layout);
  return seen === undefined ? [plain] : [plain, [`${layout.name}, seen live`, layout, seen]];
});

function checkoutOf(files: Record<string, string>): Checkout {
  return { root: "/", made: new WeakMap(), paths: () => Object.keys(files).sort(), read: (path) => files[path] ?? null };
}

function shapeOf({ rollouts }: Proposal): Record<string, string> {
  return Object.fromEntries(
    rollouts.map(({ name, stages, pins }) => {
      const places = pins.map((pin) => ("branch" in pin ? `branch ${pin.branch}` : "file" in pin ? pin.file : pin.clusterGenerator.file));
      return [name, `${stages.map((stage) => `${stage.name} ${stage.clusters}`).join(", ")} by ${places.join(", ")}`];
    }),
  );
}

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** In a folder of its own: whole directories are copied. */
function written(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "stagecoach-layouts-"));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

const NEXT = "v9.9.9";

/** The versions of a next release: of several values all of them. */
function nextOf({ release }: Rollout): Record<string, string> {
  const names = release?.kind === "values" ? Object.keys(release.values) : ["version"];
  return Object.fromEntries(names.map((name) => [name, NEXT]));
}

/** Plans a next release and carries it through simulated runs: one to its end, one that fails at its last target. */
function planOf(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): Plan {
  const { plan, clusters = [], problems } = makePlan(rollout, checkout, inventory, nextOf(rollout));
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  expect(plan.uncovered).toEqual([]);
  const { bounds } = parseRepoConfig(null, SETTINGS_FILE);
  const running: Rollout = { ...rollout, mode: "Run", onFailure: { ...rollout.onFailure, action: "Rollback" } };
  const input = { rollout: running, plan, clusters, bounds, times: undefined };
  expect(simulate({ ...input, faults: [] }, 1)).toMatchObject({ phase: "Succeeded", violations: [] });
  const last =
    targetsOf(plan)
      .at(-1)
      ?.cluster.replace(/^[^/]*\//, "") ?? "";
  const faults = parseFaults([`${last}=degraded`], plan, running);
  const failed = simulate({ ...input, faults }, 1);
  expect(failed).toMatchObject({ phase: "RolledBack", stopped: true, violations: [] });
  // Nothing is left out, what was not there before neither.
  expect(String(failed.why)).not.toContain("left out");
  return plan;
}

describe.each(cases)("%s", (name, { files }, inventory) => {
  const expected = EXPECTED[name];
  const proposal = proposeFor(checkoutOf(files), inventory);

  if (typeof expected === "string") {
    test("is told in one sentence, and nothing is proposed", () => {
      expect(proposal.rollouts).toEqual([]);
      expect(proposal.undecided.map(({ why }) => sayHindrance(why).why)).toEqual([expect.stringContaining(expected)]);
    });
    return;
  }

  test("is proposed, lints clean, and its release runs to its end; one that fails goes all the way back", () => {
    expect(shapeOf(proposal)).toEqual(expected);
    const after = checkoutOf({ ...files, ...Object.fromEntries(proposedFiles(proposal)) });
    const own = proposal.rollouts.map(({ file }) => file);
    expect(lint(after, own, inventory).problems).toEqual([]);
    for (const rollout of readRollouts(after, own).rollouts) {
      const plan = planOf(rollout, after, inventory);
      expect(targetsOf(plan).flatMap(({ edits }) => edits.map(({ from, to }) => [from === to, to]))).toEqual(
        targetsOf(plan).flatMap(({ edits }) => edits.map(() => [false, NEXT])),
      );
    }
  });
});

describe.each(LAYOUTS_BY_HAND.map((layout): [string, LayoutByHand] => [layout.name, layout]))("%s, by hand", (_, layout) => {
  test("its rollout lints clean, takes each target once, and its release runs to its end; one that fails goes all the way back", () => {
    const file = `rollouts/${layout.rollout}`;
    const root = written({ ...layout.files, [file]: rolloutText(layout) });
    const checkout = openCheckout(root);
    expect(lint(checkout, [file], undefined).problems.filter(({ severity }) => severity === "error")).toEqual([]);
    const [rollout] = readRollouts(checkout, [file]).rollouts;
    if (rollout === undefined) throw new Error("it does not parse");
    const plan = planOf(rollout, checkout, undefined);
    expect(Object.fromEntries(plan.stages.map((stage) => [stage.name, stage.clusters.length]))).toEqual(layout.stages);
    expect(targetsOf(plan).filter(({ edits }) => edits.length === 0)).toEqual([]);
  });
});
