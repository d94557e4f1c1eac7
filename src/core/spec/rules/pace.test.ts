import { describe, expect, test } from "vitest";
import { sayProblem } from "../../report/reasons/problems/problems.ts";
import { parseRepoConfig } from "../parse/config.ts";
import { parseRollouts } from "../parse/parse.ts";

/** `line:column CODE message: hint` of each problem; `stage` stands in line 9, `spec` in line 10. */
function told(stage: string, spec = ""): string[] {
  const text = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: payments }
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
  release: { version: v1 }
  pins: [{ file: set.yaml, path: a }]
  stages:
    - { name: all, clusters: { selector: {} }${stage} }
${spec}`;
  return parseRollouts(text, "r.yaml")
    .problems.map((one) => ({ ...one, ...sayProblem(one) }))
    .map(({ line, column, code, message, hint }) => `${line}:${column} ${code} ${message}: ${hint}`);
}

describe("what cannot work is told before anything runs", () => {
  test.each([
    [
      ", progressDeadline: 0s",
      "",
      "9:66 BAD_DURATION progressDeadline is 0s: every cluster would fail as soon as it is seen: write more than 0s, such as 15m",
    ],
    ["", "  seenDeadline: 0\n", "10:17 BAD_DURATION"],
    [
      "",
      "  seenDeadline: 0s\n",
      "10:17 BAD_DURATION seenDeadline is 0s: every run would pause at its first look: write more than 0s, such as 15m",
    ],
    [
      "",
      "  waitingDeadline: 0m\n",
      "10:20 BAD_DURATION waitingDeadline is 0m: every run would pause at once where something waits: write more than 0s, such as 15m",
    ],
    [
      ", maxUnavailable: { start: 1, factor: 1, max: 2 }",
      "",
      "9:84 BAD_QUANTITY a factor of 1 never grows: write a factor above 1, such as 2, or maxUnavailable: 1",
    ],
    [
      ", maxUnavailable: { start: 5, factor: 2, max: 2 }",
      "",
      "9:73 BAD_QUANTITY start is 5, above max, which is 2: write a start of at most 2, or raise max",
    ],
    [
      ", bake: 100000h",
      "",
      "9:54 LONG_BAKE each batch would wait 4166d16h after it is healthy, longer than a month: check its unit: s, m, h or d",
    ],
  ])("%s %s", (stage, spec, expected) => {
    const [first = "", ...more] = told(stage, spec);
    expect(first).toContain(expected);
    expect(more).toEqual([]);
  });

  test("a long bake only warns, and a deadline that something can meet, growth and a bake of days say nothing", () => {
    expect(told(", bake: 30d, progressDeadline: 1s, maxUnavailable: { start: 2, factor: 1.5, max: 2 }", "  seenDeadline: 1ms\n")).toEqual(
      [],
    );
    expect(told(', maxUnavailable: { start: 5, factor: 2, max: "10%" }')).toEqual([]);
  });
});

describe("a hint names nothing that is refused as well", () => {
  const QUANTITY = 'write a count such as 2, or a percentage such as "25%"';

  test.each([
    ["  quarantine: { max: '-1' }\n", `10:22 BAD_QUANTITY "-1" is less than 0: ${QUANTITY}`],
    ["  quarantine: { max: '1' }\n", '10:22 BAD_QUANTITY "1" is text, not a count: write 1 without quotes, or 1%'],
    ["  onFailure: { maxFailures: '150' }\n", '10:29 BAD_QUANTITY "150" is text, not a count: write 150 without quotes'],
  ])("%s", (spec, expected) => {
    expect(told("", spec)).toEqual([expected]);
  });

  test("of counts that must be at least 1", () => {
    expect(told(", maxUnavailable: 99999999999999999999")).toEqual([
      expect.stringMatching(/^9:64 BAD_QUANTITY 100000000000000000000 .*9007199254740991/),
    ]);
    expect(told(", maxUnavailable: '0'")).toEqual([expect.stringMatching(/^9:64 BAD_QUANTITY "0" /)]);
  });

  test.each([
    ["no such team!", "no-such-team"],
    ["acme/SRE", "SRE"],
    ["acme/!!", "sre"],
    ["Größe Ops", "gr-e-ops"],
  ])("of the team %s", (team, slug) => {
    const [problem] = parseRepoConfig(`commands: { promote: { teams: [${JSON.stringify(team)}] } }\n`, "s.yaml").problems;
    expect(problem).toMatchObject({ code: "BAD_VALUE", kind: "Team", slug });
    expect(parseRepoConfig(`commands: { promote: { teams: [${slug}] } }\n`, "s.yaml").problems).toEqual([]);
  });
});
