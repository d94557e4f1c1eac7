/** Several ApplicationSets as one rollout, and sets that made what a selector over Applications takes: looked at in a checkout. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { makePlan } from "../plan/plan-make.ts";
import { openCheckout } from "./lint-checkout.ts";
import { lint, readRollouts } from "./lint-run.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "stagecoach-sets-"));
  put({ "appsets/shop.yaml": setOf("shop"), "appsets/cart.yaml": setOf("cart") });
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
}

/** `label`: of the set; its Applications are labelled by its name. */
function setOf(name: string, { label = "web", made = name, more = "", key = "version" } = {}): string {
  const elements = ["dev", "prod"].map((env) => `{ env: ${env}, ${key}: v1 }`).join(", ");
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: ${name}, namespace: argocd, labels: { team: ${label} } }
spec:${more}
  generators: [ { list: { elements: [ ${elements} ] } } ]
  template:
    metadata: { name: "${made}-{{env}}", labels: { app: ${made}, all: "yes", env: "{{env}}" } }
    spec:
      project: default
      source: { repoURL: https://github.com/acme/fleet, path: charts, targetRevision: "{{${key}}}" }
      destination: { name: in-cluster, namespace: "{{env}}" }
      syncPolicy: { automated: {} }
`;
}

const PIN = `"appsets/{{ application.set }}.yaml", path: "spec.generators[0].list.elements[env={{ application.labels.env }}].version"`;

function rollout(source: string, name = "web"): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: ${name} }
spec:
  sourceRef:
    ${source}
  targetBy: application
  release: { version: v2 }
  pins: [ { file: ${PIN} } ]
  stages:
    - { name: dev, targets: { selector: { matchLabels: { env: dev } } } }
    - { name: prod, targets: { selector: { matchLabels: { env: prod } } } }
`;
}

const BY_NAME = "kind: ApplicationSet\n    names: [shop, cart]";
const BY_LABEL = "kind: ApplicationSet\n    selector: { matchLabels: { team: web } }";
const APPLICATIONS = 'kind: Application\n    selector: { matchLabels: { all: "yes" } }';

function told(source: string, files: Record<string, string> = {}): string[] {
  put({ ...files, "rollouts/web.yaml": rollout(source) });
  const { problems } = lint(openCheckout(dir), ["rollouts/web.yaml"], undefined);
  return problems.map((one) => {
    const { message, hint } = sayProblem(one);
    return `${one.severity} ${one.code} ${one.line}:${one.column} ${message} (${hint})`;
  });
}

/** What a plan writes, by Application. */
function planned(source: string): Record<string, string> {
  put({ "rollouts/web.yaml": rollout(source) });
  const checkout = openCheckout(dir);
  const [only] = readRollouts(checkout, ["rollouts/web.yaml"]).rollouts;
  const plan = only && makePlan(only, checkout, undefined, {}).plan;
  const targets =
    plan?.stages.flatMap(({ name, batches }) => batches.flatMap((batch) => batch.targets.map((one) => ({ name, one })))) ?? [];
  return Object.fromEntries(targets.map(({ name, one }) => [one.application, `${name}: ${one.edits[0]?.file}`]));
}

describe.each([
  ["several sets by name", BY_NAME],
  ["sets by a label of theirs", BY_LABEL],
  ["generated Applications by selector", APPLICATIONS],
])("%s", (_, source) => {
  test("are planned together, each pin in its own set, and lint says nothing", () => {
    expect(planned(source)).toEqual({
      "cart-dev": "dev: appsets/cart.yaml",
      "cart-prod": "prod: appsets/cart.yaml",
      "shop-dev": "dev: appsets/shop.yaml",
      "shop-prod": "prod: appsets/shop.yaml",
    });
    expect(told(source)).toEqual([]);
  });

  test("are each looked at: a policy of one of them is told at the source, with its file", () => {
    const more = "\n  syncPolicy: { applicationsSync: create-only }";
    expect(told(source, { "appsets/cart.yaml": setOf("cart", { more }) })).toEqual([
      expect.stringMatching(/^error CREATE_ONLY 7:(12|15|19) .*appsets\/cart\.yaml/),
    ]);
  });

  test("that make the same Application are an error that names both", () => {
    const files = { "appsets/twin.yaml": setOf("twin", { made: "cart" }) };
    const found = told(source === BY_NAME ? "kind: ApplicationSet\n    names: [shop, cart, twin]" : source, files);
    if (source === APPLICATIONS) expect(found).toEqual([]);
    else
      expect(found).toContainEqual(
        expect.stringMatching(/^error SETS_OVERLAP 7:\d+ ApplicationSets cart and twin both make cart-dev, cart-prod/),
      );
  });

  test("of which one has its pin elsewhere are an error at the pin that names its Applications alone", () => {
    const found = told(source, { "appsets/cart.yaml": setOf("cart", { key: "tag" }) });
    expect(found).toEqual([expect.stringMatching(/^error PIN_NOT_FOUND 10:\d+ .*cart-dev/)]);
    expect(found.join()).not.toMatch(/shop-/);
  });
});

