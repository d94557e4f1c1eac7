import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { batch, bench, bring, judge, MINUTE, round } from "../testing/bench.ts";
import { checkInvariants } from "./invariants.ts";
import type { Batch, Run } from "./run.ts";
import type { Effect } from "./world.ts";

/** A run with its second batch about to merge, as it should be; each case breaks one thing about it. */
function merging() {
  const run = bench(3, [{ maxUnavailable: 1 }]);
  bring(run, 1, "confirmed");
  bring(run, 2, "open");
  const world = run.world;
  const intention = { head: "head2", at: iso(run.now) };
  const after = withBatch(run.run, 2, { phase: "Merging", intention });
  const effects: Effect[] = [{ kind: "Merge", batch: 2, pull: 102, head: "head2" }];
  return { before: run.run, after, effects, world, now: run.now };
}

function withBatch(run: Run, number: number, patch: Partial<Batch>): Run {
  return { ...run, batches: run.batches.map((one) => (one.number === number ? { ...one, ...patch } : one)) };
}

function withTarget(run: Run, number: number, patch: Partial<Batch["targets"][number]>): Run {
  return withBatch(run, number, { targets: batch(run, number).targets.map((one) => ({ ...one, ...patch })) });
}

function without<K extends keyof Run>(run: Run, key: K): Run {
  const { [key]: _, ...rest } = run;
  return rest as unknown as Run;
}

type Moment = ReturnType<typeof merging>;
const cases: [invariant: number, name: string, spoil: (moment: Moment) => Partial<Moment>][] = [
  [1, "a cluster more than the window in flight", ({ after }) => ({ after: withTarget(after, 1, { phase: "Syncing" }) })],
  [2, "a batch before that is not confirmed", ({ after }) => ({ after: withTarget(after, 1, { phase: "Proposed" }) })],
  [2, "a batch before that failed beyond the budget", ({ after }) => ({ after: withTarget(after, 1, { phase: "Failed" }) })],
  [
    2,
    "a merge of a batch that is not there",
    ({ effects }) => ({ effects: [...effects, { kind: "Merge", batch: 9, pull: 9, head: "x" }] }),
  ],
  [3, "a merge of a paused run", ({ after }) => ({ after: { ...after, phase: "Paused" } })],
  [
    3,
    "a merge of a run that is to end",
    ({ after, now }) => ({ after: { ...after, ending: { phase: "Aborted", by: "alice", reason: said("no"), at: iso(now) } } }),
  ],
  [
    4,
    "an edit that was not planned",
    ({ after }) => ({ after: withTarget(after, 2, { edits: [{ file: "other.yaml", path: "a", kind: "value", from: "1", to: "2" }] }) }),
  ],
  [4, "a target that is not in the plan", ({ after }) => ({ after: withTarget(after, 2, { key: "hub/argocd/app-x" }) })],
  [5, "another plan", ({ after }) => ({ after: { ...after, plan: { ...after.plan } } })],
  [5, "another run", ({ after }) => ({ after: { ...after, number: 43 } })],
  [
    5,
    "a PR that is opened ahead before the one before it has merged",
    ({ after, effects }) => ({
      after: {
        ...after,
        batches: [...after.batches, { ...batch(after, 2), number: 3, phase: "Proposing", intention: undefined, ahead: true }],
      },
      effects: [...effects, { kind: "Propose", batch: 3 }],
    }),
  ],
  [6, "a merge without an intention", ({ before }) => ({ after: before })],
  [6, "a merge at another head", ({ effects }) => ({ effects: effects.map((one) => ({ ...one, head: "theirs" }) as Effect) })],
  [6, "a merge on an intention that has lapsed", ({ now }) => ({ now: now + MINUTE })],
  [6, "a PR for a batch that is not journalled as Proposing", () => ({ effects: [{ kind: "Propose", batch: 1 }] })],
  [
    7,
    "a command that nobody gave",
    ({ after, now }) => ({
      after: {
        ...after,
        commands: [{ id: "1#0", text: "/pause", actor: "x", at: iso(now), outcome: "done", message: { code: "PAUSE_DONE" } }],
      },
    }),
  ],
  [8, "nothing said of what comes next", ({ after }) => ({ after: { ...after, next: null } })],
  [8, "an end without a time", ({ after }) => ({ after: { ...without(after, "endedAt"), phase: "Failed", next: null } })],
];

describe("the invariants hold of a run as it should be, and name what is wrong with one that is not", () => {
  test("a sound merge violates nothing", () => {
    const { before, after, effects, world, now } = merging();
    expect(checkInvariants(before, after, effects, world, now)).toEqual([]);
  });

  test.each(cases)("%i: %s", (invariant, _name, spoil) => {
    const moment = merging();
    const { before, after, effects, world, now } = { ...moment, ...spoil(moment) };
    expect(checkInvariants(before, after, effects, world, now).map((one) => one.invariant)).toContain(invariant);
  });

  test("2: a confirmation without evidence, or with evidence older than the change", () => {
    const { before, after, effects, world, now } = merging();
    const { evidence, ...bare } = batch(after, 1).targets[0] ?? {};
    if (evidence === undefined) throw new Error("the confirmed target has no evidence");
    const unproven = withBatch(after, 1, { targets: [bare as Batch["targets"][number]] });
    expect(checkInvariants(before, unproven, effects, world, now)).toMatchObject([
      { invariant: 2, breach: { code: "MERGE_OVER_UNCONFIRMED", how: "unproven" } },
    ]);
    const old = withTarget(after, 1, { evidence: { ...evidence, readAt: iso(0) } });
    expect(checkInvariants(before, old, effects, world, now)).toMatchObject([
      { invariant: 2, breach: { code: "MERGE_OVER_UNCONFIRMED", how: "older" } },
    ]);
  });

  test("a whole run keeps them", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    judge(run, "c1", "live", "all");
    // round() throws where one is violated.
    expect(round(run).run.phase).toBe("Succeeded");
  });
});
