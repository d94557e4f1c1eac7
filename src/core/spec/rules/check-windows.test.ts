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

const SCHEDULE = "write one such as `0 9 * * 1-5`: nine o'clock from Monday to Friday";
const PARTS = "write `*`, a number, a list such as 1,3, a range such as 1-5 or a step such as `*/2`";

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

test.each([
  ["0 9 * * MON-FIR", "FIR is no weekday: weekdays are SUN to SAT, or 0 to 7", "did you mean FRI?"],
  ["0 9 * * monday", "monday is no weekday: weekdays are SUN to SAT, or 0 to 7", "did you mean MON?"],
  ["0 9 * JNA,MAR *", "JNA is no month: months are JAN to DEC, or 1 to 12", "did you mean JAN?"],
  ["0,61 9 * * *", "61 is no minute: minutes are 0 to 59", SCHEDULE],
  ["0 9-24 * * *", "24 is no hour: hours are 0 to 23", SCHEDULE],
  ["0 9am * * *", "9am is no hour: hours are 0 to 23", SCHEDULE],
  ["0 9 0 * *", "0 is no day: days are 1 to 31", SCHEDULE],
  ["0 22-6 * * *", "the hours 22-6 run backwards", "write 22-23,0-6"],
  ["0 9 * * Fri-mon", "the weekdays Fri-mon run backwards", "write Fri-SAT,SUN-mon"],
  ["0 9 * DEC-JAN *", "the months DEC-JAN run backwards", "write DEC,JAN"],
  ["0 22-6/2 * * *", "the hours 22-6/2 run backwards", "write the lower one first"],
  ["5/15 * * * *", "5/15 cannot be read as minutes", PARTS],
  ["0 9 1,,3 * *", "1,,3 cannot be read as days", PARTS],
  ["0 9 * * FRI#9", "FRI#9 cannot be read as weekdays", PARTS],
])("a schedule of %s names the word, and what was meant or may stand there", (schedule, message, hint) => {
  const [problem, ...more] = errorsOf(`windows: [{ schedule: "${schedule}", duration: 1h }]`);
  expect(more).toEqual([]);
  expect(problem && sayProblem(problem)).toMatchObject({ message, hint });
  const instead = /^write (\S+,\S+)$/.exec(hint)?.[1];
  const backwards = /\S+-\S+/.exec(schedule)?.[0] ?? "";
  if (instead !== undefined) expect(told(`{ schedule: "${schedule.replace(backwards, instead)}", duration: 1h }`)).toEqual([]);
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
