import { describe, expect, test } from "vitest";
import { epoch, iso } from "../../base/time.ts";
import { livenessReason } from "../../reasons/liveness.ts";
import { said } from "../../reasons/run.ts";
import { bench, bring, judge, MINUTE, round, SECOND, see, targetKey } from "../testing/bench.ts";

describe("what comes next of a batch in flight", () => {
  test("what waits for a person is never said to be counted as failed: the run pauses then and asks", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    judge(run, "c1", "waiting", "synced");
    round(run);
    const waits = iso(run.now + run.run.spec.waitingDeadlineMs);
    expect(run.run.batches[0]?.next).toEqual({ what: { code: "NEXT_CONFIRMED_OR_ASKED" }, deadline: waits });
    round(run, run.run.spec.waitingDeadlineMs);
    expect(run.run.paused?.kind).toBe("Waiting");
  });

  test("what is in progress is counted as failed at its deadline", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    judge(run, "c1", "pending");
    round(run);
    const { deadlineAt } = run.run.batches[0]?.targets[0] ?? {};
    expect(run.run.batches[0]?.next).toEqual({ what: { code: "NEXT_CONFIRMED_OR_FAILED" }, deadline: deadlineAt });
    expect(epoch(deadlineAt ?? "")).toBeGreaterThan(run.now);
  });
});

describe("a bake that is over", () => {
  /** What liveness says of a target that only has to be asked for by name once more. */
  function toBeRead(run: ReturnType<typeof bench>, sentence: ReturnType<typeof livenessReason>) {
    judge(run, "c1", "pending", "settled");
    const { assessment } = run.world.targets.get(targetKey("c1")) ?? {};
    if (assessment !== undefined) see(run, "c1", { assessment: { ...assessment, sentence } });
  }

  function baked(sentence: ReturnType<typeof livenessReason>) {
    const run = bench(2, [{ bakeMs: MINUTE }]);
    bring(run, 1, "confirmed");
    expect(run.run.batches[0]?.phase).toBe("Baking");
    toBeRead(run, sentence);
    round(run, MINUTE + SECOND);
    return run.run.batches[0];
  }

  const awaited = livenessReason("READ_AWAITED", { at: iso(0), day: "2026-01-05" });

  test("and only wants to be read once more is not said to be in doubt", () => {
    expect(baked(awaited)).toMatchObject({ phase: "Baking", why: { code: "BATCH_READ_AGAIN" }, next: { what: { code: "NEXT_READ" } } });
  });

  test("and could not be read says why, and not that all is well", () => {
    const failed = livenessReason("READ_FAILED", { because: awaited, problem: said("no answer") });
    const why = baked(failed)?.why;
    expect(why).toMatchObject({ code: "BATCH_UNCONFIRMED", because: { text: "no answer" } });
  });
});
