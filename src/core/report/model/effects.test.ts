import { expect, test } from "vitest";
import { type Bench, bench, bring, judge, round } from "../../run/testing/bench.ts";
import { closingSummary } from "../run/closing-summary.ts";
import { modelOf } from "./run-model.ts";

/** What each command on these clusters would do, and what its button says. */
function told({ run, now }: Bench, verb: "skip" | "requeue") {
  const offered = modelOf(run, now).actions.find((action) => action.verb === verb);
  return [offered?.args.join(" "), offered?.does, offered?.effect];
}

function failed(...clusters: string[]): Bench {
  const run = bench(4, [{ region: "eu", maxUnavailable: 2 }, { region: "us" }]);
  bring(run, 1, "merged");
  for (const cluster of clusters) judge(run, cluster, "failing");
  round(run);
  return run;
}

test("/skip says which cluster is left out, what stands there from then on, and that the run goes on", () => {
  expect(told(failed("c3"), "skip")).toEqual([
    "c3",
    "leave c3 out",
    "leaves c3 out of this run: it keeps what is merged, and nothing waits for it any more; then the run goes on",
  ]);
  expect(told(failed("c1", "c3"), "skip")).toEqual([
    "c1 c3",
    "leave c1, c3 out",
    "leaves c1, c3 out of this run: they keep what is merged, and nothing waits for them any more; then the run goes on",
  ]);
});

test("/requeue says which cluster is put back first, and when it is tried again", () => {
  expect(told(failed("c3"), "requeue")).toEqual([
    "c3",
    "put back c3 and try it last",
    'puts c3 back to what it had, by a pull request of its own, and tries the release there again at the end of stage "stage 1"; then the run goes on',
  ]);
});

test("of branches that are moved without pull requests, no way back is said to be one", () => {
  const self = failed("c3");
  self.run = { ...self.run, spec: { ...self.run.spec, delivery: { ...self.run.spec.delivery, strategy: "Commit" } } };
  expect(told(self, "requeue")[2]).toMatch(/^puts c3 back to what it had, in a batch of its own, and tries the release there again/);
  expect(modelOf(self.run, self.now).wayBack?.says).toMatch(/puts 2 clusters back to what each had, in reverse order$/);
  expect(closingSummary({ ...self.run, phase: "Aborted" })).toContain("`/rollback` puts it back, in reverse order;");
});

test("what a person is asked names /requeue where it would be done, and not where nothing can be put back", () => {
  const asked = (run: Bench) => modelOf(run.run, run.now).ask?.says;
  expect(asked(failed("c3"))).toContain("/requeue c3 puts it back and tries it last, /skip c3 leaves it out");
  // Its pin was made by this very run.
  const made = bench(4, [{ region: "eu", maxUnavailable: 2 }, { region: "us" }]);
  bring(made, 1, "merged");
  const batches = made.run.batches.map((batch) => ({
    ...batch,
    targets: batch.targets.map((target) => ({ ...target, edits: target.edits.map((edit) => ({ ...edit, from: null })) })),
  }));
  made.run = { ...made.run, batches } as typeof made.run;
  judge(made, "c3", "failing");
  round(made);
  expect(asked(made)).toMatch(/^\/retry looks again, \/skip c3 leaves it out/);
  expect(modelOf(made.run, made.now).actions.find(({ verb }) => verb === "requeue")?.allowed).toBe(false);
});
