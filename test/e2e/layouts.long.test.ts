/**
 * What init proposes for each layout of `support/layouts.ts`, committed as it stands, and a rollout by hand: a release goes to every target, and
 * back again.
 */
import { afterEach, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { targetsOf } from "../../src/core/plan/plan-types.ts";
import { proposedFiles } from "../../src/core/report/onboarding/show.ts";
import { proposeFor } from "../../src/surfaces/cli/init/init.ts";
import { ended, type Journey, type JourneyOptions, startJourney } from "../support/journey.ts";
import { application, HOME, json, REPO } from "../support/layout-parts.ts";
import { inventoryOf, LAYOUTS, type Layout } from "../support/layouts.ts";
import { LAYOUTS_BY_HAND, rolloutText } from "../support/layouts-by-hand.ts";
import { mergeChange, onMain, untilRunOf } from "../support/second-rollout.ts";

const ONE = "https://one.k8s.example.com";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

interface Row {
  /** How many Applications there are, those that make others with them. */
  applications: number;
  /** By their names. Default: one. */
  clusters?: string[];
  /** The folder that the first Application applies. Default `hub`, where what stands at the root is put. */
  path?: string;
  /** The folder of an Application beside, which makes the set. */
  parent?: string;
  /** The rollout that is released. Default shop. */
  rollout?: string;
  /** What each batch takes, in their order. */
  batches: string[][];
  /** Which file a release changes. Default: the rollout's own. */
  releasedIn?: string;
  /** Of the journey's world and bot. */
  given?: Partial<JourneyOptions>;
}

const BY_ENVIRONMENT = [["shop-dev"], ["shop-staging"], ["shop-prod"]];
const BY_CLUSTER = [["dev-1"], ["prod-1"], ["prod-2"]];

const WORLDS: Record<string, Row> = {
  "environment folders": { applications: 3, path: "apps", batches: BY_ENVIRONMENT },
  "hub with app-of-apps": { applications: 4, clusters: ["dev-1", "prod-eu", "prod-us"], batches: [["dev-1"], ["prod-eu"], ["prod-us"]] },
  "clusters × environments matrix": {
    ...{ applications: 4, clusters: ["eu-1", "us-1"] },
    batches: [["shop-dev-eu-1", "shop-dev-us-1"], ["shop-prod-eu-1"], ["shop-prod-us-1"]],
  },
  "merge with overrides": { applications: 3, clusters: BY_CLUSTER.flat(), batches: BY_CLUSTER },
  "sets that kustomize patches": { applications: 3, parent: "sets/hub", batches: [["shop-dev"], ["shop-prod"]] },
  "umbrella chart": { applications: 3, batches: [["shop-dev"], ["shop-preprod"], ["shop-prod"]] },
  "several images in each overlay": { applications: 3, path: "apps", batches: BY_ENVIRONMENT },
  "values for each cluster, the version a default": { applications: 3, clusters: BY_CLUSTER.flat(), batches: BY_CLUSTER },
  "monorepo of services": { applications: 4, rollout: "cart", batches: [["cart-dev"], ["cart-prod"]] },
  "one Argo CD per cluster": {
    ...{ applications: 1, clusters: [], batches: [["dev"], ["prod"]] },
    given: {
      planes: ["dev", "prod"].map((name) => ({ name, labels: null, path: `clusters/${name}` })),
      seenAs: (plane) => ({ ...plane, labels: { env: plane.name } }),
    },
  },
  "environment branches": {
    ...{ applications: 3, path: "apps", batches: BY_ENVIRONMENT, releasedIn: "base/deployment.yaml" },
    given: { branches: ["env/dev", "env/staging", "env/prod"] },
  },
  "sets that Helm makes": { applications: 3, parent: "sets", batches: [["shop-dev"], ["shop-prod"]], given: { overApi: true } },
};

/** Of those by hand copies and tags have journeys of their own: `copy.long.test.ts`, `pin-kinds.long.test.ts`. */
const BY_HAND: Record<string, Row> = {
  "environments are namespaces": {
    ...{ applications: 4, rollout: "shared-namespaces" },
    batches: [
      ["one:shop-staging", "one:shop-staging"],
      ["one:shop-prod", "one:shop-prod"],
    ],
  },
};

test("every layout is run", () => {
  expect(Object.keys(WORLDS).sort()).toEqual(LAYOUTS.map(({ name }) => name).sort());
});

/** The repo as a team has it who has just committed what init proposes; only that nobody merges batches, and none bakes. */
function prepared(layout: Layout, { clusters, parent }: Row, repoURL: string): Map<string, string> {
  // Of the cluster that it runs in the embedded Argo CD plays nothing but Argo CD's own objects.
  const home = clusters === undefined ? ONE : HOME.server;
  const here = (text: string) =>
    text
      .replaceAll(REPO, repoURL)
      .replace(/\bv?1\.0\.0/g, (old) => old.replace("1.0.0", "1.4.1"))
      .replaceAll(HOME.server, home);
  const files = new Map(
    Object.entries(layout.files).map(([file, text]) => [/^(set|root)\.(yaml|json)$/.test(file) ? `hub/${file}` : file, here(text)]),
  );
  const checkout = { root: "/", paths: () => [...files.keys()].sort(), read: (file: string) => files.get(file) ?? null };
  const byHand = LAYOUTS_BY_HAND.find((one) => one === layout);
  const written: [string, string] | undefined = byHand && [
    `rollouts/${byHand.rollout}`,
    `${rolloutText(byHand).replace(/version: v.*/, "version: v1.4.1")}  mode: Run\n`,
  ];
  for (const [file, text] of written ? [written] : proposedFiles(proposeFor(checkout, inventoryOf(layout, here))))
    files.set(file, text.replace("mode: Propose", "mode: Run").replace(/^ +bake: .*\n/gm, ""));
  const maker = application("parent", { path: parent ?? "" }, { namespace: "argocd" });
  if (parent !== undefined) files.set("hub/parent.yaml", json(maker).replaceAll(REPO, repoURL));
  return files;
}

async function start(layout: Layout, row: Row): Promise<Journey> {
  const { applications, clusters = ["one"], path = "hub", rollout = "shop", given } = row;
  return await startJourney({
    files(files) {
      const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
      files.clear();
      for (const [file, text] of prepared(layout, row, repoURL)) files.set(file, text);
    },
    clusters: clusters.map((name) => ({ name, server: name === "one" ? ONE : `https://${name}.k8s.example.com`, labels: {} })),
    sets: applications / Math.max(1, clusters.length),
    planes: [{ name: "hub", labels: {}, path }],
    rollout,
    ...given,
  });
}

test.each(Object.entries({ ...WORLDS, ...BY_HAND }))("%s: a release goes to every target, and back again", async (name, row) => {
  const { rollout = "shop", batches, releasedIn = `rollouts/${rollout}.yaml` } = row;
  const layout = [...LAYOUTS, ...LAYOUTS_BY_HAND].find((one) => one.name === name);
  if (layout === undefined) throw new Error(`no layout is called ${name}`);
  journey = await start(layout, row);
  const of = journey;
  const { github, repository } = of.world;
  const repo = github.repoDirectory(repository);
  const changed = () => git(repo, "diff", "--name-only", "before", "main").split("\n").filter(Boolean).sort();
  for (const tag of ["before", "v1.4.2"]) git(repo, "tag", tag, "main");
  const released = { [releasedIn]: onMain(of, releasedIn).replaceAll("1.4.1", "1.4.2") };
  const pull = await mergeChange(of, "alice", released, "Release 1.4.2");
  const release = git(repo, "rev-parse", "main");
  const run = await untilRunOf(of, rollout, "the run ends", ended);
  expect([run.phase, of.errors]).toEqual(["Succeeded", []]);
  const taken = run.batches.map(({ targets }) => targets.map(({ cluster }) => cluster.replace(/^.*\//, "")));
  expect(taken).toEqual(batches);
  const edits = targetsOf(run.plan).flatMap((target) => target.edits);
  const files = [...new Set(edits.map(({ file }) => file))].filter((file) => file !== "");
  expect(edits.filter(({ to }) => to !== release && !/^v?1\.4\.2$/.test(to))).toEqual([]);
  expect(changed()).toEqual([...files, releasedIn].sort());
  for (const file of files) expect(onMain(of, file)).not.toContain("1.4.1");
  for (const branch of row.given?.branches ?? []) expect(git(repo, "rev-parse", branch)).toBe(release);
  github.actAs("bob").comment(repository, pull, "/rollback");
  const back = await untilRunOf(of, rollout, "the way back ends", (one) => one.kind === "Rollback" && ended(one));
  expect([back.phase, of.errors]).toEqual(["RolledBack", []]);
  // What was not there before is not there now, to the byte.
  expect(changed().filter((file) => files.includes(file))).toEqual([]);
  const old = git(repo, "rev-parse", "before");
  for (const branch of row.given?.branches ?? []) expect(git(repo, "rev-parse", branch)).toBe(old);
});
