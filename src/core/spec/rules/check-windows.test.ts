import { expect, test } from "vitest";
import type { Problem } from "../../reasons/problems/problem.ts";
import { sayProblem } from "../../report/reasons/problems/problems.ts";
import { parseRollouts } from "../parse/parse.ts";

/** A rollout with this as its line 7. */
function withLine(line: string): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: payments }
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
  stages: [{ name: all, clusters: { selector: {} } }]
  ${line}
`;
}

function errorsOf(line: string): Problem[] {
  return parseRollouts(withLine(line), "r.yaml").problems.filter(({ severity }) => severity === "error");
}

/** `line:column CODE message` of each error of a rollout with these windows, which stand in line 7. */
function told(windows: string): string[] {
  return errorsOf(`windows: [${windows}]`)
    .map((one) => ({ ...one, ...sayProblem(one) }))
    .map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
}

test.each([
  ["a day that never comes", '{ schedule: "0 9 30 2 *", duration: 8h }', /^7:\d+ (?:WINDOW_NEVER_OPENS|BAD_WINDOW) /],
  [
    "a deny over the whole of its allow",
    '{ schedule: "0 9 * * *", duration: 1h }, { schedule: "0 0 * * *", duration: 24h, kind: deny }',
    /^7:\d+ WINDOW_NEVER_OPENS these windows do not open within a year/,
  ],
  ["a schedule that is none", '{ schedule: "every day", duration: 8h }', /^7:\d+ BAD_WINDOW /],
  ["a time zone that is none", '{ schedule: "0 9 * * *", duration: 8h, timeZone: Mars/Base }', /^7:\d+ BAD_WINDOW /],
  ["a duration of 10", '{ schedule: "0 9 * * *", duration: 10 }', /^7:\d+ BAD_DURATION 10 is not a duration/],
])("windows with %s are an error at their place", (_name, windows, expected) => {
  const [first = "", ...more] = told(windows);
  expect(first).toMatch(expected);
  expect(more).toEqual([]);
});

test("windows that open now and then are none", () => {
  expect(
    told('{ schedule: "0 9 * * 1-5", duration: 8h, timeZone: Europe/Rome }, { schedule: "0 0 20 12 *", duration: 18d, kind: deny }'),
  ).toEqual([]);
});

test.each([
  ["windows", 'windows: [{ schedule: "0 9 * * *", duration: 1h, stages: [al] }]'],
  ["limits", "limits: { selected: [{ clusters: 1, stages: [al] }] }"],
])("%s for a stage that the rollout does not have are an error there, with the nearest name", (_name, line) => {
  const [problem, ...more] = errorsOf(line);
  expect(more).toEqual([]);
  expect(problem).toMatchObject({ line: 7, code: "UNKNOWN_STAGE" });
  expect(problem && sayProblem(problem)).toMatchObject({ message: 'this rollout has no stage called "al"', hint: "did you mean all?" });
});

test("a limit whose selector can never match is an error, and a freeze in a rollout is a window", () => {
  const never = errorsOf("limits: { selected: [{ clusters: 1, selector: { matchExpressions: [{ key: env, operator: In }] } }] }");
  expect(never.map(({ code, line }) => `${code} ${line}`)).toEqual(["SELECTOR_VALUES 7"]);
  const [unknown] = errorsOf("freezes: []");
  expect(unknown && sayProblem(unknown).hint).toBe('did you mean "windows"?');
});
