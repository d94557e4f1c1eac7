import { describe, expect, test } from "vitest";
import { sayProblem } from "../report/reasons/problems/problems.ts";
import { parseRepoConfig, unusedNames, unusedSettings } from "./parse/config.ts";

function read(text: string) {
  const { policy, problems } = parseRepoConfig(text, "c.yaml");
  return {
    teams: Object.fromEntries(policy.teams),
    bots: [...policy.bots],
    problems: problems.map((p) => `${p.line}:${p.column} ${p.code} ${sayProblem(p).message}; ${sayProblem(p).hint}`),
  };
}

test.each([
  ["freezes", 'freezes:\n  - { schedule: "0 0 * * *", duration: 2h, kind: deny, selector: SELECTOR }\n'],
  ["limits", "limits:\n  selected:\n    - { targets: 1, selector: SELECTOR }\n"],
])("a selector of %s that can select nothing is a mistake, for it would hold nothing back", (_what, text) => {
  const codes = (selector: string) => parseRepoConfig(text.replace("SELECTOR", selector), "c.yaml").problems.map(({ code }) => code);
  expect(codes("{ matchExpressions: [ { key: env, operator: In } ] }")).toEqual(["SELECTOR_VALUES"]);
  expect(codes("{ matchLabels: { e/n/v: prod } }")).toEqual(["BAD_LABEL"]);
  expect(codes("{ matchLabels: { env: prod } }")).toEqual([]);
});

describe("who may, in the repo's settings", () => {
  test("teams by command, and bots in the case GitHub compares them in", () => {
    expect(read('commands:\n  promote: { teams: [sre, on-call] }\nbots: ["Renovate[bot]"]\n')).toEqual({
      teams: { promote: ["sre", "on-call"] },
      bots: ["renovate[bot]"],
      problems: [],
    });
  });

  test("without the keys nothing is narrowed and no bot is heard", () => {
    expect(read("mode: Run\n")).toEqual({ teams: {}, bots: [], problems: [] });
  });

  test.each([
    [
      "a command that is none",
      "commands:\n  promot: { teams: [sre] }\n",
      '2:3 UNKNOWN_KEY unknown key "promot" in commands; did you mean "promote"?',
    ],
    [
      "a key that is none",
      "commands:\n  pause: { team: [sre] }\n",
      '2:12 UNKNOWN_KEY unknown key "team" in commands.pause; did you mean "teams"?',
    ],
    [
      "a team with its organisation",
      'commands:\n  pause: { teams: ["@acme/sre"] }\n',
      '2:20 BAD_VALUE "@acme/sre" is not a team\'s slug; write the slug alone, such as sre',
    ],
    [
      "a command for nobody",
      "commands:\n  pause: { teams: [] }\n",
      "2:19 BAD_VALUE commands.pause.teams is empty; write at least one item",
    ],
    [
      "a bot that is no name",
      "bots: ['@renovate']\n",
      '1:8 BAD_VALUE "@renovate" is not an account\'s name; write it as GitHub shows it, such as renovate[bot]',
    ],
    ["a misspelt key at the top", "comands: {}\n", '1:1 UNKNOWN_KEY unknown key "comands" at the top; did you mean "commands"?'],
  ])("%s is told with its place and what to write", (_name, text, problem) => {
    expect(read(text).problems).toContain(problem);
  });

  test("settings of a rollout that no file declares are warned about, with the nearest name", () => {
    const { rollouts } = parseRepoConfig("rollouts:\n  paymets: { mode: Run }\n  ledger: { mode: Run }\n", "c.yaml");
    expect(
      unusedSettings(rollouts, ["payments", "ledger"]).map((p) => `${p.line}:${p.column} ${p.severity} ${p.code} ${sayProblem(p).hint}`),
    ).toEqual(['2:3 warning UNKNOWN_ROLLOUT did you mean "payments"?']);
  });
});

test("notifications and freezes that name an event, a rollout or a stage that is not there are told, with the nearest", () => {
  const read = (text: string) => {
    const read = parseRepoConfig(text, "c.yaml");
    const declared = [
      { name: "payments", stages: ["canary", "prod"] },
      { name: "ledger", stages: ["all"] },
    ];
    return [...read.problems, ...unusedNames(read, declared)].map(
      (one) => `${one.line}:${one.column} ${one.severity} ${one.code} ${sayProblem(one).hint}`,
    );
  };
  expect(read("notifications:\n  - to: calls\n    events: [faild]\n")).toEqual([expect.stringMatching(/^3:14 error BAD_VALUE .*failed/)]);
  expect(read("notifications:\n  - to: calls\n    rollouts: [paymets]\n")).toEqual([
    expect.stringMatching(/^3:16 warning UNKNOWN_ROLLOUT did you mean "payments"/),
  ]);
  expect(read("notifications:\n  - to: calls\n    rollouts: [payments]\n    stages: [prod, cnary]\n")).toEqual([
    expect.stringMatching(/^4:20 warning UNKNOWN_STAGE did you mean canary/),
  ]);
  expect(read("notifications:\n  - to: calls\n    stages: [all, prod]\n")).toEqual([]);
  const freeze = "freezes:\n  - { schedule: '0 0 20 12 *', duration: 18d, kind: deny, rollouts: [payments], stages: [prd] }\n";
  expect(read(freeze)).toEqual([expect.stringMatching(/^2:90 warning UNKNOWN_STAGE did you mean prod/)]);
});
