import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bareBranch } from "../../../core/run/gates/protection.ts";
import type { BypassActor, Rule, Ruleset } from "../../../sim/github/model/rules.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { rulesOn } from "./rules.ts";
import { type WatchedForge, watchedForge } from "./testing/forge.ts";

const JOURNAL = "stagecoach/journal";
const BATCH = "stagecoach-run/payments/1/1-1-1";
const WRITE: Rule[] = [{ type: "creation" }, { type: "update" }, { type: "deletion" }];

let github: TestGitHub;
let watched: WatchedForge;

beforeAll(async () => {
  github = await testGitHub({ app: { permissions: { metadata: "read", contents: "write" } } });
});
afterAll(() => github.sim.close());
beforeEach(() => {
  watched = watchedForge(github);
});

/** What lacks on both branches while these rulesets stand. */
async function lacking(...rulesets: (Pick<Ruleset, "rules"> & Partial<Ruleset>)[]): Promise<string[][]> {
  const ids = rulesets.map((one) => github.sim.ruleset(github.repository, one));
  try {
    const looks = [JOURNAL, BATCH].map(async (branch) => bareBranch(branch, (await watched.forge.rulesOn?.(branch)) ?? [])?.lacks ?? []);
    return (await Promise.all(looks)).map((lacks) => [...lacks]);
  } finally {
    for (const id of ids) github.sim.removeRuleset(github.repository, id);
  }
}

const ALL = ["creation", "update", "deletion"];
const own = ["refs/heads/stagecoach/journal", "refs/heads/stagecoach-run/**/*"];
const app: BypassActor = { type: "Integration", id: 1, mode: "always" };

describe("the active rules on branches that need not be there yet", () => {
  it.each<[string, Parameters<typeof lacking>, string[], string[]]>([
    ["none", [], ALL, ALL],
    ["those that onboarding proposes", [{ rules: WRITE, include: own, bypass: [app] }], [], []],
    ["of an organisation's ruleset", [{ rules: WRITE, include: own, source: "Organization" }], [], []],
    ["on every branch", [{ rules: WRITE, include: ["~ALL"] }], [], []],
    ["on every branch but the journal's", [{ rules: WRITE, include: ["~ALL"], exclude: [own[0] ?? ""] }], ALL, []],
    ["on the default branch alone", [{ rules: WRITE, include: ["~DEFAULT_BRANCH"] }], ALL, ALL],
    [
      "by a pattern that stops at the next slash",
      [{ rules: WRITE, include: ["refs/heads/stagecoach/*", "refs/heads/stagecoach-run/*"] }],
      [],
      ALL,
    ],
    ["of another rollout's batches", [{ rules: WRITE, include: [own[0] ?? "", "refs/heads/stagecoach-run/ledger/**/*"] }], [], ALL],
    ["that are only evaluated", [{ rules: WRITE, include: own, enforcement: "evaluate" }], ALL, ALL],
    ["that are disabled", [{ rules: WRITE, include: own, enforcement: "disabled" }], ALL, ALL],
    [
      "in parts, of two rulesets",
      [
        { rules: WRITE.slice(0, 2), include: own },
        { rules: WRITE.slice(2), include: ["~ALL"], source: "Organization" },
      ],
      [],
      [],
    ],
    [
      "against force pushes and deletion alone",
      [{ rules: [{ type: "non_fast_forward" }, { type: "deletion" }], include: own }],
      ["creation", "update"],
      ["creation", "update"],
    ],
  ])("%s", async (_, rulesets, journal, batch) => {
    expect(await lacking(...rulesets)).toEqual([journal, batch]);
  });

  it("are read with no permission but metadata, and of classic protection nothing is seen", async () => {
    github.sim.protect(github.repository, JOURNAL, { pushers: ["stagecoach"] });
    expect(await lacking()).toEqual([ALL, ALL]);
    expect(watched.writes()).toEqual([]);
  });
});

describe("a required check", () => {
  it.each([
    ["of one App", 4711, { context: "stagecoach/gate", app: 4711 }],
    ["of whoever reports it", undefined, { context: "stagecoach/gate" }],
    ["of whoever reports it, as GitHub writes it too", -1, { context: "stagecoach/gate" }],
  ])("%s", async (_, integration_id, required) => {
    const check = integration_id === undefined ? { context: "stagecoach/gate" } : { context: "stagecoach/gate", integration_id };
    const parameters = { strict_required_status_checks_policy: false, required_status_checks: [check] };
    const id = github.sim.ruleset(github.repository, { rules: [{ type: "required_status_checks", parameters }] });
    expect((await watched.forge.branchRules("main")).requiredChecks).toEqual([required]);
    github.sim.removeRuleset(github.repository, id);
  });
});

describe("a refusal to tell the rules", () => {
  const refused = (message: string, headers: Record<string, string> = {}) => {
    const error = Object.assign(new Error(message), { status: 403, response: { data: { message }, headers } });
    const octokit = { paginate: () => Promise.reject(error), rest: { repos: {} } };
    return rulesOn({ octokit, owner: "acme", repo: "fleet" } as unknown as Parameters<typeof rulesOn>[0], JOURNAL);
  };

  it("is none, where the plan has none", async () => {
    expect(await refused("Upgrade to GitHub Pro or make this repository public to enable this feature.")).toEqual([]);
  });

  it("is no answer, where a limit was hit", async () => {
    await expect(refused("You have exceeded a secondary rate limit", { "retry-after": "60" })).rejects.toMatchObject({
      kind: "RateLimited",
    });
  });
});
