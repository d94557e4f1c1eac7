import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { approvalHash } from "../../../core/run/state/amend.ts";
import type { ObservedPull } from "../../../core/run/state/world.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";

const AT = "2026-11-21T09:00:00.000Z";

test("reviews that nobody had to read yet are not called unreadable", async () => {
  const sample = sampleRun();
  const { people } = partsOf({ forge: {}, clock: { now: () => Date.parse(AT) }, log: silentLog } as unknown as RepoContext);
  const stages = sample.spec.stages.map((stage) => ({ ...stage, approval: { teams: ["sre"], count: 1 } }));
  const run = { ...sample, spec: { ...sample.spec, stages } };
  expect((await people.observeApprovals(run, new Map())).approvals).toEqual(new Map());
});

test("who approved by command counts only while in the team: asked again at most once a minute, and not counted where it cannot be seen", async () => {
  let member: boolean | undefined = true;
  let asked = 0;
  let now = Date.parse(AT);
  const forge = {
    reviews: async () => [],
    inTeam: async () => {
      asked += 1;
      return member;
    },
  };
  const context = { forge, clock: { now: () => now }, log: silentLog } as unknown as RepoContext;
  const memory = partsOf(context);
  const sample = sampleRun();
  const [first, second] = sample.batches;
  if (first === undefined || second === undefined) throw new Error("the sample has two batches");
  const { merged: _, ...unmerged } = second;
  const stages = sample.spec.stages.map((stage) => ({ ...stage, approval: { teams: ["sre"], count: 1 } }));
  const run = { ...sample, spec: { ...sample.spec, stages }, batches: [first, { ...unmerged, phase: "Open" as const }] };
  const stage = second.stage;
  run.approvals = [{ stage, hash: approvalHash(run, stage), by: "bob", at: AT }];
  const pulls = new Map([[second.number, { number: 12, state: "open", head: "head12" } as ObservedPull]]);
  const look = async () => (await memory.people.observeApprovals(run, pulls)).lapsed?.get(second.number);

  expect(await look()).toBeUndefined();
  member = false;
  expect(await look()).toBeUndefined();
  expect(asked).toBe(1);
  now += 60_000;
  expect(await look()).toEqual([{ by: "bob", why: { code: "APPROVER_LEFT" } }]);
  member = undefined;
  now += 60_000;
  expect((await look())?.[0]?.why).toHaveCode("APPROVER_UNSEEN");
  expect(asked).toBe(3);
});
