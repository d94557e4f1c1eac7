import { expect, test } from "vitest";
import type { Edit } from "../../core/plan/plan-types.ts";
import { lockedCharts } from "./pin-warnings.ts";

const edit = (file: string, path: string): Edit => ({ file, path, kind: "value", from: "1.0.0", to: "1.1.0" });
const told = (file: string, path: string, ...files: string[]) =>
  lockedCharts(new Map([["app", [edit(file, path)]]]), { paths: () => files });

test("a lock file beside a chart whose dependency is pinned is named, since it goes stale", () => {
  expect(told("charts/eu-1/Chart.yaml", "dependencies[name=shop].version", "charts/eu-1/Chart.lock")).toEqual([
    { code: "CHART_LOCKED", locks: ["charts/eu-1/Chart.lock"], of: 1, severity: "warning", path: ["spec", "pins"] },
  ]);
  expect(told("requirements.yaml", "dependencies[0].version", "requirements.lock")).toHaveLength(1);
});

test.each([
  ["without a lock file", "a/Chart.yaml", "dependencies[name=shop].version", "b/Chart.lock"],
  ["of the chart's own version", "a/Chart.yaml", "appVersion", "a/Chart.lock"],
  ["in another file", "a/values.yaml", "dependencies[0].version", "a/Chart.lock"],
])("nothing is said of a pin %s", (_what, file, path, ...files) => expect(told(file, path, ...files)).toEqual([]));
