import { afterEach, expect, test } from "vitest";
import { readInventory } from "../../src/core/argocd/inventory-file.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { proposeFor } from "../../src/surfaces/cli/init/init.ts";
import { lint } from "../../src/surfaces/cli/lint/lint-run.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

interface Pull {
  number: number;
  title: string;
  body: string;
  state: string;
  head: { ref: string };
  user: { login: string };
}

async function ask<T>({ github, repository }: EmbeddedWorld, path: string): Promise<T> {
  const answer = await fetch(`${github.url}/repos/${repository}${path}`, { headers: { authorization: `token ${github.token("alice")}` } });
  return (await answer.json()) as T;
}

async function onboardingPulls(world: EmbeddedWorld): Promise<Pull[]> {
  return (await ask<Pull[]>(world, "/pulls?state=all&per_page=100")).filter((pull) => pull.head.ref === "stagecoach/onboarding");
}

async function textOf(world: EmbeddedWorld, path: string, ref: string): Promise<string> {
  const { content } = await ask<{ content: string }>(world, `/contents/${path}?ref=${encodeURIComponent(ref)}`);
  return Buffer.from(content, "base64").toString("utf8");
}

/** The fleet as it was before anybody had heard of Stagecoach. */
function bare(files: Map<string, string>): void {
  for (const path of ["rollouts/my-app.yaml", ".github/stagecoach.yaml", "releases/my-app.yaml", "inventory.yaml"]) files.delete(path);
}

test("a repo without rollouts gets one pull request, whose proposal is valid; merged, a release by it travels", async () => {
  journey = await startJourney({ unprotected: true, files: bare, resyncMs: 60_000 });
  const { world, bot } = journey;
  await bot.idle();
  const [pull, ...others] = await onboardingPulls(world);
  if (pull === undefined) throw new Error("there is no onboarding pull request");
  expect([others, pull.title, pull.user.login]).toEqual([[], "Configure Stagecoach", world.github.app.login]);
  expect(pull.body).toContain("1 ApplicationSet, 1 kustomization; 12 clusters, as Argo CD knows them");
  expect(pull.body).toContain("| `rollouts/my-app.yaml` | ApplicationSet my-app-set | `v1.4.1` | 12 clusters |");
  expect(pull.body).toMatch(/closing it means no/);
  expect(pull.body).toContain("refs/heads/stagecoach/journal");
  expect(pull.body).toMatch(/The plan of the next release[\s\S]*`v1.4.1` → `next`/);
  expect(pull.body).toMatch(/A simulated run of it[\s\S]*reaches 1 of 12 clusters[\s\S]*\| 1 \| canary \|/);

  // What the bot proposes is what `init` proposes on a checkout, and lint takes it.
  const rollout = await textOf(world, "rollouts/my-app.yaml", "stagecoach/onboarding");
  const paths = ["appsets/my-app-set.yaml", "apps/my-app/kustomization.yaml", "apps/my-app/deployment.yaml", "apps/my-app/service.yaml"];
  const files = new Map<string, string>();
  for (const path of paths) files.set(path, await textOf(world, path, "main"));
  const checkout = { root: "/", paths: () => [...files.keys()], read: (path: string) => files.get(path) ?? null };
  const secrets = world.kubernetes.store.list("secrets");
  const inventory = readInventory(JSON.stringify({ kind: "List", items: secrets }), "cluster");
  expect(proposeFor(checkout, inventory).rollouts[0]?.text).toBe(rollout);
  files.set("rollouts/my-app.yaml", rollout);
  expect(lint(checkout, ["rollouts/my-app.yaml"], inventory).problems.filter((problem) => problem.severity === "error")).toEqual([]);

  // Merged, nothing moves: what is there is adopted.
  const alice = world.github.actAs("alice");
  await alice.mergePull(world.repository, pull.number, "squash");
  await world.github.idle();
  await bot.idle();
  expect(journey.run()).toBeUndefined();

  // The first release, in the rollout's own file. `mode: Propose`: a person merges.
  await alice.push(world.repository, {
    branch: "release-v1.4.2",
    files: { "rollouts/my-app.yaml": rollout.replace("version: v1.4.1", "version: v1.4.2") },
    message: "Release my-app v1.4.2",
  });
  await alice.mergePull(
    world.repository,
    await alice.openPull(world.repository, { head: "release-v1.4.2", title: "Release my-app v1.4.2" }),
    "squash",
  );
  const run = await journey.until("its first batch is open", (now) => now.batches[0]?.phase === "Open");
  expect([run.rollout, run.plan.stages.map((stage) => stage.name)]).toEqual(["my-app", ["canary", "everywhere else"]]);
  expect(journey.errors).toEqual([]);
  expect(ended(run)).toBe(false);
});

test("closing it means no, whatever is restarted, and though its branch is deleted", async () => {
  journey = await startJourney({ files: bare, resyncMs: 60_000 });
  const { world } = journey;
  await journey.bot.idle();
  const [pull] = await onboardingPulls(world);
  const alice = world.github.actAs("alice");
  await alice.closePull(world.repository, pull?.number ?? 0);
  await alice.deleteBranch(world.repository, "stagecoach/onboarding");
  await journey.stop();
  await journey.start();
  await journey.bot.resync();
  await journey.bot.idle();
  expect((await onboardingPulls(world)).map((one) => one.state)).toEqual(["closed"]);
  const branches = await ask<{ name: string }[]>(world, "/branches");
  expect(branches.map((branch) => branch.name)).not.toContain("stagecoach/onboarding");
  expect(journey.errors).toEqual([]);
});
