import { expect, test } from "vitest";
import type { Forge, Pull } from "../../../adapters/forge/port.ts";
import { freshRun, START, withBatch } from "../../../adapters/git/testing/runs.ts";
import { iso } from "../../../core/base/time.ts";
import { said } from "../../../core/reasons/run.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";

test("a batch's pull request that somebody pointed at another branch is seen as that, whoever made its head", async () => {
  const run = withBatch(freshRun(2, 2), "Open", START);
  const [batch] = run.batches;
  if (batch === undefined) throw new Error("the run has no batch");
  const pull = { number: 12, state: "open", branch: batch.branch, head: "a".repeat(40), base: "release-1" };
  const rest = { headRepository: "acme/fleet", mergeable: true, mergeableState: "clean", createdAt: iso(START), labels: [] };
  const forge: Partial<Forge> = { findPull: async () => ({ ...pull, ...rest }) as unknown as Pull, checksOf: async () => [] };
  const clock = { now: () => START, after: () => () => undefined };
  const context = { forge, clock, log: silentLog, repository: "acme/fleet", planes: new Map() } as unknown as RepoContext;
  expect(await partsOf(context).observePull(run, batch)).toMatchObject({ headIsOurs: false, retargeted: "release-1" });
  // Merged there before anybody saw it, its merge commit is none of ours.
  const merged = { state: "merged", mergeCommit: "b".repeat(40), mergedAt: iso(START), mergedBy: "stagecoach[bot]" };
  const late = {
    ...{ findPull: async () => ({ ...pull, ...rest, ...merged }) as unknown as Pull, checksOf: async () => [] },
    identity: async () => ({ login: "stagecoach[bot]", id: 1 }),
  };
  const seen = await partsOf({ ...context, forge: late } as unknown as RepoContext).observePull(run, batch);
  expect(seen?.merged).toMatchObject({ commit: "b".repeat(40), byUs: true, exact: false });
});

test("a pull request before its turn is read once for each word of the remote, and in its turn or while it is being closed in every round", async () => {
  const run = withBatch(freshRun(2, 2), "Open", START);
  const [first] = run.batches;
  if (first === undefined) throw new Error("the run has no batch");
  const pull = { number: 12, url: "", head: "a".repeat(40), openedAt: iso(START) };
  const batch = { ...first, ahead: true as const, pull };
  let reads = 0;
  const found = { ...pull, state: "open", branch: batch.branch, base: "main", headRepository: "acme/fleet", mergeable: true, labels: [] };
  const forge: Partial<Forge> = {
    pull: async () => {
      reads += 1;
      return { ...found, createdAt: iso(START) } as unknown as Pull;
    },
  };
  const clock = { now: () => START, after: () => () => undefined };
  const context = { forge, clock, log: silentLog, repository: "acme/fleet", planes: new Map() } as unknown as RepoContext;
  const parts = partsOf(context, { branch: "release-1", reading: 1 });
  for (let n = 0; n < 3; n++) await parts.observePull(run, batch);
  expect(reads).toBe(1);
  Object.assign(parts.remote, { last: { ...parts.remote.last, reading: 2 } });
  await parts.observePull(run, batch);
  expect(reads).toBe(2);
  for (let n = 0; n < 3; n++) await parts.observePull(run, { ...batch, ahead: undefined });
  expect(reads).toBe(5);
  const closing = { why: said("by hand"), at: iso(START) };
  for (let n = 0; n < 3; n++) await parts.observePull(run, { ...batch, closing });
  expect(reads).toBe(8);
});
