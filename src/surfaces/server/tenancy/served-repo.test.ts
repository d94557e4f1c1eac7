import { expect, test } from "vitest";
import { lookApart } from "./served-repo.ts";

test("a change of Argo CD is looked at at once, those within a second after it together, and none is left out", () => {
  let now = 10_000;
  const looks: number[] = [];
  const changed = lookApart({ now: () => now, after: () => () => undefined }, (at) => looks.push(at));
  const changedAt = (at: number) => {
    now = at;
    changed();
    return looks.at(-1);
  };
  expect([10_000, 10_000, 10_300, 10_999].map(changedAt)).toEqual([10_000, 11_000, 11_000, 11_000]);
  // The look at 11,000 may have begun: this change is seen by the next.
  expect([11_000, 11_500, 12_001].map(changedAt)).toEqual([12_000, 12_000, 13_000]);
  expect(changedAt(20_000)).toBe(20_000);
  // Set back by an hour.
  expect([20_001 - 3_600_000, 20_002 - 3_600_000].map(changedAt)).toEqual([-3_579_999, -3_578_999]);
});
