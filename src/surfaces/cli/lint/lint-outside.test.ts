import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readInventory } from "../../../core/argocd/inventory-file.ts";
import { makePlan } from "../plan/plan-make.ts";
import { openCheckout } from "./lint-checkout.ts";
import { lint, readRollouts } from "./lint-run.ts";

const FLEET = new URL("../../../../fixtures/fleet/", import.meta.url).pathname;
const SET = "appsets/my-app-set.yaml";
const REPO = "https://github.com/example/fleet.git";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "stagecoach-outside-"));
  cpSync(FLEET, dir, { recursive: true });
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function edit(file: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(dir, file), "utf8");
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  writeFileSync(join(dir, file), changed);
}

/** Makes the folder a clone as far as lint looks: where it came from, and its default branch. */
function clone(): void {
  mkdirSync(join(dir, ".git/refs/remotes/origin"), { recursive: true });
  writeFileSync(join(dir, ".git/config"), `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${REPO}\n`);
  writeFileSync(join(dir, ".git/refs/remotes/origin/HEAD"), "ref: refs/remotes/origin/main\n");
}

function parent(revision: string, path = "appsets"): void {
  const source = `{ repoURL: ${REPO}, path: ${path}, targetRevision: ${revision} }`;
  const text = `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: apps, namespace: argocd }\nspec:\n  project: default\n  source: ${source}\n  destination: { name: in-cluster }\n  syncPolicy: { automated: {} }\n`;
  mkdirSync(join(dir, "bootstrap"), { recursive: true });
  writeFileSync(join(dir, "bootstrap/apps.yaml"), text);
}

function told(): string[] {
  const inventory = readInventory(readFileSync(join(dir, "inventory.yaml"), "utf8"), "inventory.yaml");
  const { problems } = lint(openCheckout(dir), ["rollouts/my-app.yaml"], inventory);
  return problems.map(({ code, severity, file, line }) => `${severity} ${code} ${file}:${line}`);
}

describe("lint of a checkout looks outside the rollout's file", () => {
  test("the sample is set up well, as a folder and as a clone with a parent in it", () => {
    expect(told()).toEqual([]);
    clone();
    parent("main");
    expect(told()).toEqual([]);
  });

  test.each([
    [
      "RollingSync",
      () => edit(SET, "spec:\n", "spec:\n  strategy: { type: RollingSync, rollingSync: { steps: [] } }\n"),
      "error ROLLING_SYNC",
    ],
    [
      "auto-sync off",
      () => edit(SET, /automated: .*|automated:\n(?: {10}.*\n)+/, "automated: { enabled: false }\n"),
      "error AUTO_SYNC_OFF",
    ],
    ["create-only", () => edit(SET, "spec:\n", "spec:\n  syncPolicy: { applicationsSync: create-only }\n"), "error CREATE_ONLY"],
    [
      "the pin's place ignored",
      () => edit(SET, "spec:\n", "spec:\n  ignoreApplicationDifferences: [{ jsonPointers: [/spec/source/targetRevision] }]\n"),
      "error IGNORED_PIN",
    ],
  ])("%s is an error at the rollout", (_name, spoil, says) => {
    spoil();
    expect(told()).toEqual([expect.stringMatching(new RegExp(`^${says} rollouts/my-app.yaml:\\d+$`))]);
  });

  test("a clone tells the branch: a parent that reads another one is an error, one that reads nothing of it a warning", () => {
    clone();
    parent("stable");
    expect(told()).toEqual([expect.stringMatching(/^error BASE_REVISION/)]);
    parent("main", "other");
    expect(told()).toEqual([expect.stringMatching(/^warning NOT_APPLIED/)]);
    // Where it reads is changed on its way, so its file does not tell.
    const patch = "[{ op: replace, path: /spec/source/path, value: appsets }]";
    writeFileSync(join(dir, "bootstrap/kustomization.yaml"), `resources: [apps.yaml]\npatches: [{ patch: "${patch}" }]\n`);
    expect(told()).toEqual([]);
  });

  test("delivery.base that is not the default branch is an error at its line, for lint and for plan", () => {
    clone();
    parent("main");
    edit("rollouts/my-app.yaml", "  delivery:\n", "  delivery:\n    base: live\n");
    expect(told()).toEqual([expect.stringMatching(/^error BASE_NOT_DEFAULT rollouts\/my-app.yaml:\d+$/)]);
    const checkout = openCheckout(dir);
    const [rollout] = readRollouts(checkout, ["rollouts/my-app.yaml"]).rollouts;
    if (rollout === undefined) throw new Error("the sample has a rollout");
    const made = makePlan(rollout, checkout, undefined, {});
    expect([made.plan, made.problems.map(({ code }) => code)]).toEqual([undefined, expect.arrayContaining(["BASE_NOT_DEFAULT"])]);
    edit("rollouts/my-app.yaml", "base: live", "base: main");
    expect(told()).toEqual([]);
  });

  test("without a clone nobody knows the branch, and nothing is said of it", () => {
    parent("stable");
    expect(told()).toEqual([]);
  });

  test("a release by commit or tag is linted with its pins", () => {
    edit("rollouts/my-app.yaml", /release:\n(?: {4}.*\n)+/, '  release: { tag: "^1.4" }\n'.slice(2));
    expect(told()).toEqual([]);
    edit("rollouts/my-app.yaml", "targetRevision\n", "targetRevison\n");
    expect(told()).toEqual([expect.stringMatching(/^error PIN_/)]);
  });

  test("of Applications that are written by hand, too: an item of a list that is another image in one of them", () => {
    const application = (cluster: string, image: string) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: shop-${cluster}, namespace: argocd, labels: { app: shop } }\nspec:\n  project: default\n  source: { repoURL: ${REPO}, path: base, targetRevision: main, kustomize: { images: ["${image}"] } }\n  destination: { name: ${cluster}, namespace: shop }\n  syncPolicy: { automated: {} }\n`;
    const rollout =
      "apiVersion: stagecoach.dev/v1alpha1\nkind: ProgressiveRollout\nmetadata: { name: shop }\nspec:\n  sourceRef: { apiGroup: argoproj.io/v1alpha1, kind: Application, namespace: argocd, selector: { matchLabels: { app: shop } } }\n  release: { version: v1 }\n  pins: [{ file: 'apps/{{ cluster.name }}.yaml', path: 'spec.source.kustomize.images[0]', part: tag }]\n  stages: [{ name: all, clusters: { selector: { matchExpressions: [{ key: name, operator: In, values: [eu-central-1-a, eu-west-1-a] }] } } }]\n";
    mkdirSync(join(dir, "apps"), { recursive: true });
    writeFileSync(join(dir, "rollouts/my-app.yaml"), rollout);
    const written = (image: string) => {
      writeFileSync(join(dir, "apps/eu-central-1-a.yaml"), application("eu-central-1-a", "ghcr.io/acme/shop:v1"));
      writeFileSync(join(dir, "apps/eu-west-1-a.yaml"), application("eu-west-1-a", image));
      return told();
    };
    expect(written("ghcr.io/acme/proxy:v1")).toEqual([expect.stringMatching(/^warning PIN_IMAGES_DIFFER rollouts\/my-app.yaml:\d+$/)]);
    expect(written("ghcr.io/acme/shop:v1")).toEqual([]);
  });
});
