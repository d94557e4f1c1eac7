import { expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { openTelemetry } from "../telemetry/scope.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";
import { reconciler } from "./reconcile.ts";

test("what a run waits for is asked for before the plans of pull requests, which may never end and are given a budget", async () => {
  const asked: [string, number | undefined][] = [];
  const seen: unknown[] = [];
  const repo = {
    context: { repository: "o/r" },
    baseBranch: "main",
    heard: () => [],
    inbox: { holdAnswers: () => () => undefined },
    pullsNeedFetch: true,
    waiting: false,
    loop: {
      permissions: { mayHaveChanged: false },
      round: async () => ({ runs: [], wakeAt: 5000 }),
      publishPlans: (...given: unknown[]) => {
        seen.push(given[2]);
        return new Promise(() => undefined);
      },
    },
  } as unknown as ServedRepo;
  const look = reconciler({
    clock: manualClock(),
    wake: (repository, at) => void asked.push([repository, at]),
    changed: () => undefined,
    telemetry: openTelemetry(),
  });
  void look(repo, 0);
  await new Promise(setImmediate);
  expect([asked, repo.waiting]).toEqual([[["o/r", 5000]], true]);
  expect((seen[0] as () => () => boolean)()()).toBe(false);
});
