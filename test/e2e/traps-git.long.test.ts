import { afterEach, describe, expect, test } from "vitest";
import { asApplication } from "../../src/sim/argocd/types.ts";
import { hydrated, valuesOfCharts, versionsInFiles } from "../support/commit-pins.ts";
import { ended, type Journey, type JourneyOptions, SHORT_CLUSTERS, startJourney } from "../support/journey.ts";
import { type Truth, watchTruth } from "../support/truth.ts";

/* Traps of what Argo CD has seen of Git: the change is a commit on a branch that all share, and moves on. */

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

async function begin(options: JourneyOptions): Promise<{ journey: Journey; truth: Truth }> {
  journey = await startJourney(options);
  return { journey, truth: watchTruth(journey) };
}

async function expectWell(now: Journey, truth: Truth): Promise<void> {
  const run = await now.until("it ends", ended);
  expect([run.phase, now.errors, truth.early]).toEqual(["Succeeded", [], []]);
  expect(truth.looks()).toBeGreaterThanOrEqual(SHORT_CLUSTERS.length);
  expect([...versionsInFiles(now.world).keys()]).toEqual(SHORT_CLUSTERS);
}

const merged = (now: Journey, count: number) =>
  now.until(`batch ${count} is merged`, (run) => run.batches.flatMap((batch) => batch.merged ?? []).length === count);

const passes = ({ world }: Journey, ms: number) => new Promise<void>((resolve) => void world.clock.after(ms, resolve));

function statusOf({ world }: Journey, cluster: string): unknown[] {
  const { status } = asApplication(world.kubernetes.store.get("applications", "argocd", `my-app-${cluster}`) ?? NOTHING);
  return [status?.sync?.status, status?.health?.status, status?.conditions];
}

const NOTHING = { apiVersion: "", kind: "", metadata: { name: "" } };

/** How often somebody asked for a refresh of an Application. */
function countAsks({ world }: Journey, cluster: string): () => number {
  let asks = 0;
  world.kubernetes.store.subscribe("applications", ({ object, previous }) => {
    const asked = ({ metadata }: typeof object) => metadata.annotations?.["argocd.argoproj.io/refresh"] !== undefined;
    if (object.metadata.name === `my-app-${cluster}` && asked(object) && previous !== undefined && !asked(previous)) asks += 1;
  });
  return () => asks;
}

describe("traps of commits that Argo CD sees late", () => {
  test("several sources at a shared branch that moves on, no webhook, and a repository whose errors are kept quiet", async () => {
    // It polls every half minute and keeps errors quiet for ten: both happen many times over, however slow this machine is.
    const lag = { reconciliation: 30_000, reconciliationJitter: 0, repoErrorGrace: 600_000 };
    const { journey, truth } = await begin({ files: valuesOfCharts, argocdWebhook: false, lag });
    const { argocd, github, repository } = journey.world;
    argocd.setRepoDown(true);
    await journey.release();
    await merged(journey, 1);
    await passes(journey, 120_000);
    // Looked at, not to be had, and not a word of it: as green as before, and nothing of the batch is taken for done.
    expect(statusOf(journey, "eu-west-1-a")).toEqual(["Synced", "Healthy", undefined]);
    expect(journey.run()?.batches[0]?.targets.filter((target) => target.confirmedAt !== undefined)).toEqual([]);
    await truth.hears("eu-west-1-a", /Argo CD last compared it at .*, and the change was merged at/);
    argocd.setRepoDown(false);
    // kargo#807, argo-cd#12459: commits of others come in between, so that nobody ever sees the merge itself at the head.
    await merged(journey, 2);
    await github.actAs("alice").push(repository, { branch: "main", files: { "README.md": "# moved on\n" }, message: "Docs" });
    await expectWell(journey, truth);
  });

  test("the source hydrator: what is synced is another commit on another branch, which may fail to be made; refreshes that get lost", async () => {
    const { journey, truth } = await begin({ files: hydrated, argocdMayPush: true, argocdWebhook: false, annotationRefresh: true });
    const { argocd } = journey.world;
    argocd.setFault("eu-west-1-a", { kind: "hydrate-failed", message: "no such chart" });
    // argo-cd#28306: what is asked for while a comparison runs is lost with its end.
    argocd.setFault("eu-central-1-a", [{ kind: "refresh-lost" }, { kind: "slow", factor: 20 }]);
    const asks = countAsks(journey, "eu-central-1-a");
    await journey.release();
    await truth.hears("eu-west-1-a", /Hydration failed: .*no such chart/, 15 * 60_000);
    argocd.setFault("eu-west-1-a", null);
    await expectWell(journey, truth);
    expect(asks()).toBeGreaterThan(1);
  });
});
