import { afterEach, expect, test } from "vitest";
import type { Run } from "../../src/core/run/state/run.ts";
import { askUntil } from "../support/ask-until.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";
import { onMain } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const SET = "appsets/my-app-set.yaml";
const ROLLOUT = "rollouts/my-app.yaml";
const DRAINED = 'requeue: { selector: { matchLabels: { drained: "true" } }, attempts: 50, interval: 1m }';
const STOPPED = 'quarantine: { max: 1, selector: { matchLabels: { stopped: "true" } } }';

/** The element of a cluster in the list generator. */
function element(text: string, cluster: string): string {
  return new RegExp(`          - cluster: ${cluster}\\n(?:            .*\\n)*`).exec(text)?.[0] ?? "";
}

const of = (run: Run, batch: number) => run.batches[batch - 1]?.targets.map((target) => target.cluster.slice(4)).sort();

test("§9.16: clusters that join, leave, are relabelled, drained or stopped during a run, and a resource edited meanwhile", async () => {
  const here = await startJourney({ files: short({ byHand: true, spec: STOPPED, stage: DRAINED }) });
  journey = here;
  const { world } = here;
  const { repository } = world;
  const [alice, bob] = [world.github.actAs("alice"), world.github.actAs("bob")];
  const release = await here.release();
  const pullOf = async (batch: number) => {
    const run = await here.until(`batch ${batch} is open`, (now) => now.batches[batch - 1]?.phase === "Open");
    return run.batches[batch - 1]?.pull?.number ?? 0;
  };
  const merge = async (batch: number) => {
    await alice.mergePull(repository, await pullOf(batch), "squash");
    return here.until(`batch ${batch} is settled`, (run) => run.batches[batch - 1]?.phase === "Settled");
  };
  await pullOf(1);

  // A cluster joins, another leaves; one is relabelled into another stage, one is drained and one is stopped.
  world.argocd.addCluster({
    name: "us-east-1-z",
    server: "https://us-east-1-z.k8s.example.com",
    labels: { region: "us-east-1", area: "amer" },
  });
  const text = onMain(here, SET);
  const [first, last] = [element(text, "us-east-1-a"), element(text, "us-east-1-d")];
  const moved = text.replace(last, first.replaceAll("us-east-1-a", "us-east-1-z"));
  // Nobody looks in between: a pin that is gone while its Application is still there is asked about, which is another story.
  await here.stop();
  await bob.push(repository, { branch: "main", files: { [SET]: moved }, message: "us-east-1-z comes, us-east-1-d goes" });
  world.argocd.removeCluster("us-east-1-d");
  world.argocd.relabel("us-east-1-c", { region: "eu-west-1" });
  world.argocd.relabel("us-east-1-a", { drained: "true" });
  world.argocd.relabel("us-east-1-b", { stopped: "true" });
  const leaving = async () => world.kubernetes.store.get("applications", "argocd", "my-app-us-east-1-d");
  await askUntil(world.clock, "us-east-1-d is gone", leaving, (seen) => seen === undefined);
  await here.start();
  const joined = await here.until("it joined", (run) => (run.joined ?? []).length === 1);
  expect(joined.joined).toMatchObject([{ cluster: "hub/us-east-1-z", stage: 1 }]);

  // The resource is edited: the run keeps its snapshot, and says so.
  const edited = onMain(here, ROLLOUT).replace("maxClusters: 2", "maxClusters: 3");
  await bob.push(repository, { branch: "main", files: { [ROLLOUT]: edited }, message: "Three canaries" });
  await world.untilComment(release, "was edited since this run began (stages)");

  await merge(1);
  // us-east-1-c stays in its stage; a is put off, b in quarantine, d has left.
  await pullOf(2);
  const second = here.run();
  if (second === undefined) throw new Error("the run is gone");
  expect(of(second, 2)).toEqual(["us-east-1-c"]);
  expect(second.quarantined?.map((one) => one.cluster)).toEqual(["hub/us-east-1-b"]);
  expect(second.requeued.map((one) => one.cluster)).toEqual(["hub/us-east-1-a"]);
  await world.untilComment(release, "**Quarantined**");
  world.argocd.relabel("us-east-1-b", { stopped: null });
  world.argocd.relabel("us-east-1-a", { drained: null });

  // A merged cluster is put back by a PR of its own, and tried again at the stage's end.
  await alice.mergePull(repository, await pullOf(2), "squash");
  await here.until("it is merged", (run) => run.batches[1]?.merged !== undefined);
  bob.comment(repository, release, "/requeue us-east-1-c");
  const reverting = await here.until("it is put back", (run) => run.batches.some((batch) => batch.kind === "Revert"));
  const revert = reverting.batches.find((batch) => batch.kind === "Revert")?.number ?? 0;
  await merge(revert);
  expect(here.versions().get("us-east-1-c")).toBe("v1.4.1");

  const merged = new Set<number>([1, 2, revert]);
  for (;;) {
    const run = await here.until(
      "it goes on, or ends",
      (now) => ended(now) || now.batches.some((one) => one.phase === "Open" && !merged.has(one.number)),
    );
    const next = run.batches.find((one) => one.phase === "Open" && !merged.has(one.number));
    if (next === undefined) break;
    merged.add(next.number);
    await merge(next.number);
  }
  const run = here.run();
  const why = expect.objectContaining({ code: "RUN_THROUGH", skipped: [expect.stringContaining("us-east-1-d")] });
  expect([run?.phase, run?.why, here.errors]).toEqual(["Succeeded", why, []]);
  const late = run?.batches.flatMap((batch) => (batch.kind === "CatchUp" ? batch.targets.map((target) => target.cluster.slice(4)) : []));
  expect(late?.sort()).toEqual(["us-east-1-a", "us-east-1-b", "us-east-1-c", "us-east-1-z"]);
  for (const cluster of ["us-east-1-a", "us-east-1-b", "us-east-1-c", "us-east-1-z"]) expect(here.versions().get(cluster)).toBe("v1.4.2");
});
