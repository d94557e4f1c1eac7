import { expect, test } from "vitest";
import { type Bench, bench, bring, guard, judge, merged, pull, round, say, see } from "../../run/testing/bench.ts";
import { clustersBelow } from "../model/counts.ts";
import { modelOf } from "../model/run-model.ts";
import { renderTree } from "../tree/tree.ts";

function tryAgain(self: Bench): void {
  judge(self, "c2", "failing");
  round(self);
  say(self, "/requeue failed", { args: ["failed"] });
  round(self);
  round(self);
}

/** Its pin has what stood there before the run again, and is healthy with that. */
function putBack(self: Bench): void {
  const revert = self.run.batches.length;
  pull(self, revert);
  guard(self, revert);
  round(self);
  merged(self, revert, { commit: "d".repeat(40) });
  judge(self, "c2", "live", "all");
  see(self, "c2", { pins: ["v1"] });
  round(self);
  round(self);
}

test("a cluster that was put off stands in one place, however often: where it is tried now, or waits for that", () => {
  const self = bench(2, [{ maxUnavailable: 2 }]);
  bring(self, 1, "merged");
  judge(self, "c1", "live", "all");
  tryAgain(self);
  tryAgain(self);
  const tree = renderTree(self.run, self.now, { width: 120, color: false });
  expect(tree.match(/⎈ c2/g)).toHaveLength(1);
  expect(tree).toContain("its clusters went to the end of the stage");
  const model = modelOf(self.run, self.now);
  expect(clustersBelow(model).map(({ name }) => name)).toEqual(["c1", "c2"]);
  expect(model.counts).toMatchObject({ clusters: 2, requeued: 0 });
  judge(self, "c2", "failing");
  round(self);
  say(self, "/requeue c2", { args: ["c2"], flags: { for: "2h" } });
  round(self);
  putBack(self);
  const waits = renderTree(self.run, self.now, { width: 120, color: false });
  expect(waits).toContain("looked at again in 1h59m");
});
