import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Run } from "../run/state/run.ts";
import { type Bench, batch, guard, MINUTE, merged, noPull, pull, round, SECOND, say } from "../run/testing/bench.ts";
import { judgeAt, pinned, stepBench } from "../run/testing/step-bench.ts";
import type { Step } from "./rollout.ts";

/** Weights that grow, each followed by some waits. */
const steps: fc.Arbitrary<Step[]> = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 4 }).chain((weights) =>
  fc
    .array(fc.array(fc.constantFrom<Step>({ kind: "pause" }, { kind: "pause", durationMs: 5 * MINUTE }), { maxLength: 2 }), {
      minLength: weights.length,
      maxLength: weights.length,
    })
    .map((waits) => weights.sort((a, b) => a - b).flatMap((weight, at): Step[] => [{ kind: "setWeight", weight }, ...(waits[at] ?? [])])),
);

const happening = fc.oneof(
  { weight: 8, arbitrary: fc.constant("go" as const) },
  fc.constantFrom("promote", "full", "skip", "requeue", "pause", "resume", "retry", "unhealthy", "failing", "close", "hotfix", "wait"),
);

/** Brings the world one look further: what was asked for happens, and what happened is seen. */
function go(self: Bench): void {
  for (const { number, phase, closing, intention } of self.run.batches) {
    if (phase === "Proposing" && closing === undefined) pull(self, number);
    else if (closing !== undefined)
      self.world.pulls.get(number)?.state === "closed" ? noPull(self, number) : pull(self, number, { state: "closed" });
    else if (intention !== undefined && phase === "Merging") land(self, number);
    if (phase === "Open") guard(self, number);
  }
  for (const { number, targets, merged: change } of self.run.batches) {
    if (change === undefined) continue;
    for (const { cluster, phase } of targets)
      if (phase === "Merged" || phase === "Syncing") judgeAt(self, number, cluster.slice(4), "live");
  }
}

function land(self: Bench, number: number): void {
  merged(self, number, { commit: String(number).padStart(40, "c") });
  for (const { cluster, edits } of batch(self.run, number).targets) pinned(self, cluster.slice(4), edits[0]?.to ?? "", edits[1]?.to ?? "");
}

function happen(self: Bench, what: string): void {
  const target = self.run.batches.findLast((one) => one.merged !== undefined)?.targets[0];
  const cluster = target?.cluster.slice(4) ?? "c1";
  const at = self.run.batches.findLast((one) => one.merged !== undefined && one.targets.some(({ key }) => key === target?.key));
  if (what === "promote" || what === "pause" || what === "resume" || what === "retry") say(self, `/${what}`, { permission: "maintain" });
  else if (what === "full") say(self, "/promote --full", { permission: "maintain", flags: { full: true } });
  else if (what === "skip") say(self, `/skip ${cluster}`);
  else if (what === "requeue") say(self, `/requeue ${cluster}`);
  else if (what === "hotfix") say(self, "/hotfix c3 customer down", { permission: "maintain" });
  else if (what === "unhealthy" && at !== undefined) judgeAt(self, at.number, cluster, "pending");
  else if (what === "failing" && at !== undefined) judgeAt(self, at.number, cluster, "failing");
  else if (what === "close") {
    const open = self.run.batches.find(({ phase }) => phase === "Open");
    if (open !== undefined) pull(self, open.number, { state: "closed", closedBy: "bob" });
  }
}

function openPulls(run: Run): number {
  return run.batches.filter(({ phase, kind }) => kind !== "Hotfix" && kind !== "Revert" && ["Proposing", "Open", "Merging"].includes(phase))
    .length;
}

/** Weights as merged, by attempt of a cluster: a new journey begins after its values were put back. */
function journeys(run: Run): number[][] {
  const all = new Map<string, number[]>();
  for (const { stage, ofStage, step, merged: change, targets } of run.batches) {
    if (step === undefined || change === undefined) continue;
    for (const { key } of targets) {
      const place = `${stage} ${ofStage} ${key}`;
      all.set(place, [...(all.get(place) ?? []), step.weight]);
    }
  }
  return [...all.values()];
}

describe("whatever happens on the way", () => {
  // Every round also stands up to the invariants, the window among them: see `round`.
  test("weights only grow, one pull request is open at most, and everything journalled can be gone on from", () => {
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 3 }),
        fc.array(happening, { minLength: 5, maxLength: 40 }),
        (list, window, happenings) => {
          const self = stepBench(3, { steps: list, maxUnavailable: window });
          for (const what of happenings) {
            if (what !== "wait" && what !== "go") happen(self, what);
            go(self);
            round(self, what === "wait" ? 6 * MINUTE : SECOND);
            // As after a restart: the run as it is read back from its text.
            const { plan, spec, release } = self.run;
            self.run = { ...(JSON.parse(JSON.stringify(self.run)) as Run), plan, spec, release };
            expect(openPulls(self.run)).toBeLessThanOrEqual(1);
            for (const weights of journeys(self.run)) expect(weights).toEqual([...new Set(weights)].sort((a, b) => a - b));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test("a run that nobody disturbs but to promote it succeeds, every cluster at 100", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 3 }), (list, window) => {
        const self = stepBench(3, { steps: list, maxUnavailable: window });
        for (let looks = 0; looks < 400 && self.run.endedAt === undefined; looks++) {
          const paused = self.run.batches.some(({ step }) => step?.wait?.from !== undefined && step.wait.until === undefined);
          if (paused) say(self, "/promote");
          go(self);
          const timed = self.run.batches.some(({ phase, step }) => phase === "Baking" && step?.wait?.until !== undefined);
          round(self, timed ? 3 * MINUTE : SECOND);
        }
        expect(self.run.phase).toBe("Succeeded");
        expect([...self.world.targets.values()].map(({ pins }) => pins)).toEqual(Array(3).fill(["v2", "100"]));
      }),
      { numRuns: 60 },
    );
  });
});
