import { afterEach, describe, expect, test } from "vitest";
import type { RunDocument } from "../../src/core/report/model/schema/run.ts";
import { renderTree } from "../../src/core/report/tree/tree.ts";
import type { RolloutState, Run } from "../../src/core/run/state/run.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

const CANARY = ["eu-central-1-a", "eu-west-1-a"];
const STEPS = "[{ setWeight: 20 }, { pause: {} }, { setWeight: 60 }, { pause: {} }]";

/** The sample, with Argo Rollouts in the clusters that stop at 20 and at 60 percent. */
function withRollouts(files: Map<string, string>): void {
  files.set(
    "apps/my-app/deployment.yaml",
    `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: { name: my-app }
spec:
  replicas: 5
  selector: { matchLabels: { app: my-app } }
  template:
    metadata: { labels: { app: my-app } }
    spec: { containers: [{ name: my-app, image: ghcr.io/example/my-app }] }
  strategy: { canary: { steps: ${STEPS} } }
`,
  );
  short({ stage: "progressDeadline: 3m" })(files);
}

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

function rolloutsOf(run: Run, number = 1): RolloutState[] {
  return run.batches[number - 1]?.targets.flatMap((target) => target.rollouts ?? []) ?? [];
}

const pausedAt =
  (step: number, number = 1) =>
  (run: Run) => {
    const all = rolloutsOf(run, number);
    return all.length === 2 && all.every((one) => one.paused && one.step === step);
  };

const handled = (count: number) => (run: Run) => run.commands.length >= count;

describe("Argo Rollouts in the clusters of a batch", () => {
  test("pause at a step, are shown on the PRs and in the tree, and move on in lockstep by a comment; then the batch is confirmed", async () => {
    journey = await startJourney({ files: withRollouts, overApi: true });
    const { world } = journey;
    const [alice, bob] = [world.github.actAs("alice"), world.github.actAs("bob")];
    const release = await journey.release();
    const first = await journey.until("both are paused at their first pause", pausedAt(1));
    const pull = first.batches[0]?.pull?.number ?? 0;
    expect(rolloutsOf(first)).toMatchObject([
      { name: "my-app", phase: "Paused", setWeight: 20, steps: 4, message: "CanaryPauseStep" },
      { name: "my-app", phase: "Paused", setWeight: 20, steps: 4, message: "CanaryPauseStep" },
    ]);
    expect(rolloutsOf(first)[0]?.canaryImages).toEqual(["ghcr.io/example/my-app:v1.4.2"]);

    // In progress, and no deadline runs, however long it takes.
    await new Promise<void>((resolve) => void world.clock.after(4 * 60_000, resolve));
    const later = await journey.until(
      "it still waits",
      (run) => pausedAt(1)(run) && run.batches[0]?.targets.every((one) => one.waitingSince !== undefined) === true,
    );
    expect([later.phase, later.batches[0]?.targets.map((target) => target.phase)]).toEqual(["Progressing", ["Syncing", "Syncing"]]);

    for (const number of [pull, release]) {
      const comment = await world.untilComment(number, "Argo Rollouts of");
      expect(comment).toMatch(/`eu-west-1-a` \| `my-app` \| ⏸️ Paused \| 1\/4 \| 20 .*\| `my-app:v1\.4\.1` \| `my-app:v1\.4\.2` \|/);
      expect(comment).toContain("`/promote --rollouts`");
    }
    const tree = renderTree(later, world.clock.now(), { color: false, width: 200 });
    expect(tree).toMatch(
      /⟳ my-app +॥ Paused +step 1\/4 · weight 20 .*my-app:v1\.4\.1 → my-app:v1\.4\.2 · 5\/5 available, 1 updated · CanaryPauseStep/,
    );
    const page = (await (await fetch(`${journey.bot.url}/api/v1/repos/${world.repository}/rollouts/my-app`)).json()) as RunDocument;
    const application = page.children[0]?.children[0]?.children[0]?.children[0];
    expect(application?.children).toMatchObject([{ name: "my-app", state: "Paused" }]);

    alice.comment(world.repository, pull, "/promote --rollouts");
    const second = await journey.until("both are paused at their second pause", pausedAt(3));
    expect(second.commands.at(-1)).toMatchObject({ outcome: "done", message: { code: "ROLLOUTS_DONE", action: "resume", done: 2 } });

    alice.comment(world.repository, release, "/promote --rollouts --full");
    const refused = await journey.until("she is refused", handled(2));
    expect(refused.commands.at(-1)).toMatchObject({ outcome: "refused", message: { code: "FULL_NEEDS_MAINTAIN", rollouts: true } });
    bob.comment(world.repository, release, "/promote --rollouts --full");
    const settled = await journey.until("the batch settles", (run) => run.batches[0]?.phase === "Settled");
    expect(settled.batches[0]?.targets.map((target) => [target.phase, target.evidence?.verdict])).toEqual([
      ["Baked", "live"],
      ["Baked", "live"],
    ]);
    for (const cluster of CANARY) expect(world.argocd.liveHealth(`my-app-${cluster}`)).toBe("Healthy");

    // The next batch: aborted, the run stops on it; tried again and looked at anew, it goes on.
    await journey.until("the second batch is paused at its first pause", pausedAt(1, 2));
    alice.comment(world.repository, release, "/abort --rollouts");
    // Each fails a minute after it was seen degraded, which is not the same moment for both.
    const bothFailed = (run: Run) => run.batches[1]?.targets.every(({ phase }) => phase === "Failed") === true;
    const stopped = await journey.until("it pauses on the failure", (run) => run.paused?.kind === "Failure" && bothFailed(run));
    expect(rolloutsOf(stopped, 2).map((one) => one.phase)).toEqual(["Degraded", "Degraded"]);
    alice.comment(world.repository, release, "/retry --rollouts\n\n/retry");
    await journey.until("it goes on", pausedAt(1, 2));
    expect(journey.run()?.phase).toBe("Progressing");
    bob.comment(world.repository, release, "/promote --rollouts --full");
    await journey.until("the third batch is paused", pausedAt(1, 3));
    bob.comment(world.repository, release, "/promote --rollouts --full");
    const done = await journey.until("it ends", ended);
    expect([done.phase, journey.errors]).toEqual(["Succeeded", []]);
  });
});
