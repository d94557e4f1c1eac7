import { expect, test } from "vitest";
import { EXPRESSIONS, METRICS, PATHS, sayExpression } from "./analysis.ts";
import { conditionFailure, FAILING_CONDITIONS, FAILING_PATHS, METRIC_ENDS, pathFailure } from "./testing/expression-samples.ts";

test.each([
  ["condition", FAILING_CONDITIONS.map((one) => conditionFailure(one)?.code), EXPRESSIONS],
  ["path", FAILING_PATHS.map((one) => pathFailure(one)?.code), PATHS],
  ["metric", METRIC_ENDS.map(({ code }) => code), METRICS],
])("every code of a %s has one that every-sentence.md shows it of", (_what, codes, table) => {
  expect([...new Set(codes)].toSorted()).toEqual(Object.keys(table).toSorted());
});

test("a long text is shortened, a key up to a hundred characters is not", () => {
  const said = (condition: string) => sayExpression(conditionFailure(condition) ?? { code: "PATH_EMPTY", path: "" });
  expect(said(`asInt('${"9".repeat(60)}')`)).toContain(`"${"9".repeat(40)}…"`);
  expect(said(`nil.${"k".repeat(100)}`)).toContain("k".repeat(100));
  expect(said(`nil.${"k".repeat(101)}`)).toContain(`"${"k".repeat(40)}…"`);
});
