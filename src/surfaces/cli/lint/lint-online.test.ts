import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, test, vi } from "vitest";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { passedBy, run } from "./lint.ts";

const FLEET = fileURLToPath(new URL("../../../../fixtures/fleet/", import.meta.url));

type Actors = Parameters<typeof passedBy>[1][number];
const app: Actors[number] = { actor_type: "Integration", actor_id: 7, bypass_mode: "always" };
const writers: Actors[number] = { actor_type: "RepositoryRole", actor_id: 4, bypass_mode: "always" };
const admins: Actors[number] = { actor_type: "RepositoryRole", actor_id: 5, bypass_mode: "always" };

describe("who may pass the rules of a branch by", () => {
  test.each<[string, Actors[], string[]]>([
    ["the App alone", [[app]], []],
    ["the App and administrators, who could change them", [[app, admins, { ...admins, actor_type: "OrganizationAdmin" }]], []],
    ["everybody with write", [[app, writers]], ["RULES_PASSED_BY everybody with write"]],
    ["of two rulesets nobody but the App passes both", [[app, writers], [app]], []],
    ["a writer by pull requests only, which pushes none", [[app, { ...writers, bypass_mode: "pull_request" }]], []],
    ["no App", [[admins]], ["APP_PASSES_NOT"]],
    [
      "deploy keys and a team",
      [[app, { ...app, actor_type: "DeployKey" }, { ...app, actor_type: "Team" }]],
      ["RULES_PASSED_BY deploy keys, team 7"],
    ],
  ])("%s", (_, rulesets, told) => {
    const found = passedBy("stagecoach/journal", rulesets);
    expect(found.map((one) => ("who" in one ? `${one.code} ${one.who.join(", ")}` : one.code))).toEqual(told);
  });
});

describe("stagecoach lint --online", () => {
  let github: TestGitHub;
  beforeAll(async () => {
    github = await testGitHub();
    github.sim.collaborator(github.repository, "ada", "admin");
  });
  afterAll(() => github.sim.close());
  afterEach(() => vi.unstubAllEnvs());

  async function linted(login: string, output = "json"): Promise<string> {
    vi.stubEnv("GITHUB_API_URL", github.sim.url);
    vi.stubEnv("GH_TOKEN", github.sim.token(login));
    let out = "";
    const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      out += String(text);
      return true;
    });
    try {
      await run(["--repo", FLEET, "--online", "--repository", github.repository, "-o", output]);
      return out;
    } finally {
      spy.mockRestore();
    }
  }

  const codes = (out: string) => (JSON.parse(out) as { problems: { code: string }[] }).problems.map(({ code }) => code);

  it("tells what is missing with the calls that set it, and nothing more once they were made; of the bypass list to administrators alone", async () => {
    const checks = { strict_required_status_checks_policy: false, required_status_checks: [{ context: "stagecoach/gate" }] };
    github.sim.ruleset(github.repository, { rules: [{ type: "required_status_checks", parameters: checks }] });
    const before = await linted("rob");
    expect(codes(before)).toEqual(expect.arrayContaining(["BRANCHES_UNPROTECTED", "CHECK_UNBOUND"]));
    const { calls } = JSON.parse(before) as { calls: string[] };
    expect(calls.map((call) => /"name": "([^"]+)"/.exec(call)?.[1])).toEqual(["stagecoach branches", "stagecoach gate"]);
    expect(await linted("rob", "text")).toContain(`gh api repos/${github.repository}/rulesets`);

    for (const call of calls) {
      const [, place = "", body = ""] = /gh api (\S+) --input - <<'JSON'\n([\s\S]*)\nJSON/.exec(call) ?? [];
      await github.octokit("ada").request(`POST /${place}`, JSON.parse(body.replaceAll('"THE_APP_ID"', String(github.sim.app.id))));
    }
    expect(codes(await linted("rob"))).not.toEqual(expect.arrayContaining(["BRANCHES_UNPROTECTED"]));
    expect(codes(await linted("ada"))).not.toEqual(expect.arrayContaining(["APP_PASSES_NOT"]));
    github.sim.ruleset(github.repository, { rules: [{ type: "update" }], include: ["refs/heads/stagecoach/journal"] });
    expect(codes(await linted("ada"))).toContain("APP_PASSES_NOT");
    expect(codes(await linted("rob"))).not.toContain("APP_PASSES_NOT");
  });

  it("takes a private repository of a free plan, of which GitHub refuses to tell any rules, for one that has none", async () => {
    const message = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
    github.sim.faults.request = ({ path }) => (path.includes("/rules/branches/") ? { status: 403, body: { message } } : undefined);
    try {
      expect(codes(await linted("rob"))).toContain("BRANCHES_UNPROTECTED");
    } finally {
      delete github.sim.faults.request;
    }
  });
});
