import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Inventory, readInventory } from "../../src/core/argocd/inventory-file.ts";
import { textAt } from "../../src/core/base/is-record.ts";
import type { RepoFiles } from "../../src/core/base/repo-files.ts";
import { targetsOf } from "../../src/core/plan/plan-types.ts";
import { sayHindrance } from "../../src/core/report/onboarding/hindrance.ts";
import { proposalJson, proposedFiles } from "../../src/core/report/onboarding/show.ts";
import type { Proposal } from "../../src/core/report/onboarding/types.ts";
import { scanRepo } from "../../src/engine/onboarding/scan.ts";
import { proposeFor } from "../../src/surfaces/cli/init/init.ts";
import { type Checkout, openCheckout } from "../../src/surfaces/cli/lint/lint-checkout.ts";
import { lint, readRollouts } from "../../src/surfaces/cli/lint/lint-run.ts";
import { makePlan } from "../../src/surfaces/cli/plan/plan-make.ts";
import { table, tally } from "./scalars.ts";

const DATA = fileURLToPath(new URL("../../../shared/data", import.meta.url));
const here = existsSync(DATA);
if (!here) console.log("skipped: init over public config repos, since ../shared/data is not there");

function tell(title: string, proposal: Proposal): void {
  const counts = new Map<string, number>();
  for (const rollout of proposal.rollouts) tally(counts, `proposed: ${rollout.kinds.join(", ")}`);
  for (const { why } of proposal.undecided) tally(counts, `not decided: ${shape(sayHindrance(why).why)}`);
  const { files, applicationSets, applications } = proposal.figures;
  console.log(table(`${title}: ${files} files, ${applicationSets} ApplicationSets, ${applications} Applications`, counts));
}

/** What keeps a proposal from being merged as it stands; where nothing is proposed, that no one reason is told. */
function faultsOf(checkout: Checkout, proposal: Proposal): string[] {
  if (proposal.rollouts.length === 0) {
    const { reason, repo } = proposalJson(proposal, undefined) as { reason?: { why: string; hint: string }; repo?: string };
    return reason !== undefined ? [reason.why, reason.hint].filter((one) => one === "") : repo === undefined ? ["no reason is told"] : [];
  }
  const texts = proposedFiles(proposal);
  const paths = [...new Set([...checkout.paths(), ...texts.keys()])].toSorted();
  const after: Checkout = { root: checkout.root, paths: () => paths, read: (path) => texts.get(path) ?? checkout.read(path) };
  const own = proposal.rollouts.map(({ file }) => file);
  const errors = lint(after, own, undefined).problems.filter(({ severity }) => severity === "error");
  const unplanned = readRollouts(after, own).rollouts.filter((rollout) => {
    const names = rollout.release?.kind === "values" ? Object.keys(rollout.release.values) : ["version"];
    const { plan } = makePlan(rollout, after, undefined, Object.fromEntries(names.map((value) => [value, "v9.9.9"])));
    return plan === undefined || targetsOf(plan).length !== proposal.rollouts.find(({ name }) => name === rollout.name)?.targets;
  });
  return [...errors.map(({ code, file }) => `${file}: ${code}`), ...unplanned.map(({ file }) => `${file}: has another plan`)];
}

/** ApplicationSets of the repo that neither a rollout nor a reason names. */
function unnamed(checkout: RepoFiles, { rollouts, undecided }: Proposal): string[] {
  const names = scanRepo(checkout).sets.map(({ object }) => textAt(object, "metadata", "name") ?? "without a name");
  const told = [...undecided.map(({ what }) => what), ...rollouts.map(({ source, text }) => `${source.kind} ${source.name}\n${text}`)];
  return names.filter((name) => !told.some((one) => one.includes(name)));
}

/** A reason without its names, so that like counts with like. */
function shape(why: string): string {
  return why
    .replaceAll(/"[^"]*"/g, "…")
    .replaceAll(/\([^)]*\)/g, "(…)")
    .replaceAll(/\d+/g, "N")
    .slice(0, 100);
}

function sixClusters(): Inventory {
  const items = [1, 2, 3, 4, 5, 6].map((n) => ({
    kind: "Secret",
    metadata: {
      name: `cluster-${n}`,
      labels: { "argocd.argoproj.io/secret-type": "cluster", env: n < 3 ? "staging" : "production", region: n % 2 === 0 ? "eu" : "us" },
    },
    stringData: { name: `cluster-${n}`, server: `https://${n}.example.com` },
  }));
  return readInventory(JSON.stringify({ kind: "List", items }), "inventory.json");
}

describe.skipIf(!here)("init over public config repos", () => {
  test.each(
    here
      ? readdirSync(join(DATA, "repos"), { withFileTypes: true })
          .filter((one) => one.isDirectory())
          .map((one) => one.name)
      : [],
  )("%s: everything it has is proposed or told; what is proposed lints and plans, else there is one reason", (name) => {
    const checkout = openCheckout(join(DATA, "repos", name));
    const proposal = proposeFor(checkout, undefined);
    tell(name, proposal);
    expect(proposal.figures.applicationSets).toBeGreaterThan(0);
    expect(unnamed(checkout, proposal)).toEqual([]);
    expect(faultsOf(checkout, proposal)).toEqual([]);
  });

  test.each([
    ["without an inventory", undefined],
    ["on a fleet of six clusters", sixClusters()],
  ])(
    "the whole corpus as one repo, %s: nothing throws, and every ApplicationSet is accounted for",
    { timeout: 60_000 },
    (how, inventory) => {
      const root = join(DATA, "corpus");
      const paths = globSync("**/*.{yaml,yml,json}", { cwd: root }).sort();
      const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
      const checkout = { root, paths: () => paths, read: (path: string) => texts.get(path) ?? null };
      const began = performance.now();
      const proposal = proposeFor(checkout, inventory);
      tell(`the corpus ${how}, in ${Math.round(performance.now() - began)} ms`, proposal);
      expect(proposal.figures.applicationSets).toBeGreaterThan(50);
      expect(unnamed(checkout, proposal)).toEqual([]);
      const said = proposal.undecided.map(({ why }) => sayHindrance(why));
      expect(said.every(({ why, hint }) => why !== "" && hint !== "")).toBe(true);
    },
  );
});
