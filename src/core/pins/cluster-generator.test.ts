import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sayPin } from "../report/reasons/problems/pins.ts";
import { NO_CLUSTER } from "./cluster-entries.ts";
import { type MoveResult, moveInClusterGenerator, moveOutOfClusterGenerator } from "./cluster-generator.ts";

const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  generators:
    # everybody else
    - clusters:
        selector: {matchLabels: {env: prod}}
        values:
          revision: v1 # old
      selector:
        matchExpressions:
          - key: name
            operator: NotIn
            values:
              - a-1 # first
              - "b-1"
    # those that have moved
    - clusters:
        values: {revision: v1, tier: x} # new
        selector:
          matchLabels: {env: prod}
      selector:
        matchExpressions:
          - {key: name, operator: In, values: [b-1, a-1]} # same
  template: {}
`;

const PLACES: { old: string; new: string } = { old: "spec.generators[0]", new: "spec.generators[1]" };

function text(result: MoveResult): string {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.text;
}

function refusal(result: MoveResult): string {
  return result.ok ? "not refused" : `${result.error.code} ${result.error.line} ${sayPin(result.error).message}`;
}

describe("moving clusters between two clusters generators", () => {
  test("adds names to both lists, and nothing else changes", () => {
    const moved = moveInClusterGenerator(SET, { ...PLACES, names: ["c-1", "3.10"], path: "values.revision", value: "v1" });
    expect(text(moved)).toBe(
      SET.replace('- "b-1"\n', '- "b-1"\n              - "c-1"\n              - "3.10"\n').replace("[b-1, a-1]", '[b-1, a-1, c-1, "3.10"]'),
    );
    expect(moved).toMatchObject({ moved: ["c-1", "3.10"], from: "v1" });
  });
  test("what is there already stays, so doing it twice is doing it once", () => {
    const move = { ...PLACES, names: ["a-1", "c-1"] };
    const once = text(moveInClusterGenerator(SET, move));
    expect(moveInClusterGenerator(once, move)).toEqual({ ok: true, text: once, moved: [], from: null });
  });
  test("sets the value in the new entry when nobody else has it", () => {
    const empty = SET.replace(/ {14}- a-1.*\n {14}- "b-1"\n/, "")
      .replace("values:\n    # those", "values: []\n    # those")
      .replace("[b-1, a-1]", "[]");
    const moved = moveInClusterGenerator(empty, { ...PLACES, names: ["c-1"], path: "values.revision", value: "v2" });
    expect(text(moved)).toBe(empty.replaceAll("values: []", "values: [c-1]").replace("{revision: v1, tier", "{revision: v2, tier"));
    expect(moved).toMatchObject({ from: "v1" });
  });
  test("refuses to set a value that would change clusters which moved before", () => {
    const refused = refusal(moveInClusterGenerator(SET, { ...PLACES, names: ["c-1"], path: "values.revision", value: "v2" }));
    expect(refused).toMatch(/^PIN_AMBIGUOUS 2\d .*v1.*\(b-1, a-1\)/);
  });
  test("writes the value and the list where they are absent", () => {
    const bare = SET.replace("values: {revision: v1, tier: x} # new", "{}").replace(
      /clusters:\n {8}\{\}\n {8}selector:\n {10}matchLabels: \{env: prod\}/,
      "clusters: {selector: {matchLabels: {env: prod}}}",
    );
    const empty = bare.replace(/values:\n {14}- a-1.*\n {14}- "b-1"\n/, "values:\n").replace("[b-1, a-1]", "[]");
    const moved = text(moveInClusterGenerator(empty, { ...PLACES, names: ["c-1"], path: "clusters.values.revision", value: "v2" }));
    expect(moved).toContain("            values: [c-1]\n    # those");
    expect(moved).toContain("clusters: {selector: {matchLabels: {env: prod}}, values: {revision: v2}}");
  });
});

describe("taking clusters out again", () => {
  test("removes names from both lists, with the comment on their line", () => {
    const out = moveOutOfClusterGenerator(SET, { ...PLACES, names: ["a-1", "never-there"] });
    expect(text(out)).toBe(SET.replace("              - a-1 # first\n", "").replace("[b-1, a-1]", "[b-1]"));
    expect(out).toMatchObject({ moved: ["a-1"] });
  });
  test("a list that would be empty keeps a name of no cluster, for Argo CD refuses an empty one", () => {
    const out = text(moveOutOfClusterGenerator(SET, { ...PLACES, names: ["a-1", "b-1"], path: "values.revision", value: "v2" }));
    expect(out).toContain(`            values:\n              - ${NO_CLUSTER} # first\n    # those`);
    expect(out).toContain(`values: [${NO_CLUSTER}]`);
    expect(out).toContain("revision: v2 # old");
  });
  test("a file that ends in the list without a line break goes on doing so", () => {
    const one = (operator: string): string =>
      `- clusters: {}\n  selector:\n    matchExpressions:\n    - key: name\n      operator: ${operator}\n      values:\n      - a\n      - b\n      - c`;
    const file = `${one("In")}\n${one("NotIn")}`;
    const moved = moveOutOfClusterGenerator(file, { old: "[1]", new: "[0]", names: ["b", "c"] });
    expect(text(moved)).toBe(file.replaceAll("\n      - b\n      - c", ""));
  });
  test("moving in and out again gives the same bytes", () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9.-]{0,12}$/), { minLength: 1, maxLength: 6 });
    const styles: [string, string][] = [
      ["              - a-1 # first\n", "              - a-1 # first\n"],
      ["[b-1, a-1]", "[\n                b-1,\n                'a-1'\n              ]"],
      ["\n", "\r\n"],
    ];
    fc.assert(
      fc.property(names, fc.constantFrom(...styles), (list, [from, to]) => {
        const file = SET.replaceAll(from, to);
        const fresh = list.filter((name) => name !== "a-1" && name !== "b-1");
        const moved = text(moveInClusterGenerator(file, { ...PLACES, names: fresh }));
        expect(text(moveOutOfClusterGenerator(moved, { ...PLACES, names: fresh }))).toBe(file);
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is not complementary is refused", () => {
  const cases: [name: string, from: string | RegExp, to: string, says: RegExp][] = [
    ["lists that differ", "[b-1, a-1]", "[b-1]", /^PIN_AMBIGUOUS 24 .*differ \(a-1\)/],
    ["an entry that says neither In nor NotIn", "operator: NotIn", "operator: Exists", /^PIN_NOT_FOUND .*no selector "name NotIn"/],
    ["entries that select other clusters", "{env: prod}}", "{env: dev}}", /^PIN_AMBIGUOUS .*not by the same/],
    [
      "a further expression on one side",
      "- {key: name",
      "- {key: x, operator: Exists}\n          - {key: name",
      /^PIN_AMBIGUOUS .*not by the same/,
    ],
    [
      "an entry that is no clusters generator",
      /- clusters:\n {8}values/,
      "- list:\n        values",
      /^PIN_NOT_FOUND .*not a clusters generator/,
    ],
    ["an entry that is not there", "  generators:", "  generator:", /^PIN_NOT_FOUND .*Did you|^PIN_NOT_FOUND/],
    ["a list shared by an anchor", "values: [b-1, a-1]", "values: &n [b-1, a-1]", /^PIN_NOT_FOUND .*plain list/],
  ];
  for (const [name, from, to, says] of cases) {
    test(name, () => expect(refusal(moveInClusterGenerator(SET.replace(from, to), { ...PLACES, names: ["c-1"] }))).toMatch(says));
  }
  test("one entry named twice", () => {
    const same = SET.replace(
      "- {key: name, operator: In",
      "- {key: name, operator: NotIn, values: [b-1, a-1]}\n          - {key: name, operator: In",
    );
    expect(refusal(moveInClusterGenerator(same, { old: PLACES.new, new: PLACES.new, names: ["c"] }))).toMatch(/one entry/);
  });
});
