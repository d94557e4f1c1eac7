import { expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { embeddedQueue } from "../../../adapters/queue/embedded.ts";
import type { SharingOptions } from "../../../adapters/queue/port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openTelemetry } from "../telemetry/scope.ts";
import type { Repos } from "../tenancy/repos.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";
import { openFirstRounds, reconciler } from "./reconcile.ts";
import { openRounds } from "./rounds.ts";

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

test.each(["onLeft", "onLost"] as const)(
  "whoever waits for first rounds waits for none of what another looks after by then: %s",
  async (how) => {
    const given = Promise.withResolvers<SharingOptions>();
    let isOurs = true;
    const first = openFirstRounds(() => isOurs);
    const repos = { leave: async () => undefined, abandon: () => undefined, get: () => undefined } as unknown as Repos;
    const openQueue = (options: SharingOptions) => {
      given.resolve(options);
      return embeddedQueue(options);
    };
    const world = { clock: manualClock(), log: silentLog, telemetry: openTelemetry(), openQueue };
    const ignore = { look: async () => undefined, onDelivery: () => true, resync: () => Promise.reject() as never };
    openRounds(world, { ...ignore, repos, onRound: first.done });
    const begun = first.of(["o/r"]);
    isOurs = false;
    void (await given.promise)[how]("o/r", new Error("another has it"));
    await begun;
  },
);
