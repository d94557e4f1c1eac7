import { Octokit } from "@octokit/rest";
import { expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { ASKER_HEADER } from "../../core/base/asker.ts";
import { sendGraphQL } from "../forge/github/graphql/send.ts";
import { askFor } from "./asker.ts";
import { HostDown, openBreakers } from "./breaker.ts";
import { hostFetch } from "./host-fetch.ts";

function world() {
  const clock = manualClock(Date.parse("2026-11-21T09:00:00.000Z"));
  const breakers = openBreakers(clock);
  let sent = 0;
  const host = { status: 502 };
  const ask = (name = "github.com", asker?: string) =>
    breakers.through(
      { host: name, asker },
      async () => {
        sent += 1;
        if (host.status === 0) throw new Error("ECONNREFUSED");
        return host.status;
      },
      (came) => "error" in came || came.answer === 502,
    );
  return { clock, host, ask, sent: () => sent };
}

test("ten minutes of 502 cost a host a score of requests, however many ask each second", async () => {
  const { clock, ask, sent } = world();
  for (let second = 0; second < 600; second++) {
    for (let repo = 0; repo < 50; repo++) await ask("github.com", `acme/${repo}`).catch(() => undefined);
    clock.advance(1000);
  }
  expect(sent()).toBeLessThan(25);
});

test("ten minutes of 502 cost a few more where one repository alone asks, of several that there are", async () => {
  const { clock, host, ask, sent } = world();
  host.status = 200;
  await ask("github.com", "acme/quiet");
  host.status = 502;
  for (let second = 0; second < 600; second++) {
    await ask("github.com", "acme/busy").catch(() => undefined);
    clock.advance(1000);
  }
  expect(sent()).toBeGreaterThan(25);
  expect(sent()).toBeLessThan(45);
  host.status = 200;
  // It alone is kept off meanwhile, and not for longer than a minute.
  await expect(ask("github.com", "acme/quiet")).resolves.toBe(200);
  clock.advance(60_000);
  await expect(ask("github.com", "acme/busy")).resolves.toBe(200);
});

test("it is asked again by one request, and by all once that was answered", async () => {
  const { clock, host, ask, sent } = world();
  host.status = 0;
  for (let n = 0; n < 5; n++) await expect(ask()).rejects.toThrow("ECONNREFUSED");
  await expect(ask()).rejects.toThrow(HostDown);
  clock.advance(1000);
  host.status = 200;
  const [one, other] = await Promise.allSettled([ask(), ask()]);
  expect([one.status, other.status, sent()]).toEqual(["fulfilled", "rejected", 6]);
  await expect(Promise.all([ask(), ask(), ask()])).resolves.toEqual([200, 200, 200]);
});

test("an answer in between, an error that is an answer, and another host's faults leave no host alone", async () => {
  const { host, ask, sent } = world();
  for (let n = 0; n < 20; n++) {
    host.status = n % 4 === 0 ? 404 : 502;
    await ask();
  }
  host.status = 502;
  for (let n = 0; n < 9; n++) await ask("argocd.example.com").catch(() => undefined);
  await expect(ask()).resolves.toBe(502);
  expect(sent()).toBe(20 + 5 + 1);
});

test("whoever has a repository that fails by itself keeps nobody else off the host", async () => {
  const { clock, host, ask } = world();
  host.status = 200;
  await ask("github.com", "acme/well");
  host.status = 502;
  for (let n = 0; n < 20; n++) await expect(ask("github.com", "acme/ill")).resolves.toBe(502);
  // Once it is down for all, the one that fails by itself does not get every try.
  for (let n = 0; n < 5; n++) await ask("github.com", "acme/well").catch(() => undefined);
  clock.advance(1000);
  await ask("github.com", "acme/ill").catch(() => undefined);
  await expect(ask("github.com", "acme/well")).rejects.toThrow(HostDown);
  clock.advance(2000);
  await expect(ask("github.com", "acme/ill")).rejects.toThrow(HostDown);
  host.status = 200;
  await expect(ask("github.com", "acme/well")).resolves.toBe(200);
});

test("who tried last waits for those who were turned away since: for nobody who asked once, and for none longer than the rest was", async () => {
  const { clock, host, ask } = world();
  const [busy, once] = [() => ask("github.com", "acme/busy"), () => ask("github.com", "acme/once")];
  await once();
  for (let n = 0; n < 4; n++) await busy();
  clock.advance(1000);
  await busy();
  clock.advance(2000);
  await expect(busy()).resolves.toBe(502);
  await expect(once()).rejects.toThrow(HostDown);
  host.status = 200;
  clock.advance(4000);
  await expect(busy()).rejects.toThrow(HostDown);
  clock.advance(4000);
  await expect(busy()).resolves.toBe(200);
});

test("a repository whose GraphQL alone fails keeps no other off GitHub, and GitHub is not told whom it is for", async () => {
  const sent: Request[] = [];
  const send: typeof fetch = async (input, init) => {
    sent.push(new Request(input, init));
    return new Response(null, { status: isDown && String(input).endsWith("/graphql") ? 502 : 200 });
  };
  let isDown = false;
  const clock = manualClock(Date.parse("2026-11-21T09:00:00.000Z"));
  const through = hostFetch({ asking: () => () => undefined }, openBreakers(clock), send);
  const octokit = new Octokit({ request: { fetch: through }, log: { debug() {}, info() {}, warn() {}, error() {} } });
  const graphql = (repo: string) => sendGraphQL({ octokit, owner: "acme", repo }, "{ viewer { login } }", {});
  const rest = () => through("https://api.github.com/repos/acme/well/pulls");
  await rest();
  await through("https://api.github.com/graphql", { headers: { [ASKER_HEADER]: "acme/well" } });
  isDown = true;
  for (let n = 0; n < 20; n++) await expect(graphql("ill")).rejects.toMatchObject({ status: 502 });
  expect([await rest(), sent.length]).toMatchObject([{ status: 200 }, 23]);
  expect(sent.map(({ headers }) => [headers.has("user-agent"), headers.has(ASKER_HEADER)])[2]).toEqual([true, false]);
  // Down for several it is left alone; what needs it not goes on.
  for (const repo of ["ill", "ill", "ill", "ill", "well"]) await graphql(repo).catch(() => undefined);
  await expect(graphql("well")).rejects.toMatchObject({ cause: { name: "HostDown" } });
  expect(await rest()).toMatchObject({ status: 200 });
});

test("an installation, or a repository whose team or author cannot be asked for, keeps no other off GitHub", async () => {
  const send: typeof fetch = async (input) => new Response(null, { status: String(input).endsWith("/well/pulls") ? 200 : 502 });
  const through = hostFetch({ asking: () => () => undefined }, openBreakers(manualClock(0)), send);
  const ask = (path: string) => through(`https://api.github.com${path}`);
  await ask("/repos/acme/well/pulls");
  for (let n = 0; n < 9; n++) await ask("/app/installations/7/access_tokens");
  await ask("/repos/acme/well/pulls");
  for (let n = 0; n < 9; n++) await askFor("acme/ill", () => ask("/orgs/acme/teams/sre"));
  expect(await ask("/repos/acme/well/pulls")).toMatchObject({ status: 200 });
  // What is nobody's is everybody's.
  for (let n = 0; n < 9; n++) await ask("/app/installations").catch(() => undefined);
  await expect(ask("/repos/acme/well/pulls")).rejects.toThrow(HostDown);
});
