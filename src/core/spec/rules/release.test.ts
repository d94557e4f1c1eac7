import { describe, expect, test } from "vitest";
import { sayProblem } from "../../report/reasons/problems/problems.ts";
import { parseRollouts } from "../parse/parse.ts";

/** What is said of a rollout, with line and column; line 6 is the release. */
function said(release: string, values: readonly string[] = ["image", "chart"]): string[] {
  const pins = values.map(
    (name) => `    - { file: a.yaml, path: "x.{{ cluster.name }}.${name}", value: "{{ release.values.${name} }}" }\n`,
  );
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: web }
spec:
  sourceRef: { kind: ApplicationSet, name: web }
  release: ${release}
  pins:
${pins.join("")}  stages: [{ name: all, clusters: { selector: {} } }]
`;
  return parseRollouts(text, "r.yaml").problems.map((problem) => {
    const { message, hint } = sayProblem(problem);
    return `${problem.severity} ${problem.line}:${problem.column} ${message}; ${hint}`;
  });
}

const FROM = (paths: string) => `{ from: { file: releases/web.yaml, paths: ${paths} } }`;

describe("a release of several values", () => {
  test("stands in one file by a path a name, or in several, or in the rollout", () => {
    expect(said(FROM("{ image: app.tag, chart: chart.version }"))).toEqual([]);
    expect(said("{ values: { image: { file: a.yaml, path: tag }, chart: { file: b.yaml, path: tag } } }")).toEqual([]);
    expect(said("{ values: { image: v1, chart: 1.2.0 } }")).toEqual([]);
  });

  test("a pin whose value's name nobody has: the nearest that there is", () => {
    expect(said(FROM("{ image: app.tag, chart: chart.version }"), ["image", "chart", "imag"])).toEqual([
      'error 10:65 the release has no value "imag"; did you mean image?',
    ]);
  });

  test("a name that no pin uses is a warning at that name", () => {
    expect(said(FROM("{ image: app.tag, sidecar: sidecar.tag, chart: chart.version }"))).toEqual([
      'warning 6:72 no pin writes the value "sidecar": a change of it alone would start a run that moves nothing; write it by a pin with value "{{ release.values.sidecar }}", or take it out of the release',
    ]);
    expect(said("{ values: { image: v1, chart: v2, unused: v3 } }")).toHaveLength(1);
  });

  test.each([
    FROM("{ image: app.tag, chart: app.tag }"),
    FROM(`{ image: app.tag, chart: 'app["tag"]' }`),
    FROM(`{ image: app.tag, chart: "#1/app.tag" }`),
    "{ values: { image: { file: a.yaml, path: tag }, chart: { file: a.yaml, path: tag } } }",
  ])("two names for one place: %s", (release) => {
    expect(said(release)).toEqual([
      expect.stringMatching(/^error 6:\d+ the values chart and image of the release stand in one place, so they are one value; /),
    ]);
  });

  test.each([
    ["{ from: { file: a.yaml } }", /^error 6:\d+ release.from says the file, and not where in it/],
    [FROM("{}"), /^error 6:\d+ release.from.paths names no value/],
    ["{ from: { file: a.yaml, path: x, paths: { image: y, chart: z } } }", /^error 6:\d+ release has both path and paths/],
    ["{ from: { file: ../a.yaml, paths: { image: y, chart: z } } }", /^error 6:\d+ "..\/a.yaml" leads out of the repo/],
    [FROM("{ image: app.tag, 2nd: x }"), /^error 6:/],
  ])("%s is refused", (release, message) => {
    expect(said(release)).toContainEqual(expect.stringMatching(message));
  });
});
