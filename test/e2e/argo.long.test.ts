import { afterEach, describe, expect, test } from "vitest";
import { hasCode } from "../../src/core/base/reason.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import type { Fault } from "../../src/sim/argocd/faults.ts";
import { ended, type Journey, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const SICK = "us-east-1-a";

async function begin(kind: Fault["kind"], spec: Parameters<typeof short>[0] = {}) {
  journey = await startJourney({ files: short(spec), faults: [{ cluster: SICK, kind }] });
  const release = await journey.release();
  return { journey, world: journey.world, release, alice: journey.world.github.actAs("alice") };
}

async function heal({ world }: Journey, release: number): Promise<void> {
  world.argocd.setFault(SICK, null);
  world.github.actAs("alice").comment(world.repository, release, "/retry");
}

/** What a person does in Argo CD after a failed sync: it makes no second attempt at a revision by itself. */
function sync({ world }: Journey): Promise<void> {
  const { store } = world.kubernetes;
  const name = `my-app-${SICK}`;
  store.change("applications", "argocd", name, (object) => ({
    ...object,
    operation: { sync: {}, initiatedBy: { username: "alice" } },
  }));
  return new Promise((resolve) => {
    const off = store.subscribe("applications", () => {
      const object = store.get("applications", "argocd", name);
      const { status } = (object ?? {}) as { status?: { operationState?: { phase?: string }; health?: { status?: string } } };
      if (status?.operationState?.phase !== "Succeeded" || status.health?.status !== "Healthy") return;
      off();
      resolve();
    });
  });
}

async function expectSucceeded(now: Journey): Promise<void> {
  const run = await now.until("it ends", ended);
  const versions = now.versions();
  expect([run.phase, now.errors]).toEqual(["Succeeded", []]);
  expect(SHORT_CLUSTERS.map((cluster) => versions.get(cluster))).toEqual(SHORT_CLUSTERS.map(() => "v1.4.2"));
  for (const cluster of SHORT_CLUSTERS) expect(now.world.argocd.liveHealth(`my-app-${cluster}`)).toBe("Healthy");
}

const pausedOnFailure = (now: Journey) => now.until("it pauses", (run) => run.phase === "Paused" && run.paused?.kind === "Failure");

function healthOf(now: Journey | undefined, cluster: string): string | undefined {
  const object = now?.world.kubernetes.store.get("applications", "argocd", `my-app-${cluster}`);
  return (object as { status?: { health?: { status?: string } } } | undefined)?.status?.health?.status;
}

function sick(run: Awaited<ReturnType<Journey["until"]>>) {
  return run.batches.flatMap((batch) => batch.targets).find((target) => target.cluster === `hub/${SICK}`);
}

describe("what Argo CD and its clusters do", () => {
  test("a cluster that is stuck past its deadline pauses the run; healed, /retry goes on to the end", async () => {
    const { journey, release } = await begin("stuck", { stage: "progressDeadline: 10m" });
    const paused = await pausedOnFailure(journey);
    expect([sick(paused)?.phase, journey.versions().get("us-east-1-c")]).toEqual(["Failed", "v1.4.1"]);
    await heal(journey, release);
    await expectSucceeded(journey);
  });

  test("an unreachable cluster that keeps its old Healthy is never counted live", async () => {
    const { journey, release } = await begin("unreachable", { spec: "seenDeadline: 10m", stage: "progressDeadline: 10m" });
    const paused = await pausedOnFailure(journey);
    expect(sick(paused)?.phase).toBe("Failed");
    expect(sick(paused)?.confirmedAt).toBeUndefined();
    expect(journey.versions().get("us-east-1-c")).toBe("v1.4.1");
    await heal(journey, release);
    await expectSucceeded(journey);
  });

  test("with auto-sync off the batch waits for a person, and says so; it goes on when it is on again", async () => {
    const { journey, world, release } = await begin("autosync-off");
    const waiting = await journey.until("it waits", (run) => sick(run)?.waitingSince !== undefined);
    expect([waiting.phase, sick(waiting)?.evidence?.verdict ?? "waiting"]).toEqual(["Progressing", "waiting"]);
    await world.untilComment(release, SICK);
    world.argocd.setFault(SICK, null);
    await expectSucceeded(journey);
  });

  test("a sync that fails pauses the run; synced by a person, /retry goes on to the end", async () => {
    const { journey, world, release, alice } = await begin("sync-failed");
    const paused = await pausedOnFailure(journey);
    expect(sick(paused)?.phase).toBe("Failed");
    // The attempt is used up: people are told that nothing happens by itself, and what would help.
    expect(sick(paused)?.why).toHaveCode("SYNC_FAILED", { spent: true });
    world.argocd.setFault(SICK, null);
    await sync(journey);
    alice.comment(world.repository, release, "/retry");
    await expectSucceeded(journey);
  });

  test("health that flaps is waited for until it has settled", async () => {
    const { journey } = await begin("flap");
    await expectSucceeded(journey);
  });

  test("what was ill before counts apart (baseline: Tolerate), and a dip while baking that is short enough is ignored (flap)", async () => {
    // Seen and gone within `ignore`.
    const spec = "baseline: Tolerate\n  flap: { ignore: 5m, most: 3, window: 30m }";
    journey = await startJourney({ files: short({ spec, bake: "6m" }) });
    const { argocd } = journey.world;
    const before = "eu-west-1-a";
    argocd.setFault(before, { kind: "degraded", scope: "now" });
    await expect.poll(() => healthOf(journey, before), { timeout: 600_000 }).toBe("Degraded");
    await journey.release();

    const baking = await journey.until("the second batch bakes", (run) => run.batches[1]?.phase === "Baking");
    const [ill] = baking.batches[0]?.targets.filter((target) => target.cluster === `hub/${before}`) ?? [];
    expect([ill?.phase, ill?.excused, ill?.confirmedAt, ill?.why]).toEqual([
      "Failed",
      true,
      undefined,
      expect.toHaveCode("NO_WORSE_THAN_BASELINE"),
    ]);
    argocd.setFault(SICK, { kind: "degraded", scope: "now" });
    await journey.until("the dip is seen", (run) => sick(run)?.dippedAt !== undefined);
    argocd.setFault(SICK, null);
    const settled = await journey.until("it settles", (run) => run.batches[1]?.phase === "Settled");
    expect([settled.batches[1]?.bake?.restarts, settled.phase]).toEqual([0, "Progressing"]);
    const run = await journey.until("it ends", ended);
    expect([journey.errors, run.batches.length, journey.versions().get("us-east-1-d")]).toEqual([[], 3, "v1.4.2"]);
  });

  test("an ApplicationSet that is deleted in the midst of it takes the run nowhere, and it says what is lost", async () => {
    journey = await startJourney({ files: short({ stage: "progressDeadline: 3m", bake: "10m" }) });
    const { store } = journey.world.kubernetes;
    await journey.release();
    await journey.until("the first batch bakes", (run) => run.batches[0]?.phase === "Baking");
    // Nobody applies it from Git again, and its Applications go with it.
    for (const { metadata } of store.list("applications")) {
      if (!metadata.name.startsWith("my-app-")) store.delete("applications", "argocd", metadata.name);
    }
    store.delete("applicationsets", "argocd", "my-app-set");
    // The watch tells of one Application after the other: the first that is gone pauses the run.
    const gone = (run: Run) => run.batches[0]?.targets.every(({ phase }) => phase === "Failed") === true;
    const stopped = await journey.until("it pauses", (run) => run.paused !== undefined && gone(run));
    expect(stopped.batches.filter(({ merged }) => merged !== undefined)).toHaveLength(1);
    const { why } = stopped.batches[0]?.targets[0] ?? {};
    expect(["NO_APPLICATION", "APPLICATION_DELETED", "OWNER_ENDS"].filter((code) => hasCode(why, code))).toHaveLength(1);
    expect([journey.errors, journey.versions().get("us-east-1-a")]).toEqual([[], "v1.4.1"]);
  });

  test("watches that are cut and expire at every turn change nothing", async () => {
    journey = await startJourney({ files: short() });
    const { world, bot } = journey;
    let phases = "";
    let cuts = 0;
    bot.onChange(() => {
      const now =
        journey
          ?.run()
          ?.batches.map((batch) => `${batch.phase} ${batch.targets.map((target) => target.phase)}`)
          .join() ?? "";
      if (now === phases) return;
      phases = now;
      cuts += 1;
      if (cuts % 2 === 0) world.kubernetes.faults.expire();
      else world.kubernetes.faults.dropWatches();
    });
    await journey.release();
    await expectSucceeded(journey);
    expect(cuts).toBeGreaterThan(6);
  });
});
