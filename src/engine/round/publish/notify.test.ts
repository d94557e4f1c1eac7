import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { RepoTold, Telling } from "../../../adapters/notify/port.ts";
import { said } from "../../../core/reasons/run.ts";
import { silentLog } from "../context.ts";
import { openTeller } from "./notify.ts";

const RULES = [{ to: "calls" }];

function world() {
  const given: Telling[] = [];
  const notifier = {
    told: async (): Promise<RepoTold | undefined> => undefined,
    mayUse: () => true,
    tell: (_: string, telling: Telling) => void given.push(telling),
  };
  let isDown = false;
  const settings = {
    async notifications() {
      if (isDown) throw new Error("git is busy");
      return RULES;
    },
  };
  const clock = { now: () => Date.parse("2026-11-21T12:00:00Z") };
  const context = { repository: "acme/config", repoURL: "https://github.example/acme/config.git", notifier, clock, log: silentLog };
  const tell = openTeller(context as never, settings as never);
  return {
    down: (value: boolean) => (isDown = value),
    /** One round after which a run stands so; `change`: what this process recorded of it. */
    async round(change: "none" | "major", over: Parameters<typeof sampleRun>[0] = {}): Promise<string[]> {
      const run = sampleRun({ batches: [], ...over });
      await tell("b".repeat(40), {
        ...{ runs: new Map([[run.rollout, run]]), started: [], refused: [] },
        decisions: [{ advanced: { run, change } } as never],
      });
      return given.splice(0).flatMap(({ notices }) => notices.flatMap(({ notice }) => notice.events.map(({ event }) => event)));
    },
  };
}

const ENDED = { phase: "Succeeded", endedAt: "2026-11-21T11:59:00.000Z", why: said("Done."), next: null } as const;

test("what was recorded while the settings could not be read is told by the next round", async () => {
  const { round, down } = world();
  await round("none");
  down(true);
  expect(await round("major", ENDED)).toEqual([]);
  down(false);
  expect([await round("none", ENDED), await round("none", ENDED)]).toEqual([["ended"], []]);
});

test("what another process recorded is not told", async () => {
  const { round } = world();
  await round("none");
  expect([await round("none", ENDED), await round("major", ENDED)]).toEqual([[], []]);
});
