import { expect, test } from "vitest";
import { testGitHub } from "../../src/sim/github/testing/setup.ts";
import { worlds } from "./every-world.ts";
import { schemaChecks } from "./validate.ts";

test("a world that nobody asked to check is checked, answers and events", async () => {
  const { sim, octokit, place } = await testGitHub({ app: { events: ["issues"] } });
  await octokit("rob").rest.repos.get(place);
  await octokit("wim").rest.issues.create({ ...place, title: "hello" });
  await sim.close();
  const [first, ...others] = worlds;
  expect(others).toEqual([]);
  expect([...(first?.seen.answers ?? [])]).toEqual(expect.arrayContaining(["GET /repos/*/* 200", "POST /repos/*/*/issues 201"]));
  expect([...(first?.seen.events ?? [])]).toContain("issues.opened");
  expect(first?.problems).toEqual([]);
});

test.each([
  ["an answer without what GitHub always says", { full_name: "acme/config" }, 200],
  ["a status that GitHub does not describe", {}, 299],
  ["a refusal that says nothing", { why: "no" }, 418],
])("%s is a problem", (_, body, status) => {
  const checks = schemaChecks();
  const route = {
    route: "/repos/:owner/:repo",
    path: "/repos/acme/config",
    actor: "rob",
    requestHeaders: {},
    headers: {},
    requestBody: undefined,
  };
  checks.hooks.onExchange({ method: "GET", ...route, status, body });
  expect(checks.problems).toEqual([expect.stringContaining("GET /repos/*/*")]);
});

test("an event that GitHub does not send is a problem", () => {
  const checks = schemaChecks();
  checks.hooks.onDelivery({ event: "pull_request", action: "vanished", payload: {} });
  checks.hooks.onDelivery({ event: "issues", action: "opened", payload: { action: "opened" } });
  expect(checks.problems).toEqual([expect.stringContaining("pull_request.vanished"), expect.stringContaining("issues.opened")]);
});