describe("a source that is not there", () => {
  test("a set that is misspelt among several is an error at its name, with the one that is meant", () => {
    expect(told("kind: ApplicationSet\n    names:\n      - shop\n      - crat")).toEqual([
      expect.stringMatching(/^error SOURCE_NOT_FOUND 9:9 ApplicationSet argocd\/crat .*\(did you mean ApplicationSet argocd\/cart\?\)/),
    ]);
  });

  test("a selector that matches no set names the label that some set has", () => {
    expect(told("kind: ApplicationSet\n    selector: { matchLabels: { team: wbe } }")).toContainEqual(
      expect.stringMatching(/SOURCE_NOT_FOUND 7:\d+ .*ApplicationSets of argocd with team=wbe .*\(did you mean team=web\?\)/),
    );
  });
});

test("two rollouts that have a set in common are told at the later one's name of it", () => {
  put({ "rollouts/cart.yaml": rollout("kind: ApplicationSet\n    name: cart", "cart"), "rollouts/web.yaml": rollout(BY_NAME) });
  const files = ["rollouts/cart.yaml", "rollouts/web.yaml"];
  const shared = () =>
    lint(openCheckout(dir), files, undefined).problems.map(({ code, file, line, column }) => `${code} ${file}:${line}:${column}`);
  expect(shared()).toEqual(["SOURCE_SHARED rollouts/web.yaml:7:19"]);
  put({ "rollouts/web.yaml": rollout(BY_LABEL) });
  expect(shared()).toEqual(["SOURCE_SHARED rollouts/web.yaml:7:15"]);
});

test.each([
  ["kind: ApplicationSet\n    name: shop\n    names: [cart]", "8:5 sourceRef has name and names"],
  ["kind: ApplicationSet\n    name: shop\n    selector: { matchLabels: { team: web } }", "8:5 sourceRef has name and selector"],
  ["kind: Application\n    names: [shop]\n    selector: { matchLabels: { team: web } }", "7:5 names is for kind ApplicationSet"],
  ["kind: ApplicationSet", "6:5 sourceRef names no ApplicationSet"],
])("%s is refused with its place", (source, why) => {
  expect(told(source).map((one) => one.replace(/^error SOURCE_REF |\(.*/g, "").trim())).toContain(why);
});

test("a file of this repo that stops its set is an error, as it would stop every batch; of another repo or branch nobody knows", () => {
  const reading = (revision: string) =>
    setOf("shop").replace(
      /list: .*/,
      `git: { repoURL: https://github.com/acme/fleet, revision: ${revision}, files: [ { path: "envs/*.json" } ] } } ]`,
    );
  const source = "kind: ApplicationSet\n    name: shop";
  const broken = (revision: string) =>
    told(source, { "appsets/shop.yaml": reading(revision), "envs/dev.json": '{ "env": "dev", "version" }x' }).filter((one) =>
      one.includes("PARAM_ERROR"),
    );
  expect(broken("HEAD")).toEqual([expect.stringMatching(/^error PARAM_ERROR 7:\d+ .*envs\/dev\.json: not JSON: /)]);
  expect(broken("v1")).toEqual([expect.stringMatching(/^warning PARAM_ERROR/)]);
});
