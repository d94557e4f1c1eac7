import { expect, test } from "vitest";
import { FAILURES, LACKS } from "./templates.ts";
import { FAILING_TEMPLATES, templateFailure } from "./testing/template-samples.ts";

test("every code has a template that every-sentence.md shows it of, but that of a template that runs for seconds", () => {
  const told = new Set(["GO_ENDLESS", ...FAILING_TEMPLATES.map((template) => templateFailure(template)?.code)]);
  expect([...told].toSorted()).toEqual([...Object.keys(FAILURES), ...Object.keys(LACKS)].toSorted());
});
