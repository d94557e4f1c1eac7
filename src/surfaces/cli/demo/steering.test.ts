import { expect, test } from "vitest";
import { bench, bring, judge, round } from "../../../core/run/testing/bench.ts";
import { offersOn } from "./steering.ts";

test("the pages of a pull request offer each command once, that for a failed cluster too", () => {
  const self = bench(4, [{ region: "eu", maxUnavailable: 2 }, { region: "us" }]);
  bring(self, 1, "merged");
  judge(self, "c3", "failing");
  round(self);
  const { trigger } = self.run;
  const bodies = offersOn([self.run], trigger.pull ?? 0, { now: () => self.now } as never)?.comments.map(({ body }) => body);
  expect(bodies).toEqual(["/retry", "/resume", "/rollback", "/abort", "/requeue c3", "/skip c3"]);
});
