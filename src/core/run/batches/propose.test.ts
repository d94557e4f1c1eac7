import { expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { writeRefusal } from "../../reasons/attention.ts";
import { batch, bench, MINUTE, noPull, round, SECOND, wants } from "../testing/bench.ts";

test("a PR that GitHub refuses is said at once, tried for two minutes, and then pauses the run with the rule; resumed it is tried anew", () => {
  const self = bench(1);
  round(self);
  noPull(self, 1);
  expect(wants(round(self))).toEqual([expect.stringContaining("Propose")]);
  const because = writeRefusal("RULES_FORBID", { branch: batch(self.run, 1).branch, rules: ["creation"] });
  self.world = { ...self.world, unopened: new Map([[1, { since: iso(self.now), because }]]) };
  expect(wants(round(self))).toEqual([expect.stringContaining("Propose")]);
  expect(self.run.batches[0]?.why).toMatchObject({ code: "OPENING_REFUSED", because });
  expect(wants(round(self, 2 * MINUTE - 2 * SECOND))).toEqual([expect.stringContaining("Propose")]);
  expect(wants(round(self, 2 * SECOND))).toEqual([]);
  expect(self.run.paused).toMatchObject({ kind: "Refused", reason: { code: "NOT_OPENED", because }, ask: { code: "ASK_LET_OPEN" } });
});
