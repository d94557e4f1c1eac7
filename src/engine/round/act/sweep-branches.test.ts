import { expect, test } from "vitest";
import { bench, bring, round } from "../../../core/run/testing/bench.ts";
import { silentLog } from "../context.ts";
import { openBranchSweeper } from "./sweep-branches.ts";

test("branches of merged batches do not pile up: once a run is over they go in one push, and those that never merged stay", async () => {
  const self = bench(3);
  bring(self, 1, "merged");
  round(self);
  const [merged] = self.run.batches;
  if (merged === undefined) throw new Error("there is a batch");
  const closed = { ...merged, branch: `${merged.branch}-2`, merged: undefined };
  const over = { ...self.run, phase: "Succeeded", endedAt: new Date(self.now).toISOString(), batches: [merged, closed] } as typeof self.run;
  const refs = [merged, closed].map(({ branch }): [string, string] => [`refs/heads/${branch}`, "a".repeat(40)]);
  const pushes: string[][] = [];
  const mirror = {
    remoteBelow: async () => new Map(refs),
    push: async (updates: { ref: string; new: undefined }[]) => void pushes.push(updates.map((one) => `${one.ref} ${one.new}`)),
  };
  const work: Promise<unknown>[] = [];
  const follow = (_: number, one: () => Promise<void>) => void work.push(one());
  const clock = { now: () => self.now, after: () => () => undefined };
  const sweep = openBranchSweeper({ mirror: mirror as never, clock, log: silentLog, repository: "acme/fleet" }, { follow } as never);
  sweep([{ ...over, phase: "Progressing", endedAt: undefined } as typeof self.run]);
  await Promise.all(work);
  expect(pushes).toEqual([]);
  for (let n = 0; n < 2; n++) sweep([over]);
  await Promise.all(work);
  expect(pushes).toEqual([[`refs/heads/${merged.branch} undefined`]]);
});
