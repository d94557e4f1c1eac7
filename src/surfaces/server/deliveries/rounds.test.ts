import { expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import type { SharedQueue, SharingOptions } from "../../../adapters/queue/port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openRounds } from "./rounds.ts";

type Work = Parameters<typeof openRounds>[1];

/** What the queue of several replicas is told by this one, which serves one repository where nothing goes on. */
function shared({ isAnswering = false } = {}): { told: SharingOptions; looks: string[] } {
  const looks: string[] = [];
  let told: SharingOptions | undefined;
  const served = { runs: new Map(), waiting: false, inbox: { isAnswering: () => isAnswering } };
  const openQueue = (given: SharingOptions) => {
    told = given;
    return {} as SharedQueue;
  };
  openRounds(
    { clock: manualClock(0), log: silentLog, telemetry: { fields: () => ({}) }, openQueue },
    {
      ...{ look: async () => undefined, onDelivery: () => false, onRound: () => undefined },
      repos: { get: (name: string) => (name === "o/0" ? served : undefined) } as unknown as Work["repos"],
      resync: () => ({ soon: () => void looks.push("everything") }) as unknown as ReturnType<Work["resync"]>,
    },
  );
  if (told === undefined) throw new Error("no queue was opened");
  return { told, looks };
}

test("once PostgreSQL was away for an hour everything is looked at; after a beat that came late nothing is", () => {
  const { told, looks } = shared();
  told.onRegained?.(1000);
  expect(looks).toEqual([]);
  told.onRegained?.(3_600_000);
  expect(looks).toEqual(["everything"]);
});

test("whoever takes a repository over looks at it at once where an answer to a comment is not given yet", () => {
  expect(shared({ isAnswering: true }).told.isBusy?.("o/0")).toBe(true);
  expect(shared().told.isBusy?.("o/0")).toBe(false);
  expect(shared({ isAnswering: true }).told.isBusy?.("o/gone")).toBe(false);
});
