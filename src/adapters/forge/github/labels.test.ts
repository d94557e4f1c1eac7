import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import type { Pull } from "../port.ts";
import type { LabelEvent } from "./graphql/texts.ts";
import { lastOf } from "./labels.ts";
import { watchedForge } from "./testing/forge.ts";

const AT = "2026-11-21T10:00:00Z";
const BEFORE = "2026-11-21T09:00:00Z";
const AFTER = "2026-11-21T11:00:00Z";

function event(login: string, label: Partial<NonNullable<LabelEvent["label"]>> | null, createdAt = AT): LabelEvent {
  return {
    __typename: "LabeledEvent",
    createdAt,
    actor: { __typename: "User", login },
    label: label === null ? null : { name: "bypass", createdAt: BEFORE, updatedAt: BEFORE, ...label },
  };
}

describe("who put a label on", () => {
  test.each<[string, (LabelEvent | null)[], string | undefined]>([
    ["the only one", [event("mia", {})], "mia"],
    ["the last one, where it was taken off meanwhile", [event("mia", {}), event("wim", {})], "wim"],
    ["nobody, where others were put on alone", [event("mia", { name: "bug" })], undefined],
    ["nobody, where the label had another name then", [event("mia", { updatedAt: AFTER })], undefined],
    ["nobody, where it may have had another name within that second", [event("mia", { updatedAt: AT })], undefined],
    ["who made it by putting it on", [event("mia", { createdAt: AT, updatedAt: AT })], "mia"],
    ["of a label that GitHub dates not", [event("mia", { createdAt: null, updatedAt: null })], "mia"],
    ["nobody, where the label is gone", [event("mia", null), null], undefined],
  ])("%s", (_, events, login) => {
    expect(lastOf(events, "bypass")?.actor?.login).toBe(login);
  });
});

describe("on a pull request", () => {
  let github: TestGitHub;
  beforeAll(async () => {
    github = await testGitHub({ app: { permissions: { metadata: "read", contents: "read", pull_requests: "read", issues: "read" } } });
  });
  afterAll(() => github.sim.close());

  it("says whether the head was there before, and nothing of what was pushed in the same second", async () => {
    const { forge } = watchedForge(github);
    const wim = github.sim.actAs("wim");
    await github.branch("a", { "a.txt": "1\n" });
    const number = await wim.openPull(github.repository, { head: "a", title: "A" });
    const now = async () => await forge.labelledBy?.((await forge.pull(number)) as Pull, "bypass");
    expect(await now()).toBeUndefined();
    github.clock.step(5000);
    await github.sim.actAs("mia").label(github.repository, number, ["bypass"]);
    expect(await now()).toEqual({ login: "mia", isBot: false, sawHead: true });
    await github.branch("a", { "a.txt": "2\n" });
    expect(await now()).toEqual({ login: "mia", isBot: false, sawHead: false });
  });

  it("outlives no change of the base: what the label was put on for was another pull request", async () => {
    const { forge } = watchedForge(github);
    await github.branch("elsewhere", { "elsewhere.txt": "1\n" });
    await github.branch("b", { "b.txt": "1\n" });
    const number = await github.sim.actAs("wim").openPull(github.repository, { head: "b", title: "B" });
    const sawHead = async () => (await forge.labelledBy?.((await forge.pull(number)) as Pull, "bypass"))?.sawHead;
    github.clock.step(5000);
    await github.sim.actAs("mia").label(github.repository, number, ["bypass"]);
    expect(await sawHead()).toBe(true);
    github.clock.step(5000);
    const headers = { authorization: `token ${github.sim.token("wim")}`, "content-type": "application/json" };
    const body = JSON.stringify({ base: "elsewhere" });
    expect((await fetch(`${github.sim.url}/repos/${github.repository}/pulls/${number}`, { method: "PATCH", headers, body })).status).toBe(
      200,
    );
    expect(await sawHead()).toBe(false);
  });

  it("outlives no change of the base by the site itself, when the branch that it was for is merged and deleted", async () => {
    const { forge } = watchedForge(github);
    await github.branch("below", { "below.txt": "1\n" });
    await github.branch("above", { "above.txt": "1\n" });
    const wim = github.sim.actAs("wim");
    const below = await wim.openPull(github.repository, { head: "below", title: "Below" });
    const number = await wim.openPull(github.repository, { head: "above", base: "below", title: "Above" });
    const pull = async () => (await forge.pull(number)) as Pull;
    const sawHead = async () => (await forge.labelledBy?.(await pull(), "bypass"))?.sawHead;
    github.clock.step(5000);
    await github.sim.actAs("mia").label(github.repository, number, ["bypass"]);
    expect([(await pull()).base, await sawHead()]).toEqual(["below", true]);
    github.clock.step(5000);
    github.sim.settings(github.repository, { deleteBranchOnMerge: true });
    await github.octokit("mia").rest.pulls.merge({ ...github.place, pull_number: below });
    expect([(await pull()).base, await sawHead()]).toEqual(["main", false]);
  });
});
