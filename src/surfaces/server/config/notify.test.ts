import { expect, test } from "vitest";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { parseServerConfig } from "./file.ts";
import { checkNotifySecrets } from "./notify.ts";
import { SettingError } from "./setting-errors.ts";

function problemsOf(...destinations: string[]): string[] {
  const text = `notifications:\n  destinations:\n${destinations.map((one) => `    - { ${one} }\n`).join("")}`;
  return parseServerConfig(text, "stagecoach.yaml").problems.map(
    (one) => `${one.line}:${one.column} ${one.code} ${sayProblem(one).message}`,
  );
}

test("each kind is taken with what it needs", () => {
  expect(
    problemsOf(
      "name: a, kind: slack, channel: C1, secretFile: /token",
      "name: b, kind: slack-webhook, secretEnv: URL",
      "name: c, kind: teams, secretEnv: URL, repositories: [acme/*], networks: [10.0.0.0/8]",
      'name: d, kind: webhook, url: "https://events.example.com", mode: binary, secretFile: /key',
      'name: e, kind: email, server: "smtp://mail.example.com:587", from: a@b.c, to: [d@e.f]',
    ),
  ).toEqual([]);
});

test.each([
  ["no secret", "name: a, kind: teams", /^3:7 MISSING_KEY .*secretFile/],
  ["two secrets", "name: a, kind: teams, secretFile: f, secretEnv: E", /MISSING_KEY .*secretFile/],
  ["a key of another kind", "name: a, kind: teams, secretEnv: E, channel: C1", /^3:45 KEY_OF_OTHER_KIND channel belongs to kind slack/],
  ["a glob that matches nothing", "name: a, kind: teams, secretEnv: E, repositories: [acme]", /TENANT_GLOB/],
  ["no address", "name: a, kind: webhook, secretEnv: E, url: example", /NOT_AN_ADDRESS/],
  ["no mail server", "name: a, kind: email, server: mail, from: a@b.c, to: [d@e.f]", /NOT_A_MAIL_SERVER/],
  ["another kind", "name: a, kind: discord, secretEnv: E", /BAD_VALUE/],
])("%s is a problem", (_, destination, problem) => {
  expect(problemsOf(destination)).toEqual([expect.stringMatching(problem)]);
});

test("a name is one destination's", () => {
  expect(problemsOf("name: a, kind: teams, secretEnv: E", "name: a, kind: teams, secretEnv: E")).toEqual([
    expect.stringMatching(/^4:15 DESTINATION_TWICE/),
  ]);
});

test("a file of a secret that is not there is told before the start", () => {
  const text = "notifications: { destinations: [{ name: a, kind: teams, secretFile: /nowhere/at/all }] }";
  const { config } = parseServerConfig(text, "stagecoach.yaml");
  if (config === undefined) throw new Error("unusable");
  expect(() => checkNotifySecrets(config, {})).toThrow(SettingError);
  expect(() => checkNotifySecrets(config, {})).toThrow(/notifications\.destinations\[0\]\.secretFile/);
});
