import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import type { WebhookFate } from "../../src/sim/github/http/faults.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

/** One world, one release after the other: each meets another fate of its webhooks. */
let journey: Journey;
let patch = 1;

beforeAll(async () => {
  journey = await startJourney({ files: short(), resyncMs: 60_000 });
});

afterAll(() => journey.close());

interface EndState {
  /** Every file of the base branch, with the release's version taken out. */
  tree: string;
  phase: string;
  why: string;
  batches: string[];
  targets: string[];
  skipped: string[];
  commands: string[];
}

/** Alice releases, and skips a cluster by a comment while the first batch is on its way; the run goes to its end. */
async function release(fate?: (nth: number) => WebhookFate): Promise<{ end: EndState; met: number }> {
  const { world } = journey;
  const version = `v1.4.${++patch}`;
  let met = 0;
  if (fate === undefined) delete world.github.faults.webhook;
  else world.github.faults.webhook = () => fate(met++);
  const alice = world.github.actAs("alice");
  const pull = await world.openReleasePull(alice, version);
  await alice.mergePull(world.repository, pull, "squash");
  const mine = (run: Run) => run.trigger.pull === pull;
  await journey.until(`${version}: the first batch is merged`, (run) => mine(run) && run.batches[0]?.merged !== undefined);
  alice.comment(world.repository, pull, "/skip us-east-1-d");
  const run = await journey.until(`${version}: the run ends`, (found) => mine(found) && ended(found));
  return { end: endState(run, version), met };
}

function endState(run: Run, version: string): EndState {
  const repo = journey.world.github.repoDirectory(journey.world.repository);
  const files = git(repo, "ls-tree", "-r", "--name-only", "main").split("\n");
  const tree = files.map((file) => `== ${file}\n${git(repo, "show", `main:${file}`)}`).join("\n");
  return {
    tree: tree.replaceAll(version, "VERSION"),
    phase: run.phase,
    why: sentenceOf(run?.why ?? "").replaceAll(version, "VERSION"),
    batches: run.batches.map((batch) => `stage ${batch.stage}, batch ${batch.ofStage}, attempt ${batch.attempt}: ${batch.phase}`),
    targets: run.batches.flatMap((batch) => batch.targets.map((target) => `${target.key}: ${target.phase}`)).sort(),
    skipped: run.skipped.map((one) => one.cluster),
    commands: run.commands.map((command) => `${command.actor}: ${command.text}: ${command.outcome}`),
  };
}

let undisturbed: EndState;

describe("a whole journey comes to the same end, whatever becomes of every single webhook", () => {
  beforeAll(async () => {
    undisturbed = (await release()).end;
  });

  test("undisturbed it succeeds, with one cluster skipped", () => {
    expect(undisturbed.phase).toBe("Succeeded");
    expect(undisturbed.skipped).toHaveLength(1);
    expect(undisturbed.commands).toEqual(["alice: /skip us-east-1-d: done"]);
    expect(undisturbed.tree.match(/targetRevision: VERSION/g)).toHaveLength(5);
  });

  test.each<[string, (nth: number) => WebhookFate]>([
    ["lost for good", () => "lose"],
    ["doubled", () => "double"],
    ["delayed by seven minutes", () => ({ delay: 7 * 60_000 })],
    // Of each eight the last comes first.
    ["reordered", (nth) => ({ delay: (7 - (nth % 8)) * 30_000 })],
  ])("%s", async (_what, fate) => {
    const { end, met } = await release(fate);
    expect(met).toBeGreaterThan(15);
    expect(end).toEqual(undisturbed);
    expect(journey.errors).toEqual([]);
  });

  test("a bot that starts afterwards is ready, and shows the run that has ended", async () => {
    await journey.stop();
    await journey.start();
    expect(journey.bot.runs().map(({ repository, run }) => [repository, run.rollout, run.phase])).toEqual([
      ["acme/fleet", "my-app", undisturbed.phase],
    ]);
    expect((await fetch(`${journey.bot.url}/readyz`)).status).toBe(200);
  });
});
