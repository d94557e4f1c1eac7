import { expect, test, vi } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { startInformer } from "./informer.ts";
import type { Listed, Missed, Source, Versioned } from "./source.ts";

const TUNING = {
  pageSize: 0,
  silentMs: 300_000,
  watchMs: 900_000,
  relistMs: 900_000,
  staleMs: 15_000,
  maxBackoffMs: 30_000,
  readyMs: 1000,
  random: () => 0,
};
const nothing = () => undefined;
const one: Versioned = { resourceVersion: "1" };
const HELD: Versioned = { resourceVersion: "1", unreadable: { code: "UNLISTED_UNASKED" } };

/** A collection of which one was listed once; `answers` tell why it is not any more, list after list. */
function leaving(resumes: boolean, answers: Missed<Versioned>[]) {
  const clock = manualClock();
  const told = { lists: 0, watches: 0, ended: 0 };
  const source: Source<Versioned> = {
    what: "applications",
    resumes,
    async list(): Promise<Listed<Versioned>> {
      told.lists += 1;
      return { items: new Map(told.lists === 1 ? [["argocd/a", one]] : []), resourceVersion: "5" };
    },
    missed: async () => answers.shift() ?? { kept: new Map(), unsettled: false },
    async watch(_, { ended }) {
      told.watches += 1;
      // The first one ends at once, and what it followed has to be listed anew.
      if (told.watches === 1) queueMicrotask(() => ended(Object.assign(new Error("too old"))));
      return () => {
        told.ended += 1;
      };
    },
    refusal: nothing,
  };
  const log = { info: nothing, warn: nothing };
  const informer = startInformer({ source, clock, log, changed: nothing, freshness: nothing, tuning: TUNING });
  return { clock, told, informer };
}

test.each([true, false])("while nobody knows why some left the list, all is listed again after a minute (resumes: %s)", async (resumes) => {
  const held = { kept: new Map([["argocd/a", HELD]]), unsettled: true };
  const { clock, told, informer } = leaving(resumes, [held, held, { ...held, unsettled: false }]);
  await informer.ready();
  for (const lists of [2, 3, 4]) {
    await vi.waitFor(() => {
      // The pause before a list, of which the length is left to chance.
      clock.advance(0);
      expect(told).toMatchObject({ lists, watches: lists });
    });
    expect(informer.items().get("argocd/a")).toEqual(HELD);
    clock.advance(59_999);
    await new Promise(setImmediate);
    expect(told.lists).toBe(lists);
    if (lists < 4) clock.advance(1);
  }
  // Settled: the watch goes on.
  clock.advance(600_000);
  await new Promise(setImmediate);
  expect(told).toMatchObject({ lists: 4, watches: 4, ended: 3 });
  informer.close();
});
