import { describe, expect, test } from "vitest";
import { bench, bring, judge, round, say } from "../../run/testing/bench.ts";
import { pauseNotice } from "./pause-notice.ts";

const LINKS = (key: string) => `https://argocd.example.com/applications/${key.split("/").slice(1).join("/")}`;

const NOW = Date.parse("2026-01-05T10:00:00.000Z");

/** A batch is through, the next one failed. */
function failed() {
  const run = bench(2);
  bring(run, 1, "confirmed");
  bring(run, 2, "merged");
  judge(run, "c2", "failing");
  round(run);
  expect(run.run.phase).toBe("Paused");
  return run;
}

describe("a hand-over", () => {
  test("offers the way back for as many clusters as there are to put back, and none where nothing was moved", () => {
    const run = failed();
    expect(pauseNotice(run.run, NOW)).toContain("`/rollback` (needs maintain) puts 2 clusters back to what each had");
    const untouched = { ...run.run, batches: [] };
    expect(pauseNotice(untouched, NOW)).not.toContain("/rollback` (needs maintain)");
    expect(pauseNotice({ ...run.run, kind: "Rollback" as const }, NOW)).not.toContain("/rollback` (needs maintain)");
  });

  test("names the Application that holds it up, links to it, and says what in it is ill", () => {
    const { run } = failed();
    const batches = run.batches.map((batch) => ({
      ...batch,
      targets: batch.targets.map((target) => ({
        ...target,
        rollouts: [
          {
            ...{ namespace: "web", name: "front", phase: "Degraded", message: "", paused: false, stableImages: [], canaryImages: [] },
            replicas: { desired: 1, updated: 1, ready: 0, available: 0 },
          },
        ],
      })),
    }));
    const text = pauseNotice({ ...run, batches }, NOW, LINKS);
    expect(text).toMatch(
      /- Application \[`[^`]*c2`\]\(https:\/\/argocd\.example\.com\/applications\/[^)]*c2\) on `c2`: .*Rollout `web\/front` is Degraded/,
    );
    expect(text).not.toMatch(/on `c1`/);
    expect(pauseNotice({ ...run, batches }, NOW)).toMatch(/- Application `[^`]*c2` on `c2`:/);
  });

  test("after a /retry that did not help says so, instead of the same words again", () => {
    const self = failed();
    expect(pauseNotice(self.run, NOW)).not.toContain("has been tried");
    say(self, "/retry", { actor: "bo" });
    round(self);
    expect(self.run.phase).toBe("Progressing");
    round(self, self.run.spec.graceMs + 1000);
    judge(self, "c2", "failing");
    round(self);
    expect(self.run.phase).toBe("Paused");
    const text = pauseNotice(self.run, NOW);
    expect(text).toContain("waits for a person again");
    expect(text).toContain("`/retry` of bo has been tried");
    // What failed was never tried again: that `/retry` was for something else.
    expect(pauseNotice({ ...failed().run, commands: self.run.commands }, NOW)).not.toContain("has been tried");
  });

  test("names the label that keeps a cluster out after its last look", () => {
    const { run } = failed();
    const requeue = { selector: { matchLabels: { drained: "true" }, matchExpressions: [] }, attempts: 2, intervalMs: 1000 };
    const spec = { ...run.spec, stages: run.spec.stages.map((stage) => ({ ...stage, requeue })) };
    const entry = { cluster: "hub/c2", stage: 0, attempts: 2, since: run.since, nextAt: run.since, failed: true };
    const requeued = [{ ...entry, why: { code: "REQUEUED_TOO_OFTEN", attempts: 2 } }];
    const batches = run.batches.map((batch, index) =>
      index === 0 ? batch : { ...batch, targets: batch.targets.map((target) => ({ ...target, phase: "Requeued" as const })) },
    );
    expect(pauseNotice({ ...run, spec, requeued, batches } as typeof run, NOW)).toContain("puts off what has `drained=true`");
  });
});
